import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import type { Chance } from './chance.ts';
import {
  anyMember,
  type Draw,
  drawn,
  highestMember,
  likely,
  oneOf,
  perhaps,
  seconds,
  together,
  whenWriting,
  whole,
} from './drawn.ts';
import type { Mishap } from './trouble.ts';

const second = 1000;
const watched = oneOf('mysqlclusters', 'mysqlrollouts', 'statefulsets', 'pods', 'poddisruptionbudgets');
const container = oneOf(mysqldContainer, mysqldContainer, agentContainer, 'slow-log');
const leaseTrouble = oneOf<Mishap>(
  { kind: 'error', code: 500, retryAfterSeconds: null },
  { kind: 'lost' },
  { kind: 'reset' },
  { kind: 'refused' },
  { kind: 'silent' },
  { kind: 'slow', thereMilliseconds: 6 * second, backMilliseconds: 6 * second },
);
/** For `maxUnavailable`. */
export const budgets = [2, 3, '40%', '99%'] as const;

export const imageNamed = (chance: Chance): string => `mysql:8.4.${chance.whole(1, 9)}`;
const rollOut = drawn('rollOut', { image: imageNamed });
const lasts = (from: number, to: number) => ({ forMilliseconds: seconds(from, to) });
const memberFor = (from: number, to: number) => ({ ordinal: anyMember, ...lasts(from, to) });
const containerFor = (from: number, to: number) => ({ ordinal: anyMember, container, ...lasts(from, to) });
const mysqldFor = (from: number, to: number) => ({
  ordinal: anyMember,
  container: mysqldContainer,
  ...lasts(from, to),
});

const killPrimary = drawn('kill', { ordinal: 0, container: mysqldContainer, ...lasts(20, 240) });
const deleteAnyPod = drawn('deletePod', { ordinal: anyMember });
const mocoRestarts = drawn('stopMoco', { otherReplica: likely(0.5), ...lasts(0.5, 60) });
const switchovers = drawn('switchover', { how: oneOf('ignored', 'failing'), ...lasts(60, 400) });
/** Long enough for a member or two, and then until it has opened again. */
const maintenance = drawn('maintenance', { openMilliseconds: seconds(1, 120), ...lasts(200, 600) });
const refusePods = drawn('refusePods', lasts(20, 180));
/** Before the first step, most often. */
const refusedEvictions = drawn('refuseEvictions', { code: oneOf(403, 422), ...lasts(20, 240) });
const silentWatches = drawn('watchStalls', { plural: null, process: null, ...lasts(5, 60) });
const crashesOnce = drawn('crash', { process: 0, downMilliseconds: seconds(1, 10) });

/** Reads happen only after a watch has ended: some of them do. */
const meets =
  (mishap: Draw<Mishap>): Draw =>
  (chance, replicas) => {
    const met = mishap(chance, replicas);
    const requests = chance.pick(['pod', 'pod', 'status', 'confirm', 'read', 'any'] as const);
    return {
      kind: 'mishaps',
      mishap: met,
      requests,
      probability: chance.pick([0.1, 0.5, 1]),
      process: chance.happens(0.3) ? 0 : null,
      watches: requests === 'read' ? chance.pick(['break', 'expire'] as const) : 'stay',
      forMilliseconds: requests === 'pod' ? chance.span(20, 120) : chance.span(1, 40),
    };
  };
const slow =
  (there: Draw<number>, back: Draw<number> = () => 0): Draw<Mishap> =>
  (chance, replicas) => ({
    kind: 'slow',
    thereMilliseconds: there(chance, replicas),
    backMilliseconds: back(chance, replicas),
  });
const error =
  (code: Draw<number>, retryAfterSeconds: Draw<number | null>): Draw<Mishap> =>
  (chance, replicas) => ({
    kind: 'error',
    code: code(chance, replicas),
    retryAfterSeconds: retryAfterSeconds(chance, replicas),
  });

