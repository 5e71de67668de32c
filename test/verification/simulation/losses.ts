import type { Chance } from './chance.ts';
import type { Happening, Planned, Together } from './happening.ts';
import { firstImage } from './simulation.ts';

// Members whose pods another client deletes while the rollout is held: before it begins, at its first member, or in the
// middle.

type Draw = (chance: Chance, replicas: number) => Happening;
type Part = Together['all'][number];

const at = (milliseconds: number, what: Happening): Part => ({ afterMilliseconds: milliseconds, what });
const anyOf = (chance: Chance, replicas: number): number => chance.whole(0, replicas - 1);

/** By hand and by machine: most leave time to act, and some don't. */
function loss(chance: Chance, ordinal: number): Happening {
  switch (chance.pick(['delete', 'delete', 'drain', 'evict', 'force', 'fails', 'lost', 'gone'] as const)) {
    case 'delete':
      return { kind: 'deletePod', ordinal };
    case 'drain':
      return { kind: 'drain', ordinal, forMilliseconds: chance.span(30, 120) };
    case 'evict':
      return { kind: 'evictPod', ordinal };
    case 'force':
      return { kind: 'forceDelete', ordinal };
    case 'fails':
      return { kind: 'failPod', ordinal };
    case 'lost':
      return { kind: 'loseNode', ordinal, forMilliseconds: chance.span(310, 400) };
    case 'gone':
      return { kind: 'nodeGone', ordinal, forMilliseconds: chance.span(40, 90) };
  }
}

/**
 * What keeps members from the update revision. Without any of these, no member has shown at first that the revision
 * works.
 */
const holds: readonly ((chance: Chance, replicas: number, forMilliseconds: number) => Happening | null)[] = [
  (_, __, forMilliseconds) => ({ kind: 'pause', forMilliseconds }),
  (_, __, forMilliseconds) => ({ kind: 'pause', forMilliseconds }),
  (chance, replicas, forMilliseconds) => ({ kind: 'pin', ordinal: anyOf(chance, replicas), forMilliseconds }),
  (chance, replicas, forMilliseconds) => ({ kind: 'keepBelow', partition: chance.whole(1, replicas), forMilliseconds }),
  (_, __, forMilliseconds) => ({ kind: 'maintenance', openMilliseconds: 1000, forMilliseconds }),
  (_, __, forMilliseconds) => ({ kind: 'manual', forMilliseconds }),
  (_, __, forMilliseconds) => ({ kind: 'keepLost', forMilliseconds }),
  (chance, _, forMilliseconds) => ({
    kind: 'rollOutBad',
    image: `mysql:8.4.${chance.whole(1, 9)}-${chance.pick(['crash', 'missing', 'hang', 'notready'] as const)}`,
    corrected: `mysql:8.4.${chance.whole(1, 9)}`,
    forMilliseconds,
  }),
  () => null,
];

/** What else happens to the cluster or to the program in that time. */
const besides: readonly ((chance: Chance, replicas: number) => Happening)[] = [
  (chance) => ({ kind: 'rollOut', image: `mysql:8.4.${chance.whole(1, 9)}` }),
  () => ({ kind: 'rollOut', image: firstImage }),
  () => ({ kind: 'growVolumes', size: '2Gi' }),
  (_, replicas) => ({ kind: 'scale', replicas: replicas + 2 }),
  () => ({ kind: 'recreateStatefulSet' }),
  dies,
  dies,
];

function dies(chance: Chance): Happening {
  const when = chance.pick(['before', 'onItsWay', 'after'] as const);
  return { kind: 'crashAtWrite', process: chance.whole(0, 1), writes: chance.whole(1, 3), to: 'any', when };
}

