import { expect } from 'chai';
import type { HoldRule, Step } from '../../src/core/decision.ts';
import { neverInPlace } from '../../src/core/in-place-changes.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { decideCase } from './table.ts';

type Does = 'nothing' | 'keeps while held' | 'keeps until created' | 'updates new pods' | `${string} ${string}`;

interface NewPods {
  readonly given: ClusterBuilder;
  readonly settings?: Partial<RolloutPolicy>;
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

function play(table: Readonly<Record<string, NewPods>>): void {
  for (const [sentence, { given, settings = {}, does, hold }] of Object.entries(table)) {
    it(sentence, () => {
      const decision = decideCase({ given, settings });
      expect([wordOf(decision.step), decision.hold?.rule ?? null]).to.deep.equal([does, hold]);
    });
  }
}

const paused = { paused: true };
/** Nobody is updated yet, and the API server itself keeps the strategy. */
const stale = () =>
  cluster(3)
    .templateChanged()
    .strategyKeeper('policy')
    .memory({ waiting: [0, 1, 2] });
/** The revision works, and 0 and 1 are left. */
const half = () =>
  cluster(3)
    .members(member(0).stale(), member(1).stale(), member(2).updated())
    .strategyKeeper('policy')
    .statefulSet({ currentRevision: revisionBefore })
    .memory({ waiting: [0, 1], verified: true });
const failing = () =>
  cluster(3)
    .members(member(0).stale(), member(1).stale(), member(2).updated().down('CrashLoopBackOff'))
    .strategyKeeper('policy')
    .statefulSet({ currentRevision: revisionBefore })
    .memory({ waiting: [0, 1] });

describe('new pods while nobody works at the update revision', () => {
  play({
    'come up at the current revision as long as the rollout is held': {
      given: stale(),
      settings: paused,
      does: 'keeps while held',
      hold: 'Paused',
    },
    'do so before a dry run has shown who keeps the strategy': {
      given: stale().strategyKeeper(null),
      settings: paused,
      does: 'keeps while held',
      hold: 'Paused',
    },
    'do not if only a webhook would keep it so': {
      given: stale().strategyKeeper('webhook'),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'come up at the update revision again if only a webhook would keep it so': {
      given: stale().strategyKeeper('webhook').keepingRevisions(),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'need no second step for that': {
      given: stale().keepingRevisions(),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'do so while the rollout waits for its slot': {
      given: stale().queued(3, 2),
      does: 'keeps while held',
      hold: 'AwaitingFleetSlot',
    },
    'do so outside of the maintenance windows': {
      given: stale().maintenance([[3600, 7200]]),
      does: 'keeps while held',
      hold: 'OutsideMaintenanceWindow',
    },
    'do so while every stale member is below the partition': {
      given: stale(),
      settings: { partition: 3 },
      does: 'keeps while held',
      hold: 'PartitionReached',
    },
    'do so while the first member fails': { given: failing(), does: 'keeps while held', hold: 'UpdateRevisionFailing' },
    'do not for a hold that ends within moments': {
      given: stale().mysqlCluster({ reconciledGeneration: 1 }),
      does: 'nothing',
      hold: 'NotReconciled',
    },
    'do not between the two halves of a resize': {
      given: stale().members(member(2).stale().resizing({ awaited: [], forSeconds: 1 })),
      settings: { inPlaceUpdates: { ...neverInPlace, mode: 'IfPossible' } },
      does: 'nothing',
      hold: 'AwaitingResize',
    },
    'do not while a step has still to end': {
      given: stale()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1] }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'come up at the update revision again if a step has still to end': {
      given: stale()
        .keepingRevisions()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1] }),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'come up at the update revision again before the first member is taken': {
      given: stale().keepingRevisions(),
      does: 'updates new pods',
      hold: null,
    },
    'do so before a member that is down is deleted': {
      given: stale().keepingRevisions().members(member(1).stale().down('ErrImagePull')),
      does: 'updates new pods',
      hold: null,
    },
    'do so once the template is the old one again': {
      given: cluster(3).keepingRevisions(revisionAfter),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'come up at the revision that the members have, if another one is current': {
      given: stale().statefulSet({ currentRevision: revisionAfter }),
      settings: paused,
      does: `promotes ${revisionBefore} to keep`,
      hold: 'Paused',
    },
    'are tried again only after a pause if admission does not keep it so': {
      given: stale().admissionProblem(20, { mode: 'CurrentRevision' }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'are tried again after that pause': {
      given: stale().admissionProblem(30, { mode: 'CurrentRevision' }),
      settings: paused,
      does: 'keeps while held',
      hold: 'Paused',
    },
    'are none of ours outside of OnDelete': {
      given: stale().statefulSet({ strategy: 'RollingUpdate', partition: 3, labelled: false }),
      settings: { mode: 'Partition', paused: true },
      does: 'nothing',
      hold: 'Paused',
    },
  });
});

describe('a member that somebody else takes', () => {
  const drained = () => half().members(member(1).stale().terminating());
  play({
    'keeps its revision before anybody has shown that the revision works': {
      given: stale().strategyKeeper('webhook').members(member(1).stale().terminating()),
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it in a cluster of one': {
      given: cluster(1)
        .templateChanged()
        .members(member(0).stale().terminating())
        .memory({ waiting: [0] }),
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it if its pod is gone already': {
      given: stale().strategyKeeper('webhook').missing(1),
      does: 'keeps until created',
      hold: 'MemberMissing',
    },
    'keeps it if its node does not answer': {
      given: stale().strategyKeeper('webhook').members(member(1).stale().unreachable()),
      settings: paused,
      does: 'keeps until created',
      hold: 'Paused',
    },
    'may come back updated once the revision is verified and nothing holds the rollout': {
      given: drained(),
      does: 'nothing',
      hold: 'MemberTerminating',
    },
    'keeps its revision all the same if the settings say so': {
      given: drained(),
      settings: { lostMembers: 'KeepRevision' },
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it while the rollout is paused': {
      given: drained(),
      settings: paused,
      does: 'keeps until created',
      hold: 'Paused',
    },
    'keeps it while it is pinned': {
      given: drained(),
      settings: { pinnedOrdinals: [1] },
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it below the partition': {
      given: drained(),
      settings: { partition: 2 },
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it outside of the maintenance windows': {
      given: drained().maintenance([[3600, 7200]]),
      does: 'keeps until created',
      hold: 'MemberTerminating',
    },
    'keeps it if it is the primary, which waits for approval': {
      given: half().members(member(0).stale().terminating()),
      settings: { primaryUpdatePolicy: 'Manual' },
      does: 'keeps until created',
      hold: 'SwitchoverInProgress',
    },
    'keeps it if it is the primary, whose pod does not exist, and a replica is pinned': {
      given: cluster(3)
        .members(member(1).stale(), member(2).updated())
        .missing(0)
        .strategyKeeper('policy')
        .statefulSet({ currentRevision: revisionBefore })
        .memory({ waiting: [0, 1], verified: true }),
      settings: { pinnedOrdinals: [1] },
      does: 'keeps until created',
      hold: 'MemberMissing',
    },
    'may come back updated if a person has overridden what holds it': {
      given: drained().maintenance([[3600, 7200]]),
      settings: { overrides: [{ rule: 'OutsideMaintenanceWindow', remainingSeconds: 60 }] },
      does: 'nothing',
      hold: 'MemberTerminating',
    },
    'keeps it until its pod exists again': {
      given: half().keepingRevisions(),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'comes back at the revision that it had, if another one is current': {
      given: drained().statefulSet({ currentRevision: 'older' }),
      settings: paused,
      does: `promotes ${revisionBefore} to keep`,
      hold: 'Paused',
    },
    'does not, if a member that has worked at the update revision would come back at the old one': {
      given: drained().members(member(2).updated().terminating()),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'stops doing so for the sake of such a member': {
      given: drained().keepingRevisions().members(member(2).updated().terminating()),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'stops doing so for the sake of one whose pod is gone': {
      given: drained().keepingRevisions().missing(2),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'is not one that a step has taken': {
      given: drained().memory({ waiting: [0], verified: false }),
      does: 'nothing',
      hold: 'MemberTerminating',
    },
    'comes first, and no step gives the revision to another one meanwhile': {
      given: stale()
        .keepingRevisions()
        .members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating()),
      does: 'nothing',
      hold: 'RevisionsKept',
    },
    'is not one that the next step takes because its node does not answer': {
      given: half().members(member(1).stale().unreachable()),
      does: 'delete 1',
      hold: null,
    },
  });
});

describe('a member that came back too soon', () => {
  const cameBack = (verified: boolean) =>
    half()
      .keepingRevisions()
      .members(member(1).updated().down('ImagePullBackOff'))
      .memory({ waiting: [0], verified, updatedOutOfBand: [1], createdWhileHeld: [{ ordinal: 1, started: false }] });
  play({
    'gets back its revision if its mysqld has not started': {
      given: cameBack(true),
      settings: paused,
      does: 'restore 1',
      hold: 'Paused',
    },
    'gets it back before the status has it that somebody else has updated it': {
      given: cameBack(true).memory({ waiting: [0, 1], verified: true }),
      settings: paused,
      does: 'restore 1',
      hold: 'Paused',
    },
    'does so only once new pods come up at that revision': {
      given: cameBack(true).statefulSet({ strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null }),
      settings: paused,
      does: 'keeps until created',
      hold: 'Paused',
    },
    'does not while nothing keeps it from the update revision': {
      given: cameBack(true).statefulSet({ strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null }),
      does: 'nothing',
      hold: 'UpdatedMemberNotParticipating',
    },
    'stays as it is if its mysqld has started': {
      given: half()
        .members(member(1).updated().down('CrashLoopBackOff'))
        .memory({
          waiting: [0],
          verified: true,
          updatedOutOfBand: [1],
          createdWhileHeld: [{ ordinal: 1, started: false }],
        }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'stays as it is if its mysqld has started in an earlier pod': {
      given: cameBack(true).memory({
        waiting: [0],
        verified: true,
        updatedOutOfBand: [1],
        createdWhileHeld: [{ ordinal: 1, started: true }],
      }),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'stays as it is if nothing held it when it came back': {
      given: cameBack(true).memory({ waiting: [0], verified: true, updatedOutOfBand: [1], createdWhileHeld: [] }),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'stays as it is if a step has updated it': {
      given: half()
        .members(member(1).updated().down('ImagePullBackOff'))
        .memory({ waiting: [0], verified: true }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'is awaited until its pod exists again': {
      given: cameBack(true)
        .members(member(1).updated().down('ImagePullBackOff').terminating())
        .memory({
          waiting: [0],
          verified: true,
          updatedOutOfBand: [1],
          createdWhileHeld: [{ ordinal: 1, started: false }],
          taken: [{ ordinal: 1, uid: 'uid-1', restores: true }],
        }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'is awaited no longer once it has another pod, which has worked at the update revision': {
      given: half()
        .keepingRevisions()
        .members(member(1).updated().terminating())
        .memory({
          waiting: [0],
          verified: true,
          updatedOutOfBand: [1],
          createdWhileHeld: [{ ordinal: 1, started: false }],
          taken: [{ ordinal: 1, uid: 'another', restores: true }],
        }),
      settings: paused,
      does: 'updates new pods',
      hold: 'Paused',
    },
    'keeps its revision if its new pod is taken before the status has it': {
      given: failing()
        .members(member(2).stale().terminating())
        .memory({ waiting: [0, 1], taken: [{ ordinal: 2, uid: 'another', restores: true }] }),
      settings: { restore: { revision: revisionAfter, ordinals: [2] } },
      does: 'keeps until created',
      hold: 'UpdateRevisionFailing',
    },
    'keeps it as well if the step before was an eviction, and the pod after that is taken': {
      given: failing()
        .members(member(2).stale().terminating())
        .keepingRevisions()
        .memory({ waiting: [0, 1], taken: [{ ordinal: 2, uid: 'another', restores: false }] }),
      settings: { restore: { revision: revisionAfter, ordinals: [2] } },
      does: 'nothing',
      hold: 'UpdateRevisionFailing',
    },
    'gets the revision of the others if the template changes once more while its pod goes': {
      given: half()
        .keepingRevisions()
        .members(member(0).stale(), member(1).stale().but({ revision: 'between' }).terminating(), member(2).stale())
        .memory({ waiting: [0, 1, 2], verified: false, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
    'is awaited while its pod does not exist': {
      given: half()
        .keepingRevisions()
        .missing(1)
        .memory({ waiting: [0], verified: true, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      settings: paused,
      does: 'nothing',
      hold: 'Paused',
    },
  });
});

describe('a member that a person wants back at its revision', () => {
  const settings = { restore: { revision: revisionAfter, ordinals: [2] } };
  play({
    'is deleted once new pods come up at that revision': {
      given: failing().keepingRevisions(),
      settings,
      does: 'restore 2',
      hold: 'UpdateRevisionFailing',
    },
    'makes new pods come up at it first': {
      given: failing(),
      settings,
      does: 'keeps until created',
      hold: 'UpdateRevisionFailing',
    },
    'is awaited although others work at the update revision': {
      given: half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff').terminating())
        .memory({ waiting: [0], verified: true, taken: [{ ordinal: 1, uid: 'uid-1', restores: true }] }),
      settings: { ...paused, restore: { revision: revisionAfter, ordinals: [1] } },
      does: 'nothing',
      hold: 'Paused',
    },
    'is left if the rollout would update it again at once': {
      given: failing().keepingRevisions(),
      settings: { ...settings, overrides: [{ rule: 'UpdateRevisionFailing', remainingSeconds: 60 }] },
      does: 'nothing',
      hold: 'UpdatedMemberNotParticipating',
    },
    'is left if others work at the update revision, unless it is pinned': {
      given: half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff'))
        .memory({ verified: true, waiting: [0] }),
      settings: { restore: { revision: revisionAfter, ordinals: [1] } },
      does: 'updates new pods',
      hold: 'UpdatedMemberNotParticipating',
    },
    'is deleted if it is pinned, although others work at the update revision': {
      given: half()
        .keepingRevisions()
        .members(member(1).updated().down('CrashLoopBackOff'))
        .memory({ verified: true, waiting: [0] }),
      settings: { pinnedOrdinals: [1], restore: { revision: revisionAfter, ordinals: [1] } },
      does: 'restore 1',
      hold: 'UpdatedMemberNotParticipating',
    },
    'is left if it participates': {
      given: failing().keepingRevisions().members(member(2).updated().participatingFor(1)),
      settings,
      does: 'nothing',
      hold: 'UpdateRevisionFailing',
    },
    'is left if it has worked since, and only starts again': {
      given: failing().keepingRevisions().members(member(2).updated().crashLooping('mysqld', 1)),
      settings,
      does: 'nothing',
      hold: 'UpdateRevisionFailing',
    },
    'holds the revision afterwards': {
      given: stale(),
      settings,
      does: 'keeps while held',
      hold: 'UpdateRevisionFailing',
    },
    'is asked for about one revision alone': {
      given: failing().keepingRevisions(),
      settings: { restore: { revision: 'another', ordinals: [2] } },
      does: 'nothing',
      hold: 'UpdateRevisionFailing',
    },
  });
});

describe('what a member that somebody else takes comes back as', () => {
  const backOf = (given: ClusterBuilder, ordinal: number, settings: Partial<RolloutPolicy> = {}) =>
    decideCase({ given, settings }).members.find((one) => one.ordinal === ordinal)?.comesBack;

  it('is what it was, with the reason', () => {
    const drained = half().members(member(1).stale().terminating());
    expect(backOf(drained, 1, paused)).to.deep.equal({ as: 'before', because: { rule: 'Paused' } });
    expect(backOf(drained, 1, { pinnedOrdinals: [1] })).to.deep.equal({ as: 'before', because: 'pinned' });
    expect(backOf(drained, 1, { partition: 2 })).to.deep.equal({ as: 'before', because: 'partition' });
    expect(backOf(drained, 1, { lostMembers: 'KeepRevision' })).to.deep.equal({ as: 'before', because: 'setting' });
    expect(backOf(stale().missing(1), 1)).to.deep.equal({ as: 'before', because: 'unverified' });
  });

  it('is updated once nothing holds it', () => {
    const drained = half().members(member(1).stale().terminating());
    expect(backOf(drained, 1)).to.deep.equal({ as: 'updated', because: null });
  });

  it('is updated where nothing can be done about it', () => {
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
      .templateChanged()
      .missing(0, 1, 2)
      .memory({ waiting: [0, 1, 2] });
    expect(despite(unknown)).to.deep.equal({ as: 'updated', because, despite: 'revision' });
  });

  it('is told of one that came back too soon', () => {
    const tooSoon = (reason: string) =>
      half()
        .members(member(1).updated().down(reason))
        .memory({
          waiting: [0],
          verified: true,
          updatedOutOfBand: [1],
          createdWhileHeld: [{ ordinal: 1, started: false }],
        });
    const because = { rule: 'Paused' };
    expect(backOf(tooSoon('ErrImagePull'), 1, paused)).to.deep.equal({ as: 'updated', because, despite: 'created' });
    expect(backOf(tooSoon('CrashLoopBackOff'), 1, paused)).to.deep.equal({
      as: 'updated',
      because,
      despite: 'started',
    });
    expect(backOf(tooSoon('ErrImagePull'), 1)).to.equal(null);
  });

  it('is nothing to tell of other members', () => {
    const drained = half().members(member(1).stale().terminating());
    expect([0, 2].map((ordinal) => backOf(drained, ordinal, paused))).to.deep.equal([null, null]);
  });
});
