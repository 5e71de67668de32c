import type { fleet as fleetRules, turn as turnRules } from '../../../src/core/rules/fleet.ts';
import type { refusedOnNodes } from '../../../src/core/rules/refused-on-nodes.ts';
import type { failing as failingRules, unfinished as unfinishedRules } from '../../../src/core/rules/unfinished.ts';
import { fleetHolds, stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, evicts, notYet, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const crashing = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 } as const;

export const failing: Examples<keyof typeof failingRules> = {
  UpdateRevisionFailing: {
    applies: held(stale().members(member(2).updated().down('CrashLoopBackOff')), {
      member: 2,
      evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
    }),
    says: 'the new revision fails on moco-test-2: container mysqld has not been ready since it restarted, 7 restarts; no other member gets it until the template is corrected',
    alsoSays: [
      {
        member: 2,
        evidence: { kind: 'waiting', container: 'istio-proxy', reason: 'CrashLoopBackOff', restarts: 4 },
        injected: 'istio-proxy',
      },
      'the new revision fails on moco-test-2: container istio-proxy waits: CrashLoopBackOff, 4 restarts; admission has added container istio-proxy, which the template does not have (see `kubectl get mutatingwebhookconfigurations`): no other member gets the revision until that container works',
    ],
    justDoesNot: when(
      stale().members(member(2).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      notYet(2, 'down', crashing),
    ),
  },
};

export const unfinished: Examples<keyof typeof unfinishedRules> = {
  NotReconciled: {
    applies: held(stale().mysqlCluster({ generation: 3 }), { generation: 3, succeeded: 2 }),
    says: 'MOCO has not yet applied generation 3 of the MySQLCluster (it is at 2)',
    justDoesNot: when(stale().mysqlCluster({ generation: 3, reconciledGeneration: 3, succeededGeneration: 3 }), next),
    alsoSays: [
      { generation: 3, succeeded: null },
      'MOCO has not yet applied generation 3 of the MySQLCluster',
      { generation: 3, succeeded: 3 },
      'MOCO has not yet applied generation 3 of the MySQLCluster',
    ],
  },
  NotInitialized: {
    applies: held(stale().mysqlCluster({ initialized: false })),
    says: 'the cluster is not initialized: it is cloning, restoring, or has never started',
    justDoesNot: when(
      stale().mysqlCluster({ initialized: false }).members(member(2).down('ImagePullBackOff')),
      deletes('MemberDown', 2),
    ),
  },
  MemberMissing: {
    applies: held(stale().missing(1), { members: [1], message: null }),
    says: 'moco-test-1 does not exist',
    justDoesNot: when(
      stale().members(member(1).terminating(), member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
    alsoSays: [
      { members: [1, 2], message: null },
      'moco-test-1, moco-test-2 do not exist',
      { members: [2], message: 'exceeded quota: pods' },
      'moco-test-2 does not exist: exceeded quota: pods (see `kubectl describe resourcequota pods`)',
    ],
  },
  Scaling: {
    applies: held(stale(5).statefulSet({ replicas: 3 }), { wanted: 5, statefulSet: 3, pods: 5 }),
    says: 'the cluster is scaling: 5 replicas wanted, the StatefulSet has 3, 5 pods exist',
    justDoesNot: when(stale(5), evicts('ReplicaHealthy', 4)),
    alsoSays: [
      { wanted: 5, statefulSet: 3, pods: 4 },
      'the cluster is scaling: 5 replicas wanted, the StatefulSet has 3, 4 pods exist',
    ],
  },
};

const refusedNode = { nodeName: 'n-1', members: [2], message: 'not found.', againInSeconds: 60 } as const;

export const refused: Examples<keyof typeof refusedOnNodes> = {
  ImageUnavailable: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ImageUnavailable' }] }),
      { nodeName: 'n-1', message: 'not found.', others: 0 },
      {},
      60,
    ),
    says: 'node n-1 cannot get an image of the update revision: not found',
    justDoesNot: when(stale().preflight(), next),
    alsoSays: [
      { nodeName: 'n-1', message: 'mysql:8: not found', others: 2 },
      'node n-1 (and 2 more) cannot get an image of the update revision: mysql:8: not found',
    ],
  },
  ConfigurationRefused: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused', againInSeconds: 0 }] }),
      { nodeName: 'n-1', message: 'not found.', others: 0 },
      {},
      5,
    ),
    says: 'the mysqld of the update revision refuses its configuration on node n-1: not found',
    justDoesNot: when(
      stale()
        .members(member(2).stale().down('CrashLoopBackOff'))
        .preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused' }] }),
      deletes('MemberDown', 2),
    ),
  },
};

