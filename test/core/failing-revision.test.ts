import type { Wait } from '../../src/core/sentences.ts';
import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, evicts, holds, play } from './table.ts';

const stale = () => cluster(3).templateChanged();
const fails = (ordinal: number, container: string, restarts: number) =>
  holds({
    rule: 'UpdateRevisionFailing',
    member: ordinal,
    evidence: { kind: 'crashLooping', container, restarts },
  });
type OfState = Extract<Wait, { for: 'state' }>;
const waits = (state: OfState['state'], evidence: OfState['evidence']) =>
  holds({ rule: 'UpdatedMemberNotParticipating', member: 2, wait: { for: 'state', state, evidence } });
const unschedulable = '0/3 nodes are available: 3 Insufficient memory.';

const remembered = { member: 2, message: 'the pod has failed: OutOfcpu' };
const earlier = { kind: 'earlier', message: remembered.message } as const;
const sidecarWaits = { kind: 'waiting', container: 'slow-log', reason: 'CrashLoopBackOff', restarts: 4 } as const;
const idle = { kind: 'idle' } as const;
const failsIdle = holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: idle });

describe('the new revision fails', () => {
  play({
    'when mysqld keeps crashing, whatever it does at the moment': {
      given: stale().members(member(2).updated().crashLooping('mysqld', 3)),
      decides: fails(2, 'mysqld', 3),
    },
    'when mysqld crashes twice before MOCO has given it a role': {
      given: stale().members(member(2).updated().crashLooping('mysqld', 2).role(null)),
      decides: fails(2, 'mysqld', 2),
    },
    'not when mysqld restarts once after MOCO has given it a role, as when its node boots': {
      given: stale().members(member(2).updated().crashLooping('mysqld', 1)),
      decides: waits('running', null),
    },
    'not when an init container runs again, as when its node boots': {
      given: stale().members(
        member(2).updated().creating(1).initContainer('moco-init', {
          state: 'running',
          reason: null,
          ready: false,
          readySinceRestart: false,
          restarts: 1,
        }),
      ),
      decides: waits('running', null),
    },
    'not when mysqld restarts once before it has a role, as at the end of a clone': {
      given: stale().members(member(2).updated().crashLooping('mysqld', 1).role(null)),
      decides: waits('running', null),
    },
    'when the agent does': {
      given: stale().members(member(2).updated().crashLooping('agent', 2)),
      decides: fails(2, 'agent', 2),
    },
    'when an init container does': {
      given: stale().members(
        member(2).updated().creating(1).initContainer('moco-init', {
          state: 'waiting',
          reason: 'CrashLoopBackOff',
          ready: false,
          readySinceRestart: false,
          restarts: 2,
        }),
      ),
      decides: fails(2, 'moco-init', 2),
    },
    'when mysqld has ended and has not been running for a minute': {
      given: stale().members(
        member(2).updated().creating(60).container('mysqld', { state: 'terminated', reason: 'Error' }),
      ),
      decides: failsIdle,
    },
    'when mysqld has restarted and has not been running for a minute': {
      given: stale().members(
        member(2).updated().creating(60).container('mysqld', { restarts: 1, readySinceRestart: true }),
      ),
      decides: failsIdle,
    },
    'when an init container has ended in an error, and mysqld has not been running for a minute': {
      given: stale().members(
        member(2)
          .updated()
          .creating(60)
          .initContainer('moco-init', { state: 'terminated', reason: 'Error', ready: false }),
      ),
      decides: failsIdle,
    },
    'when mysqld has not been running until the progress deadline': {
      given: stale().members(member(2).updated().creating(600)),
      decides: failsIdle,
    },
    'when the pod has failed': {
      given: stale().members(member(2).updated().failed()),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: { kind: 'failed', reason: null } }),
    },
    'when its node refuses the pod, with the reason of the kubelet': {
      given: stale().members(member(2).updated().failed().but({ failedReason: 'OutOfcpu' })),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: { kind: 'failed', reason: 'OutOfcpu' } }),
    },
    'and still does while the pod that failed is created again': {
      given: stale().members(member(2).updated().creating(0)).memory({ failing: remembered }),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    },
    'and still does while the pod that failed does not exist': {
      given: stale()
        .missing(2)
        .memory({ failing: remembered, waiting: [0, 1] }),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    },
    'and still does once the member that failed is back at the revision that it had': {
      given: stale().memory({ failing: remembered, waiting: [0, 1] }),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    },
    'when it keeps a sidecar from being ready, and with it the pod': {
      given: stale().members(member(2).updated().participatingFor(70).impaired('slow-log')),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: sidecarWaits }),
    },
    'on the last member too': {
      given: cluster(3).members(
        member(0).participatingFor(1),
        member(1).participatingFor(1),
        member(2).participatingFor(1).crashLooping('mysqld', 2),
      ),
      decides: fails(2, 'mysqld', 2),
    },
    'before NotReconciled': {
      given: stale().members(member(2).updated().crashLooping()).mysqlCluster({ generation: 9 }),
      decides: fails(2, 'mysqld', 3),
    },
    'and the member that participates but for less than minReadySeconds acquits nothing': {
      given: stale().members(member(1).updated().participatingFor(4), member(2).updated().crashLooping()),
      decides: fails(2, 'mysqld', 3),
      requeueAfterSeconds: 1,
    },
    'and the member whose running pod was given the revision less than minReadySeconds ago acquits nothing': {
      given: stale().members(member(1).updated().relabelledFor(4), member(2).updated().crashLooping()),
      decides: fails(2, 'mysqld', 3),
      requeueAfterSeconds: 1,
    },
  });
});

