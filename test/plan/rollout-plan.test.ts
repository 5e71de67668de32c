import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import { neverInPlace } from '../../src/core/in-place-changes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { type Plan, plan } from '../../src/plan/rollout-plan.ts';
import type { PlanEntry } from '../../src/plan/simulated-cluster.ts';
import { absurdSnapshot, anyPolicy, plausibleSnapshot } from '../core/arbitrary-snapshot.ts';
import { appeared, type ClusterBuilder, cluster, fleetHolds } from '../core/cluster-builder.ts';
import { member } from '../core/member-builder.ts';
import { propertyParameters } from '../support/property-parameters.ts';

const stale = (replicas = 3): ClusterBuilder => cluster(replicas).templateChanged();
const lastOne = (): ClusterBuilder => cluster(3).members(member(0).stale());

const planOf = (snapshot: ClusterSnapshot, policy: RolloutPolicy): Plan =>
  plan({ snapshot, policy, memberSeconds: 100 });

/** Each line of a plan in a few words, and how it ends. */
function reported(given: ClusterBuilder | ClusterSnapshot, settings: Partial<RolloutPolicy> = {}): string[] {
  const { entries, stopsAt } = planOf('facts' in given ? given.facts() : given, { ...defaultPolicy, ...settings });
  return [...entries.map(line), stopsAt === null ? 'done' : `stops at ${stopsAt.rule}`];
}

function line(entry: PlanEntry): string {
  switch (entry.kind) {
    case 'wait':
      return `wait ${entry.hold.rule}`;
    case 'switchover':
      return `switchover ${entry.from} to ${entry.to}`;
    case 'step': {
      const { step } = entry;
      const ordinals = 'targets' in step ? step.targets.map(({ ordinal }) => ordinal) : [];
      return [step.kind, ...(step.kind === 'setPartition' ? [step.partition] : []), ...ordinals].join(' ');
    }
  }
}

const promote = 'promoteRevision';
const handOver = ['demote 0', 'switchover 0 to 1', 'evict 0'];
const lastOf3 = [...handOver, promote, 'done'];
/** Of a cluster whose current revision is not behind. */
const andDone = [...handOver, 'done'];

const inPlace = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' } } as const;
const changeable = (...containers: readonly string[]): ClusterBuilder =>
  cluster(3).members(
    ...[0, 1, 2].map((ordinal) =>
      member(ordinal)
        .stale()
        .changeable(...containers),
    ),
  );

describe('the plan of a rollout in place', () => {
  it('has no switchover if nothing restarts', () => {
    const all = ['updateInPlace 2', 'updateInPlace 1', 'updateInPlace 0', 'done'];
    expect(reported(changeable(), inPlace)).to.deep.equal(all);
  });

  it('updates the former primary in place as well', () => {
    expect(reported(changeable('slow-log'), inPlace)).to.deep.equal([
      'updateInPlace 2',
      'updateInPlace 1',
      'demote 0',
      'switchover 0 to 1',
      'updateInPlace 0',
      'done',
    ]);
  });
});