/** While the program's own Lease cannot be renewed, or the outcome of a renewal is unknown. */
const leaseMishaps = drawn('mishaps', {
  mishap: leaseTrouble,
  requests: 'ownLease',
  probability: oneOf(0.5, 1),
  process: perhaps(0.5, 0),
  watches: 'stay',
  ...lasts(5, 60),
});

const lateWrites = (from: number, to: number): Draw =>
  drawn('mishaps', {
    mishap: slow(seconds(from, to)),
    requests: 'pod',
    probability: oneOf(0.5, 1),
    process: perhaps(0.7, 0),
    watches: 'stay',
    ...lasts(10, 120),
  });

const crashAtWrite = (most: number, to: 'any' | Draw<'pod' | 'any'>): Draw =>
  drawn('crashAtWrite', {
    process: whole(0, 1),
    writes: whole(1, most),
    to,
    when: oneOf('before', 'onItsWay', 'after'),
  });

/** At the first write of the first process to a pod. */
const atFirstWrite =
  (when: 'before' | 'onItsWay', what: Draw): Draw =>
  (chance, replicas) => ({ kind: 'atWrite', process: 0, writes: 1, to: 'pod', when, what: what(chance, replicas) });

/** The program stops, moco-controller restarts afterwards, and then MOCO has something to do. */
const alone =
  (what: Draw): Draw =>
  (chance, replicas) => {
    const last = what(chance, replicas);
    return together(
      [0, drawn('programStopped', lasts(60, 400))],
      [seconds(0, 3), mocoRestarts],
      [seconds(0, 70), () => last],
    )(chance, replicas);
  };

/** The old primary keeps prevent-delete. */
const failoverWhileLagging = together(
  [0, drawn('lag', { ordinal: highestMember, seconds: 100, ...lasts(60, 300) })],
  [seconds(5, 20), killPrimary],
);

