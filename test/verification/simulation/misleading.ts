import type { Chance } from './chance.ts';
import type { Happening, Planned, Together } from './happening.ts';

// Facts that mislead: what they seem to say of a member, of a setting or of a revision is not so.

type Draw = (chance: Chance, replicas: number) => Happening;
type Part = Together['all'][number];

const at = (milliseconds: number, what: Happening): Part => ({ afterMilliseconds: milliseconds, what });
const anyOf = (chance: Chance, replicas: number): number => chance.whole(0, replicas - 1);

/** Its next pod stays Pending for as long as its node is away. */
const shutdown: Draw = (chance, replicas) => ({
  kind: 'nodeShutdown',
  ordinal: chance.happens(0.6) ? replicas - 1 : anyOf(chance, replicas),
  forMilliseconds: chance.span(20, 400),
  says: chance.pick(['reason', 'both'] as const),
});

/** Of one member, or of all. */
const statuses: Draw = (chance, replicas) => {
  const ordinals = chance.happens(0.3) ? Array.from({ length: replicas }, (_, one) => one) : [anyOf(chance, replicas)];
  const forMilliseconds = chance.span(30, 240);
  return {
    kind: 'together',
    all: ordinals.map((ordinal) => at(0, { kind: 'emptyStatuses', ordinal, forMilliseconds })),
  };
};

const stranger: Draw = (chance) => ({ kind: 'foreignPod', forMilliseconds: chance.span(30, 300) });

/** Lists meet with a page of a proxy, which says 404. */
const proxy = (forMilliseconds: number): Happening => ({
  kind: 'mishaps',
  mishap: { kind: 'error', code: 404, retryAfterSeconds: null },
  requests: 'read',
  probability: 1,
  process: null,
  watches: 'expire',
  forMilliseconds,
});

const freeze: Draw = (chance) => {
  const forMilliseconds = chance.span(120, 300);
  const first = chance.span(1, 20);
  return {
    kind: 'together',
    all: [
      at(0, { kind: 'freezeFleet', forMilliseconds }),
      at(first, proxy(chance.span(60, 200))),
      ...(chance.happens(0.5)
        ? [at(forMilliseconds + 500, { kind: 'freezeFleet', forMilliseconds: chance.span(5, 60) })]
        : []),
    ],
  };
};

/** The nodes of some members, or all nodes, which take no pods. */
const cordons: Draw = (chance, replicas) => {
  const all = Array.from({ length: replicas }, (_, one) => one);
  const ordinals = chance.happens(0.5) ? all : [anyOf(chance, replicas)];
  return { kind: 'cordon', ordinals, forMilliseconds: chance.span(20, 300) };
};

/** By name, so that a scenario can be given one. */
export const misleadingThemes: Readonly<Record<string, readonly Draw[]>> = {
  shutdowns: [shutdown],
  statuses: [statuses],
  strangers: [stranger],
  freezes: [freeze],
  cordons: [cordons],
};

const kinds = [shutdown, shutdown, statuses, stranger, freeze, cordons] as const;

/** One of them for some of the worlds, most often before the rollout ends. */
export function drawMisleading(chance: Chance, replicas: number): readonly Planned[] {
  if (!chance.happens(0.25)) return [];
  return [{ atMilliseconds: chance.span(-5, 90), what: chance.pick(kinds)(chance, replicas) }];
}