describe('the plan of a rollout', () => {
  const plans: Readonly<Record<string, readonly [ClusterBuilder, readonly string[], Partial<RolloutPolicy>?]>> = {
    'of three': [stale(), ['evict 2', 'evict 1', ...lastOf3]],
    'of three, the primary at 2': [
      stale().primaryAt(2),
      ['evict 1', 'evict 0', 'demote 2', 'switchover 2 to 0', 'evict 2', promote, 'done'],
    ],
    'of five': [stale(5), ['evict 4', 'evict 3', 'evict 2', 'evict 1', ...lastOf3]],
    'of one': [stale(1), ['evict 0', promote, 'done']],
    'that is over': [cluster(3), ['done']],
    'by partitions of a StatefulSet at OnDelete, which is released first': [
      stale(),
      [
        'promoteRevision',
        'release',
        'setPartition 2 2',
        'setPartition 1 1',
        'setPartition 0 0',
        'switchover 0 to 1',
        'done',
      ],
      { mode: 'Partition' },
    ],
    'of MOCO': [
      stale().atPartition(3),
      ['wait AwaitingMoco', 'wait AwaitingMoco', 'wait AwaitingMoco', 'switchover 0 to 1', 'done'],
      { mode: 'MOCO' },
    ],
    'of MOCO with a member that is updated already': [
      stale().atPartition(2).members(member(2).updated(), member(1).updated()),
      ['wait AwaitingMoco', 'wait AwaitingMoco', 'switchover 0 to 1', 'done'],
      { mode: 'MOCO' },
    ],
    'of Kubernetes itself': [
      stale().atPartition(0),
      [
        'wait UpdatedMemberNotParticipating',
        'wait UpdatedMemberNotParticipating',
        'wait UpdatedMemberNotParticipating',
        'switchover 0 to 1',
        'done',
      ],
      { mode: 'MOCO' },
    ],
    'with nothing left but the revision': [cluster(3).statefulSet({ currentRevision: 'old' }), [promote, 'done']],
    'with one that is down': [
      stale().members(member(1).down('ErrImagePull')),
      ['delete 1', 'wait ClusterNotHealthy', 'evict 2', ...lastOf3],
    ],
    'with all that are down': [
      stale().members(member(0).down('X').creating(99), member(1).creating(99), member(2).creating(99)),
      ['delete 2 1 0', promote, 'done'],
    ],
    'with a primary that is down': [
      stale().members(member(0).down('ErrImagePull')),
      [
        'delete 0',
        'switchover 0 to 1',
        'wait ClusterNotHealthy',
        'evict 2',
        'demote 1',
        'switchover 1 to 0',
        'evict 1',
        promote,
        'done',
      ],
    ],
    'with one that is impaired': [
      stale().members(member(1).impaired('slow-log')),
      ['delete 1', 'wait BlockedByPDB', 'evict 2', ...lastOf3],
    ],
    'up to a partition': [stale(), ['evict 2', 'stops at PartitionReached'], { partition: 2 }],
    'around one that is held': [stale(), ['evict 1', 'stops at PrimaryWaitsForPinned'], { pinnedOrdinals: [2] }],
    'up to an approval': [
      stale(),
      ['evict 2', 'evict 1', 'stops at AwaitingApproval'],
      { primaryUpdatePolicy: 'Manual' },
    ],
    'that is not allowed to begin': [stale(), ['stops at Paused'], { paused: true }],
    'by partitions': [
      stale().atPartition(3),
      ['setPartition 2 2', 'setPartition 1 1', 'setPartition 0 0', 'switchover 0 to 1', 'done'],
      { mode: 'Partition' },
    ],
    'by partitions, past one that is updated': [
      stale().atPartition(3).members(member(2).updated()),
      ['setPartition 2', 'setPartition 1 1', 'setPartition 0 0', 'switchover 0 to 1', 'done'],
      { mode: 'Partition' },
    ],
    'that begins with the strategy': [
      lastOne().statefulSet({ strategy: 'RollingUpdate', labelled: false, partition: 3 }),
      ['setStrategy', ...andDone],
    ],
    'in the maintenance windows that each step fits into': [
      stale().maintenance([
        [-60, 150],
        [1000, 1200],
        [2000, 2120],
        [3000, 3200],
      ]),
      ['evict 2', 'wait OutsideMaintenanceWindow', 'evict 1', 'wait OutsideMaintenanceWindow', ...lastOf3],
    ],
    'after a blackout': [stale(1).maintenance(null, [-60, 60]), ['wait Blackout', 'evict 0', promote, 'done']],
    'that no window is long enough for': [stale(1).maintenance([[60, 159]]), ['stops at OutsideMaintenanceWindow']],
    'that replaces members in windows for restarts': [
      cluster(3)
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().notChangeable('args differ')))
        .restartWindows([3600, 3900], [7200, 10_800]),
      ['wait RestartNeeded', 'evict 2', 'evict 1', 'wait RestartNeeded', ...andDone],
      { inPlaceUpdates: { ...neverInPlace, mode: 'Only' } },
    ],
    'that first takes a demotion back': [
      lastOne().members(member(0).stale().demotedByUs(90)),
      ['undemote 0', ...andDone],
    ],
    'that leaves a mark to the eviction': [
      lastOne().primaryAt(1).members(member(0).stale().markAlone()),
      ['evict 0', 'done'],
    ],
    'that first removes a mark': [
      cluster(3).primaryAt(1).members(member(2).stale(), member(0).stale().markAlone()),
      ['undemote 0', 'evict 2', 'evict 0', 'done'],
    ],
  };
  for (const [sentence, [given, expected, settings]] of Object.entries(plans)) {
    it(sentence, () => expect(reported(given, settings)).to.deep.equal(expected));
  }
  it('counts the switchovers', () => {
    expect(planOf(stale().facts(), defaultPolicy).switchovers).to.equal(1);
    expect(planOf(stale(1).facts(), defaultPolicy).switchovers).to.equal(0);
    const atTheTop = stale().primaryAt(2).atPartition(3).facts();
    expect(planOf(atTheTop, { ...defaultPolicy, mode: 'Partition' }).switchovers).to.equal(2);
  });
  it('counts the members that are replaced, by any program', () => {
    const taken = (given: ClusterBuilder, settings: Partial<RolloutPolicy> = {}): number =>
      planOf(given.facts(), { ...defaultPolicy, ...settings }).members;
    expect(taken(cluster(3))).to.equal(0);
    expect(taken(stale())).to.equal(3);
    expect(taken(stale().members(member(1).down('ErrImagePull')))).to.equal(3);
    expect(taken(stale().atPartition(3), { mode: 'Partition' })).to.equal(3);
    for (const partition of [3, 0]) expect(taken(stale().atPartition(partition), { mode: 'MOCO' })).to.equal(3);
    expect(taken(changeable(), inPlace)).to.equal(0);
    expect(taken(changeable('slow-log'), inPlace)).to.equal(3);
  });
  it('names what a user would have to do with a hold', () => {
    const { stopsAt } = planOf(stale().facts(), { ...defaultPolicy, primaryUpdatePolicy: 'Manual' });
    expect(stopsAt).to.deep.equal({ rule: 'AwaitingApproval', member: 0, revision: '7966559688' });
  });
});