/** What can go wrong, by theme: each run is given to one or two of them. */
export const themes: Readonly<Record<string, readonly Draw[]>> = {
  members: [
    drawn('kill', containerFor(2, 240)),
    drawn('crashLoop', containerFor(5, 240)),
    drawn('flap', containerFor(1, 120)),
    drawn('restart', { ordinal: anyMember, container }),
  ],
  nodes: [
    drawn('loseNode', memberFor(20, 500)),
    drawn('unschedulable', memberFor(10, 240)),
    drawn('pullFails', memberFor(10, 240)),
    drawn('hangTerminating', memberFor(60, 400)),
  ],
  moco: [
    drawn('stopMoco', { otherReplica: likely(0.5), ...lasts(1, 120) }),
    switchovers,
    switchovers,
    drawn('nextPrimary', memberFor(30, 200)),
    // From 60 s on its pod is not ready.
    drawn('lag', { ordinal: anyMember, seconds: oneOf(100, 20), ...lasts(5, 120) }),
    drawn('errant', memberFor(5, 120)),
    drawn('staleStatus', { byMilliseconds: seconds(1, 40), ...lasts(10, 180) }),
  ],
  api: [
    ...(['lost', 'reset', 'refused', 'silent'] as const).map((kind) => meets(() => ({ kind }))),
    meets(error(oneOf(429, 500, 503, 504), () => null)),
    meets(error(() => 429, whole(1, 5))),
    meets(slow(seconds(0, 9), seconds(0, 2))),
    drawn('slowControllers', { milliseconds: seconds(1, 10), ...lasts(10, 90) }),
  ],
  watches: [
    drawn('watchLag', { plural: watched, milliseconds: seconds(1, 20), ...lasts(20, 180) }),
    drawn('watchStalls', { plural: perhaps(0.7, watched), process: perhaps(0.5, 0), ...lasts(2, 150) }),
    drawn('watchBreaks', { plural: perhaps(0.5, watched), process: null }),
    drawn('watchExpires', { plural: perhaps(0.5, watched) }),
    drawn('watchForgets', { plural: perhaps(0.5, watched), ...lasts(2, 60) }),
    drawn('watchRepeats', { plural: watched, lines: whole(1, 6) }),
  ],
  processes: [
    drawn('crash', { process: whole(0, 1), downMilliseconds: seconds(1, 40) }),
    crashAtWrite(8, 'any'),
    crashAtWrite(3, oneOf('pod', 'any')),
    leaseMishaps,
    leaseMishaps,
    drawn('stop', { process: whole(0, 1), downMilliseconds: seconds(1, 20) }),
    drawn('freeze', { process: whole(0, 1), ...lasts(0.2, 40) }),
    drawn('moveClock', {
      process: whole(0, 1),
      byMilliseconds: oneOf(-3600 * second, -60 * second, 60 * second, 3600 * second),
    }),
  ],
  // This program is down, moco-controller restarts, or both, and MOCO has something to do.
  alone: [
    alone(killPrimary),
    alone(drawn('kill', mysqldFor(20, 240))),
    alone(drawn('foreignDemote', { ordinal: 0, ...lasts(60, 150) })),
    alone(rollOut),
    drawn('programStopped', lasts(5, 200)),
    whenWriting(mocoRestarts),
    together([0, mocoRestarts], [0, drawn('programStopped', lasts(1, 60))]),
  ],
  // Refusals and delays.
  refusals: [
    refusedEvictions,
    refusedEvictions,
    whenWriting(refusedEvictions),
    drawn('mishaps', {
      mishap: slow(seconds(2.1, 5)),
      requests: 'confirm',
      probability: 1,
      process: null,
      watches: 'stay',
      ...lasts(15, 180),
    }),
    together([0, refusePods], [1, deleteAnyPod]),
    refusePods,
    drawn('copyRollout', lasts(5, 120)),
    drawn('keepRollout', lasts(5, 120)),
    drawn('slowPull', memberFor(70, 300)),
    atFirstWrite('before', drawn('slowPull', { ordinal: highestMember, ...lasts(70, 300) })),
  ],
  // Members that are no use, or may not go.
  burdens: [
    switchovers,
    switchovers,
    drawn('upstreamUnavailable', lasts(10, 400)),
    failoverWhileLagging,
    failoverWhileLagging,
    // MOCO is down when a member is re-created, and then the template changes.
    together(
      [0, drawn('stopMoco', { otherReplica: true, ...lasts(120, 400) })],
      [second, deleteAnyPod],
      [seconds(30, 90), rollOut],
    ),
    whenWriting(rollOut, 'pod'),
    whenWriting(drawn('goOffline', lasts(10, 120)), 'pod'),
  ],
  // Changes that a confirmation can't see: a late write, and changes before it.
  late: [
    lateWrites(2, 9.5),
    lateWrites(10, 60),
    whenWriting(deleteAnyPod),
    whenWriting(drawn('kill', containerFor(2, 100)), oneOf('pod', 'any')),
    whenWriting(drawn('kill', mysqldFor(5, 100)), 'pod'),
    whenWriting(drawn('loseNode', memberFor(5, 100))),
    whenWriting(drawn('freeze', { process: 0, ...lasts(0.5, 40) })),
    whenWriting(drawn('pause', lasts(1, 60))),
    whenWriting(rollOut),
    whenWriting(drawn('recreateStatefulSet', {})),
    drawn('kill', containerFor(2, 240)),
  ],
  // A write that is on its way when its author dies, and a reason for the next one to do something else.
  orphans: [
    drawn('mishaps', {
      mishap: slow(seconds(3, 40)),
      requests: 'pod',
      probability: 1,
      process: 0,
      watches: 'stay',
      ...lasts(60, 150),
    }),
    drawn('crashAtWrite', { process: 0, writes: 1, to: 'pod', when: 'onItsWay' }),
    atFirstWrite('onItsWay', drawn('kill', mysqldFor(10, 100))),
  ],
  // Watches are silent for a while, and a member terminates meanwhile.
  blind: [silentWatches, silentWatches, drawn('kill', mysqldFor(20, 120)), deleteAnyPod],
  others: [
    deleteAnyPod,
    drawn('evictPod', { ordinal: anyMember }),
    drawn('recreateStatefulSet', {}),
    drawn('removeRollout', {}),
    whenWriting(drawn('touchRollout', {})),
    drawn('drain', memberFor(20, 180)),
    drawn('foreignDemote', memberFor(1, 150)),
  ],
  user: [
    drawn('pause', lasts(1, 120)),
    drawn('keepBelow', { partition: (chance, replicas) => chance.whole(1, replicas), ...lasts(10, 120) }),
    drawn('allow', { maxUnavailable: (chance) => chance.pick(budgets), ...lasts(10, 180) }),
    maintenance,
    drawn('stopClustering', lasts(1, 90)),
    drawn('stopReconciliation', lasts(1, 90)),
    drawn('forceRollingUpdate', lasts(1, 30)),
    drawn('goOffline', lasts(10, 60)),
    drawn('scale', { replicas: (_, replicas) => replicas + 2 }),
    drawn('growVolumes', { size: '2Gi' }),
    drawn('recreateCluster', {}),
    drawn('backup', lasts(5, 120)),
    drawn('failCheck', lasts(20, 240)),
  ],
};

