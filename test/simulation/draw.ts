import { agentContainer, mysqldContainer } from '../../src/moco/names.ts';
import { Chance } from './chance.ts';
import type { Happening, Planned } from './happening.ts';
import { type Circumstances, firstImage } from './simulation.ts';
import type { Mishap, RequestKind } from './trouble.ts';

/** One run: a world, and what happens in it, in order. */
export interface Scenario {
  readonly circumstances: Circumstances;
  readonly plan: readonly Planned[];
}

const second = 1000;
const minute = 60 * second;
/** What happens during a rollout happens within this time of its beginning. */
const horizonMilliseconds = 3 * minute;
const watched = ['mysqlclusters', 'mysqlrollouts', 'statefulsets', 'pods', 'poddisruptionbudgets'] as const;
const containers = [mysqldContainer, mysqldContainer, agentContainer, 'slow-log'] as const;
const badImages = ['crash', 'missing', 'hang', 'notready'] as const;

type Draw = (chance: Chance, replicas: number) => Happening;

/** What can go wrong, by theme: each run is given to one or two of them. */
export const themes: Readonly<Record<string, readonly Draw[]>> = {
  members: [
    (chance, replicas) => ({ kind: 'kill', ...member(chance, replicas), forMilliseconds: span(chance, 2, 240) }),
    (chance, replicas) => ({ kind: 'crashLoop', ...member(chance, replicas), forMilliseconds: span(chance, 5, 240) }),
    (chance, replicas) => ({ kind: 'flap', ...member(chance, replicas), forMilliseconds: span(chance, 1, 120) }),
    (chance, replicas) => ({ kind: 'restart', ...member(chance, replicas) }),
  ],
  nodes: [
    (chance, replicas) => ({
      kind: 'loseNode',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 20, 500),
    }),
    (chance, replicas) => ({
      kind: 'unschedulable',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 10, 240),
    }),
    (chance, replicas) => ({
      kind: 'hangTerminating',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 10, 400),
    }),
  ],
  moco: [
    (chance) => ({ kind: 'stopMoco', forMilliseconds: span(chance, 1, 120) }),
    (chance) => ({
      kind: 'switchover',
      how: chance.pick(['ignored', 'failing'] as const),
      forMilliseconds: span(chance, 10, 200),
    }),
    (chance, replicas) => ({
      kind: 'nextPrimary',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 30, 200),
    }),
    (chance, replicas) => ({
      kind: 'lag',
      ordinal: ordinal(chance, replicas),
      seconds: 100,
      forMilliseconds: span(chance, 5, 120),
    }),
    (chance, replicas) => ({
      kind: 'errant',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 5, 120),
    }),
    (chance) => ({
      kind: 'staleStatus',
      byMilliseconds: span(chance, 1, 40),
      forMilliseconds: span(chance, 10, 180),
    }),
  ],
  api: [
    (chance) => mishaps(chance, { kind: 'lost' }, ['pod', 'status', 'any']),
    (chance) => mishaps(chance, { kind: 'reset' }, ['pod', 'status', 'confirm', 'read', 'any']),
    (chance) => mishaps(chance, { kind: 'refused' }, ['any']),
    (chance) => mishaps(chance, { kind: 'silent' }, ['pod', 'status', 'confirm', 'read']),
    (chance) =>
      mishaps(chance, { kind: 'error', code: chance.pick([429, 500, 503, 504]), retryAfterSeconds: null }, [
        'any',
        'pod',
        'confirm',
      ]),
    (chance) => mishaps(chance, { kind: 'error', code: 429, retryAfterSeconds: chance.whole(1, 5) }, ['any']),
    (chance) =>
      mishaps(chance, { kind: 'slow', thereMilliseconds: span(chance, 0, 9), backMilliseconds: span(chance, 0, 2) }, [
        'pod',
        'status',
        'confirm',
      ]),
    (chance) => ({ kind: 'slowControllers', milliseconds: span(chance, 1, 10), forMilliseconds: span(chance, 10, 90) }),
  ],
  watches: [
    (chance) => ({
      kind: 'watchLag',
      plural: chance.pick(watched),
      milliseconds: span(chance, 1, 20),
      forMilliseconds: span(chance, 20, 180),
    }),
    (chance) => ({
      kind: 'watchStalls',
      plural: chance.happens(0.7) ? chance.pick(watched) : null,
      process: chance.happens(0.5) ? 0 : null,
      forMilliseconds: span(chance, 2, 150),
    }),
    (chance) => ({ kind: 'watchBreaks', plural: chance.happens(0.5) ? chance.pick(watched) : null, process: null }),
    (chance) => ({ kind: 'watchExpires', plural: chance.happens(0.5) ? chance.pick(watched) : null }),
    (chance) => ({ kind: 'watchRepeats', plural: chance.pick(watched), lines: chance.whole(1, 6) }),
  ],
  processes: [
    (chance) => ({ kind: 'crash', process: chance.whole(0, 1), downMilliseconds: span(chance, 1, 40) }),
    (chance) => ({
      kind: 'crashAtWrite',
      process: chance.whole(0, 1),
      writes: chance.whole(1, 8),
      to: 'any',
      when: chance.pick(['before', 'onItsWay', 'after'] as const),
    }),
    (chance) => ({
      kind: 'crashAtWrite',
      process: chance.whole(0, 1),
      writes: chance.whole(1, 3),
      to: chance.pick(['pod', 'any'] as const),
      when: chance.pick(['before', 'onItsWay', 'after'] as const),
    }),
    (chance) => ({ kind: 'stop', process: chance.whole(0, 1), downMilliseconds: span(chance, 1, 20) }),
    (chance) => ({ kind: 'freeze', process: chance.whole(0, 1), forMilliseconds: span(chance, 0.2, 40) }),
    (chance) => ({
      kind: 'moveClock',
      process: chance.whole(0, 1),
      byMilliseconds: chance.pick([-3600, -60, 60, 3600]) * second,
    }),
  ],
  // What a confirmation can't see any more: a write that is late, and what comes in between.
  late: [
    (chance) => lateWrites(chance, 2, 9.5),
    (chance) => lateWrites(chance, 10, 60),
    (chance, replicas) => atWrite(chance, { kind: 'deletePod', ordinal: ordinal(chance, replicas) }),
    (chance, replicas) =>
      atWrite(
        chance,
        { kind: 'kill', ...member(chance, replicas), forMilliseconds: span(chance, 2, 100) },
        chance.pick(['pod', 'any'] as const),
      ),
    (chance, replicas) =>
      atWrite(
        chance,
        {
          kind: 'kill',
          ordinal: ordinal(chance, replicas),
          container: mysqldContainer,
          forMilliseconds: span(chance, 5, 100),
        },
        'pod',
      ),
    (chance, replicas) =>
      atWrite(chance, { kind: 'loseNode', ordinal: ordinal(chance, replicas), forMilliseconds: span(chance, 5, 100) }),
    (chance) => atWrite(chance, { kind: 'freeze', process: 0, forMilliseconds: span(chance, 0.5, 40) }),
    (chance) => atWrite(chance, { kind: 'pause', forMilliseconds: span(chance, 1, 60) }),
    (chance) => atWrite(chance, { kind: 'rollOut', image: imageNamed(chance) }),
    (chance) => atWrite(chance, { kind: 'recreateStatefulSet' }),
    (chance, replicas) => ({ kind: 'kill', ...member(chance, replicas), forMilliseconds: span(chance, 2, 240) }),
  ],
  // A write that is on its way when its author dies, and a reason for the next one to do something else.
  orphans: [
    (chance) => ({
      kind: 'mishaps',
      mishap: { kind: 'slow', thereMilliseconds: span(chance, 3, 40), backMilliseconds: 0 },
      requests: 'pod',
      probability: 1,
      process: 0,
      forMilliseconds: span(chance, 60, 150),
    }),
    () => ({ kind: 'crashAtWrite', process: 0, writes: 1, to: 'pod', when: 'onItsWay' }),
    (chance, replicas) => {
      const what = {
        kind: 'kill',
        ordinal: ordinal(chance, replicas),
        container: mysqldContainer,
        forMilliseconds: span(chance, 10, 100),
      } as const;
      return { kind: 'atWrite', process: 0, writes: 1, to: 'pod', when: 'onItsWay', what };
    },
  ],
  // Nothing is told for a while, and just then a member goes.
  blind: [
    (chance) => ({ kind: 'watchStalls', plural: null, process: null, forMilliseconds: span(chance, 5, 60) }),
    (chance) => ({ kind: 'watchStalls', plural: null, process: null, forMilliseconds: span(chance, 5, 60) }),
    (chance, replicas) => ({
      kind: 'kill',
      ordinal: ordinal(chance, replicas),
      container: mysqldContainer,
      forMilliseconds: span(chance, 20, 120),
    }),
    (chance, replicas) => ({ kind: 'deletePod', ordinal: ordinal(chance, replicas) }),
  ],
  others: [
    (chance, replicas) => ({ kind: 'deletePod', ordinal: ordinal(chance, replicas) }),
    (chance, replicas) => ({ kind: 'evictPod', ordinal: ordinal(chance, replicas) }),
    () => ({ kind: 'recreateStatefulSet' }),
    () => ({ kind: 'removeRollout' }),
    (chance, replicas) => ({
      kind: 'foreignDemote',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 1, 150),
    }),
  ],
  user: [
    (chance) => ({ kind: 'pause', forMilliseconds: span(chance, 1, 120) }),
    (chance, replicas) => ({
      kind: 'keepBelow',
      partition: chance.whole(1, replicas),
      forMilliseconds: span(chance, 10, 120),
    }),
    (chance) => ({ kind: 'stopClustering', forMilliseconds: span(chance, 1, 90) }),
    (chance) => ({ kind: 'stopReconciliation', forMilliseconds: span(chance, 1, 90) }),
    (chance) => ({ kind: 'forceRollingUpdate', forMilliseconds: span(chance, 1, 30) }),
    (chance) => ({ kind: 'goOffline', forMilliseconds: span(chance, 10, 60) }),
    (_, replicas) => ({ kind: 'scale', replicas: replicas + 2 }),
    () => ({ kind: 'growVolumes', size: '2Gi' }),
    () => ({ kind: 'recreateCluster' }),
    (chance) => ({ kind: 'backup', forMilliseconds: span(chance, 5, 120) }),
  ],
};