describe('the first wait of a plan', () => {
  const rest = ['evict 2', 'evict 1', ...lastOf3];
  const waits: Readonly<Record<string, readonly [ClusterBuilder, readonly string[], Partial<RolloutPolicy>?]>> = {
    'the effect of the last step': [stale().but({ ownWritePending: 'evict' }), ['wait AwaitingOwnWrite', ...rest]],
    'Kubernetes to look': [stale().statefulSet({ observed: false }), ['wait StatefulSetNotObserved', ...rest]],
    'MOCO to reconcile': [
      stale().mysqlCluster({ reconciledGeneration: 1, succeededGeneration: null }),
      ['wait NotReconciled', ...rest],
    ],
    'a fleet that fails': [stale().waitingForOthers(fleetHolds.FleetFailing), ['wait FleetFailing', ...rest]],
    'a slot': [stale().queued(2, 1), ['wait AwaitingFleetSlot', ...rest]],
    'the template to come to rest': [
      stale().memory({ recentRevisions: appeared(1, 2, 3, 4) }),
      ['wait RevisionFlapping', ...rest],
    ],
    'the next try of a switchover': [
      lastOne().memory({ switchoverTries: 1, sinceLastTrySeconds: 1 }),
      ['wait SwitchoverFailing', ...andDone],
    ],
    'the end of a backup': [
      stale().members(member(2).lagging()).budgets({ closed: true }),
      ['wait BackupRunning', 'delete 2', 'wait ClusterNotHealthy', 'evict 1', ...lastOf3],
    ],
    'the nodes to fetch the images': [
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'node-2', forSeconds: 0, message: null }] }),
      ['wait PreflightRunning', ...rest],
      { preflight: 'Nodes' },
    ],
    'the end of a backup of one': [stale(1).backupJobs({}), ['wait BackupRunning', 'evict 0', promote, 'done']],
    'the budget': [stale().budgets({ disruptionsAllowed: 0, closed: true }), ['wait BackupRunning', ...rest]],
    'the budget to be counted': [stale().budgets({ observed: false }), ['wait BlockedByPDB', ...rest]],
    'the budget after a refusal': [
      stale().budgets({ refusal: 'no', refusedForSeconds: 1 }),
      ['wait BlockedByPDB', ...rest],
    ],
    'MOCO to let the primary go': [
      lastOne().members(member(0).stale().preventDelete()),
      ['wait MemberProtected', ...andDone],
    ],
    'a switchover that we asked for': [
      lastOne().members(member(0).stale().demotedByUs()),
      ['wait AwaitingSwitchover', 'switchover 0 to 1', 'evict 0', 'done'],
    ],
    'a switchover that another client asked for': [
      lastOne().members(member(0).stale().demotedBySomebody()),
      ['wait SwitchoverInProgress', 'switchover 0 to 1', 'evict 0', 'done'],
    ],
    'a failover, to the lowest that serves': [
      cluster(3).members(member(0).stale().lagging(), member(1).terminating()),
      ['wait AwaitingFailover', 'switchover 0 to 2', 'wait MemberTerminating', 'delete 0', 'done'],
    ],
    'a failover, to one that lags but runs': [
      cluster(3).members(member(0).stale().lagging(), member(1).updated().lagging()),
      ['wait AwaitingFailover', 'switchover 0 to 1', 'delete 0', 'done'],
    ],
    'a member that is missing': [
      stale().missing(2),
      ['wait MemberMissing', 'wait ClusterNotHealthy', 'evict 1', ...lastOf3],
    ],
    'a primary that is missing': [
      cluster(3).missing(0).statefulSet({ currentRevision: 'old' }),
      ['wait MemberMissing', promote, 'done'],
    ],
    'a member that is terminating': [
      stale().members(member(2).terminating()),
      ['wait MemberTerminating', 'wait ClusterNotHealthy', 'evict 1', ...lastOf3],
    ],
    'roles to be set': [stale().members(member(2).unlabelled()), ['wait RolesNotSettled', ...rest]],
    'an updated one to participate': [
      stale().members(member(2).updated().starting()),
      ['wait UpdatedMemberNotParticipating', 'evict 1', ...lastOf3],
    ],
    'a single one to recover': [
      stale(1).members(member(0).lagging()),
      ['wait AwaitingRecovery', 'evict 0', promote, 'done'],
    ],
    'one that is away to come back': [
      stale().members(member(1).errant()),
      ['wait MaxUnavailableReached', 'evict 2', 'stops at PartitionReached'],
      { partition: 2 },
    ],
    'MOCO to say Healthy': [stale().unhealthy(), ['wait ClusterNotHealthy', ...rest]],
    'an errant one, which a restart does not cure': [
      stale().members(member(1).errant(), member(2).lagging()),
      ['delete 1', 'wait UpdatedMemberNotParticipating', 'evict 2', ...lastOf3],
    ],
    'a quorum': [
      stale().members(member(1).unreachable(), member(2).lagging()),
      ['wait NotEnoughAcknowledging', ...rest],
    ],
  };
  for (const [sentence, [given, expected, settings]] of Object.entries(waits)) {
    it(sentence, () => expect(reported(given, settings)).to.deep.equal(expected));
  }
});

