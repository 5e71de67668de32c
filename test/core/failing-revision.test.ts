import type { Wait } from '../../src/core/sentences.ts';
import { cluster, stale, three } from './cluster-builder.ts';
import { type MemberBuilder, member } from './member-builder.ts';
import { deletes, evicts, holds, notYet, play, tooYoung, when } from './table.ts';

const fails = (ordinal: number, container: string, restarts: number) =>
  holds({ rule: 'UpdateRevisionFailing', member: ordinal, evidence: { kind: 'crashLooping', container, restarts } });
type OfState = Extract<Wait, { for: 'state' }>;
const waits = (state: OfState['state'], evidence: OfState['evidence']) => notYet(2, state, evidence);
const unschedulable = '0/3 nodes are available: 3 Insufficient memory.';

const remembered = { member: 2, message: 'the pod has failed: OutOfcpu' };
const earlier = { kind: 'earlier', message: remembered.message } as const;
const sidecarWaits = { kind: 'waiting', container: 'slow-log', reason: 'CrashLoopBackOff', restarts: 4 } as const;
const failedFor = (reason: string) => waits('down', { kind: 'failed', reason });
const idle = { kind: 'idle' } as const;
const failsIdle = holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: idle });

describe('the new revision fails', () => {
  play({
    'when mysqld keeps crashing, whatever it does at the moment': when(
      stale().members(member(2).updated().crashLooping('mysqld', 3)),
      fails(2, 'mysqld', 3),
    ),
    'when mysqld crashes twice before MOCO has given it a role': when(
      stale().members(member(2).updated().crashLooping('mysqld', 2).role(null)),
      fails(2, 'mysqld', 2),
    ),
    'not when mysqld restarts once after MOCO has given it a role, as when its node boots': when(
      stale().members(member(2).updated().crashLooping('mysqld', 1)),
      waits('running', null),
    ),
    'not when an init container runs again, as when its node boots': when(
      stale().members(
        member(2).updated().creating(1).initContainer('moco-init', {
          state: 'running',
          reason: null,
          ready: false,
          readySinceRestart: false,
          restarts: 1,
        }),
      ),
      waits('running', null),
    ),
    'not when mysqld restarts once before it has a role, as at the end of a clone': when(
      stale().members(member(2).updated().crashLooping('mysqld', 1).role(null)),
      waits('running', null),
    ),
    'when the agent does': when(stale().members(member(2).updated().crashLooping('agent', 2)), fails(2, 'agent', 2)),
    'when an init container does': when(
      stale().members(
        member(2).updated().creating(1).initContainer('moco-init', {
          state: 'waiting',
          reason: 'CrashLoopBackOff',
          ready: false,
          readySinceRestart: false,
          restarts: 2,
        }),
      ),
      fails(2, 'moco-init', 2),
    ),
    'when mysqld has ended and has not been running for a minute': when(
      stale().members(member(2).updated().creating(60).container('mysqld', { state: 'terminated', reason: 'Error' })),
      failsIdle,
    ),
    'when mysqld has restarted and has not been running for a minute': when(
      stale().members(member(2).updated().creating(60).container('mysqld', { restarts: 1, readySinceRestart: true })),
      failsIdle,
    ),
    'when an init container has ended in an error, and mysqld has not been running for a minute': when(
      stale().members(
        member(2)
          .updated()
          .creating(60)
          .initContainer('moco-init', { state: 'terminated', reason: 'Error', ready: false }),
      ),
      failsIdle,
    ),
    'when mysqld has not been running until the progress deadline': when(
      stale().members(member(2).updated().creating(600)),
      failsIdle,
    ),
    'when the pod has failed': when(
      stale().members(member(2).updated().failed()),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: { kind: 'failed', reason: null } }),
    ),
    'when its node refuses the pod, with the reason of the kubelet': when(
      stale().members(member(2).updated().failed().but({ failedReason: 'OutOfcpu' })),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: { kind: 'failed', reason: 'OutOfcpu' } }),
    ),
    'when the kubelet evicts its pod for more storage than its own limits allow': when(
      stale().members(member(2).updated().evictedByKubelet(true)),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: { kind: 'failed', reason: 'Evicted' } }),
    ),
    'when a container fails that admission has added, without a word against the template': when(
      stale().members(
        member(2).updated().participatingFor(70).impaired('istio-proxy').container('istio-proxy', { injected: true }),
      ),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { ...sidecarWaits, container: 'istio-proxy' },
        injected: 'istio-proxy',
      }),
    ),
    'and still does, with the container that admission has added, while the pod is created again': when(
      stale()
        .members(member(2).updated().creating(0))
        .memory({ failing: { ...remembered, injected: 'istio-proxy' } }),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier, injected: 'istio-proxy' }),
    ),
    'and still does while the pod that failed is created again': when(
      stale().members(member(2).updated().creating(0)).memory({ failing: remembered }),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    ),
    'and still does while the pod that failed does not exist': when(
      stale()
        .missing(2)
        .memory({ failing: remembered, waiting: [0, 1] }),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    ),
    'and still does once the member that failed is back at the revision that it had': when(
      stale().memory({ failing: remembered, waiting: [0, 1] }),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: earlier }),
    ),
    'when it keeps a sidecar from being ready, and with it the pod': when(
      stale().members(member(2).updated().participatingFor(70).impaired('slow-log')),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence: sidecarWaits }),
    ),
    'on the last member too': when(
      three(
        member(0).participatingFor(1),
        member(1).participatingFor(1),
        member(2).participatingFor(1).crashLooping('mysqld', 2),
      ),
      fails(2, 'mysqld', 2),
    ),
    'before NotReconciled': when(
      stale().members(member(2).updated().crashLooping()).mysqlCluster({ generation: 9 }),
      fails(2, 'mysqld', 3),
    ),
    'and the member that participates but for less than minReadySeconds acquits nothing': when(
      stale().members(member(1).updated().participatingFor(4), member(2).updated().crashLooping()),
      fails(2, 'mysqld', 3),
      {},
      1,
    ),
    'and the member whose running pod was given the revision less than minReadySeconds ago acquits nothing': when(
      stale().members(member(1).updated().relabelledFor(4), member(2).updated().crashLooping()),
      fails(2, 'mysqld', 3),
      {},
      1,
    ),
  });
});