const modes = [
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'Partition',
  'Partition',
  'Observe',
] as const;
const themeNames = Object.keys(themes);

/** What belongs to a seed: always the same. Themes that are given come instead of those that the seed would choose. */
export function draw(seed: string, given: readonly string[] = []): Scenario {
  const chance = new Chance(`scenario ${seed}`);
  const replicas = chance.pick(given.length > 0 ? [3, 5] : [1, 3, 3, 3, 3, 5]);
  const calm = chance.happens(0.1) && given.length === 0;
  const drawn = calm ? [] : [chance.pick(themeNames), chance.pick(themeNames)];
  const own = given.length > 0 ? given : drawn;
  const several = own.includes('processes') || own.includes('late') || chance.happens(0.2);
  const circumstances: Circumstances = {
    seed,
    replicas,
    mode: given.length > 0 ? 'OnDelete' : chance.pick(modes),
    movesCurrentRevision: chance.happens(0.3),
    processes: several ? 2 : 1,
    electsLeader: several && chance.happens(0.5),
    nodes: {
      scheduleMilliseconds: span(chance, 0, 1),
      initMilliseconds: span(chance, 0, 2),
      startMilliseconds: span(chance, 0.5, 8),
      startupMilliseconds: span(chance, 0, 4),
      stopMilliseconds: span(chance, 0.2, 25),
      crashAfterMilliseconds: span(chance, 0.2, 20),
      restartMilliseconds: span(chance, 0.2, 2),
    },
    moco: {
      notice: span(chance, 0.02, 2),
      silence: span(chance, 0.2, 9),
      drain: span(chance, 0.1, 4),
      failedTry: span(chance, 1, 50),
      retry: span(chance, 0.2, 5),
      failover: span(chance, 1, 30),
      healthyFalse: span(chance, 0.02, 3),
      repoint: span(chance, 0.02, 3),
      label: span(chance, 0.02, 1),
      open: span(chance, 0.02, 3),
      healthyTrue: span(chance, 0.05, 3),
    },
    lagMilliseconds: chance.pick([5, 30, 30, 300]),
    longestPage: chance.happens(0.2) ? 2 : Number.POSITIVE_INFINITY,
    backups: own.includes('user'),
  };
  return { circumstances, plan: calm ? calmPlan(chance) : wildPlan(chance, replicas, own) };
}

