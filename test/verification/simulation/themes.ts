import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import type { Chance } from './chance.ts';
import type { ContainerKind, Happening, LastingKind, MemberKind } from './happening.ts';
import { span } from './span.ts';
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

/** Lasts so many seconds. */
const lasting =
  (kind: LastingKind, from: number, to: number): Draw =>
  (chance) => ({ kind, forMilliseconds: span(chance, from, to) });
const onceToMember =
  (kind: 'deletePod' | 'evictPod'): Draw =>
  (chance, replicas) => ({ kind, ordinal: ordinal(chance, replicas) });
const toMember =
  (kind: MemberKind, from: number, to: number): Draw =>
  (chance, replicas) => ({ kind, ordinal: ordinal(chance, replicas), forMilliseconds: span(chance, from, to) });
const toContainer =
  (kind: ContainerKind, from: number, to: number): Draw =>
  (chance, replicas) => ({ kind, ...member(chance, replicas), forMilliseconds: span(chance, from, to) });
const killMysqld =
  (from: number, to: number): Draw =>
  (chance, replicas) => ({
    kind: 'kill',
    ordinal: ordinal(chance, replicas),
    container: mysqldContainer,
    forMilliseconds: span(chance, from, to),
  });
/** At a write of the program. */
const whenWriting =
  (drawn: Draw, to?: 'pod' | 'any'): Draw =>
  (chance, replicas) =>
    atWrite(chance, drawn(chance, replicas), to);
const meets =
  (kind: 'lost' | 'reset' | 'refused' | 'silent'): Draw =>
  (chance) =>
    mishaps(chance, { kind });
const rollOut: Draw = (chance) => ({ kind: 'rollOut', image: imageNamed(chance) });
const once =
  (kind: 'recreateCluster' | 'recreateStatefulSet' | 'removeRollout' | 'touchRollout'): Draw =>
  () => ({ kind });