describe('waits that a plan leaves out', () => {
  const ends: Readonly<Record<string, readonly [ClusterBuilder, string]>> = {
    'a person who corrects the template': [
      stale().members(member(2).updated().crashLooping()),
      'UpdateRevisionFailing',
    ],
    'an image to be pushed': [
      stale().preflight({
        refusals: [
          { nodeName: 'node-2', members: [2], result: 'ImageUnavailable', message: 'not found', againInSeconds: 60 },
        ],
      }),
      'ImageUnavailable',
    ],
    'a person who looks at a switchover': [lastOne().memory({ switchoverTries: 4 }), 'SwitchoverFailing'],
    'a person who says which budget it is': [stale().budgets({}, { name: 'another' }), 'BlockedByPDB'],
    'a quota to be raised': [stale().missing(1).but({ createFailure: 'exceeded quota' }), 'MemberMissing'],
    'a StatefulSet without any revision': [stale().statefulSet({ updateRevision: '' }), 'StatefulSetNotObserved'],
    'a StatefulSet': [stale().statefulSet(null), 'StatefulSetMissing'],
    'a member that could take over': [
      stale().members(member(0).terminating(), member(1).creating(1), member(2).creating(1)),
      'SwitchoverInProgress',
    ],
    'a member without a like': [cluster(1).missing(0), 'MemberMissing'],
    'facts that contradict each other': [stale().mysqlCluster({ primaryIndex: 9 }), 'SnapshotInconsistent'],
  };
  for (const [sentence, [given, rule]] of Object.entries(ends)) {
    it(sentence, () => expect(reported(given).at(-1)).to.equal(`stops at ${rule}`));
  }
});

