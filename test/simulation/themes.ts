import { agentContainer, mysqldContainer } from '../../src/moco/names.ts';
import type { Chance } from './chance.ts';
import type { Happening } from './happening.ts';
import type { Mishap } from './trouble.ts';

const second = 1000;
const watched = ['mysqlclusters', 'mysqlrollouts', 'statefulsets', 'pods', 'poddisruptionbudgets'] as const;
const containers = [mysqldContainer, mysqldContainer, agentContainer, 'slow-log'] as const;
const leaseTroubles: readonly Mishap[] = [
  { kind: 'error', code: 500, retryAfterSeconds: null },
  { kind: 'lost' },
  { kind: 'reset' },
  { kind: 'refused' },
  { kind: 'silent' },
  { kind: 'slow', thereMilliseconds: 6 * second, backMilliseconds: 6 * second },
];
/** For `maxUnavailable`. */
export const budgets = [2, 3, '40%', '99%'] as const;

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
      kind: 'pullFails',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 10, 240),
    }),
    (chance, replicas) => ({
      kind: 'hangTerminating',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 60, 400),
    }),
  ],
  moco: [
    (chance) => ({ kind: 'stopMoco', otherReplica: chance.happens(0.5), forMilliseconds: span(chance, 1, 120) }),
    switchovers,
    switchovers,
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
    (chance) => mishaps(chance, { kind: 'lost' }),
    (chance) => mishaps(chance, { kind: 'reset' }),
    (chance) => mishaps(chance, { kind: 'refused' }),
    (chance) => mishaps(chance, { kind: 'silent' }),
    (chance) => mishaps(chance, { kind: 'error', code: chance.pick([429, 500, 503, 504]), retryAfterSeconds: null }),
    (chance) => mishaps(chance, { kind: 'error', code: 429, retryAfterSeconds: chance.whole(1, 5) }),
    (chance) =>
      mishaps(chance, { kind: 'slow', thereMilliseconds: span(chance, 0, 9), backMilliseconds: span(chance, 0, 2) }),
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
    (chance) => ({
      kind: 'watchForgets',
      plural: chance.happens(0.5) ? chance.pick(watched) : null,
      forMilliseconds: span(chance, 2, 60),
    }),
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
    leaseMishaps,
    leaseMishaps,
    (chance) => ({ kind: 'stop', process: chance.whole(0, 1), downMilliseconds: span(chance, 1, 20) }),
    (chance) => ({ kind: 'freeze', process: chance.whole(0, 1), forMilliseconds: span(chance, 0.2, 40) }),
    (chance) => ({
      kind: 'moveClock',
      process: chance.whole(0, 1),
      byMilliseconds: chance.pick([-3600, -60, 60, 3600]) * second,
    }),
  ],
  // This program is gone, moco-controller restarts, or both, and MOCO has something to do.
  alone: [
    (chance, replicas) => alone(chance, kill(chance, replicas, 0)),
    (chance, replicas) => alone(chance, kill(chance, replicas, ordinal(chance, replicas))),
    (chance) => alone(chance, { kind: 'foreignDemote', ordinal: 0, forMilliseconds: span(chance, 60, 150) }),
    (chance) => alone(chance, { kind: 'rollOut', image: imageNamed(chance) }),
    (chance) => ({ kind: 'programAway', forMilliseconds: span(chance, 5, 200) }),
    (chance) => atWrite(chance, mocoRestarts(chance)),
    (chance) => ({
      kind: 'together',
      all: [
        { afterMilliseconds: 0, what: mocoRestarts(chance) },
        { afterMilliseconds: 0, what: { kind: 'programAway', forMilliseconds: span(chance, 1, 60) } },
      ],
    }),
  ],
  // What somebody or something is against, or is slow about.
  refusals: [
    refusedEvictions,
    refusedEvictions,
    (chance) => atWrite(chance, refusedEvictions(chance)),
    (chance) => ({
      kind: 'mishaps',
      mishap: { kind: 'slow', thereMilliseconds: span(chance, 1.1, 4), backMilliseconds: 0 },
      requests: 'confirm',
      probability: 1,
      process: null,
      watches: 'stay',
      forMilliseconds: span(chance, 15, 180),
    }),
    (chance, replicas) => ({
      kind: 'together',
      all: [
        { afterMilliseconds: 0, what: { kind: 'refusePods', forMilliseconds: span(chance, 20, 180) } },
        { afterMilliseconds: 1, what: { kind: 'deletePod', ordinal: ordinal(chance, replicas) } },
      ],
    }),
    (chance) => ({ kind: 'refusePods', forMilliseconds: span(chance, 20, 180) }),
    (chance) => ({ kind: 'copyRollout', forMilliseconds: span(chance, 5, 120) }),
    (chance) => ({ kind: 'keepRollout', forMilliseconds: span(chance, 5, 120) }),
    (chance, replicas) => ({
      kind: 'slowPull',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 70, 300),
    }),
    (chance, replicas) => {
      const what = { kind: 'slowPull', ordinal: replicas - 1, forMilliseconds: span(chance, 70, 300) } as const;
      return { kind: 'atWrite', process: 0, writes: 1, to: 'pod', when: 'before', what };
    },
  ],
  // Members that are no use, or may not go.
  burdens: [
    switchovers,
    switchovers,
    (chance) => ({ kind: 'upstreamAway', forMilliseconds: span(chance, 10, 400) }),
    failoverWhileLagging,
    failoverWhileLagging,
    // MOCO is gone when a member is made anew, and then another template comes.
    (chance, replicas) => ({
      kind: 'together',
      all: [
        {
          afterMilliseconds: 0,
          what: { kind: 'stopMoco', otherReplica: true, forMilliseconds: span(chance, 120, 400) },
        },
        { afterMilliseconds: second, what: { kind: 'deletePod', ordinal: ordinal(chance, replicas) } },
        { afterMilliseconds: span(chance, 30, 90), what: { kind: 'rollOut', image: imageNamed(chance) } },
      ],
    }),
    (chance) => atWrite(chance, { kind: 'rollOut', image: imageNamed(chance) }, 'pod'),
    (chance) => atWrite(chance, { kind: 'goOffline', forMilliseconds: span(chance, 10, 120) }, 'pod'),
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
      watches: 'stay',
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
    (chance) => atWrite(chance, { kind: 'touchRollout' }),
    (chance, replicas) => ({
      kind: 'drain',
      ordinal: ordinal(chance, replicas),
      forMilliseconds: span(chance, 20, 180),
    }),
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
    (chance) => ({ kind: 'allow', maxUnavailable: chance.pick(budgets), forMilliseconds: span(chance, 10, 180) }),
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

const kill = (chance: Chance, replicas: number, one: number): Happening => ({
  kind: 'kill',
  ordinal: Math.min(one, replicas - 1),
  container: mysqldContainer,
  forMilliseconds: span(chance, 20, 240),
});

/** Before the first step, most often. */
function refusedEvictions(chance: Chance): Happening {
  return { kind: 'refuseEvictions', code: chance.pick([403, 422] as const), forMilliseconds: span(chance, 20, 240) };
}

/** The old primary keeps prevent-delete. */
function failoverWhileLagging(chance: Chance, replicas: number): Happening {
  const lag = { kind: 'lag', ordinal: replicas - 1, seconds: 100, forMilliseconds: span(chance, 60, 300) } as const;
  return {
    kind: 'together',
    all: [
      { afterMilliseconds: 0, what: lag },
      { afterMilliseconds: span(chance, 5, 20), what: kill(chance, replicas, 0) },
    ],
  };
}

const mocoRestarts = (chance: Chance): Happening => ({
  kind: 'stopMoco',
  otherReplica: chance.happens(0.5),
  forMilliseconds: span(chance, 0.5, 60),
});

/** The program goes, moco-controller restarts after it, and then something comes that MOCO has to answer. */
function alone(chance: Chance, what: Happening): Happening {
  return {
    kind: 'together',
    all: [
      { afterMilliseconds: 0, what: { kind: 'programAway', forMilliseconds: span(chance, 60, 400) } },
      { afterMilliseconds: span(chance, 0, 3), what: mocoRestarts(chance) },
      { afterMilliseconds: span(chance, 0, 70), what },
    ],
  };
}

function switchovers(chance: Chance): Happening {
  return {
    kind: 'switchover',
    how: chance.pick(['ignored', 'failing'] as const),
    forMilliseconds: span(chance, 60, 400),
  };
}

function lateWrites(chance: Chance, fromSeconds: number, toSeconds: number): Happening {
  return {
    kind: 'mishaps',
    mishap: { kind: 'slow', thereMilliseconds: span(chance, fromSeconds, toSeconds), backMilliseconds: 0 },
    requests: 'pod',
    probability: chance.pick([0.5, 1]),
    process: chance.happens(0.7) ? 0 : null,
    watches: 'stay',
    forMilliseconds: span(chance, 10, 120),
  };
}

function atWrite(chance: Chance, what: Happening, to: 'pod' | 'any' = 'any'): Happening {
  const when = chance.pick(['before', 'onItsWay', 'after'] as const);
  const writes = chance.whole(1, to === 'pod' ? 3 : 6);
  return { kind: 'atWrite', process: chance.whole(0, 1), writes, to, when, what };
}

export const imageNamed = (chance: Chance): string => `mysql:8.4.${chance.whole(1, 9)}`;
const ordinal = (chance: Chance, replicas: number): number => chance.whole(0, replicas - 1);
export const span = (chance: Chance, fromSeconds: number, toSeconds: number): number =>
  Math.round(chance.between(fromSeconds, toSeconds) * second);

function member(chance: Chance, replicas: number): { readonly ordinal: number; readonly container: string } {
  return { ordinal: ordinal(chance, replicas), container: chance.pick(containers) };
}

/** Who reads is at that only where a watch has come to an end: some of them do. */
function mishaps(chance: Chance, mishap: Mishap): Happening {
  const requests = chance.pick(['pod', 'pod', 'status', 'confirm', 'read', 'any'] as const);
  return {
    kind: 'mishaps',
    mishap,
    requests,
    probability: chance.pick([0.1, 0.5, 1]),
    process: chance.happens(0.3) ? 0 : null,
    watches: requests === 'read' ? chance.pick(['break', 'expire'] as const) : 'stay',
    forMilliseconds: requests === 'pod' ? span(chance, 20, 120) : span(chance, 1, 40),
  };
}

/** While nobody can renew the lease, or nobody knows whether he has. */
function leaseMishaps(chance: Chance): Happening {
  return {
    kind: 'mishaps',
    mishap: chance.pick(leaseTroubles),
    requests: 'lease',
    probability: chance.pick([0.5, 1]),
    process: chance.happens(0.5) ? 0 : null,
    watches: 'stay',
    forMilliseconds: span(chance, 5, 60),
  };
}