/** What can go wrong, by theme: each run is given to one or two of them. */
export const themes: Readonly<Record<string, readonly Draw[]>> = {
  members: [
    toContainer('kill', 2, 240),
    toContainer('crashLoop', 5, 240),
    toContainer('flap', 1, 120),
    (chance, replicas) => ({ kind: 'restart', ...member(chance, replicas) }),
  ],
  nodes: [
    toMember('loseNode', 20, 500),
    toMember('unschedulable', 10, 240),
    toMember('pullFails', 10, 240),
    toMember('hangTerminating', 60, 400),
  ],
  moco: [
    (chance) => ({ kind: 'stopMoco', otherReplica: chance.happens(0.5), forMilliseconds: span(chance, 1, 120) }),
    switchovers,
    switchovers,
    toMember('nextPrimary', 30, 200),
    (chance, replicas) => ({
      kind: 'lag',
      ordinal: ordinal(chance, replicas),
      // From 60 s on its pod is not ready.
      seconds: chance.pick([100, 20]),
      forMilliseconds: span(chance, 5, 120),
    }),
    toMember('errant', 5, 120),
    (chance) => ({ kind: 'staleStatus', byMilliseconds: span(chance, 1, 40), forMilliseconds: span(chance, 10, 180) }),
  ],
  api: [
    meets('lost'),
    meets('reset'),
    meets('refused'),
    meets('silent'),
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
  // This program is down, moco-controller restarts, or both, and MOCO has something to do.
  alone: [
    (chance, replicas) => alone(chance, kill(chance, replicas, 0)),
    (chance, replicas) => alone(chance, kill(chance, replicas, ordinal(chance, replicas))),
    (chance) => alone(chance, { kind: 'foreignDemote', ordinal: 0, forMilliseconds: span(chance, 60, 150) }),
    (chance, replicas) => alone(chance, rollOut(chance, replicas)),
    lasting('programStopped', 5, 200),
    whenWriting(mocoRestarts),
    (chance) => ({
      kind: 'together',
      all: [
        { afterMilliseconds: 0, what: mocoRestarts(chance) },
        { afterMilliseconds: 0, what: { kind: 'programStopped', forMilliseconds: span(chance, 1, 60) } },
      ],
    }),
  ],
  // Refusals and delays.
  refusals: [
    refusedEvictions,
    refusedEvictions,
    whenWriting(refusedEvictions),
    (chance) => ({
      kind: 'mishaps',
      mishap: { kind: 'slow', thereMilliseconds: span(chance, 2.1, 5), backMilliseconds: 0 },
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
    lasting('refusePods', 20, 180),
    lasting('copyRollout', 5, 120),
    lasting('keepRollout', 5, 120),
    toMember('slowPull', 70, 300),
    (chance, replicas) => {
      const what = { kind: 'slowPull', ordinal: replicas - 1, forMilliseconds: span(chance, 70, 300) } as const;
      return { kind: 'atWrite', process: 0, writes: 1, to: 'pod', when: 'before', what };
    },
  ],
  // Members that are no use, or may not go.
  burdens: [
    switchovers,
    switchovers,
    lasting('upstreamUnavailable', 10, 400),
    failoverWhileLagging,
    failoverWhileLagging,
    // MOCO is down when a member is re-created, and then the template changes.
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
    whenWriting(rollOut, 'pod'),
    whenWriting(lasting('goOffline', 10, 120), 'pod'),
  ],
  // Changes that a confirmation can't see: a late write, and changes before it.
  late: [
    (chance) => lateWrites(chance, 2, 9.5),
    (chance) => lateWrites(chance, 10, 60),
    whenWriting(onceToMember('deletePod')),
    (chance, replicas) =>
      atWrite(
        chance,
        { kind: 'kill', ...member(chance, replicas), forMilliseconds: span(chance, 2, 100) },
        chance.pick(['pod', 'any'] as const),
      ),
    whenWriting(killMysqld(5, 100), 'pod'),
    whenWriting(toMember('loseNode', 5, 100)),
    (chance) => atWrite(chance, { kind: 'freeze', process: 0, forMilliseconds: span(chance, 0.5, 40) }),
    whenWriting(lasting('pause', 1, 60)),
    whenWriting(rollOut),
    whenWriting(once('recreateStatefulSet')),
    toContainer('kill', 2, 240),
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
  // Watches are silent for a while, and a member terminates meanwhile.
  blind: [
    (chance) => ({ kind: 'watchStalls', plural: null, process: null, forMilliseconds: span(chance, 5, 60) }),
    (chance) => ({ kind: 'watchStalls', plural: null, process: null, forMilliseconds: span(chance, 5, 60) }),
    killMysqld(20, 120),
    onceToMember('deletePod'),
  ],
  others: [
    onceToMember('deletePod'),
    onceToMember('evictPod'),
    once('recreateStatefulSet'),
    once('removeRollout'),
    whenWriting(once('touchRollout')),
    toMember('drain', 20, 180),
    toMember('foreignDemote', 1, 150),
  ],
  user: [
    lasting('pause', 1, 120),
    (chance, replicas) => ({
      kind: 'keepBelow',
      partition: chance.whole(1, replicas),
      forMilliseconds: span(chance, 10, 120),
    }),
    (chance) => ({ kind: 'allow', maxUnavailable: chance.pick(budgets), forMilliseconds: span(chance, 10, 180) }),
    maintenance,
    lasting('stopClustering', 1, 90),
    lasting('stopReconciliation', 1, 90),
    lasting('forceRollingUpdate', 1, 30),
    lasting('goOffline', 10, 60),
    (_, replicas) => ({ kind: 'scale', replicas: replicas + 2 }),
    () => ({ kind: 'growVolumes', size: '2Gi' }),
    once('recreateCluster'),
    lasting('backup', 5, 120),
    lasting('failCheck', 20, 240),
  ],
};

/** Themes that no seed draws. A scenario is given one to find in a few runs what would take many otherwise. */
export const narrowThemes: Readonly<Record<string, readonly Draw[]>> = {
  inPlace: [
    toContainer('kill', 5, 60),
    (chance) => ({ kind: 'crash', process: 0, downMilliseconds: span(chance, 1, 10) }),
  ],
  prepull: [
    lasting('stopPrepull', 5, 60),
    (chance) => ({ kind: 'crash', process: 0, downMilliseconds: span(chance, 1, 10) }),
  ],
  checks: [lasting('failCheck', 20, 240)],
  maintenance: [maintenance],
  lag: [
    (chance, replicas) => ({
      kind: 'lag',
      ordinal: ordinal(chance, replicas),
      seconds: chance.pick([100, 20]),
      forMilliseconds: span(chance, 60, 300),
    }),
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

/** Long enough for a member or two, and then until it has opened again. */
function maintenance(chance: Chance): Happening {
  return { kind: 'maintenance', openMilliseconds: span(chance, 1, 120), forMilliseconds: span(chance, 200, 600) };
}

function mocoRestarts(chance: Chance): Happening {
  return { kind: 'stopMoco', otherReplica: chance.happens(0.5), forMilliseconds: span(chance, 0.5, 60) };
}

/** The program stops, moco-controller restarts afterwards, and then MOCO has something to do. */
function alone(chance: Chance, what: Happening): Happening {
  return {
    kind: 'together',
    all: [
      { afterMilliseconds: 0, what: { kind: 'programStopped', forMilliseconds: span(chance, 60, 400) } },
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

function member(chance: Chance, replicas: number): { readonly ordinal: number; readonly container: string } {
  return { ordinal: ordinal(chance, replicas), container: chance.pick(containers) };
}

/** Reads happen only after a watch has ended: some of them do. */
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

/** While the lease cannot be renewed, or the outcome of a renewal is unknown. */
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