/** One hold, one loss or more, most often something else beside it. */
const whileHeld: Draw = (chance, replicas) => {
  const forMilliseconds = chance.span(90, 240);
  const hold = chance.pick(holds)(chance, replicas, forMilliseconds);
  const first = chance.span(3, 60);
  const ordinal = anyOf(chance, replicas);
  const next = chance.span(0, 1) < 500 ? first : first + chance.span(0, 60);
  const others = chance.happens(0.4) ? [at(next, loss(chance, (ordinal + 1) % replicas))] : [];
  // Right before or after the loss, when the program reacts.
  const beside = chance.pick(besides)(chance, replicas);
  const isAtOnce = beside.kind === 'crashAtWrite' || chance.happens(0.5);
  const when = isAtOnce ? Math.max(0, first + chance.span(-2, 8)) : chance.span(0, 90);
  return {
    kind: 'together',
    all: [
      ...(hold === null ? [] : [at(0, hold)]),
      at(first, loss(chance, ordinal)),
      ...others,
      ...(chance.happens(0.7) ? [at(when, beside)] : []),
    ],
  };
};

/** Paused once a member works at the update revision: a stale member goes, and one that works beside it or later. */
const whileWorking: Draw = (chance, replicas) => {
  const paused = chance.span(20, 50);
  const first = paused + chance.span(1, 10);
  const next = chance.happens(0.7) ? first + chance.span(0, 4) : first + chance.span(35, 60);
  // The primary is updated last.
  const stale = chance.happens(0.7) ? 0 : chance.whole(0, Math.max(0, replicas - 2));
  return {
    kind: 'together',
    all: [
      at(paused, { kind: 'pause', forMilliseconds: chance.span(100, 180) }),
      at(first, { kind: 'deletePod', ordinal: stale }),
      at(next, { kind: 'deletePod', ordinal: replicas - 1 }),
    ],
  };
};

/** What else befalls the record of a rollout, the program or a member, whichever revisions its members have by then. */
const upsets: readonly ((chance: Chance, replicas: number) => Happening)[] = [
  (chance) => ({ kind: 'rollOut', image: `mysql:8.4.${chance.whole(1, 9)}` }),
  () => ({ kind: 'removeRollout' }),
  () => ({ kind: 'recreateStatefulSet' }),
  (chance) => ({ kind: 'programStopped', forMilliseconds: chance.span(10, 90) }),
  (chance, replicas) => ({
    kind: 'flap',
    ordinal: anyOf(chance, replicas),
    container: 'slow-log',
    forMilliseconds: chance.span(60, 180),
  }),
  (chance, replicas) => loss(chance, anyOf(chance, replicas)),
];

/** Held once a member may have the update revision, with anything beside it, and members that are lost one after another. */
const whileNewer: Draw = (chance, replicas) => {
  const forMilliseconds = chance.span(200, 400);
  const held = chance.span(5, 50);
  const hold = chance.pick(holds)(chance, replicas, forMilliseconds);
  const ordinal = chance.happens(0.6) ? replicas - 1 : anyOf(chance, replicas);
  const first = held + chance.span(5, 60);
  const upset = chance.pick(upsets)(chance, replicas);
  return {
    kind: 'together',
    all: [
      ...(hold === null || hold.kind === 'rollOutBad' ? [] : [at(held, hold)]),
      ...(chance.happens(0.8) ? [at(held + chance.span(1, 70), upset)] : []),
      at(first, loss(chance, ordinal)),
      ...(chance.happens(0.7) ? [at(first + chance.span(1, 90), loss(chance, ordinal))] : []),
    ],
  };
};

/** By name, so that a scenario can be given one. */
export const lossThemes: Readonly<Record<string, readonly Draw[]>> = {
  losses: [whileHeld],
  lossesHalfway: [whileWorking],
  lossesOfNewer: [whileNewer],
};

/** For some of the worlds in which this program takes members. Half of the holds begin right before the rollout. */
export function drawLosses(chance: Chance, replicas: number): readonly Planned[] {
  if (!chance.happens(0.4)) return [];
  if (chance.happens(0.2)) return [{ atMilliseconds: chance.span(10, 50), what: whileWorking(chance, replicas) }];
  const atMilliseconds = chance.happens(0.5) ? chance.span(-5, -3) : chance.span(0, 60);
  return [{ atMilliseconds, what: whileHeld(chance, replicas) }];
}