/** Members that are down wait for no other cluster. */
const waitsForOthers = <Rule extends keyof typeof fleetHolds>(rule: Rule, says: string) => ({
  applies: held(stale().waitingForOthers(fleetHolds[rule]), fleetHolds[rule]),
  says,
  justDoesNot: when(
    stale().waitingForOthers(fleetHolds[rule]).members(member(1).down('ImagePullBackOff')),
    deletes('MemberDown', 1),
  ),
});

export const fleet: Examples<keyof typeof fleetRules> = {
  SequencesUnreadable: waitsForOthers(
    'SequencesUnreadable',
    'the controller cannot read MySQLRolloutSequences: mysqlrolloutsequences is forbidden',
  ),
  SequenceGone: waitsForOthers(
    'SequenceGone',
    'MySQLRolloutSequence production selected this cluster and no longer exists; the deletion takes effect at 2026-07-01T12:00:00Z',
  ),
  SequenceConflict: waitsForOthers(
    'SequenceConflict',
    'more than one MySQLRolloutSequence selects this cluster: by-team, production',
  ),
  SequenceInvalid: waitsForOthers(
    'SequenceInvalid',
    'MySQLRolloutSequence production is invalid: expected spec.stages to be a list',
  ),
  StageFailing: waitsForOthers(
    'StageFailing',
    'prod/orders fails in stage canary of sequence production (maxFailures 0): no other cluster begins',
  ),
  StageMemberGone: {
    ...waitsForOthers(
      'StageMemberGone',
      'prod/orders failed in stage canary of sequence production, and was deleted, taken offline or given other labels since: a person has to let the others begin',
    ),
    alsoSays: [
      { ...fleetHolds.StageMemberGone, failing: false },
      'prod/orders was the last cluster of stage canary of sequence production, and was deleted, taken offline or given other labels in the middle of a change: nothing shows that the change works',
    ],
  },
  AwaitingEarlierStage: waitsForOthers(
    'AwaitingEarlierStage',
    'stage canary of sequence production goes first: 2 of 5 clusters are not up to date and healthy, prod/orders among them',
  ),
  AwaitingSoak: {
    applies: held(stale().waitingForOthers(fleetHolds.AwaitingSoak, 30), fleetHolds.AwaitingSoak, {}, 30),
    says: 'stage canary of sequence production soaks for 24h, until 2026-07-01T12:00:00Z: prod/orders was the last to become complete',
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSoak, 0), next),
  },
  AwaitingSettle: {
    applies: held(stale().waitingForOthers(fleetHolds.AwaitingSettle, 30), fleetHolds.AwaitingSettle, {}, 30),
    says: 'sequence production lets a change settle for 5m30s, until 2026-07-01T12:00:00Z: it may not have reached the earlier stages yet',
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSettle, 0), next),
  },
  FleetFailing: waitsForOthers(
    'FleetFailing',
    'the rollouts of prod/orders and 2 more fail (--max-failing-rollouts 3): no other cluster begins',
  ),
};

export const turn: Examples<keyof typeof turnRules> = {
  AwaitingStageSlot: {
    ...waitsForOthers(
      'AwaitingStageSlot',
      '2 clusters of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
    ),
    alsoSays: [
      { ...fleetHolds.AwaitingStageSlot, limit: 1 },
      '1 cluster of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
    ],
  },
  AwaitingFleetSlot: {
    applies: held(stale().queued(4, 2), { place: 4, limit: 2, stuck: [] }),
    says: '2 clusters may be rolling at a time; this one is number 4 in the queue',
    justDoesNot: when(stale().queued(4, 2).members(member(1).down('ImagePullBackOff')), deletes('MemberDown', 1)),
    alsoSays: [
      { place: 4, limit: 2, stuck: [{ cluster: 'prod/orders', rule: 'MemberMissing' }] },
      '2 clusters may be rolling at a time; this one is number 4 in the queue; a slot is occupied by a cluster that may need a person: prod/orders (MemberMissing)',
      { place: 4, limit: 1, stuck: [], first: 'prod/orders' },
      'prod/orders goes first, and no member of it has verified its revision yet (--verify-first-cluster); this one is number 4 in the queue',
      {
        place: 4,
        limit: 3,
        stuck: ['a', 'b', 'c', 'd'].map((name) => ({ cluster: `prod/${name}`, rule: 'MemberMissing' })),
      },
      '3 clusters may be rolling at a time; this one is number 4 in the queue; 4 slots are occupied by clusters that may need a person: prod/a (MemberMissing), prod/b (MemberMissing), prod/c (MemberMissing) (and 1 more)',
    ],
  },
  AwaitingFleetInterval: {
    applies: held(stale().interval(60, 59), { flag: '--disruption-interval', seconds: 60 }, {}, 1),
    says: 'two disruptions in the fleet are at least 60 s apart (--disruption-interval)',
    justDoesNot: when(stale().interval(60, 60), next),
  },
};