function calmPlan(chance: Chance): readonly Planned[] {
  return [{ atMilliseconds: 0, what: { kind: 'rollOut', image: imageNamed(chance) } }];
}

function wildPlan(chance: Chance, replicas: number, own: readonly string[]): readonly Planned[] {
  const plan: Planned[] = [{ atMilliseconds: 0, what: firstRollout(chance) }];
  if (chance.happens(0.25)) {
    const image = chance.happens(0.3) ? firstImage : imageNamed(chance);
    plan.push({ atMilliseconds: span(chance, 1, 120), what: { kind: 'rollOut', image } });
  }
  const count = chance.whole(1, 5);
  for (let index = 0; index < count; index++) {
    const what = chance.pick(themes[chance.pick(own)] ?? [])(chance, replicas);
    plan.push({ atMilliseconds: Math.round(chance.between(-5 * second, horizonMilliseconds / 2)), what });
  }
  return plan.sort((left, right) => left.atMilliseconds - right.atMilliseconds);
}

function firstRollout(chance: Chance): Happening {
  if (!chance.happens(0.2)) return { kind: 'rollOut', image: imageNamed(chance) };
  return {
    kind: 'rollOutBad',
    image: `mysql:8.4.${chance.whole(1, 9)}-${chance.pick(badImages)}`,
    corrected: imageNamed(chance),
    forMilliseconds: span(chance, 5, 240),
  };
}

