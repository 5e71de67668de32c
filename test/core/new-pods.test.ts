import { expect } from 'chai';
import type { HoldRule, Step } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterFacts } from '../../src/core/snapshot.ts';
import { appeared, type ClusterBuilder, cluster, three } from './cluster-builder.ts';
import {
  dataRecord,
  type MemberBuilder,
  member,
  reasonsOfOtherNodes,
  revisionAfter,
  revisionBefore,
} from './member-builder.ts';
import { decideCase, updatesInPlace } from './table.ts';

type Does = 'nothing' | 'keeps while held' | 'keeps until created' | 'updates new pods' | `${string} ${string}`;

interface NewPods {
  readonly given: ClusterBuilder;
  readonly settings: Partial<RolloutPolicy>;
  readonly does: Does;
  readonly hold: HoldRule | null;
}

function wordOf(step: Step): Does {
  switch (step.kind) {
    case 'none':
      return 'nothing';
    case 'setStrategy':
      if (step.newPods === 'UpdateRevision') return 'updates new pods';
      return step.lasts === 'whileHeld' ? 'keeps while held' : 'keeps until created';
    case 'promoteRevision':
      return `promotes ${step.revision} to ${step.for}`;
    default:
      return `${step.kind} ${'targets' in step ? step.targets.map(({ ordinal }) => ordinal).join() : ''}`;
  }
}

const when = (
  given: ClusterBuilder,
  does: Does,
  hold: HoldRule | null,
  settings: Partial<RolloutPolicy> = {},
): NewPods => ({ given, does, hold, settings });

function play(table: Readonly<Record<string, NewPods>>): void {
  for (const [sentence, { given, settings, does, hold }] of Object.entries(table)) {
    it(sentence, () => {
      const decision = decideCase({ given, settings });
      expect([wordOf(decision.step), decision.hold?.rule ?? null]).to.deep.equal([does, hold]);
    });
  }
}

const paused = { paused: true };
const whilePaused = (given: ClusterBuilder, does: Does): NewPods => when(given, does, 'Paused', paused);
/** Nobody is updated yet, and the API server itself keeps the strategy. */
const stale = () =>
  cluster(3)
    .templateChanged()
    .but({ strategyKeeper: 'policy' })
    .memory({ waiting: [0, 1, 2] });
/** The revision works, and 0 and 1 are left. */
const half = () =>
  three(member(0).stale(), member(1).stale(), member(2).updated())
    .but({ strategyKeeper: 'policy' })
    .statefulSet({ currentRevision: revisionBefore })
    .memory({ waiting: [0, 1], verified: true });
/** Like `half`, but member 1 has no pod, and a mysqld of this version was the last to start on its data. */
const newerData = (version: string | null) =>
  half()
    .members(
      member(0).stale().mysqld('8.0.40'),
      member(1).stale().mysqld(version),
      member(2).updated().mysqld('8.0.41'),
    )
    .missing(1)
    .toMysqld('8.0.41');
const failing = () =>
  three(member(0).stale(), member(1).stale(), member(2).updated().down('CrashLoopBackOff'))
    .but({ strategyKeeper: 'policy' })
    .statefulSet({ currentRevision: revisionBefore })
    .memory({ waiting: [0, 1] });

/** 1 started at the update revision while it was held, and its mysqld has not started since. */
const outOfBand = {
  waiting: [0],
  verified: true,
  updatedOutOfBand: [1],
  createdWhileHeld: [{ ordinal: 1, started: false }],
};