/** Themes that no seed draws. A scenario is given one to find in a few runs what would take many otherwise. */
export const narrowThemes: Readonly<Record<string, readonly Draw[]>> = {
  inPlace: [drawn('kill', containerFor(5, 60)), crashesOnce],
  preflight: [drawn('stopPreflight', lasts(5, 60)), crashesOnce],
  nodeMaintenance: [crashesOnce, drawn('lag', { ordinal: anyMember, seconds: 20, ...lasts(5, 120) })],
  // Steps are carried out, and the connection breaks before the answer.
  lostAnswers: [
    drawn('mishaps', {
      mishap: () => ({ kind: 'lost' }),
      requests: 'pod',
      probability: 1,
      process: null,
      watches: 'stay',
      ...lasts(20, 240),
    }),
  ],
  checks: [drawn('failCheck', lasts(20, 240))],
  maintenance: [maintenance],
  drains: [drawn('drain', memberFor(100, 400))],
  flips: [drawn('flipGate', lasts(6, 60)), drawn('usePartitions', lasts(5, 120))],
  // Facts that are late, missing or wrong.
  facts: [
    drawn('cutNetwork', memberFor(60, 400)),
    drawn('loseNode', memberFor(100, 400)),
    drawn('loseVolume', { ordinal: anyMember }),
    drawn('swapClaim', { ordinal: anyMember }),
    drawn('stopMoco', { otherReplica: true, ...lasts(100, 600) }),
  ],
  // MOCO goes away while no member is waited for, and a step is due before it is back.
  mocoAway: [
    together(
      [0, drawn('pause', lasts(120, 150))],
      [seconds(50, 60), drawn('stopMoco', { otherReplica: true, ...lasts(150, 400) })],
    ),
  ],
  cutPrimary: [
    together(
      [0, drawn('backlog', lasts(250, 500))],
      [seconds(0.5, 3), drawn('cutNetwork', { ordinal: 0, ...lasts(450, 700) })],
    ),
  ],
  // A process takes over whose clock is wrong, and maintenance windows open and close.
  clocks: [
    maintenance,
    drawn('moveClock', { process: whole(0, 1), byMilliseconds: oneOf(-3600 * second, 3600 * second) }),
    drawn('crash', { process: whole(0, 1), downMilliseconds: seconds(1, 40) }),
  ],
  lag: [drawn('lag', { ordinal: anyMember, seconds: oneOf(100, 20), ...lasts(60, 300) })],
};