describe('a simulated member', () => {
  it('has its own name', () => {
    const { entries } = planOf(stale(5).missing(1, 3).atPartition(5).facts(), { ...defaultPolicy, mode: 'Partition' });
    const steps = entries.flatMap((entry) => (entry.kind === 'step' ? [entry.step] : []));
    const names = steps.flatMap((step) => ('targets' in step ? step.targets.map(({ name }) => name) : []));
    expect(names).to.deep.equal(['moco-test-4', 'moco-test-2', 'moco-test-0']);
    expect(reported(stale(5).missing(1, 3))).to.deep.equal([
      'wait MemberMissing',
      'wait ClusterNotHealthy',
      'evict 4',
      'evict 2',
      ...lastOf3,
    ]);
  });
  it('is not waited for twice if no member is like it', () => {
    expect(reported(cluster(1).missing(0))).to.deep.equal(['wait MemberMissing', 'stops at MemberMissing']);
  });
  it('has none of its former faults', () => {
    const given = stale().members(
      member(2).down('CrashLoopBackOff').unschedulable().preventDelete().but({ readinessGateClosed: true }),
    );
    expect(reported(given)).to.deep.equal([
      'wait MemberProtected',
      'delete 2',
      'wait ClusterNotHealthy',
      'evict 1',
      ...lastOf3,
    ]);
  });
});

const inFull = propertyParameters(500);

describe('every plan', () => {
  for (const [kind, snapshots] of Object.entries({ plausible: plausibleSnapshot, absurd: absurdSnapshot })) {
    it(`ends within its bound, and begins with the current decision: ${kind} facts`, () => {
      fc.assert(
        fc.property(snapshots, anyPolicy, (snapshot, policy) => {
          const { entries, stopsAt, switchovers } = planOf(snapshot, policy);
          const { step, hold } = decide(snapshot, policy);
          const [first] = entries;
          expect(entries.length).to.be.at.most(Math.max(0, 12 * (snapshot.cluster.replicas + 2)) + 1 || 0);
          expect(switchovers).to.equal(entries.filter((entry) => entry.kind === 'switchover').length);
          if (hold === null && step.kind !== 'none') expect(first).to.deep.include({ kind: 'step', step });
          else if (first) expect(first).to.deep.include({ kind: 'wait', hold });
          else expect(stopsAt).to.deep.equal(hold);
        }),
        inFull,
      );
    });
  }
  it('leaves the facts as they were', () => {
    fc.assert(
      fc.property(plausibleSnapshot, anyPolicy, (snapshot, policy) => {
        const before = structuredClone(snapshot);
        planOf(snapshot, policy);
        expect(snapshot).to.deep.equal(before);
      }),
      inFull,
    );
  });
  it('disrupts no member twice at one revision, and never has the same wait twice in a row', () => {
    fc.assert(
      fc.property(plausibleSnapshot, (snapshot) => {
        const lines = reported(snapshot);
        const taken = lines.filter((one) => /^(evict|delete)/.test(one)).flatMap((one) => one.split(' ').slice(1));
        expect(taken).to.have.lengthOf(new Set(taken).size);
        for (const [index, one] of lines.entries())
          if (one.startsWith('wait')) expect(lines[index + 1]).not.to.equal(one);
      }),
      inFull,
    );
  });
  it('of a healthy cluster ends with nothing due, after one switchover', () => {
    for (const replicas of [1, 3, 5, 7, 9]) {
      for (let primary = 0; primary < replicas; primary++) {
        const { entries, switchovers, stopsAt } = planOf(stale(replicas).primaryAt(primary).facts(), defaultPolicy);
        expect(stopsAt).to.equal(null);
        expect(switchovers).to.equal(replicas > 1 ? 1 : 0);
        expect(entries.filter(({ kind }) => kind === 'step')).to.have.lengthOf(replicas + (replicas > 1 ? 2 : 1));
      }
    }
  });
});