describe('new pods while no member works at the update revision', () => {
  play({
    'start at the current revision as long as the rollout is held': whilePaused(stale(), 'keeps while held'),
    'do so before a dry run has shown who keeps the strategy': whilePaused(
      stale().but({ strategyKeeper: null }),
      'keeps while held',
    ),
    'do not if only a webhook would keep it so': whilePaused(stale().but({ strategyKeeper: 'webhook' }), 'nothing'),
    'start at the update revision again if only a webhook would keep it so': whilePaused(
      stale().but({ strategyKeeper: 'webhook' }).keepingRevisions(),
      'updates new pods',
    ),
    'need no second step for that': whilePaused(stale().keepingRevisions(), 'nothing'),
    'do so while the rollout waits for its slot': when(stale().queued(3, 2), 'keeps while held', 'AwaitingFleetSlot'),
    'do so outside of the maintenance windows': when(
      stale().maintenance([[3600, 7200]]),
      'keeps while held',
      'OutsideMaintenanceWindow',
    ),
    'do so while every stale member is below the partition': when(stale(), 'keeps while held', 'PartitionReached', {
      partition: 3,
    }),
    'do so while the first member fails whose mysqld has not started': when(
      failing().members(member(2).updated().down('ImagePullBackOff').data(revisionBefore)),
      'keeps while held',
      'UpdateRevisionFailing',
    ),
    'do so while the kubelet refuses each pod of the first member': when(
      failing().members(member(2).updated().failed().but({ failedReason: 'OutOfcpu' }).data(revisionBefore)),
      'keeps while held',
      'UpdateRevisionFailing',
    ),
    'do so while the first member, which the kubelet has refused, has no pod': when(
      failing()
        .missing(2)
        .members(member(2).data(revisionBefore))
        .memory({ failing: { member: 2, message: 'the pod has failed: OutOfcpu' } }),
      'keeps while held',
      'UpdateRevisionFailing',
    ),
    'do not while the first member fails whose mysqld has started': when(failing(), 'nothing', 'UpdateRevisionFailing'),
    'start at the update revision again once its mysqld has started': when(
      failing().keepingRevisions(),
      'updates new pods',
      'UpdateRevisionFailing',
    ),
    'do not if a member serves at the update revision, whose sidecar has never been ready': when(
      stale().members(member(2).updated().participatingFor(86_400).impaired('pmm', 'ImagePullBackOff')),
      'nothing',
      'UpdateRevisionFailing',
    ),
    'do not if a member has worked at the update revision in an earlier pod': whilePaused(
      half().members(member(2).updated().unschedulable()),
      'nothing',
    ),
    'do not if the data of a member are of a revision between': whilePaused(
      stale().members(member(2).but({ revision: 'between' })),
      'nothing',
    ),
    'do not if it is not known which mysqld has started on the data of a member': whilePaused(
      stale().members(member(2).stale().lagging().dataUnknown()),
      'nothing',
    ),
    'start at the update revision again if that is no longer known': whilePaused(
      stale().keepingRevisions().missing(2).members(member(2).dataUnknown()),
      'updates new pods',
    ),
    'do not for a hold that ends within moments': when(
      stale().mysqlCluster({ reconciledGeneration: 1 }),
      'nothing',
      'NotReconciled',
    ),
    'do not between the two halves of a resize': when(
      stale().members(member(2).stale().resizing({ awaited: [], forSeconds: 1 })),
      'nothing',
      'AwaitingResize',
      updatesInPlace('IfPossible'),
    ),
    'do not while a step has not ended': whilePaused(
      stale()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1] }),
      'nothing',
    ),
    'do not while a step has not ended that began before a time in another mode': when(
      stale()
        .members(member(2).stale().terminating())
        .memory({ waiting: null, taken: [{ ordinal: 2, uid: 'uid-2', restores: false }] }),
      'nothing',
      'MemberTerminating',
    ),
    'do not before the pod exists that such a step still needs': when(
      stale()
        .missing(2)
        .memory({ waiting: null, taken: [{ ordinal: 2, uid: 'uid-2', restores: false }] }),
      'nothing',
      'MemberMissing',
    ),
    'do so while another client deletes the pod that such a step has brought': when(
      stale()
        .members(member(2).stale().terminating())
        .memory({ waiting: null, taken: [{ ordinal: 2, uid: 'another', restores: false }] }),
      'keeps until created',
      'MemberTerminating',
    ),
    'start at the update revision again if a step has not ended': whilePaused(
      stale()
        .keepingRevisions()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1] }),
      'updates new pods',
    ),
    'start at the update revision again before the first member is replaced': when(
      stale().keepingRevisions(),
      'updates new pods',
      null,
    ),
    'do so before a member that is down is deleted': when(
      stale().keepingRevisions().members(member(1).stale().down('ErrImagePull')),
      'updates new pods',
      null,
    ),
    'do so once the template is the old one again': whilePaused(
      cluster(3).keepingRevisions(revisionAfter),
      'updates new pods',
    ),
    'start at the revision that the members have, if another one is current': whilePaused(
      stale().statefulSet({ currentRevision: revisionAfter }),
      `promotes ${revisionBefore} to keep`,
    ),
    'are tried again only after a pause if admission does not keep it so': whilePaused(
      stale().admissionProblem(20, { mode: 'CurrentRevision' }),
      'nothing',
    ),
    'are tried again after that pause': whilePaused(
      stale().admissionProblem(30, { mode: 'CurrentRevision' }),
      'keeps while held',
    ),
    'are none of ours outside of OnDelete': when(
      stale().statefulSet({ strategy: 'RollingUpdate', partition: 3, labelled: false }),
      'nothing',
      'Paused',
      { mode: 'Partition', paused: true },
    ),
  });
});

/**
 * The cluster is scaled from three members to five. Members 3 and 4 have no pod yet, and the rollout keeps revisions.
 */
const scaledTo = (five: Partial<ClusterFacts>, newMember: (ordinal: number) => MemberBuilder, setReplicas = 5) =>
  cluster(5)
    .templateChanged()
    .missing(3, 4)
    .members(newMember(3), newMember(4))
    .but({ strategyKeeper: 'policy' })
    .memory({ waiting: [0, 1, 2] })
    .mysqlCluster(five)
    .statefulSet({ replicas: setReplicas })
    .keepingRevisions()
    .statefulSet({ partition: setReplicas });
const withoutClaim = (ordinal: number) => member(ordinal).data({ record: null, claim: 'missing' });
const withoutVolume = (ordinal: number) => member(ordinal).data({ record: null, claim: 'unbound' });
const asked = { generation: 3, reconciledGeneration: 2 };

