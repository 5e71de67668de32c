import { expect } from 'chai';
import type { Hold } from '../../src/core/decision.ts';
import { budgetOf, isReadable, type MaxUnavailable, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { decideCase, deletes, evicts, holds, play } from './table.ts';

// Every test that KEP-961 asks for, with MOCO's bound of ⌊replicas/2⌋ on top, and one member a step.

const stale = (replicas: number): ClusterBuilder => cluster(replicas).templateChanged();
const back = (ordinal: number) => member(ordinal).updated();
const starting = (ordinal: number) => member(ordinal).updated().starting();
const terminating = (ordinal: number) => member(ordinal).stale().terminating();
const next = (ordinal: number) => evicts('ReplicaHealthy', ordinal);
const used = (unavailable: readonly number[], maxUnavailable: number): Hold => ({
  rule: 'MaxUnavailableReached',
  unavailable,
  maxUnavailable,
});
const upTo = (maxUnavailable: MaxUnavailable, settings: Partial<RolloutPolicy> = {}): Partial<RolloutPolicy> => ({
  maxUnavailable,
  ...settings,
});
/** As written by somebody who did not ask the types. */
const written = (setting: string): MaxUnavailable => setting as MaxUnavailable;

describe('how many members may be unavailable at once', () => {
  const cases: readonly (readonly [string, MaxUnavailable, number, number, number])[] = [
    ['1 is 1', 1, 5, 0, 1],
    ['2 of 5 is 2', 2, 5, 0, 2],
    ['2 of 4 is 2', 2, 4, 0, 2],
    ['2 of 3 is 1: two of three have to stay', 2, 3, 0, 1],
    ['3 of 5 is 2: three of five have to stay', 3, 5, 0, 2],
    ['more than there are is as many as there may be', 9, 7, 0, 3],
    ['0 is 1: nothing would ever move', 0, 5, 0, 1],
    ['one of one is 1', 1, 1, 0, 1],
    ['as many as lie from the partition up', 3, 7, 5, 2],
    ['one more than lie from the partition up', 3, 7, 4, 3],
    ['fewer than lie from the partition up', 3, 7, 2, 3],
    ['the partition is past the last one', 3, 7, 9, 1],
    ['40 % of 5 is exactly 2', '40%', 5, 0, 2],
    ['39 % of 5 is rounded down', '39%', 5, 0, 1],
    ['59 % of 5 is rounded down', '59%', 5, 0, 2],
    ['34 % of 9 is rounded down to 3', '34%', 9, 0, 3],
    ['33 % of 9 is just not 3', '33%', 9, 0, 2],
    ['34 % of 9 from partition 7 up', '34%', 9, 7, 2],
    ['0 % is 1', '0%', 9, 0, 1],
    ['100 % is as many as there may be', '100%', 9, 0, 4],
    ['of a number of members that is none', 2, Number.NaN, 0, 1],
  ];
  for (const [sentence, setting, replicas, partition, expected] of cases) {
    it(sentence, () => expect(budgetOf(setting, replicas, partition)).to.equal(expected));
  }
});

describe('a maxUnavailable that can be read', () => {
  const cases: readonly (readonly [MaxUnavailable, boolean])[] = [
    [0, true],
    [1, true],
    [1000, true],
    [-1, false],
    [1.5, false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
    ['0%', true],
    ['25%', true],
    [written('abc%'), false],
    [written('abc'), false],
    [written('%'), false],
    [written('2'), false],
    [written('-5%'), false],
    [written('12.5%'), false],
    [written('about 25%'), false],
    [written('25% of them'), false],
  ];
  for (const [setting, readable] of cases) {
    it(`${JSON.stringify(setting)} ${readable ? 'can' : 'can not'}`, () =>
      expect(isReadable(setting)).to.equal(readable));
  }
  play({
    'one that can not is nothing to act on': {
      given: stale(3),
      settings: upTo(written('abc%')),
      decides: holds({ rule: 'SettingsInvalid', problem: 'maxUnavailable is abc%' }),
    },
    'another hold is reported first': {
      given: stale(3).settingsProblem('spec.partition is -1'),
      settings: upTo(-1),
      decides: holds({ rule: 'SettingsInvalid', problem: 'spec.partition is -1' }),
    },
  });
});

describe('maxUnavailable 1 is what a StatefulSet does without it', () => {
  const situations: Readonly<Record<string, ClusterBuilder>> = {
    'before anything is taken': stale(5),
    'while one is terminating': stale(5).members(terminating(4)),
    'while one is starting': stale(5).members(starting(4)),
    'while one has to settle': stale(5).members(back(4).participatingFor(1)),
    'when one is back': stale(5).members(back(4)),
    'when one is down': stale(5).members(back(4), member(1).down('CrashLoopBackOff')),
    'when one lags': stale(5).members(back(4), member(1).lagging()),
    'when the primary is left': cluster(5).members(member(0).stale()),
    'when all are back': cluster(5),
  };
  for (const [sentence, given] of Object.entries(situations)) {
    it(sentence, () => {
      const usual = decideCase({ given });
      for (const setting of [1, 0, '20%', '39%', '0%'] as const) {
        expect(decideCase({ given, settings: upTo(setting) })).to.deep.equal(usual);
      }
    });
  }
});

describe('maxUnavailable 2 of five', () => {
  const settings = upTo(2);
  play({
    'the last one goes first': { given: stale(5), settings, decides: next(4) },
    'a second one goes while the first is terminating': {
      given: stale(5).members(terminating(4)),
      settings,
      decides: next(3),
    },
    'a second one goes while the first is starting': {
      given: stale(5).members(starting(4)),
      settings,
      decides: next(3),
    },
    'a second one goes while the first has to settle': {
      given: stale(5).members(back(4).participatingFor(1)),
      settings,
      decides: next(3),
    },
    'a second one waits until the first has its role': {
      given: stale(5).members(back(4).unlabelled()),
      settings,
      decides: holds({ rule: 'RolesNotSettled', members: [4] }),
    },
    'a third one does not, while both are terminating': {
      given: stale(5).members(terminating(4), terminating(3)),
      settings,
      decides: holds({ rule: 'MemberTerminating', member: 3 }),
    },
    'a third one does not, while both are starting': {
      given: stale(5).members(starting(4), starting(3)),
      settings,
      decides: holds(used([3, 4], 2)),
    },
    'a third one does not, while both have to settle': {
      given: stale(5).members(back(4).participatingFor(1), back(3).participatingFor(1)),
      settings,
      decides: holds(used([3, 4], 2)),
    },
    'an impaired one goes while another has to settle: every other participates': {
      given: stale(5).members(back(4).participatingFor(1), member(1).impaired('slow-log')),
      settings,
      decides: deletes('MemberImpaired', 1),
    },
    'a third one goes as soon as one of them is back, whichever': {
      given: stale(5).members(starting(4), back(3)),
      settings,
      decides: next(2),
    },
    'a member that is unavailable for another reason counts as well': {
      given: stale(5).members(starting(4), member(1).errant()).mysqlCluster({ syncedReplicas: 4 }),
      settings: upTo(2, { pinnedOrdinals: [1] }),
      decides: holds(used([1, 4], 2)),
    },
    'one that is unreachable goes by itself': {
      given: stale(5).members(back(4), member(2).unreachable()),
      settings,
      decides: deletes('MemberUnreachable', 2),
    },
    'an updated one that fails still blocks': {
      given: stale(5).members(member(4).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      settings,
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 4,
        wait: {
          for: 'state',
          state: 'down',
          evidence: { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 },
        },
      }),
    },
    'an updated one that crashes between two attempts still blocks': {
      given: stale(5).members(member(4).updated().crashLooping()).memory({ verified: true }),
      settings,
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 4,
        wait: { for: 'state', state: 'running', evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 3 } },
      }),
    },
    'the primary goes alone, when every other member is back': {
      given: cluster(5).members(member(0).stale()),
      settings,
      decides: { step: { kind: 'demote', rule: 'PrimaryLast', ordinals: [0], revision: '7966559688' } },
    },
    'the primary waits for one that is starting': {
      given: cluster(5).members(member(0).stale(), starting(4)),
      settings,
      decides: holds(used([4], 1)),
    },
    'the primary waits for one that is terminating, which MOCO might choose in its place': {
      given: cluster(5).members(member(0).stale(), terminating(1)),
      settings,
      decides: holds({ rule: 'MemberTerminating', member: 1 }),
    },
  });
});

