import { realEnd } from '../../support/nodes/settings.ts';
import { type Circumstances, plainCircumstances } from './circumstances.ts';
import type { Scenario } from './draw.ts';

const quick = {
  nodes: { startMilliseconds: 2000, stopMilliseconds: 1000 },
  moco: { notice: 500, drain: 3000 },
} satisfies Partial<Circumstances>;

const fetchesIn = (pullMilliseconds: number): NonNullable<Circumstances['preflight']> => ({
  setting: { preflight: 'Nodes' },
  reports: 'every image',
  pullMilliseconds,
  isAllowed: true,
  isLabelled: false,
});

type Seven = readonly [number, number, number, number, number, number, number];

/** Milliseconds in the order of a pod's life: to its node, containers, readiness, end, crash, and start after that. */
const nodesOf = (...[schedule, init, start, startup, stop, crashAfter, restart]: Seven) => ({
  scheduleMilliseconds: schedule,
  initMilliseconds: init,
  startMilliseconds: start,
  startupMilliseconds: startup,
  stopMilliseconds: stop,
  crashAfterMilliseconds: crashAfter,
  restartMilliseconds: restart,
});

const stepsOfMoco = [
  ...(['notice', 'silence', 'drain', 'failedTry', 'retry', 'failover', 'healthyFalse'] as const),
  ...(['repoint', 'label', 'open', 'healthyTrue'] as const),
];
type StepOfMoco = (typeof stepsOfMoco)[number];

const mocoOf = (...milliseconds: readonly number[]) =>
  Object.fromEntries(stepsOfMoco.map((step, index) => [step, milliseconds[index]])) as Record<StepOfMoco, number>;

/** Requests about pods of the first process take so long to arrive. */
const slowTo = (thereMilliseconds: number, forMilliseconds: number) =>
  ({
    kind: 'mishaps',
    mishap: { kind: 'slow', thereMilliseconds, backMilliseconds: 0 },
    requests: 'pod',
    probability: 1,
    process: 0,
    watches: 'stay',
    forMilliseconds,
  }) as const;

/** The nodes of these members are cordoned well before the rollout and in its first minutes. */
const placeless = (ordinals: readonly number[]): Scenario['plan'] => [
  { atMilliseconds: -3000, what: { kind: 'cordon', ordinals, forMilliseconds: 600_000 } },
  { atMilliseconds: 120_000, what: { kind: 'rollOut', image: 'mysql:8.4.1' } },
];

/**
 * Findings of long simulations, each shortened as far as possible and with its durations, since the meaning of a seed
 * changes with the themes.
 */