describe('the new revision does not fail', () => {
  play({
    'once the member that failed works': {
      given: stale().members(member(2).updated().participatingFor(4)).memory({ failing: remembered }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
    'once a member has verified it, whatever has failed before': {
      given: stale().members(member(2).updated()).memory({ failing: remembered }),
      decides: evicts('ReplicaHealthy', 1),
    },
    'because of a sidecar that fails on a stale member too': {
      given: stale().members(
        member(1).impaired('slow-log'),
        member(2).updated().participatingFor(70).impaired('slow-log'),
      ),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'state', state: 'impaired', evidence: sidecarWaits },
      }),
    },
    'and is not verified while a sidecar has not been ready yet': {
      given: stale().members(
        member(2)
          .updated()
          .participatingFor(10)
          .container('slow-log', { ready: false, readySinceRestart: false, notReadyForSeconds: 12 }),
      ),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'sidecars', containers: ['slow-log'] },
      }),
      requeueAfterSeconds: 48,
    },
    'while its first member starts': {
      given: stale().members(member(2).updated().starting()),
      decides: waits('running', null),
    },
    'while its first member is slow to start, as it is while an image is pulled': {
      given: stale().members(member(2).updated().creating(599)),
      decides: waits('down', idle),
      requeueAfterSeconds: 1,
    },
    'while the image of mysqld is pulled after an init container that was restarted once': {
      given: stale().members(member(2).updated().creating(61).initContainer('moco-init', { restarts: 1 })),
      decides: waits('down', idle),
      requeueAfterSeconds: 539,
    },
    'when no node accepts the pod': {
      given: stale().members(member(2).updated().unschedulable(unschedulable)),
      decides: waits('down', { kind: 'unschedulable', message: unschedulable }),
    },
    'when the node is lost': {
      given: stale().members(member(2).updated().unreachable()),
      decides: waits('unreachable', null),
    },
    'when the pod is being deleted': {
      given: stale().members(member(2).updated().down('CrashLoopBackOff').terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'when its member was down before it got it': {
      given: stale()
        .members(member(2).updated().down('ErrImagePull'))
        .memory({ takenDown: [2] }),
      decides: waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    },
    'when another member has verified it just now': {
      given: stale().members(member(1).updated().participatingFor(5), member(2).updated().down('ErrImagePull')),
      decides: waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    },
    'when those that serve at it are about to change roles': {
      given: cluster(3)
        .primaryAt(2)
        .members(
          member(0).updated().participatingFor(60).role('primary'),
          member(1).updated().crashLooping('mysqld', 1),
          member(2).updated().participatingFor(60).role('replica'),
        ),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'role' } }),
    },
    'when a member has verified it earlier': {
      given: stale().members(member(2).updated().down('ErrImagePull')).memory({ verified: true }),
      decides: waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    },
    'when a sidecar of it crashes after a member has verified it': {
      given: stale().members(member(2).updated().impaired('slow-log')).memory({ verified: true }),
      decides: waits('impaired', sidecarWaits),
    },
    'when it is a stale member that crashes': {
      given: stale().members(member(2).down('CrashLoopBackOff')),
      decides: deletes('MemberDown', 2),
    },
  });
});

describe('without a quorum the failing revision', () => {
  const lost = (sinceProgressSeconds: number) =>
    stale()
      .members(member(0).down('CrashLoopBackOff'), member(1).lagging(), member(2).updated().crashLooping())
      .memory({ sinceProgressSeconds });
  play({
    'restarts no member before the deadline': {
      given: lost(599),
      decides: fails(2, 'mysqld', 3),
      requeueAfterSeconds: 1,
    },
    'restarts members that are down after the deadline': { given: lost(600), decides: deletes('MemberDown', 0) },
    'restarts no running member': {
      given: stale()
        .members(member(0).lagging(), member(1).lagging(), member(2).updated().crashLooping())
        .memory({ sinceProgressSeconds: 9999 }),
      decides: fails(2, 'mysqld', 3),
    },
    'restarts no member while there is a quorum, however long that lasts': {
      given: stale()
        .members(member(1).participatingFor(100), member(2).updated().crashLooping(), member(0).participatingFor(100))
        .memory({ sinceProgressSeconds: 9999 }),
      decides: fails(2, 'mysqld', 3),
      requeueAfterSeconds: null,
    },
  });
});