describe('what MOCO reports while members are being replaced', () => {
  const unavailable = () => stale(5).members(starting(4));
  const notHealthy = (synced: number, healthy = false): Hold => ({
    rule: 'ClusterNotHealthy',
    healthy,
    synced,
    replicas: 5,
  });
  play({
    'it may miss the one that is starting': {
      given: unavailable().mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      settings: upTo(2),
      decides: next(3),
    },
    'it may miss the one that is terminating, updated or not': {
      given: stale(5).members(terminating(4)).mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      settings: upTo(2),
      decides: next(3),
    },
    'it may not miss another one': {
      given: unavailable().mysqlCluster({ healthy: false, syncedReplicas: 3 }),
      settings: upTo(2),
      decides: holds(notHealthy(3)),
    },
    'it has to serve': {
      given: unavailable().mysqlCluster({ healthy: false, syncedReplicas: 4, available: false }),
      settings: upTo(2),
      decides: holds(notHealthy(4)),
    },
    'without a member being replaced the cluster has to be healthy': {
      given: stale(5).mysqlCluster({ healthy: false, syncedReplicas: 5 }),
      settings: upTo(2),
      decides: holds(notHealthy(5)),
    },
    'a member that is unavailable for another reason is not being replaced': {
      given: stale(5).members(member(4).errant()).mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      settings: upTo(2, { pinnedOrdinals: [4] }),
      decides: holds(notHealthy(4)),
    },
    'an updated one that has only to settle is no longer missed': {
      given: stale(5).members(back(4).participatingFor(1)).mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      settings: upTo(2),
      decides: holds(notHealthy(4)),
    },
    'with maxUnavailable 1 no member may be missing': {
      given: stale(5).mysqlCluster({ healthy: true, syncedReplicas: 4 }),
      settings: upTo(1),
      decides: holds(notHealthy(4, true)),
    },
  });
});

