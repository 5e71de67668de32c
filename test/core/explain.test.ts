import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { Hold, HoldRule, Step, StepKind, Target } from '../../src/core/decision.ts';
import type { ContainerResources, InPlaceChange } from '../../src/core/in-place-changes.ts';
import type { Evidence } from '../../src/core/member.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { type Phase, phase } from '../../src/core/reports.ts';
import { explainHold } from '../../src/core/rules/catalogue.ts';
import { type ComesBack, explainComesBack, explainEvidence, explainStep } from '../../src/core/sentences.ts';
import type { StepRule } from '../../src/core/step.ts';
import { appeared, type ClusterBuilder, cluster, fleetHolds, three } from './cluster-builder.ts';
import { changeOf, member, resourcesOf, revisionAfter } from './member-builder.ts';
import { caughtUp, shownWrite } from './mysql-readings.ts';

const name = (ordinal: number): string => `moco-test-${ordinal}`;
const crashing: Evidence = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 };

/** Forms, each with the sentence that people read after it. */
type Forms<Form> = readonly (Form | string)[];
type WithoutRule<Form> = Form extends unknown ? Omit<Form, 'rule'> : never;

function inPairs<Form extends object>(forms: Forms<Form>): readonly (readonly [Form, string])[] {
  return forms.flatMap((form, index) => {
    const sentence = forms[index + 1];
    return typeof form === 'string' ? [] : [[form, typeof sentence === 'string' ? sentence : 'no sentence'] as const];
  });
}