export const findings = {
  'takes a demotion back in its time whose taking back was on its way when the process died': {
    circumstances: {
      ...plainCircumstances,
      seed: '108954',
      nodes: nodesOf(373, 479, 3915, 3592, 2347, 18_925, 346),
      moco: mocoOf(989, 5360, 3442, 1538, 4100, 28_453, 1622, 729, 262, 89, 1977),
    },
    plan: [
      {
        atMilliseconds: 0,
        what: { kind: 'rollOutBad', image: 'mysql:8.4.6-crash', corrected: 'mysql:8.4.3', forMilliseconds: 8252 },
      },
      { atMilliseconds: 41_790, what: { kind: 'switchover', how: 'failing', forMilliseconds: 381_374 } },
      {
        atMilliseconds: 45_192,
        what: slowTo(19_654, 95_168),
      },
      { atMilliseconds: 88_448, what: { kind: 'crashAtWrite', process: 0, writes: 1, to: 'pod', when: 'onItsWay' } },
    ],
  },
  'goes on where MOCO, killed between taking a role away and giving one, is content without it': {
    circumstances: {
      ...plainCircumstances,
      seed: '103815',
      lagMilliseconds: 5,
      nodes: { initMilliseconds: 1649, startMilliseconds: 5893, startupMilliseconds: 994, stopMilliseconds: 23_831 },
      moco: { notice: 1296, drain: 3528, healthyFalse: 494, repoint: 1002, label: 823, open: 1296, healthyTrue: 1347 },
    },
    plan: [
      { atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.3' } },
      { atMilliseconds: 79_249, what: { kind: 'switchover', how: 'ignored', forMilliseconds: 273_922 } },
      { atMilliseconds: 83_603, what: { kind: 'errant', ordinal: 1, forMilliseconds: 81_081 } },
      { atMilliseconds: 84_985, what: { kind: 'stopMoco', otherReplica: true, forMilliseconds: 103_073 } },
    ],
  },
  'lets a process go by what it reads 30 s after it has asked for a pod to go, however late it was told that it does': {
    circumstances: {
      ...plainCircumstances,
      seed: '39476',
      replicas: 1,
      movesCurrentRevision: true,
      nodes: nodesOf(74, 1297, 4429, 1815, 530, 16_442, 870),
      moco: mocoOf(951, 4434, 2913, 28_265, 1766, 29_595, 2225, 773, 449, 2174, 2540),
    },
    plan: [
      {
        atMilliseconds: 2017,
        what: slowTo(5544, 114_460),
      },
      { atMilliseconds: 16_840, what: { kind: 'rollOut', image: 'mysql:8.4.3' } },
      { atMilliseconds: 20_682, what: { kind: 'watchStalls', plural: null, process: null, forMilliseconds: 32_239 } },
    ],
  },
  'does not let an eviction end that the API server had begun when its author died': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick },
    plan: [
      { atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.3' } },
      {
        atMilliseconds: 0,
        // With this seed between the two writes of the eviction.
        what: slowTo(75_000, 20_000),
      },
      { atMilliseconds: 0, what: { kind: 'crashAtWrite', process: 0, writes: 1, to: 'pod', when: 'onItsWay' } },
      {
        atMilliseconds: 0,
        what: {
          kind: 'atWrite',
          process: 0,
          writes: 1,
          to: 'pod',
          when: 'onItsWay',
          what: { kind: 'kill', ordinal: 1, container: 'mysqld', forMilliseconds: 200_000 },
        },
      },
    ],
  },
  'keeps the revision of a member whose pod is going when the template changes': {
    circumstances: {
      ...plainCircumstances,
      seed: '1',
      nodes: { ...realEnd, startMilliseconds: 2000 },
      moco: { notice: 500, drain: 3000 },
    },
    plan: [
      { atMilliseconds: 0, what: { kind: 'pause', forMilliseconds: 120_000 } },
      { atMilliseconds: 2000, what: { kind: 'deletePod', ordinal: 1 } },
      { atMilliseconds: 5000, what: { kind: 'rollOut', image: 'mysql:8.4.3' } },
    ],
  },
  'replaces a member with resources that no revision asks for, once updates in place are off': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick, inPlace: { mode: 'IfPossible' } },
    plan: [
      { atMilliseconds: 0, what: { kind: 'refuseResize', ordinal: 2, how: 'Deferred', forMilliseconds: 60_000 } },
      { atMilliseconds: 1000, what: { kind: 'changePod', part: 'cpu', value: '16' } },
      { atMilliseconds: 30_000, what: { kind: 'stopInPlace', forMilliseconds: 300_000 } },
      { atMilliseconds: 30_001, what: { kind: 'changePod', part: 'cpu', value: '1' } },
    ],
  },
  'finishes a resize that a failing check has held before, where new pods come up at the current revision': {
    circumstances: { ...plainCircumstances, seed: '30', ...quick, inPlace: { mode: 'IfPossible', containers: [] } },
    plan: [
      { atMilliseconds: 0, what: { kind: 'failCheck', forMilliseconds: 120_000 } },
      { atMilliseconds: 50_000, what: { kind: 'changePod', part: 'cpu', value: '16' } },
    ],
  },
  'leaves alone what others have given the label or the name of a pod that fetches images': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick, preflight: fetchesIn(5_000) },
    plan: [
      { atMilliseconds: -3000, what: { kind: 'labelMember', ordinal: 1, forMilliseconds: 300_000 } },
      { atMilliseconds: -3000, what: { kind: 'foreignFetchers', forMilliseconds: 300_000 } },
      { atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.1' } },
    ],
  },
  'restarts no container in place whose image its node has not fetched, whatever is overridden': {
    circumstances: {
      ...plainCircumstances,
      seed: '1',
      ...quick,
      inPlace: { mode: 'IfPossible', containers: ['agent', 'user-sidecar'] },
      preflight: fetchesIn(30_000),
    },
    plan: [
      {
        atMilliseconds: -3000,
        what: { kind: 'overridePreflight', rule: 'PreflightRunning', forMilliseconds: 300_000 },
      },
      {
        atMilliseconds: 0,
        what: { kind: 'changePod', part: 'sidecar', value: 'example/sidecar:2', pulled: false },
      },
    ],
  },
  'takes no member whose next pod no node takes, since every node is cordoned': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick },
    plan: placeless([0, 1, 2]),
  },
  'takes no member whose next pod no node takes, since the others are kept apart from it': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick, apart: true },
    plan: placeless([2]),
  },
  'takes no member whose next pod no node takes, since the only free one has never reported': {
    circumstances: { ...plainCircumstances, seed: '1', ...quick, apart: true },
    plan: [{ atMilliseconds: -5000, what: { kind: 'addNode', name: 'node-3' } }, ...placeless([2])],
  },
  'lets a member come back updated that it took before the user had members updated by partitions for a while': {
    circumstances: { ...plainCircumstances, seed: '1', nodes: { ...realEnd, stopMilliseconds: 1000 } },
    plan: [
      { atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.3' } },
      { atMilliseconds: 11_000, what: { kind: 'usePartitions', forMilliseconds: 12_000 } },
    ],
  },
} satisfies Readonly<Record<string, Scenario>>;