describe('maxUnavailable greater than replicas', () => {
  const settings = upTo(50);
  play({
    'takes no more than ⌊replicas/2⌋': {
      given: stale(5).members(starting(4), starting(3)),
      settings,
      decides: holds(used([3, 4], 2)),
    },
    'takes as many as that': { given: stale(5).members(starting(4)), settings, decides: next(3) },
    'takes one of three': {
      given: stale(3).members(terminating(2)),
      settings,
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'with a partition takes what lies from it up': {
      given: stale(7).members(starting(6)),
      settings: upTo(50, { partition: 5 }),
      decides: next(5),
    },
  });
});

describe('maxUnavailable 3 of seven, from a partition up', () => {
  const reached = (...members: readonly number[]) =>
    holds({ rule: 'PartitionReached', partition: members.length, members, pinned: [] });
  describe('fewer members than may be unavailable', () => {
    const settings = upTo(3, { partition: 5 });
    play({
      'all of them go at once': { given: stale(7).members(terminating(6)), settings, decides: next(5) },
      'and nobody after them': {
        given: stale(7).members(starting(6), back(5)),
        settings,
        decides: holds({
          rule: 'UpdatedMemberNotParticipating',
          member: 6,
          wait: { for: 'state', state: 'running', evidence: null },
        }),
      },
      'nor while the last one has to settle with as many as there are': {
        given: stale(7).members(member(6).updated().down('ErrImagePull'), back(5)),
        settings,
        decides: holds({
          rule: 'UpdatedMemberNotParticipating',
          member: 6,
          wait: {
            for: 'state',
            state: 'down',
            evidence: { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
          },
        }),
      },
      'until all are back': { given: stale(7).members(back(6), back(5)), settings, decides: reached(0, 1, 2, 3, 4) },
    });
  });
  describe('as many members as may be unavailable', () => {
    const settings = upTo(3, { partition: 4 });
    play({
      'the last of them goes while the others are away': {
        given: stale(7).members(starting(6), terminating(5)),
        settings,
        decides: next(4),
      },
      'and nobody after them': {
        given: stale(7).members(back(6), back(5), back(4)),
        settings,
        decides: reached(0, 1, 2, 3),
      },
    });
  });
  describe('more members than may be unavailable', () => {
    const settings = upTo(3, { partition: 2 });
    play({
      'three go': { given: stale(7).members(starting(6), starting(5)), settings, decides: next(4) },
      'a fourth waits': {
        given: stale(7).members(starting(6), starting(5), starting(4)),
        settings,
        decides: holds(used([4, 5, 6], 3)),
      },
      'a fourth goes once one is back': {
        given: stale(7).members(starting(6), back(5), starting(4)),
        settings,
        decides: next(3),
      },
      'those below the partition stay': {
        given: stale(7).members(back(6), back(5), back(4), back(3), back(2)),
        settings,
        decides: reached(0, 1),
      },
    });
  });
});

describe('maxUnavailable 3 of seven', () => {
  play({
    'lets the next one go as soon as any of the budget is free': {
      given: stale(7).members(starting(6), back(5), starting(4)),
      settings: upTo(3),
      decides: next(3),
    },
  });
});