/** Every rule, in each of its forms. */
const sentences: Readonly<{ [Rule in HoldRule]: Forms<WithoutRule<Extract<Hold, { rule: Rule }>>> }> = {
  SnapshotInconsistent: [
    { problem: 'two pods have the ordinal 1' },
    "the cluster's objects contradict each other: two pods have the ordinal 1",
  ],
  ClusterDeleting: [{}, 'the MySQLCluster is being deleted'],
  RolloutNotOwned: [
    { owner: 'other (uid 7d1f)' },
    'the MySQLRollout belongs to another MySQLCluster, other (uid 7d1f): remove its ownerReferences to keep its spec, or delete it',
  ],
  RolloutTerminating: [
    { finalizers: [] },
    'the MySQLRollout is being deleted',
    { finalizers: ['example.com/keep', 'foregroundDeletion'] },
    'the MySQLRollout is being deleted; these finalizers keep it: example.com/keep, foregroundDeletion',
  ],
  DefinitionOutdated: [
    { message: 'strict decoding error: unknown field "status.intent"' },
    'the MySQLRollout CRD is outdated: apply the CRDs of this version of moco-rollout (strict decoding error: unknown field "status.intent")',
  ],
  SettingsInvalid: [{ problem: 'spec.partition is -1' }, 'the settings are invalid: spec.partition is -1'],
  StatefulSetMissing: [{}, 'the StatefulSet does not exist'],
  StatefulSetDeleting: [{}, 'the StatefulSet is being deleted or re-created'],
  StatefulSetNotObserved: [
    {},
    'Kubernetes has not yet observed the newest generation of the StatefulSet',
    {
      contention: {
        writesPerSecond: 1,
        managers: ['moco-controller'],
        fields: [
          { path: 'spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion', what: 'added' },
        ],
      },
    },
    'moco-controller writes the StatefulSet again and again, at least once a second, since the API server adds spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion (write it out)',
    {
      contention: {
        writesPerSecond: 10,
        managers: ['one', 'other'],
        fields: ['a', 'b', 'c', 'd', 'e'].map((field) => ({ path: `spec.${field}`, what: 'dropped' })),
      },
    },
    'one and other write the StatefulSet again and again, at least 10 times a second, since the API server drops spec.a (leave it out), drops spec.b (leave it out), drops spec.c (leave it out), alters 2 more',
    {
      contention: {
        writesPerSecond: null,
        managers: ['moco-controller'],
        fields: [{ path: 'spec.podTemplate.spec.hostNetwork', what: 'dropped' }],
      },
    },
    'moco-controller resets the partition each time that it is lowered, since the API server drops spec.podTemplate.spec.hostNetwork (leave it out)',
    { contention: { writesPerSecond: 1, managers: [], fields: [] } },
    'somebody writes the StatefulSet again and again, at least once a second',
  ],
  AwaitingOwnWrite: [{ write: 'evict moco-test-2' }, 'waiting to see the effect of the last step (evict moco-test-2)'],
  AdmissionNotInForce: [
    { mode: 'OnDelete', finding: 'a dry run left it at RollingUpdate.' },
    'admission does not keep the StatefulSet at OnDelete: a dry run left it at RollingUpdate',
    { mode: 'Partition', finding: 'a dry run left it at RollingUpdate with partition 2' },
    'admission does not keep the StatefulSet at partition = replicas: a dry run left it at RollingUpdate with partition 2',
  ],
  ReleaseUnsafe: [
    { message: 'it would come out with partition 0.' },
    "the StatefulSet can't be released without risk to its pods: it would come out with partition 0",
  ],
  AwaitingFleetInterval: [
    { flag: '--disruption-interval', seconds: 60 },
    'two disruptions in the fleet are at least 60 s apart (--disruption-interval)',
  ],
  MemberDownOutOfOrder: [
    { member: 0, pod: 'moco-test-0', next: 2, revision: 'a', current: 'b' },
    'moco-test-0 does not work, and partitions reach it only after moco-test-2; `kubectl delete pod moco-test-0` makes it try again at revision b instead of a',
    { member: 0, pod: 'moco-test-0', next: 2, revision: 'b', current: 'b' },
    'moco-test-0 does not work, and partitions reach it only after moco-test-2; `kubectl delete pod moco-test-0` makes it try again at revision b',
  ],
  AwaitingMoco: [
    { partition: 2, member: 2 },
    "waiting for MOCO's partition controller to lower the partition to 2, which reaches moco-test-2",
  ],
  ReconciliationStopped: [{}, "MOCO's reconciliation of this cluster is stopped by annotation"],
  ClusteringStopped: [{}, "MOCO's clustering of this cluster is stopped by annotation"],
  Offline: [{}, 'the cluster is offline'],
  ForcedRollingUpdate: [{}, 'annotation force-rolling-update makes Kubernetes roll out the update itself'],
  StrategyNotOnDelete: [
    { labelled: false },
    'the update strategy of the StatefulSet is not OnDelete yet',
    { labelled: true },
    'the StatefulSet has the label, but its update strategy is not OnDelete',
  ],
  Paused: [
    {},
    'the rollout is paused',
    { by: 'spec.paused of the MySQLRollout' },
    'the rollout is paused by spec.paused of the MySQLRollout',
  ],
  RevisionFlapping: [
    { revisions: 4, until: '12:10' },
    "4 update revisions within ten minutes: two writers seem to overwrite each other's template; the rollout goes on at 12:10 unless another one appears",
  ],
  NotReconciled: [
    { generation: 3, succeeded: 2 },
    'MOCO has not yet applied generation 3 of the MySQLCluster (it is at 2)',
    { generation: 3, succeeded: null },
    'MOCO has not yet applied generation 3 of the MySQLCluster',
    { generation: 3, succeeded: 3 },
    'MOCO has not yet applied generation 3 of the MySQLCluster',
  ],
  NotInitialized: [{}, 'the cluster is not initialized: it is cloning, restoring, or has never started'],
  Released: [{}, 'the cluster was released to MOCO'],
  SequencesUnreadable: [
    fleetHolds.SequencesUnreadable,
    'the controller cannot read MySQLRolloutSequences: mysqlrolloutsequences is forbidden',
  ],
  SequenceConflict: [
    fleetHolds.SequenceConflict,
    'more than one MySQLRolloutSequence selects this cluster: by-team, production',
  ],
  SequenceInvalid: [
    fleetHolds.SequenceInvalid,
    'MySQLRolloutSequence production is invalid: expected spec.stages to be a list',
  ],
  StageFailing: [
    fleetHolds.StageFailing,
    '1 rollouts of stage canary of sequence production fail, prod/orders among them; more than 0 keep all others from beginning',
  ],
  AwaitingEarlierStage: [
    fleetHolds.AwaitingEarlierStage,
    'stage canary of sequence production goes first: 2 of 5 clusters are not up to date and healthy, prod/orders among them',
  ],
  AwaitingSoak: [
    fleetHolds.AwaitingSoak,
    'stage canary of sequence production soaks for 24h, until 2026-07-01T12:00:00Z: prod/orders was the last to become complete',
  ],
  AwaitingSettle: [
    fleetHolds.AwaitingSettle,
    'sequence production lets a change settle for 5m30s, until 2026-07-01T12:00:00Z: it may not have reached the earlier stages yet',
  ],
  AwaitingStageSlot: [
    fleetHolds.AwaitingStageSlot,
    '2 clusters of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
    { ...fleetHolds.AwaitingStageSlot, limit: 1 },
    '1 cluster of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
  ],
  FleetFailing: [
    { failing: 3, limit: 3, cluster: 'prod/orders' },
    '3 rollouts in the fleet fail, prod/orders among them; from 3 on no other one begins (--max-failing-rollouts)',
  ],
  AwaitingFleetSlot: [
    { place: 4, limit: 2, stalled: 0 },
    '2 clusters may be rolling at a time; this one is number 4 in the queue',
    { place: 4, limit: 2, stalled: 1 },
    '2 clusters may be rolling at a time; this one is number 4 in the queue; a stalled rollout occupies a slot',
    { place: 4, limit: 1, stalled: 0, first: 'prod/orders' },
    'prod/orders goes first, and no member of it has verified its revision yet (--verify-first-cluster); this one is number 4 in the queue',
    { place: 4, limit: 3, stalled: 2 },
    '3 clusters may be rolling at a time; this one is number 4 in the queue; stalled rollouts occupy 2 slots',
  ],
  MemberMissing: [
    { members: [2], message: null },
    'moco-test-2 does not exist',
    { members: [1, 2], message: null },
    'moco-test-1, moco-test-2 do not exist',
    { members: [2], message: 'exceeded quota: pods' },
    'moco-test-2 does not exist: exceeded quota: pods',
  ],
  Scaling: [
    { wanted: 5, statefulSet: 3, pods: 4 },
    'the cluster is scaling: 5 replicas wanted, the StatefulSet has 3, 4 pods exist',
  ],
  UpdateRevisionFailing: [
    { member: 2, evidence: crashing },
    'the new revision fails on moco-test-2: container mysqld waits: CrashLoopBackOff, 7 restarts; no other member gets it until the template is corrected',
  ],
  AwaitingSwitchover: [
    { member: 0, timeoutSeconds: 90 },
    'waiting up to 90 s for MOCO to move the primary away from moco-test-0',
  ],
  SwitchoverInProgress: [
    { member: 0, terminating: true },
    'the primary is moving away from moco-test-0, which is terminating',
    { member: 0, terminating: false },
    'the primary is moving away from moco-test-0, which somebody else demoted',
  ],
  ForeignDemote: [{ member: 1 }, 'moco-test-1 has a demote annotation that this controller did not set'],
  RolesNotSettled: [
    { members: [1], unavailable: true },
    'MOCO does not report the cluster as Available, although its primary moco-test-1 participates',
    { members: [0, 1] },
    'MOCO has not finished setting the roles of moco-test-0, moco-test-1',
  ],
  MemberProtected: [
    { member: 0 },
    "moco-test-0 has MOCO's annotation prevent-delete, which MOCO sets while a replica lags: the pod can't be deleted",
  ],
  MemberUnreachable: [{ member: 2 }, 'the node of moco-test-2 does not answer'],
  AwaitingFailover: [
    { primary: 0, replica: null, graceSeconds: 180 },
    'the primary moco-test-0 does not participate; MOCO has 180 s for a failover',
    { primary: 0, replica: 2, graceSeconds: 60 },
    'moco-test-2 was ready until just now, so the primary moco-test-0 may be gone; Kubernetes has 60 s to notice',
  ],
  FailoverUnfinished: [
    { primary: 0, member: 2, graceSeconds: 180, said: null },
    'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and may have received transactions that nobody has applied yet, so it is not restarted',
    { primary: 0, member: 2, graceSeconds: 180, said: caughtUp },
    'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and has applied all that it has received, which a failover may still need, so it is not restarted',
    {
      primary: 0,
      member: 2,
      graceSeconds: 180,
      said: { ...caughtUp, missing: null, unapplied: 7, applier: { runs: false, error: 1062 } },
    },
    "the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and has received 7 transactions that it has not applied; its applier has stopped, with MySQL's error 1062, so it is not restarted",
  ],
  AwaitingRecovery: [
    { member: 0, graceSeconds: 180 },
    'moco-test-0 runs without participating; it has 180 s to recover',
  ],
  MemberTerminating: [{ member: 2 }, 'moco-test-2 is terminating'],
  MemberStuckTerminating: [
    { member: 2, graceSeconds: 300 },
    'moco-test-2 is still terminating after its grace period of 300 s',
    { member: 2, graceSeconds: 0 },
    'moco-test-2 still exists after its grace period ended early; a finalizer may keep it',
  ],
  NotEnoughAcknowledging: [
    { member: 2, others: 1, needed: 2 },
    'without moco-test-2 1 member can acknowledge commits, as far as is known, and 2 are needed, the primary among them',
  ],
  ClaimTerminating: [
    { member: 2, claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }] },
    'the end of moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 is being deleted and goes with the pod',
    {
      member: 2,
      claims: [
        { name: 'mysql-data-moco-test-2', state: 'missing' },
        { name: 'logs-moco-test-2', state: 'terminating' },
      ],
    },
    'the end of moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 does not exist any more and its claim logs-moco-test-2 is being deleted and goes with the pod',
  ],
  NodeTakesNoPods: [
    { member: 2, nodeName: 'n-1', refusals: ['is cordoned'], ties: ['the volume pvc-1'] },
    'another pod of moco-test-2 would stay Pending: its node n-1 is cordoned, and the volume pvc-1 allows no other node that takes pods',
    {
      member: 2,
      nodeName: 'n-1',
      refusals: ['is not ready', 'is short of memory'],
      ties: ['the volume pvc-1', 'the nodeSelector'],
    },
    'another pod of moco-test-2 would stay Pending: its node n-1 is not ready and is short of memory, and the volume pvc-1 and the nodeSelector allow no other node that takes pods',
    { member: 2, nodeName: 'n-1', refusals: ['is gone'], ties: [] },
    'another pod of moco-test-2 would stay Pending: its node n-1 is gone, and no other node takes pods',
  ],
  SuccessorRefused: [
    { member: 2, message: 'pods "moco-test-2" is forbidden: exceeded quota: small.' },
    'the API server would not admit another pod of moco-test-2: pods "moco-test-2" is forbidden: exceeded quota: small',
  ],
  ComebackUnknown: [{ members: [1, 2] }, 'it is being read whether moco-test-1, moco-test-2 can come back'],
  BackupRunning: [
    { budget: 'moco-test' },
    'PodDisruptionBudget moco-test allows no disruption, as MOCO has it while a backup runs',
    { job: 'emergency-backup', startedAt: '2026-07-01T12:00:00Z' },
    'backup Job emergency-backup, which started at 2026-07-01T12:00:00Z, has not ended',
    { job: 'emergency-backup', startedAt: '2026-07-01T12:00:00Z', overdueHours: 6 },
    'backup Job emergency-backup, which started at 2026-07-01T12:00:00Z, has not ended within 6 hours: check whether its pod still works, or is kept by another container such as the proxy of a service mesh',
    { job: 'moco-restore-test', startedAt: '2026-07-01T12:00:00Z', restores: true },
    'restore Job moco-restore-test, which started at 2026-07-01T12:00:00Z, has not ended',
  ],
  BackupsUnreadable: [
    { message: 'jobs.batch is forbidden.' },
    'the controller cannot read Jobs, and the cluster has a backup policy: jobs.batch is forbidden',
  ],
  UpdatedMemberNotParticipating: [
    { member: 2, wait: { for: 'state', state: 'running', evidence: null } },
    'moco-test-2 is updated, but does not participate yet',
    { member: 2, wait: { for: 'state', state: 'down', evidence: crashing } },
    'moco-test-2 is updated, but does not participate: container mysqld waits: CrashLoopBackOff, 7 restarts',
    { member: 2, wait: { for: 'role' } },
    'moco-test-2 is updated, but MOCO has not set its role yet',
    { member: 2, wait: { for: 'minReadySeconds', minReadySeconds: 5 } },
    'moco-test-2 is updated, but has not participated for 5 s yet',
  ],
  MaxUnavailableReached: [
    { unavailable: [1], maxUnavailable: 1 },
    'moco-test-1 is unavailable, and at most 1 may be',
    { unavailable: [1, 2], maxUnavailable: 1 },
    'moco-test-1, moco-test-2 are unavailable, and at most 1 may be',
  ],
  ClusterNotHealthy: [
    { healthy: false, synced: 3, replicas: 3 },
    'MOCO does not report the cluster as Healthy',
    { healthy: true, synced: 2, replicas: 3 },
    '2 of 3 members are in sync',
  ],
  BlockedByPDB: [
    { budget: 'moco-test', cause: 'closed', healthy: 3, needed: 3, message: null },
    'PodDisruptionBudget moco-test allows no disruption, as it does while a backup runs',
    { budget: 'moco-test', cause: 'closed', healthy: 3, needed: 3, message: null, inVain: 'BackupRunning' },
    'PodDisruptionBudget moco-test allows no disruption, as it does while a backup runs; overriding BackupRunning does not change that: let the backup end, or delete its Job',
    { budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null },
    'PodDisruptionBudget moco-test needs 2 healthy pods and has 2',
    { budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null, awaiting: 1 },
    'PodDisruptionBudget moco-test needs 2 healthy pods and has 2; it still counts an earlier eviction, for at most two minutes',
    { budget: 'moco-test', cause: 'used', healthy: 3, needed: 2, message: null, awaiting: 2 },
    'PodDisruptionBudget moco-test needs 2 healthy pods and has 3; it still counts 2 earlier evictions, for at most two minutes',
    { budget: 'moco-test', cause: 'notObserved', healthy: 3, needed: 2, message: null },
    'PodDisruptionBudget moco-test has changed, and Kubernetes has not counted its pods again yet',
    { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: 'Cannot evict pod.' },
    'the eviction was refused: Cannot evict pod',
    { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: null },
    'the eviction was refused: PodDisruptionBudget moco-test needs 2 healthy pods',
    { budget: 'moco-test', cause: 'several', healthy: 3, needed: 2, message: null },
    'several PodDisruptionBudgets select the members (moco-test is one), and Kubernetes evicts no such pod',
  ],
  RevisionsKept: [
    { revision: 'moco-test-1' },
    'new pods come up at revision moco-test-1, until the pods exist again that somebody else has taken',
  ],
  ReplicasBehind: [
    {
      member: 0,
      limitSeconds: 1,
      graceSeconds: 30,
      replicas: [{ ordinal: 1, reading: { kind: 'delay', seconds: 41.7 } }],
      acknowledging: null,
    },
    'the switchover away from moco-test-0 waits until replicas are less than 1 s behind: moco-test-1 is 41 s behind',
    {
      member: 0,
      limitSeconds: 5,
      graceSeconds: 30,
      replicas: [
        { ordinal: 1, reading: null },
        { ordinal: 2, reading: { kind: 'notReplicating', message: 'replication thread are stopped.' } },
        { ordinal: 3, reading: { kind: 'unknown', message: 'ECONNREFUSED' } },
      ],
      acknowledging: null,
    },
    "the switchover away from moco-test-0 waits until replicas are less than 5 s behind: the delay of moco-test-1 is not read yet; moco-test-2 does not replicate (replication thread are stopped); the delay of moco-test-3 can't be read (ECONNREFUSED), and the wait for it ends after 30 s",
    {
      member: 1,
      limitSeconds: null,
      graceSeconds: 30,
      replicas: [
        { ordinal: 2, reading: { kind: 'notReceived', transactions: 145, silent: null } },
        { ordinal: 3, reading: { kind: 'notApplied', transactions: 1, silent: null } },
      ],
      acknowledging: null,
    },
    'moco-test-1 waits until the other replicas have received what the primary has committed: moco-test-2 has not received 145 transactions of the primary; moco-test-3 has not applied 1 transaction that it has received',
    {
      member: 1,
      limitSeconds: null,
      graceSeconds: 30,
      replicas: [
        { ordinal: 2, reading: { kind: 'notReceiving', error: 1045, silent: null } },
        { ordinal: 3, reading: { kind: 'notReceiving', error: 0, silent: 'no answer within 1 s' } },
        { ordinal: 4, reading: { kind: 'notAcknowledging', silent: null } },
      ],
      acknowledging: { others: 1, needed: 2 },
    },
    "moco-test-1 waits until the other replicas have received what the primary has committed: moco-test-2 receives nothing from the primary (MySQL's error 1045); moco-test-3 receives nothing from the primary as it last said, and can't be read since (no answer within 1 s); moco-test-4 replicates and acknowledges no commit; by the primary's count 1 would acknowledge commits without it, and each commit needs 2",
  ],
  ImageUnavailable: [
    { nodeName: 'n-1', message: 'mysql:8: not found.', others: 0 },
    'node n-1 can not get an image of the update revision: mysql:8: not found',
    { nodeName: 'n-1', message: 'mysql:8: not found', others: 2 },
    'node n-1 (and 2 more) can not get an image of the update revision: mysql:8: not found',
  ],
  ConfigurationRefused: [
    { nodeName: 'n-1', message: "unknown variable 'a=1'.", others: 0 },
    "the mysqld of the update revision refuses its configuration on node n-1: unknown variable 'a=1'",
  ],
  PreflightRunning: [
    { nodes: ['n-1'], checking: null, message: null, limitSeconds: 300 },
    'node n-1 fetches the images of the update revision, for at most 300 s',
    { nodes: ['n-1', 'n-2'], checking: 'n-1', message: '0/3 nodes are available.', limitSeconds: 300 },
    'nodes n-1, n-2 fetch the images of the update revision, and its mysqld checks its configuration on node n-1, for at most 300 s: 0/3 nodes are available',
  ],
  LongWrite: [
    { member: 0, write: null, others: 0, graceSeconds: 60 },
    'the primary moco-test-0 is being asked about open writes',
    { member: 0, write: shownWrite, others: 2, graceSeconds: 60 },
    'the switchover away from moco-test-0 waits, for at most 60 s, for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z and that waits for its client, and for 2 more',
    { member: 0, write: shownWrite, others: 19, graceSeconds: null },
    'the switchover away from moco-test-0 waits for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z and that waits for its client, and for at least 19 more',
    { member: 0, write: { ...shownWrite, waitsFor: null }, others: 0, graceSeconds: null },
    'the switchover away from moco-test-0 waits for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z',
  ],
  AwaitingResize: [
    { member: 2, containers: ['mysqld', 'agent'], deferred: null, minReadySeconds: 5 },
    'the kubelet has not resized mysqld, agent of moco-test-2 yet',
    { member: 2, containers: ['mysqld'], deferred: "Node didn't have enough resource: cpu.", minReadySeconds: 5 },
    "the kubelet has not resized mysqld of moco-test-2 yet, and defers it: Node didn't have enough resource: cpu",
    { member: 2, containers: [], deferred: null, minReadySeconds: 5 },
    'moco-test-2 has been resized, and has not participated for 5 s since',
  ],
  RestartNeeded: [
    { member: 2, reasons: ["spec.containers[mysqld].args can't change in a running pod", 'no.'], opensAt: null },
    "moco-test-2 can't be updated without a restart: spec.containers[mysqld].args can't change in a running pod; no",
    { member: 2, reasons: ['no.'], opensAt: '2026-01-03T01:00:00Z' },
    "moco-test-2 can't be updated without a restart: no; it may restart at 2026-01-03T01:00:00Z",
  ],
  SwitchoverFailing: [
    { member: 0, tries: 1, retries: true },
    'the switchover away from moco-test-0 has failed once; it will be tried again',
    { member: 0, tries: 4, retries: false },
    'the switchover away from moco-test-0 has failed 4 times; it will not be tried again for this revision',
  ],
  DisruptionControllerBehind: [
    { evictions: 7, limit: 5 },
    "Kubernetes' disruption controller has not observed 7 evictions of other clusters yet, and 5 may wait for it at a time",
  ],
  AwaitingApproval: [
    { member: 0, revision: revisionAfter },
    `the primary moco-test-0 waits for approval of revision ${revisionAfter}`,
  ],
  PrimaryWaitsForPinned: [
    { member: 0, pinned: [1, 2] },
    'the primary moco-test-0 waits for moco-test-1, moco-test-2, pinned to the previous revision: a replica must not be older than its source',
  ],
  PartitionReached: [
    { partition: 0, members: [], pinned: [2] },
    'moco-test-2 is pinned to the previous revision',
    { partition: 1, members: [0], pinned: [1, 2] },
    'partition 1 keeps moco-test-0 at the previous revision; moco-test-1, moco-test-2 are pinned to the previous revision',
    { partition: 2, members: [0, 1], pinned: [] },
    'partition 2 keeps moco-test-0, moco-test-1 at the previous revision',
  ],
  OutsideMaintenanceWindow: [
    { closesAt: null, neededSeconds: 40, opensAt: '2026-01-03T01:00:00Z' },
    'no maintenance window is open; the next step may begin at 2026-01-03T01:00:00Z',
    { closesAt: '2026-01-02T05:00:00Z', neededSeconds: 40, opensAt: null },
    'the maintenance window closes at 2026-01-02T05:00:00Z, and the next step takes about 40 s; no opening of the next 30 days has 40 s for the next step',
  ],
  Blackout: [
    {
      from: '2026-01-02T03:00:00Z',
      until: '2026-01-02T05:00:00Z',
      reason: 'end of the year.',
      begun: true,
      neededSeconds: 40,
      opensAt: '2026-01-03T01:00:00Z',
    },
    'there is a blackout until 2026-01-02T05:00:00Z (end of the year); the next step may begin at 2026-01-03T01:00:00Z',
    {
      from: '2026-01-02T03:00:00Z',
      until: '2026-01-02T05:00:00Z',
      reason: 'end of the year',
      begun: false,
      neededSeconds: 40,
      opensAt: '2026-01-02T05:00:00Z',
    },
    'a blackout begins at 2026-01-02T03:00:00Z (end of the year), and the next step takes about 40 s; the next step may begin at 2026-01-02T05:00:00Z',
  ],
  CheckFailing: [
    {
      checks: [
        {
          check: 'replication-delay',
          labels: { __name__: 'mysql_slave_lag_seconds', pod: 'moco-test-1', note: 'a "b"' },
          value: '41.5',
          others: 2,
        },
        { check: 'alerts', labels: {}, value: '+Inf', others: 0 },
        { check: 'up', labels: { __name__: 'up' }, value: '0', others: 0 },
      ],
    },
    String.raw`the check replication-delay fails: mysql_slave_lag_seconds{pod="moco-test-1", note="a \"b\""} is 41.5, and 2 more; the check alerts fails: {} is +Inf; the check up fails: up is 0`,
  ],
  CheckPending: [
    { checks: ['errant'] },
    'Prometheus is being asked about the check errant',
    { checks: ['errant', 'lag'] },
    'Prometheus is being asked about the checks errant, lag',
  ],
  CheckUnavailable: [
    {
      checks: [
        { check: 'errant', message: 'https://prometheus.example: ECONNREFUSED.' },
        { check: 'errors', message: 'https://prometheus.example: ECONNREFUSED.' },
      ],
    },
    'Prometheus has no answer to the checks errant, errors: https://prometheus.example: ECONNREFUSED',
  ],
  ConfirmationTooSlow: [
    { message: 'reading took more than 1000 ms' },
    'the API server is too slow for a safe step: reading took more than 1000 ms',
  ],
  StepRefused: [
    { message: 'pods "moco-test-2" is forbidden: not on a Friday.' },
    'the API server did not carry out the step: pods "moco-test-2" is forbidden: not on a Friday',
  ],
};

