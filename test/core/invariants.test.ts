import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { Decision, Step, Target } from '../../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { StepRule } from '../../src/core/step.ts';
import { type ClusterBuilder, cluster, lastOne, stale, three } from './cluster-builder.ts';
import { violations } from './invariants.ts';
import { member, revisionAfter } from './member-builder.ts';

const targetOf = (ordinal: number): Target => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  uid: `uid-${ordinal}`,
  resourceVersion: `${1000 + ordinal}`,
});
const deletion = (rule: StepRule, ...ordinals: readonly number[]): Partial<Decision> => ({
  hold: null,
  step: { kind: 'delete', rule, targets: ordinals.map(targetOf) },
});
const does = (step: Step): Partial<Decision> => ({ hold: null, step });
const eviction = (ordinal: number): Partial<Decision> =>
  does({ kind: 'evict', rule: 'ReplicaHealthy', targets: [targetOf(ordinal)] });
const demotion = (ordinal: number): Partial<Decision> =>
  does({ kind: 'demote', rule: 'PrimaryLast', targets: [targetOf(ordinal)], mark: revisionAfter });
const lowering = (partition: number, ordinal: number): Partial<Decision> =>
  does({ kind: 'setPartition', rule: 'ReplicaHealthy', partition, targets: [targetOf(ordinal)] });
const nothing: Partial<Decision> = does({ kind: 'none' });