describe('new pods of a cluster that is scaled up while its rollout is held', () => {
  const scaled = (newMember = withoutClaim) => scaledTo({}, newMember);
  const created = (change: (one: MemberBuilder) => MemberBuilder) =>
    scaled((ordinal) => change(member(ordinal).stale().starting())).missing();
  const started = { lastRun: { ...dataRecord(revisionBefore), worked: false } };
  play({
    'still start at the current revision before MOCO has changed the StatefulSet': when(
      scaledTo(asked, withoutClaim, 3),
      'nothing',
      'Paused',
      paused,
    ),
    'still start at the current revision before the first claim of a new member exists': when(
      scaled(),
      'nothing',
      'Paused',
      paused,
    ),
    'do so outside of the maintenance windows': when(scaled().maintenance([[3600, 7200]]), 'nothing', 'MemberMissing'),
    'do so while another client deletes the pod of an old member': when(
      scaled().members(member(1).stale().terminating()),
      'nothing',
      'Paused',
      paused,
    ),
    'begin to do so for an old member whose pod another client deletes': when(
      scaled()
        .members(member(1).stale().terminating())
        .statefulSet({ newPods: 'UpdateRevision', strategy: 'OnDelete', partition: null }),
      'keeps until created',
      'Paused',
      paused,
    ),
    'begin to do so while a new member has no pod yet': when(
      scaled().statefulSet({ newPods: 'UpdateRevision', strategy: 'OnDelete', partition: null }),
      'keeps while held',
      'Paused',
      paused,
    ),
    'do so while a new member clones whose claim was created with its pod': when(
      created((one) => one.data({ ...started, record: null, claim: 'madeForPod' })),
      'nothing',
      'Paused',
      paused,
    ),
    'do so while the claim of a new member has a record, and its pod has gone': when(
      scaled((ordinal) => member(ordinal).data({ ...started, record: dataRecord(revisionBefore) })),
      'nothing',
      'Paused',
      paused,
    ),
    'start at the update revision while the claim of a new member may be older than its pod': when(
      created((one) => one.data({ ...started, record: null })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision while a new member runs at it': when(
      scaled((ordinal) => member(ordinal).updated().starting().data({ record: null, claim: 'madeForPod' })).missing(),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision before the claims of new members are read': when(
      scaled((ordinal) => member(ordinal).dataUnknown()),
      'updates new pods',
      'Paused',
      paused,
    ),
    'still start at the current revision while the claim of a new member has no volume, and its pod is refused': when(
      scaled(withoutVolume).but({ createFailure: 'exceeded quota' }),
      'nothing',
      'Paused',
      paused,
    ),
    'do so while another client deletes the pod of an old member, and the claims of new ones have no volume': when(
      scaled(withoutVolume).members(member(1).stale().terminating()),
      'nothing',
      'Paused',
      paused,
    ),
    'do so once the pod of a new member exists, and its claim has no volume yet': when(
      created((one) => one.data({ record: null, claim: 'unbound' })),
      'nothing',
      'Paused',
      paused,
    ),
    'start at the update revision if it was too long ago that the claim had no volume': when(
      scaled((ordinal) => member(ordinal).data({ record: null, claim: 'unbound', ageSeconds: 5 })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision if it was too long ago that the claim of a pod had no volume': when(
      created((one) => one.data({ record: null, claim: 'unbound', ageSeconds: 5 })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision if a mysqld has run since the claim had no volume': when(
      scaled((ordinal) =>
        member(ordinal).data({
          lastRun: { ...dataRecord(revisionAfter), worked: false },
          record: null,
          claim: 'unbound',
        }),
      ),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision while a claim without a volume has a record of it': when(
      scaled((ordinal) => member(ordinal).data({ record: dataRecord(revisionAfter), claim: 'unbound' })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision while the claim of a new member has a volume and no record': when(
      scaled((ordinal) => member(ordinal).data({ record: null })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision if the answer that the claim does not exist is too old': when(
      scaled((ordinal) => member(ordinal).data({ record: null, claim: 'missing', ageSeconds: 5 })),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision if a mysqld has run although the claim did not exist': when(
      scaled((ordinal) =>
        member(ordinal).data({
          lastRun: { ...dataRecord(revisionAfter), worked: false },
          record: null,
          claim: 'missing',
        }),
      ),
      'updates new pods',
      'Paused',
      paused,
    ),
    'start at the update revision again once nothing holds the rollout': when(
      created((one) => one.data(revisionBefore).stale()).members(member(3).stale(), member(4).stale()),
      'updates new pods',
      null,
    ),
  });

  it('do not show a member without data as one whose pod another client deleted', () => {
    const { members } = decideCase({ given: scaled(), settings: paused });
    expect(members.map(({ recreated }) => recreated ?? null)).to.deep.equal([null, null, null, null, null]);
  });
});

describe('a member whose pod another client deletes', () => {
  const drained = () => half().members(member(1).stale().terminating());
  play({
    'keeps its revision before a member has shown that the revision works': when(
      stale().but({ strategyKeeper: 'webhook' }).members(member(1).stale().terminating()),
      'keeps until created',
      'MemberTerminating',
    ),
    'keeps it in a cluster of one': when(
      cluster(1)
        .templateChanged()
        .members(member(0).stale().terminating())
        .memory({ waiting: [0] }),
      'keeps until created',
      'MemberTerminating',
    ),
    'keeps it if its pod is gone already': when(
      stale().but({ strategyKeeper: 'webhook' }).missing(1),
      'keeps until created',
      'MemberMissing',
    ),
    'keeps what is recorded if no pod is left': when(
      stale()
        .missing(0, 1, 2)
        .memory({ waiting: [0, 1, 2], from: revisionBefore }),
      'keeps until created',
      'MemberMissing',
    ),
    'keeps it if its node does not answer': whilePaused(
      stale().but({ strategyKeeper: 'webhook' }).members(member(1).stale().unreachable()),
      'keeps until created',
    ),
    'may come back updated once the revision is verified and nothing holds the rollout': when(
      drained(),
      'nothing',
      'MemberTerminating',
    ),
    'keeps its revision all the same if the settings say so': when(
      drained(),
      'keeps until created',
      'MemberTerminating',
      { lostMembers: 'KeepRevision' },
    ),
    'keeps it while the rollout is paused': whilePaused(drained(), 'keeps until created'),
    'keeps it to the end, when the kubelet ends the grace period': whilePaused(
      half()
        .keepingRevisions()
        .members(member(1).stale().terminating(1).but({ graceSeconds: 0 })),
      'nothing',
    ),
    'keeps it only as long as its pod ends in its time, if a member has newer data': whilePaused(
      half().keepingRevisions().members(member(1).stale().terminating(331)),
      'updates new pods',
    ),
    'does not keep it while its node does not answer, if a member has newer data': whilePaused(
      half().members(member(1).stale().unreachable()),
      'nothing',
    ),
    'does not, if it is unknown which mysqld has started on its data': whilePaused(
      half().members(member(1).stale().terminating().dataUnknown()),
      'nothing',
    ),
    'does, if its claim says that it is that of its pod': whilePaused(
      half().members(
        member(1)
          .stale()
          .terminating()
          .data({ record: dataRecord(revisionBefore), lastRun: { ...dataRecord(revisionBefore), worked: false } }),
      ),
      'keeps until created',
    ),
    'does not, if another mysqld has started on its data than its claim says': whilePaused(
      half()
        .missing(1)
        .members(
          member(1).data({
            record: dataRecord(revisionBefore),
            lastRun: { ...dataRecord(revisionAfter), worked: false },
          }),
        ),
      'nothing',
    ),
    'does not, if its pod went unobserved, whatever its claim records': whilePaused(
      half()
        .missing(1)
        .members(member(1).data({ record: dataRecord(revisionBefore) })),
      'nothing',
    ),
    'does, if new pods started at its revision all the time': whilePaused(
      stale()
        .keepingRevisions()
        .missing(1)
        .members(member(1).data({ record: dataRecord(revisionBefore) })),
      'nothing',
    ),
    'waits until the pod exists again that a step has deleted': when(
      cluster(5)
        .templateChanged()
        .members(member(4).stale().terminating(8), member(2).stale().terminating(3))
        .memory({ waiting: [0, 1, 2, 3] }),
      'nothing',
      'MemberTerminating',
    ),
    'waits until that pod is created': when(
      cluster(5)
        .templateChanged()
        .missing(4)
        .members(member(2).stale().terminating(3))
        .memory({ waiting: [0, 1, 2, 3] }),
      'nothing',
      'MemberMissing',
    ),
    'waits no longer once it exists': when(
      cluster(5)
        .templateChanged()
        .members(member(4).updated().creating(1).data(revisionBefore), member(2).stale().terminating(9))
        .memory({ waiting: [0, 1, 2, 3] }),
      'keeps until created',
      'MemberTerminating',
    ),
    'waits for none whose termination began later': when(
      cluster(5)
        .templateChanged()
        .members(member(4).stale().terminating(2), member(2).stale().terminating(3))
        .memory({ waiting: [0, 1, 2, 3] }),
      'keeps until created',
      'MemberTerminating',
    ),
    'waits for none whose pod is stuck': when(
      cluster(5)
        .templateChanged()
        .members(member(4).stale().terminating(400), member(2).stale().terminating(3))
        .memory({ waiting: [0, 1, 2, 3] }),
      'keeps until created',
      'MemberStuckTerminating',
    ),
    'keeps it while it is pinned': when(drained(), 'keeps until created', 'MemberTerminating', { pinnedOrdinals: [1] }),
    'keeps it below the partition': when(drained(), 'keeps until created', 'MemberTerminating', { partition: 2 }),
    'keeps it outside of the maintenance windows': when(
      drained().maintenance([[3600, 7200]]),
      'keeps until created',
      'MemberTerminating',
    ),
    'keeps it while the rollout waits for its slot': when(
      drained().queued(3, 2),
      'keeps until created',
      'MemberTerminating',
    ),
    'keeps it while a node refuses the revision': when(
      drained().preflight({
        refusals: [
          { nodeName: 'n-1', members: [0], result: 'ImageUnavailable', message: 'not found', againInSeconds: 60 },
        ],
      }),
      'keeps until created',
      'ImageUnavailable',
    ),
    'keeps it if its pod is gone and mysqld would refuse its data': when(
      newerData('8.4.8'),
      'keeps until created',
      'MemberMissing',
    ),
    'keeps it at the revision of those data, if no other member has that revision': when(
      newerData('8.4.8').members(
        member(1).data({ lastRun: { ...dataRecord('between'), version: '8.4.8', worked: true } }),
      ),
      'promotes between to keep',
      'MemberMissing',
    ),
    'does not keep it if mysqld opens its data': when(newerData('8.0.40'), 'nothing', 'MemberMissing'),
    'does not keep it if the version of its data is not known': when(newerData(null), 'nothing', 'MemberMissing'),
    'does not keep it if it is unknown which mysqld has started on its data': when(
      newerData('8.4.8').members(member(1).stale().dataUnknown()),
      'nothing',
      'MemberMissing',
    ),
    'does not keep it if a person overrides the refusal': when(newerData('8.4.8'), 'nothing', 'MemberMissing', {
      overrides: [{ rule: 'VersionRefused', remainingSeconds: 60 }],
    }),
    'keeps it if it is the primary, which waits for approval': when(
      half().members(member(0).stale().terminating()),
      'keeps until created',
      'SwitchoverInProgress',
      { primaryUpdatePolicy: 'Manual' },
    ),
    'keeps it if it is the primary, whose pod does not exist, and a replica is pinned': when(
      three(member(0).stale(), member(1).stale(), member(2).updated())
        .missing(0)
        .but({ strategyKeeper: 'policy' })
        .statefulSet({ currentRevision: revisionBefore })
        .memory({ waiting: [0, 1], verified: true }),
      'keeps until created',
      'MemberMissing',
      { pinnedOrdinals: [1] },
    ),
    'keeps it if it is the primary, whose pod does not exist, and it waits for approval': when(
      half().missing(0),
      'keeps until created',
      'MemberMissing',
      { primaryUpdatePolicy: 'Manual' },
    ),
    'may come back updated if it is the primary, whose pod does not exist, and nothing holds it': when(
      half().missing(0),
      'nothing',
      'MemberMissing',
    ),
    'may come back updated if a person has overridden what holds it': when(
      drained().maintenance([[3600, 7200]]),
      'nothing',
      'MemberTerminating',
      { overrides: [{ rule: 'OutsideMaintenanceWindow', remainingSeconds: 60 }] },
    ),
    'keeps it until its pod exists again': whilePaused(half().keepingRevisions(), 'updates new pods'),
    'comes back at the revision that it had, if another one is current': whilePaused(
      drained().statefulSet({ currentRevision: 'older' }),
      `promotes ${revisionBefore} to keep`,
    ),
    'does not, if a member that has worked at the update revision would come back at the old one': whilePaused(
      drained().members(member(2).updated().terminating()),
      'nothing',
    ),
    'stops doing so for the sake of such a member': whilePaused(
      drained().keepingRevisions().members(member(2).updated().terminating()),
      'updates new pods',
    ),
    'stops doing so for the sake of one whose pod is gone': whilePaused(
      drained().keepingRevisions().missing(2),
      'updates new pods',
    ),
    'is not one that a step has deleted': when(
      drained().memory({ waiting: [0], verified: false }),
      'nothing',
      'MemberTerminating',
    ),
    'is not one that a step has deleted, although another one is back at its previous revision': when(
      stale()
        .missing(1)
        .memory({
          waiting: [0],
          taken: [
            { ordinal: 1, uid: 'uid-1', restores: false },
            { ordinal: 2, uid: 'another', restores: false },
          ],
        }),
      'nothing',
      'MemberMissing',
    ),
    'comes first, and no step gives the revision to another one meanwhile': when(
      stale().keepingRevisions().members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating()),
      'nothing',
      'RevisionsKept',
    ),
    'is not one that the next step deletes because its node does not answer': when(
      half().members(member(1).stale().unreachable()),
      'delete 1',
      null,
    ),
  });
});

describe('a member that came back too soon', () => {
  const cameBack = (verified: boolean) =>
    half()
      .keepingRevisions()
      .members(member(1).updated().down('ImagePullBackOff').data(revisionBefore))
      .memory({ waiting: [0], verified, updatedOutOfBand: [1], createdWhileHeld: [{ ordinal: 1, started: false }] });
  play({
    'gets back its revision if its mysqld has not started': whilePaused(cameBack(true), 'restore 1'),
    'gets it back before the status has it that another client has updated it': whilePaused(
      cameBack(true).memory({ waiting: [0, 1], verified: true }),
      'restore 1',
    ),
    'gets back its revision if nothing is reported of it yet': whilePaused(
      cameBack(true).members(
        member(1)
          .updated()
          .creating(0)
          .initContainer('moco-init', { state: 'waiting', reason: null })
          .data(revisionBefore),
      ),
      'restore 1',
    ),
    'does so only once new pods start at that revision': whilePaused(
      cameBack(true).statefulSet({ strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null }),
      'keeps until created',
    ),
    'does not while nothing keeps it from the update revision': when(
      cameBack(true).statefulSet({ strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null }),
      'nothing',
      'UpdatedMemberNotParticipating',
    ),
    'stays as it is if its mysqld has started': whilePaused(
      half().members(member(1).updated().down('CrashLoopBackOff')).memory(outOfBand),
      'nothing',
    ),
    'stays as it is if its mysqld has started in an earlier pod': whilePaused(
      cameBack(true).memory({ ...outOfBand, createdWhileHeld: [{ ordinal: 1, started: true }] }),
      'updates new pods',
    ),
    'stays as it is if nothing held it when it came back': whilePaused(
      cameBack(true).memory({ waiting: [0], verified: true, updatedOutOfBand: [1], createdWhileHeld: [] }),
      'updates new pods',
    ),
    'stays as it is if a step has updated it': whilePaused(
      half()
        .members(member(1).updated().down('ImagePullBackOff').data(revisionBefore))
        .memory({ waiting: [0], verified: true }),
      'nothing',
    ),
    'is awaited until its pod exists again': whilePaused(
      cameBack(true)
        .members(member(1).updated().down('ImagePullBackOff').data(revisionBefore).terminating())
        .memory({ ...outOfBand, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      'nothing',
    ),
    'is awaited no longer once it has another pod, which has worked at the update revision': whilePaused(
      half()
        .keepingRevisions()
        .members(member(1).updated().terminating())
        .memory({ ...outOfBand, taken: [{ ordinal: 1, uid: 'another', restores: true }] }),
      'updates new pods',
    ),
    'keeps its revision if its new pod is deleted before the status has it': when(
      failing()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1], taken: [{ ordinal: 2, uid: 'another', restores: true }] }),
      'keeps until created',
      'UpdateRevisionFailing',
      { restore: { revision: revisionAfter, ordinals: [2] } },
    ),
    'keeps it as well if the previous step was an eviction, and the next pod is deleted': when(
      failing()
        .members(member(2).stale().terminating())
        .keepingRevisions()
        .memory({ waiting: [0, 1], taken: [{ ordinal: 2, uid: 'another', restores: false }] }),
      'nothing',
      'UpdateRevisionFailing',
      { restore: { revision: revisionAfter, ordinals: [2] } },
    ),
    'gets the revision of the others if the template changes once more while its pod goes': whilePaused(
      half()
        .keepingRevisions()
        .members(
          member(0).stale(),
          member(1).but({ revision: 'between' }).terminating().data(revisionBefore),
          member(2).stale(),
        )
        .memory({ waiting: [0, 1, 2], verified: false, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      'nothing',
    ),
    'is awaited while its pod does not exist': whilePaused(
      half()
        .keepingRevisions()
        .missing(1)
        .memory({ waiting: [0], verified: true, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      'nothing',
    ),
  });
});

describe('a member that a person wants back at its revision', () => {
  const ofVersion = (version: string | null, image: string | null = null) =>
    member(2)
      .updated()
      .down('CrashLoopBackOff')
      .data({ lastRun: { revision: revisionAfter, image, version, worked: true } });
  const beforeWith = (image: string) =>
    member(1)
      .stale()
      .data({ lastRun: { revision: revisionBefore, image, version: null, worked: true } });
  const settings = { restore: { revision: revisionAfter, ordinals: [2] } };
  play({
    'is deleted once new pods start at that revision': when(
      failing().keepingRevisions(),
      'restore 2',
      'UpdateRevisionFailing',
      settings,
    ),
    'makes new pods start at it first': when(failing(), 'keeps until created', 'UpdateRevisionFailing', settings),
    'is awaited although others work at the update revision': when(
      half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff').terminating())
        .memory({ waiting: [0], verified: true, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      'nothing',
      'Paused',
      { ...paused, restore: { revision: revisionAfter, ordinals: [1] } },
    ),
    'is left if the rollout would update it again at once': when(
      failing().keepingRevisions(),
      'updates new pods',
      'UpdatedMemberNotParticipating',
      { ...settings, overrides: [{ rule: 'UpdateRevisionFailing', remainingSeconds: 60 }] },
    ),
    'is left if others work at the update revision, unless it is pinned': when(
      half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff'))
        .memory({ verified: true, waiting: [0] }),
      'updates new pods',
      'UpdatedMemberNotParticipating',
      { restore: { revision: revisionAfter, ordinals: [1] } },
    ),
    'is deleted if it is pinned, although others work at the update revision': when(
      half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff'))
        .memory({ verified: true, waiting: [0] }),
      'restore 1',
      'UpdatedMemberNotParticipating',
      { pinnedOrdinals: [1], restore: { revision: revisionAfter, ordinals: [1] } },
    ),
    'is left if it participates': when(
      failing().keepingRevisions().members(member(2).updated().participatingFor(1)),
      'updates new pods',
      'UpdateRevisionFailing',
      settings,
    ),
    'is left if it has worked since, and only starts again': when(
      failing().keepingRevisions().members(member(2).updated().crashLooping('mysqld', 1)),
      'updates new pods',
      'UpdateRevisionFailing',
      settings,
    ),
    'holds the revision afterwards': when(stale(), 'keeps while held', 'UpdateRevisionFailing', settings),
    'is asked for about one revision alone': when(
      failing().keepingRevisions(),
      'updates new pods',
      'UpdateRevisionFailing',
      { restore: { revision: 'another', ordinals: [2] } },
    ),
    'is left if MySQL does not support the way back from the version of its data': when(
      failing().members(ofVersion('8.5.0')),
      'nothing',
      'UpdateRevisionFailing',
      settings,
    ),
    'is left if the version of its data is not known': when(
      failing().members(ofVersion(null)),
      'nothing',
      'UpdateRevisionFailing',
      settings,
    ),
    'is deleted if the image of mysqld is the same, whatever its version is': when(
      failing().keepingRevisions().members(ofVersion(null, 'mysql@sha256:1'), beforeWith('mysql@sha256:1')),
      'restore 2',
      'UpdateRevisionFailing',
      settings,
    ),
  });
});

describe('new pods of an offline cluster', () => {
  const offline = (given: ClusterBuilder) => given.mysqlCluster({ offline: true });
  play({
    'start at the update revision if a member has newer data, which an older mysqld refuses': when(
      offline(half().keepingRevisions().missing(0, 1, 2)),
      'updates new pods',
      'Offline',
    ),
    'do so while MOCO still ends the pods': when(
      offline(
        half()
          .keepingRevisions()
          .members(member(0).stale().terminating(), member(2).updated().terminating())
          .missing(1),
      ),
      'updates new pods',
      'Offline',
    ),
    'do so while a held member is about to come back': when(
      offline(half().keepingRevisions().missing(0, 1, 2)),
      'updates new pods',
      'Offline',
      paused,
    ),
    'start at the current revision if no member has newer data': when(
      offline(stale().keepingRevisions().missing(0, 1, 2)),
      'nothing',
      'Offline',
    ),
  });
});

describe('the revision of new pods does not change', () => {
  const drained = () => stale().members(member(1).stale().terminating());
  const complete = () => cluster(3).keepingRevisions(revisionAfter);
  const cameBack = () =>
    half()
      .keepingRevisions()
      .members(member(1).updated().down('ImagePullBackOff').data(revisionBefore))
      .memory(outOfBand);
  const never: Readonly<Record<string, readonly [(given: ClusterBuilder) => ClusterBuilder, HoldRule]>> = {
    'while the StatefulSet is being deleted': [(one) => one.statefulSet({ deleting: true }), 'StatefulSetDeleting'],
    'while the cluster is offline': [(one) => one.mysqlCluster({ offline: true }), 'Offline'],
    'while a person forces a rolling update': [
      (one) => one.mysqlCluster({ forcedRollingUpdate: true }),
      'ForcedRollingUpdate',
    ],
  };
  /** What a person has asked for is shown before a moment of the StatefulSet. */
  const heldBy = (hold: HoldRule): HoldRule => (hold === 'StatefulSetDeleting' ? 'Paused' : hold);
  /** Setting the strategy replaces no pod of an offline cluster. */
  const doesWhenComplete = (hold: HoldRule): Does => (hold === 'Offline' ? 'updates new pods' : 'nothing');
  play(
    Object.fromEntries(
      Object.entries(never).flatMap(([sentence, [change, hold]]) => [
        [`${sentence}, and another client deletes a pod`, when(change(drained()), 'nothing', hold)],
        [`${sentence}, and every member is updated`, when(change(complete()), doesWhenComplete(hold), hold)],
        [`${sentence}, and a member came back too soon`, when(change(cameBack()), 'nothing', heldBy(hold), paused)],
      ]),
    ),
  );
  play({
    'before Kubernetes has observed the StatefulSet, although another client deletes a pod': when(
      drained().statefulSet({ observed: false }),
      'nothing',
      'StatefulSetNotObserved',
    ),
    'before that, though a member came back too soon': whilePaused(
      cameBack().statefulSet({ observed: false }),
      'nothing',
    ),
  });
});

describe('the revision at which a member comes back whose pod another client deletes', () => {
  const backOf = (given: ClusterBuilder, ordinal: number, settings: Partial<RolloutPolicy> = {}) =>
    decideCase({ given, settings }).members.find((one) => one.ordinal === ordinal)?.recreated;

  it('is its previous one, with the reason', () => {
    const drained = half().members(member(1).stale().terminating());
    expect(backOf(drained, 1, paused)).to.deep.equal({ as: 'before', because: { rule: 'Paused' } });
    expect(backOf(drained, 1, { pinnedOrdinals: [1] })).to.deep.equal({ as: 'before', because: 'pinned' });
    expect(backOf(drained, 1, { partition: 2 })).to.deep.equal({ as: 'before', because: 'partition' });
    expect(backOf(drained, 1, { lostMembers: 'KeepRevision' })).to.deep.equal({ as: 'before', because: 'setting' });
    expect(backOf(stale().missing(1), 1)).to.deep.equal({ as: 'before', because: 'unverified' });
  });

  it('is the update revision once nothing holds it', () => {
    const drained = half().members(member(1).stale().terminating());
    expect(backOf(drained, 1)).to.deep.equal({ as: 'updated', because: null });
  });

  it('is the update revision if nothing can prevent it', () => {
    const drained = half().members(member(1).stale().terminating());
    const because = { rule: 'Paused' };
    const despite = (given: ClusterBuilder) => backOf(given, 1, paused);
    expect(despite(drained.admissionProblem(1, { mode: 'CurrentRevision' }))).to.deep.equal({
      as: 'updated',
      because,
      despite: 'admission',
    });
    const both = half().members(member(1).stale().terminating(), member(2).updated().terminating());
    expect(despite(both)).to.deep.equal({ as: 'updated', because, despite: 'setsBack' });
    const unknown = cluster(3)
      .members(...[0, 1, 2].map((ordinal) => member(ordinal).dataUnknown()))
      .missing(0, 1, 2)
      .memory({ waiting: [0, 1, 2] });
    expect(despite(unknown)).to.deep.equal({ as: 'updated', because, despite: 'data' });
  });

  it('is reported for one that came back too soon', () => {
    const tooSoon = (reason: string) =>
      half()
        .members(
          member(1)
            .updated()
            .down(reason)
            .data(reason === 'ErrImagePull' ? revisionBefore : revisionAfter),
        )
        .memory(outOfBand);
    const because = { rule: 'Paused' };
    expect(backOf(tooSoon('ErrImagePull'), 1, paused)).to.deep.equal({ as: 'updated', because, despite: 'created' });
    expect(backOf(tooSoon('CrashLoopBackOff'), 1, paused)).to.deep.equal({
      as: 'updated',
      because,
      despite: 'started',
    });
    expect(backOf(tooSoon('ErrImagePull'), 1)).to.equal(null);
  });

  it('is that of a restore for a member that a step restores', () => {
    const restoring = half()
      .missing(1)
      .memory({
        waiting: [0],
        verified: false,
        taken: [{ ordinal: 1, uid: 'before', restores: true }],
      });
    expect(backOf(restoring, 1, paused)).to.deep.include({ as: 'before', restored: true });
  });

  it('is not reported for the pods that an offline cluster lacks', () => {
    const lacking = stale().missing(1).mysqlCluster({ offline: true });
    expect(backOf(lacking, 1)).to.equal(null);
    const ending = half().members(member(1).stale().terminating()).mysqlCluster({ offline: true });
    expect(backOf(ending, 1)).to.equal(null);
  });

  it('is not reported for other members', () => {
    const drained = half().members(member(1).stale().terminating());
    expect([0, 2].map((ordinal) => backOf(drained, ordinal, paused))).to.deep.equal([null, null]);
  });
});

/** A drain has ended the pod of a held member, and the next pod has not started yet. */
const drained = (of: () => ClusterBuilder, one = member(1).stale().awaitingNode()) =>
  of().members(one).keepingRevisions();
const closed = (given: ClusterBuilder) => given.maintenance([[3600, 7200]]);

describe('a held member whose next pod waits to start', () => {
  const manual = { primaryUpdatePolicy: 'Manual' } as const;
  const keepsRevision = { lostMembers: 'KeepRevision' } as const;
  const failingCheck = {
    name: 'errors',
    reading: { kind: 'failing', series: { labels: {}, value: '1', others: 0 } },
    ageSeconds: 2,
    unknownForSeconds: 0,
  } as const;
  play({
    'is left alone outside of the maintenance windows': when(
      closed(drained(stale)),
      'nothing',
      'OutsideMaintenanceWindow',
    ),
    'is left alone once the revision works, too': when(
      closed(half().members(member(1).stale().awaitingNode())),
      'nothing',
      'OutsideMaintenanceWindow',
    ),
    'is left alone while its node attaches its volume': when(
      closed(drained(stale, member(1).stale().preparing(61))),
      'nothing',
      'OutsideMaintenanceWindow',
    ),
    'is left alone until progressDeadlineSeconds': when(
      closed(drained(stale, member(1).stale().preparing(599))),
      'nothing',
      'OutsideMaintenanceWindow',
    ),
    'is repaired after progressDeadlineSeconds': when(
      closed(drained(stale, member(1).stale().preparing(600))),
      'updates new pods',
      null,
    ),
    'is left alone after its node has evicted it, and comes back at its revision': when(
      closed(stale().members(member(1).stale().evictedByKubelet())),
      'keeps until created',
      'OutsideMaintenanceWindow',
    ),
    'is repaired if its pod exceeded its own limits': when(
      closed(stale().members(member(1).stale().evictedByKubelet(true))),
      'delete 1',
      null,
    ),
    'is repaired if no node has what it requests': when(
      closed(stale().members(member(1).stale().unschedulable())),
      'delete 1',
      null,
    ),
    'is repaired if no node has what it requests, and one has a taint': when(
      closed(stale().members(member(1).stale().findingNoNode())),
      'delete 1',
      null,
    ),
    ...Object.fromEntries(
      reasonsOfOtherNodes.map((reason) => [
        `is left alone while its node is cordoned, whatever keeps it from the others: ${reason}`,
        when(closed(drained(stale, member(1).stale().awaitingNode(reason))), 'nothing', 'OutsideMaintenanceWindow'),
      ]),
    ),
    'is left alone if it is unknown which mysqld used its data last': when(
      closed(drained(stale, member(1).stale().awaitingNode('anti-affinity').dataUnknown())),
      'updates new pods',
      'OutsideMaintenanceWindow',
    ),
    'is repaired if its revision was never able to start, and no other node has what it requests': when(
      closed(
        stale().members(member(1).but({ revision: 'another' }).awaitingNode('node selector').data(revisionBefore)),
      ),
      'delete 1',
      null,
    ),
    'is left alone if its revision was never able to start, but only nodes keep its pod away': when(
      closed(drained(stale, member(1).but({ revision: 'another' }).awaitingNode().data(revisionBefore))),
      'nothing',
      'OutsideMaintenanceWindow',
    ),
    'is repaired if its image cannot be pulled': when(
      closed(stale().members(member(1).stale().awaitingNode().down('ImagePullBackOff'))),
      'delete 1',
      null,
    ),
    'is repaired if an init container has failed': when(
      closed(stale().members(member(1).stale().preparing(61).initContainer('moco-init', { restarts: 1 }))),
      'delete 1',
      null,
    ),
    'is left alone while another member is repaired': when(
      closed(stale().members(member(1).stale().awaitingNode(), member(2).stale().down('ErrImagePull'))),
      'delete 2',
      null,
    ),
    'is left alone while a replica that crash-loops is repaired': when(
      closed(stale().members(member(1).stale().awaitingNode(), member(2).stale().lagging().crashLooping())),
      'delete 2',
      null,
    ),
    'is left alone while update revisions follow each other': when(
      drained(stale).memory({ recentRevisions: appeared(1, 2, 3, 4), waiting: [0, 1, 2] }),
      'nothing',
      'RevisionFlapping',
    ),
    'is left alone while a node cannot get the image': when(
      drained(stale).preflight({
        refusals: [{ nodeName: 'n-2', members: [2], message: 'no', againInSeconds: 60, result: 'ImageUnavailable' }],
      }),
      'nothing',
      'ImageUnavailable',
    ),
    'is left alone while its cluster waits for a slot': when(
      drained(stale).queued(3, 2),
      'nothing',
      'AwaitingFleetSlot',
    ),
    'is left alone while a check fails': when(
      drained(stale).but({ checks: [failingCheck] }),
      'nothing',
      'CheckFailing',
    ),
    'is left alone until the checks have been answered': when(
      drained(stale).but({ checks: [{ ...failingCheck, reading: null }] }),
      'nothing',
      'CheckPending',
    ),
    'is left alone while it is primary and waits for approval': when(
      drained(stale, member(0).stale().awaitingNode()),
      'nothing',
      'AwaitingApproval',
      manual,
    ),
    'is updated if it is a replica and only the primary waits for approval': when(
      stale().members(member(1).stale().awaitingNode()),
      'delete 1',
      null,
      manual,
    ),
    'is left alone while the rollout is paused': when(drained(stale), 'nothing', 'Paused', paused),
    'is repaired while the rollout is paused, by request': when(
      stale().members(member(1).stale().awaitingNode()),
      'delete 1',
      null,
      { ...paused, repairWhilePaused: true },
    ),
    'is updated as soon as nothing holds it, before a member has shown that the revision works': when(
      stale().members(member(1).stale().awaitingNode()),
      'delete 1',
      null,
    ),
    'is updated as soon as nothing holds it, once the revision works': when(
      half().members(member(1).stale().awaitingNode()),
      'delete 1',
      null,
    ),
    'is updated when the window opens': when(drained(stale).maintenance([[0, 7200]]), 'updates new pods', null),
    'gets time to return, with lostMembers: KeepRevision': when(
      half().members(member(1).stale().awaitingNode()),
      'nothing',
      'MaxUnavailableReached',
      keepsRevision,
    ),
    'is updated after that time': when(
      half().members(member(1).stale().awaitingNode().but({ mysqldIdleForSeconds: 600 })),
      'delete 1',
      null,
      keepsRevision,
    ),
    'is updated despite that setting if the rollout has no other member to update': when(
      half().members(member(0).updated(), member(1).stale().awaitingNode()),
      'delete 1',
      null,
      keepsRevision,
    ),
  });

  it('is shown with its hold and with what it waits for', () => {
    const [, one] = decideCase({ given: closed(drained(stale)) }).members;
    expect(one).to.deep.include({ state: 'down', verdict: 'Next', rule: 'OutsideMaintenanceWindow' });
    expect(one?.evidence?.kind).to.equal('unschedulable');
  });

  it('makes the controller query Prometheus again while a check fails', () => {
    const given = drained(stale).but({ checks: [{ ...failingCheck, ageSeconds: 31 }] });
    const { hold, asks } = decideCase({ given });
    expect(hold?.rule).to.equal('CheckFailing');
    expect(asks.map(({ kind }) => kind)).to.include('checks');
  });
});