/** Fit for a status: no gap where a value was missing, no full stop, not a word about how long it has lasted. */
function expectFit(sentence: string): void {
  expect(sentence).to.match(/^[A-Za-z0-9]/);
  expect(sentence).not.to.match(/undefined|null|NaN|\[object|\.$|\bago\b|\bsince \d|\bfor the last\b/);
}

describe('the sentence for a hold', () => {
  for (const [rule, forms] of Object.entries(sentences)) {
    it(`${rule} has one`, () => {
      for (const [form, sentence] of inPairs<object>(forms)) {
        expect(explainHold({ rule, ...form } as Hold, name)).to.equal(sentence);
        expectFit(sentence);
      }
    });
  }
});

describe('the sentence for what a member comes back as', () => {
  const taken = 'somebody else has taken its pod';
  const forms: Forms<ComesBack> = [
    { as: 'before', because: { rule: 'Paused' } },
    `${taken}; it comes back at the revision that it had: Paused holds`,
    { as: 'before', because: 'pinned' },
    `${taken}; it comes back at the revision that it had: it is pinned`,
    { as: 'updated', because: null },
    `${taken}; it comes back updated: the revision works, and nothing holds the rollout`,
    { as: 'updated', because: 'partition', despite: 'created' },
    `${taken}, and it is updated although it is below the partition: it was created before moco-rollout could act`,
    { as: 'updated', because: 'unverified', despite: 'started' },
    `${taken}, and it is updated although no member has shown that the update revision works: it was created before moco-rollout could act, and its mysqld has started, so it is left`,
    { as: 'updated', because: 'setting', despite: 'setsBack' },
    `${taken}, and it is updated although lostMembers is KeepRevision: a member that has worked at the update revision is created again as well, and must not go back`,
    { as: 'updated', because: 'pinned', despite: 'admission' },
    `${taken}, and it is updated although it is pinned: admission does not keep new pods at the current revision`,
    { as: 'updated', because: 'pinned', despite: 'revision' },
    `${taken}, and it is updated although it is pinned: the revision that it had is not known`,
  ];

  it('has one for each case', () => {
    for (const [back, sentence] of inPairs(forms)) expect(explainComesBack(back)).to.equal(sentence);
  });
});

describe('the sentence for what a member shows', () => {
  const evidences: Readonly<{
    [Kind in Evidence['kind']]: Forms<Extract<Evidence, { kind: Kind }>>;
  }> = {
    waiting: [
      { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
      'container mysqld waits: ErrImagePull',
      { kind: 'waiting', container: 'agent', reason: 'CrashLoopBackOff', restarts: 1 },
      'container agent waits: CrashLoopBackOff, 1 restart',
    ],
    failed: [
      { kind: 'failed', reason: null },
      'the pod has failed',
      { kind: 'failed', reason: 'OutOfcpu' },
      'the pod has failed: OutOfcpu',
    ],
    earlier: [{ kind: 'earlier', message: 'the pod has failed: OutOfcpu' }, 'the pod has failed: OutOfcpu'],
    restored: [{ kind: 'restored' }, 'a person has asked to give it back the revision that it had'],
    unschedulable: [
      { kind: 'unschedulable', message: '0/3 nodes are available: 3 Insufficient memory. ' },
      'no node takes the pod: 0/3 nodes are available: 3 Insufficient memory',
    ],
    idle: [{ kind: 'idle' }, 'mysqld has not been running'],
    notReady: [{ kind: 'notReady', container: 'slow-log' }, 'container slow-log is not ready'],
    crashLooping: [
      { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
      'container mysqld has not been ready since it restarted, 7 restarts',
    ],
    errant: [{ kind: 'errant' }, 'MOCO lists it as errant'],
  };
  for (const [kind, forms] of Object.entries(evidences)) {
    it(`${kind} has one`, () => {
      for (const [evidence, sentence] of inPairs<Evidence>(forms)) {
        expect(explainEvidence(evidence)).to.equal(sentence);
        expectFit(sentence);
      }
    });
  }
});

const targetOf = (ordinal: number): Target => ({ ordinal, name: name(ordinal), uid: 'uid', resourceVersion: '1' });

describe('the sentence for a step', () => {
  const deletion = (rule: StepRule, ...ordinals: readonly number[]): Step => ({
    kind: 'delete',
    rule,
    targets: ordinals.map(targetOf),
  });
  const updating = (change: InPlaceChange): Step => ({
    kind: 'updateInPlace',
    rule: change.containers.length === 0 ? 'NothingRestarts' : 'ContainersRestart',
    targets: [targetOf(2)],
    revision: revisionAfter,
    change,
  });
  const resizing = (...resources: readonly ContainerResources[]): Step => ({
    kind: 'resizeInPlace',
    rule: resources.some(({ restarts }) => restarts) ? 'ResizeRestartsContainers' : 'ResizeRestartsNothing',
    targets: [targetOf(2)],
    revision: revisionAfter,
    resources,
  });
  const back = (reason: string): Step => ({
    kind: 'undemote',
    targets: [targetOf(0)],
    reason,
    demoted: reason !== 'MarkWithoutDemote',
  });
  const steps: Readonly<Record<StepKind, Forms<Step>>> = {
    none: [{ kind: 'none' }, 'nothing to do'],
    restore: [
      { kind: 'restore', rule: 'UpdatedByOthers', targets: [targetOf(2)] },
      'deleting moco-test-2, which comes back at the revision that it had: somebody else has taken its pod, and its mysqld has not started at the update revision',
      { kind: 'restore', rule: 'RestoreRequested', targets: [targetOf(2)] },
      'deleting moco-test-2, which comes back at the revision that it had: a person has asked for that',
    ],
    delete: [
      deletion('MemberDown', 2, 1),
      'deleting moco-test-2, moco-test-1: stale and down',
      deletion('MemberUnreachable', 2),
      'deleting moco-test-2: stale, and its node does not answer',
      deletion('MemberNotParticipating', 2),
      'deleting moco-test-2: stale, running and not participating',
      deletion('PrimaryNotParticipating', 0),
      'deleting moco-test-0: stale, primary, and not participating for longer than a failover takes',
      deletion('MemberImpaired', 2),
      'deleting moco-test-2: stale, and one of its sidecars does not work',
    ],
    evict: [
      { kind: 'evict', rule: 'ReplicaHealthy', targets: [targetOf(2)] },
      'evicting moco-test-2',
      { kind: 'evict', rule: 'SingleMember', targets: [targetOf(0)] },
      'evicting moco-test-0',
    ],
    updateInPlace: [
      updating(changeOf()),
      'updating moco-test-2 in place: the revisions differ by nothing',
      updating({ ...changeOf(), labels: { team: 'a' }, annotations: { note: null } }),
      'updating moco-test-2 in place: only metadata changes (team, note)',
      updating(changeOf('agent', 'slow-log')),
      'updating moco-test-2 in place: the kubelet restarts agent, slow-log',
    ],
    resizeInPlace: [
      resizing(resourcesOf('mysqld'), {
        name: 'agent',
        limits: { cpu: '1' },
        requests: { memory: '1Gi' },
        restarts: true,
      }),
      'resizing moco-test-2 in place: mysqld gets limits.cpu 2; agent gets limits.cpu 1, requests.memory 1Gi, and restarts',
    ],
    demote: [
      { kind: 'demote', rule: 'PrimaryLast', targets: [targetOf(0)], revision: revisionAfter },
      'asking MOCO to move the primary away from moco-test-0',
    ],
    undemote: [
      back('NoLongerPrimary'),
      'taking back the demotion of moco-test-0: it is no longer primary',
      back('NotDue'),
      'taking back the demotion of moco-test-0: it is not due for that revision',
      back('OthersDue'),
      'taking back the demotion of moco-test-0: another member is due before it',
      back('TimedOut'),
      'taking back the demotion of moco-test-0: the switchover timed out',
      back('StrategyChanged'),
      'taking back the demotion of moco-test-0: the update strategy has changed',
      back('Paused'),
      'taking back the demotion of moco-test-0: rule Paused holds',
      back('MarkWithoutDemote'),
      'removing the mark of a finished demotion from moco-test-0',
    ],
    release: [{ kind: 'release' }, 'releasing the StatefulSet to rolling updates by partition'],
    setStrategy: [
      { kind: 'setStrategy', newPods: 'UpdateRevision' },
      'setting the update strategy of the StatefulSet to OnDelete',
      { kind: 'setStrategy', newPods: 'CurrentRevision', lasts: 'whileHeld' },
      'letting lost members come back at the revision that they had, while the rollout is held',
      { kind: 'setStrategy', newPods: 'CurrentRevision', lasts: 'untilCreated' },
      'letting lost members come back at the revision that they had, until their pods exist again',
    ],
    setPartition: [
      { kind: 'setPartition', rule: 'ReplicaHealthy', partition: 2, targets: [targetOf(2)] },
      'lowering the partition of the StatefulSet to 2, which updates moco-test-2',
      { kind: 'setPartition', rule: 'AlreadyUpdated', partition: 1, targets: [] },
      'lowering the partition of the StatefulSet to 1',
    ],
    promoteRevision: [
      { kind: 'promoteRevision', revision: revisionAfter, replicas: 3, for: 'end', before: [] },
      `setting the current revision of the StatefulSet to ${revisionAfter}`,
    ],
  };
  for (const [kind, forms] of Object.entries(steps)) {
    it(`${kind} has one`, () => {
      for (const [step, sentence] of inPairs(forms)) {
        expect(explainStep(step)).to.equal(sentence);
        expectFit(sentence);
      }
    });
  }
});

describe('the phase', () => {
  const stale = () => cluster(3).templateChanged();
  const phases: Readonly<Record<Phase, readonly (readonly [ClusterBuilder, Partial<typeof defaultPolicy>?])[]>> = {
    UpToDate: [[cluster(3)], [cluster(3), { paused: true }]],
    Progressing: [[stale()], [stale().members(member(2).terminating())]],
    Waiting: [[stale().queued(2, 1)], [stale().backupJobs({})]],
    Blocked: [[stale().settingsProblem('x')], [stale().unhealthy().memory({ sinceProgressSeconds: 10_000 })]],
    Settling: [[three(member(2).lagging())]],
    Paused: [[stale(), { paused: true }]],
    AwaitingApproval: [[three(member(0).stale()), { primaryUpdatePolicy: 'Manual' }]],
    PartitionReached: [[stale(), { partition: 3 }]],
    Failing: [
      [stale().members(member(2).updated().crashLooping())],
      [three(member(0).stale()).memory({ switchoverTries: 4 })],
      [stale().memory({ recentRevisions: appeared(1, 2, 3, 4) })],
      [stale().atPartition(3).members(member(0).stale().down('ErrImagePull')), { mode: 'Partition' }],
      [stale().stepFailed({})],
    ],
    Off: [[stale().released().atPartition(3)], [stale().mysqlCluster({ forcedRollingUpdate: true })]],
  };
  for (const [expected, cases] of Object.entries(phases)) {
    it(`is ${expected}`, () => {
      for (const [given, settings] of cases) {
        expect(phase(decide(given.facts(), { ...defaultPolicy, ...settings }))).to.equal(expected);
      }
    });
  }
});