/** A rule that is broken in this way would be found: what it would have decided, and what is said of it. */
const broken: Readonly<Record<string, readonly [ClusterBuilder, Partial<Decision>, string, Partial<RolloutPolicy>?]>> =
  {
    'I2, by eviction': [stale().members(member(1).lagging(), member(0).lagging()), eviction(2), 'I2:'],
    'I2, by deleting all that are impaired': [
      stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log')),
      deletion('MemberImpaired', 2, 1),
      'I2:',
    ],
    'I2, by a demotion': [three(member(0).stale(), member(2).lagging()), demotion(0), 'I2:'],
    I2b: [stale().members(member(1).unreachable(), member(2).lagging()), deletion('MemberNotParticipating', 2), 'I2b:'],
    'I2b, before the grace is over': [
      stale()
        .members(member(0).crashLooping(), member(1).unreachable(), member(2).lagging())
        .primaryUnavailableFor(179),
      deletion('MemberNotParticipating', 2),
      'I2b:',
    ],
    I3: [three(member(0).stale()), eviction(0), 'I3:'],
    'I4, by deleting': [stale(), deletion('MemberDown', 2), 'I4: a healthy member deleted'],
    'I4, by evicting': [stale().members(member(2).lagging()), eviction(2), 'I4: an unhealthy member evicted'],
    I5: [cluster(3), eviction(2), 'I5:'],
    'I5, by a demotion': [cluster(3), demotion(0), 'I5:'],
    I10: [stale(), eviction(2), 'I10:', { mode: 'MOCO' }],
    I11: [stale(), nothing, 'I11:'],
    'I12, by terminating it': [three(member(1).demotedByUs()), nothing, 'I12:'],
    'I12, by doing something else first': [stale().members(member(1).demotedByUs()), eviction(2), 'I12:'],
    'I12, beyond its time': [
      cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(90).role('primary')),
      nothing,
      'I12:',
    ],
    'a healthy replica disrupted in an unhealthy cluster': [stale().unhealthy(), eviction(2), 'needs healthy'],
    'a replica disrupted before the last one has settled': [
      stale().members(member(2).updated().participatingFor(1)),
      eviction(1),
      'needs settledBut',
    ],
    'a replica disrupted while the primary is unavailable': [
      stale().members(member(0).crashLooping(), member(2).errant()),
      deletion('MemberNotParticipating', 2),
      'needs failoverHadItsTime',
    ],
    'a replica disrupted while the roles move': [
      stale().members(member(1).unlabelled()),
      eviction(2),
      'needs rolesRest',
    ],
    'a failing revision for a member that is down': [
      stale().members(member(1).down('ErrImagePull'), member(2).updated().crashLooping()),
      deletion('MemberDown', 1),
      'needs standsUnlessDown',
    ],
    'a demotion before its turn': [stale(), demotion(0), 'before its turn'],
    'a demotion of a replica': [three(member(2).stale()), demotion(2), 'of a replica'],
    'a demotion without a successor': [stale(1), demotion(0), 'without a successor'],
    'taking back a demotion that is not ours': [
      three(member(0).demotedBySomebody()),
      does({ kind: 'undemote', targets: [targetOf(0)], reason: 'TimedOut', demoted: true }),
      'not ours',
    ],
    'a member below the partition': [stale(), eviction(0), 'below the partition', { partition: 1 }],
    'a member that is terminating': [
      stale().members(member(2).terminating()),
      deletion('MemberDown', 2),
      'that is terminating',
    ],
    'a pinned member': [stale(), eviction(2), 'needs notKept', { pinnedOrdinals: [2] }],
    'a cluster that has no slot': [stale().queued(1, 1), eviction(2), 'needs slot'],
    'a primary without approval': [lastOne(), demotion(0), 'needs approval', { primaryUpdatePolicy: 'Manual' }],
    'a primary newer than a pinned replica': [
      lastOne().members(member(1).stale()),
      demotion(0),
      'needs nonePinnedBehind',
      { pinnedOrdinals: [1] },
    ],
    'a third one when two may be unavailable': [
      stale(5).members(member(4).updated().starting(), member(3).updated().starting()),
      eviction(2),
      'needs roomForOne',
      { maxUnavailable: 2 },
    ],
    'a second one when 39 % of five may be unavailable': [
      stale(5).members(member(4).updated().starting()),
      eviction(3),
      'needs roomForOne',
      { maxUnavailable: '39%' },
    ],
    'a rule switched off that cannot be': [
      stale().unhealthy(),
      eviction(2),
      'needs healthy',
      { overrides: [{ rule: 'ClusterNotHealthy', remainingSeconds: 60 }] },
    ],
    'a rule switched off for longer than allowed': [
      stale().members(member(1).demotedBySomebody()),
      eviction(2),
      'needs noForeignDemote',
      { overrides: [{ rule: 'ForeignDemote', remainingSeconds: 0 }] },
    ],
    'a partition lowered by two': [stale().atPartition(3), lowering(1, 1), 'by more than one', { mode: 'Partition' }],
    "a partition below the user's": [
      stale().atPartition(3),
      lowering(2, 2),
      'below that of the user',
      { mode: 'Partition', partition: 3 },
    ],
    'a partition that replaces another member than it names': [
      stale().atPartition(3),
      lowering(2, 1),
      'not the member that goes',
      { mode: 'Partition' },
    ],
    'a partition lowered before the last one is replaced': [
      stale().atPartition(2),
      lowering(1, 1),
      'needs replaced',
      { mode: 'Partition' },
    ],
    'a partition lowered in a cluster that is not healthy': [
      stale().atPartition(3).unhealthy(),
      lowering(2, 2),
      'needs healthy',
      { mode: 'Partition' },
    ],
    'a partition lowered where another client does': [stale().atPartition(3), lowering(2, 2), 'I10:', { mode: 'MOCO' }],
    'a protected member': [
      stale().members(member(0).impaired('slow-log').preventDelete()),
      deletion('MemberImpaired', 0),
      'a protected member',
    ],
    'a disruption while paused': [stale(), eviction(2), 'while paused', { paused: true }],
    'a target that does not exist': [stale(), eviction(4), 'does not exist'],
    'preconditions of another pod': [
      stale(),
      does({ kind: 'evict', rule: 'ReplicaHealthy', targets: [{ ...targetOf(2), uid: 'uid-1' }] }),
      'preconditions of another pod',
    ],
    'contradictory facts': [
      cluster(3).mysqlCluster({ primaryIndex: 7 }),
      does({ kind: 'setStrategy', newPods: 'UpdateRevision' }),
      'contradictory',
    ],
    'a step while the cluster is being deleted': [
      stale().mysqlCluster({ deleting: true }),
      eviction(2),
      'nothing may be written',
    ],
    'a hold with a step': [stale(), { hold: { rule: 'Paused' } }, 'a hold came with a step'],
    'a wait that has passed': [stale(), { requeueAfterSeconds: 0 }, 'not a time to come'],
    'a member without a verdict': [stale(), { members: [] }, 'not one verdict'],
    'a member with two verdicts': [
      stale(),
      { members: [0, 1, 1, 2].flatMap((ordinal) => decide(stale().facts(), defaultPolicy).members[ordinal] ?? []) },
      'not one verdict',
    ],
  };

describe('the judge of decisions', () => {
  for (const [sentence, [given, wrong, found, settings]] of Object.entries(broken)) {
    it(`finds ${sentence}`, () => {
      const snapshot = given.facts();
      const policy = { ...defaultPolicy, ...settings };
      const right = decide(snapshot, policy);
      expect(violations(snapshot, policy, right)).to.deep.equal([]);
      expect(violations(snapshot, policy, { ...right, ...wrong }).join('\n')).to.include(found);
    });
  }
});