function lateWrites(chance: Chance, fromSeconds: number, toSeconds: number): Happening {
  return {
    kind: 'mishaps',
    mishap: { kind: 'slow', thereMilliseconds: span(chance, fromSeconds, toSeconds), backMilliseconds: 0 },
    requests: 'pod',
    probability: chance.pick([0.5, 1]),
    process: chance.happens(0.7) ? 0 : null,
    forMilliseconds: span(chance, 10, 120),
  };
}

function atWrite(chance: Chance, what: Happening, to: 'pod' | 'any' = 'any'): Happening {
  const when = chance.pick(['before', 'onItsWay', 'after'] as const);
  const writes = chance.whole(1, to === 'pod' ? 3 : 6);
  return { kind: 'atWrite', process: chance.whole(0, 1), writes, to, when, what };
}

const imageNamed = (chance: Chance): string => `mysql:8.4.${chance.whole(1, 9)}`;
const ordinal = (chance: Chance, replicas: number): number => chance.whole(0, replicas - 1);
const span = (chance: Chance, fromSeconds: number, toSeconds: number): number =>
  Math.round(chance.between(fromSeconds, toSeconds) * second);

function member(chance: Chance, replicas: number): { readonly ordinal: number; readonly container: string } {
  return { ordinal: ordinal(chance, replicas), container: chance.pick(containers) };
}

function mishaps(chance: Chance, mishap: Mishap, requests: readonly RequestKind[]): Happening {
  return {
    kind: 'mishaps',
    mishap,
    requests: chance.pick(requests),
    probability: chance.pick([0.1, 0.5, 1]),
    process: chance.happens(0.3) ? 0 : null,
    forMilliseconds: span(chance, 1, 40),
  };
}
