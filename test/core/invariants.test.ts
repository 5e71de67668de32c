import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { Decision, Step, StepRule, Target } from '../../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
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
  does({ kind: 'demote', rule: 'PrimaryLast', targets: [targetOf(ordinal)], revision: revisionAfter });
const nothing: Partial<Decision> = does({ kind: 'none' });

const stale = () => cluster(3).templateChanged();

/** A rule that is broken in this way would be found: what it would have decided, and what is said of it. */
const broken: Readonly<Record<string, readonly [ClusterBuilder, Partial<Decision>, string, Partial<RolloutPolicy>?]>> =
  {
    'I2, by eviction': [stale().members(member(1).lagging(), member(0).lagging()), eviction(2), 'I2:'],
    'I2, by deleting all that are impaired': [
      stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log')),
      deletion('MemberImpaired', 2, 1),
      'I2:',
    ],
    'I2, by a demotion': [cluster(3).members(member(0).stale(), member(2).lagging()), demotion(0), 'I2:'],
    I2b: [stale().members(member(1).unreachable(), member(2).lagging()), deletion('MemberNotParticipating', 2), 'I2b:'],
    'I2b, before the grace is over': [
      stale().members(member(0).crashLooping(), member(1).unreachable(), member(2).lagging()).primaryAwayFor(179),
      deletion('MemberNotParticipating', 2),
      'I2b:',
    ],
    I3: [cluster(3).members(member(0).stale()), eviction(0), 'I3:'],
    'I4, by deleting': [stale(), deletion('MemberDown', 2), 'I4: a healthy member deleted'],
    'I4, by evicting': [stale().members(member(2).lagging()), eviction(2), 'I4: an unhealthy member evicted'],
    I5: [cluster(3), eviction(2), 'I5:'],
    'I5, by a demotion': [cluster(3), demotion(0), 'I5:'],
    I10: [stale(), eviction(2), 'I10:', { mode: 'Observe' }],
    I11: [stale(), nothing, 'I11:'],
    'I12, by leaving it': [cluster(3).members(member(1).demotedByUs()), nothing, 'I12:'],
    'I12, by doing something else first': [stale().members(member(1).demotedByUs()), eviction(2), 'I12:'],
    'I12, beyond its time': [
      cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(90).role('primary')),
      nothing,
      'I12:',
    ],
    'a healthy replica taken from a cluster that is not': [stale().unhealthy(), eviction(2), 'needs healthy'],
    'a replica taken before the last one has settled': [
      stale().members(member(2).updated().settledFor(1)),
      eviction(1),
      'needs nobodyOwes',
    ],
    'a replica taken while the primary is away': [
      stale().members(member(0).crashLooping(), member(2).errant()),
      deletion('MemberNotParticipating', 2),
      'needs primaryServesOrGraceOver',
    ],
    'a replica taken while the roles move': [stale().members(member(1).role(null)), eviction(2), 'needs rolesRest'],
    'a failing revision given to one that is down': [
      stale().members(member(1).down('ErrImagePull'), member(2).updated().crashLooping()),
      deletion('MemberDown', 1),
      'needs revisionStandsOrQuorumLost',
    ],
    'a demotion out of turn': [stale(), demotion(0), 'before its turn'],
    'a demotion of a replica': [cluster(3).members(member(2).stale()), demotion(2), 'of a replica'],
    'a demotion with nobody to take over': [cluster(1).templateChanged(), demotion(0), 'nobody to take over'],
    'a take-back of what is not ours': [
      cluster(3).members(member(0).demotedBySomebody()),
      does({ kind: 'undemote', targets: [targetOf(0)], reason: 'TimedOut', demoted: true }),
      'not ours',
    ],
    'a member below the partition': [stale(), eviction(0), 'below the partition', { partition: 1 }],
    'a member that is leaving': [stale().members(member(2).leaving()), deletion('MemberDown', 2), 'that is leaving'],
    'a protected primary': [
      stale().members(member(0).impaired('slow-log').preventDelete()),
      deletion('MemberImpaired', 0),
      'a protected primary',
    ],
    'a disruption while paused': [stale(), eviction(2), 'while paused', { paused: true }],
    'a target that does not exist': [stale(), eviction(4), 'does not exist'],
    'preconditions of another pod': [
      stale(),
      does({ kind: 'evict', rule: 'ReplicaHealthy', targets: [{ ...targetOf(2), uid: 'uid-1' }] }),
      'preconditions of another pod',
    ],
    'facts that cannot be': [cluster(3).mysqlCluster({ primaryIndex: 7 }), does({ kind: 'setStrategy' }), 'cannot be'],
    'a step while the cluster is being deleted': [
      stale().mysqlCluster({ deleting: true }),
      eviction(2),
      'nothing may be written',
    ],
    'a hold with a step': [stale(), { hold: { rule: 'Paused' } }, 'a hold came with a step'],
    'a wait that has passed': [stale(), { lookAgainInSeconds: 0 }, 'not a time to come'],
    'a member without a verdict': [stale(), { members: [] }, 'not one verdict'],
    'a member with two verdicts': [
      stale(),
      { members: [0, 1, 1, 2].flatMap((ordinal) => decide(stale().facts(), defaultPolicy).members[ordinal] ?? []) },
      'not one verdict',
    ],
  };

describe('the judge of decisions', () => {
  for (const [sentence, [given, wrong, found, wishes]] of Object.entries(broken)) {
    it(`finds ${sentence}`, () => {
      const snapshot = given.facts();
      const policy = { ...defaultPolicy, ...wishes };
      const right = decide(snapshot, policy);
      expect(violations(snapshot, policy, right)).to.deep.equal([]);
      expect(violations(snapshot, policy, { ...right, ...wrong }).join('\n')).to.include(found);
    });
  }
});