/** The kubelet's reasons, with or without the condition DisruptionTarget. */
const reasonsOfNodes = ['Terminated', 'NodeShutdown', 'Evicted', 'Preempting', 'NodeAffinity'];

describe('the new revision does not fail', () => {
  play(
    Object.fromEntries(
      reasonsOfNodes.map((failedReason) => [
        `when its node ends the pod: ${failedReason}`,
        when(stale().members(member(2).updated().failed().but({ failedReason })), failedFor(failedReason)),
      ]),
    ),
  );
  play({
    'when its node ends the pod, as its condition DisruptionTarget says': when(
      stale().members(
        member(2).updated().failed().but({ failedReason: 'Error', disruption: 'DeletionByTaintManager' }),
      ),
      failedFor('Error'),
    ),
    'once the member that failed works': when(
      stale().members(member(2).updated().participatingFor(4)).memory({ failing: remembered }),
      tooYoung(2, 5),
    ),
    'once a member has verified it, whatever has failed before': when(
      stale().members(member(2).updated()).memory({ failing: remembered }),
      evicts('ReplicaHealthy', 1),
    ),
    'because of a sidecar that fails on a stale member too': when(
      stale().members(member(1).impaired('slow-log'), member(2).updated().participatingFor(70).impaired('slow-log')),
      notYet(2, 'impaired', sidecarWaits),
    ),
    'and is not verified while a sidecar has not been ready yet': when(
      stale().members(
        member(2)
          .updated()
          .participatingFor(10)
          .container('slow-log', { ready: false, readySinceRestart: false, notReadyForSeconds: 12 })
          .but({ ready: false }),
      ),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 2, wait: { for: 'sidecars', containers: ['slow-log'] } }),
      {},
      48,
    ),
    'while its first member is slow to start, as it is while an image is pulled': when(
      stale().members(member(2).updated().creating(599)),
      waits('down', idle),
      {},
      1,
    ),
    'while the image of mysqld is pulled after an init container that was restarted once': when(
      stale().members(member(2).updated().creating(61).initContainer('moco-init', { restarts: 1 })),
      waits('down', idle),
      {},
      539,
    ),
    'when no node accepts the pod': when(
      stale().members(member(2).updated().unschedulable(unschedulable)),
      waits('down', { kind: 'unschedulable', message: unschedulable }),
    ),
    'when the node is lost': when(stale().members(member(2).updated().unreachable()), waits('unreachable', null)),
    'when the pod is being deleted': when(
      stale().members(member(2).updated().down('CrashLoopBackOff').terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'when its member was down before it got it': when(
      stale()
        .members(member(2).updated().down('ErrImagePull'))
        .memory({ takenDown: [2] }),
      waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    ),
    'when another member has verified it just now': when(
      stale().members(member(1).updated().participatingFor(5), member(2).updated().down('ErrImagePull')),
      waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    ),
    'when those that serve at it are about to change roles': when(
      cluster(3)
        .primaryAt(2)
        .members(
          member(0).updated().participatingFor(60).role('primary'),
          member(1).updated().crashLooping('mysqld', 1),
          member(2).updated().participatingFor(60).role('replica'),
        ),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'role' } }),
    ),
    'when a member has verified it earlier': when(
      stale().members(member(2).updated().down('ErrImagePull')).memory({ verified: true }),
      waits('down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    ),
    'when a sidecar of it crashes after a member has verified it': when(
      stale().members(member(2).updated().impaired('slow-log')).memory({ verified: true }),
      waits('impaired', sidecarWaits),
    ),
    'when it is a stale member that crashes': when(
      stale().members(member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
    'because of a sidecar while mysqld has not run yet': when(
      stale().members(
        member(2).updated().creating(120).container('slow-log', { state: 'terminated', reason: 'Error', restarts: 3 }),
      ),
      waits('down', idle),
    ),
  });
});

describe('without a quorum the failing revision', () => {
  const lost = (sinceProgressSeconds: number) =>
    stale()
      .members(member(0).down('CrashLoopBackOff'), member(1).lagging(), member(2).updated().crashLooping())
      .memory({ sinceProgressSeconds });
  play({
    'restarts no member before the deadline': when(lost(599), fails(2, 'mysqld', 3), {}, 1),
    'restarts members that are down after the deadline': when(lost(600), deletes('MemberDown', 0)),
    'restarts no running member': when(
      stale()
        .members(member(0).lagging(), member(1).lagging(), member(2).updated().crashLooping())
        .memory({ sinceProgressSeconds: 9999 }),
      fails(2, 'mysqld', 3),
    ),
    'restarts no member while there is a quorum, however long that lasts': when(
      stale()
        .members(member(1).participatingFor(100), member(2).updated().crashLooping(), member(0).participatingFor(100))
        .memory({ sinceProgressSeconds: 9999 }),
      fails(2, 'mysqld', 3),
      {},
      null,
    ),
  });
});

describe('a revision that fails', () => {
  const crashing = { kind: 'crashLooping', container: 'mysqld', restarts: 3 } as const;
  const failing = (members: readonly MemberBuilder[]) =>
    stale(5)
      .members(member(4).updated().crashLooping(), ...members)
      .memory({ sinceProgressSeconds: 600 });
  const down = member(3).down('ErrImagePull');
  play({
    'goes to no member while a bare majority participates, however long': when(
      failing([down]),
      holds({ rule: 'UpdateRevisionFailing', member: 4, evidence: crashing }),
    ),
    'goes to members that are down once no majority does': when(
      failing([down, member(2).lagging()]),
      deletes('MemberDown', 3),
    ),
    'is one whose database serves while its agent crashes': when(
      stale().members(member(2).updated().impaired('agent').participatingFor(1)),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'agent', restarts: 4 },
      }),
    ),
  });
});
