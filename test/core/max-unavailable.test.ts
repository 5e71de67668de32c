import { expect } from 'chai';
import type { Hold } from '../../src/core/decision.ts';
import { budgetOf, isReadable, type MaxUnavailable, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster, stale } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { decideCase, deletes, demotes, evicts, holds, notYet, play, when } from './table.ts';

// Every test that KEP-961 asks for, with MOCO's bound of ⌊replicas/2⌋ on top, and one member a step.

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
/** Values that violate the types, as a user may write them. */
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
    'one that cannot is no reason to act': when(
      stale(3),
      holds({ rule: 'SettingsInvalid', problem: 'maxUnavailable is abc%' }),
      upTo(written('abc%')),
    ),
    'another hold is reported first': when(
      stale(3).but({ settingsProblem: 'spec.partition is -1' }),
      holds({ rule: 'SettingsInvalid', problem: 'spec.partition is -1' }),
      upTo(-1),
    ),
  });
});

describe('maxUnavailable 1 is what a StatefulSet does without it', () => {
  const situations: Readonly<Record<string, ClusterBuilder>> = {
    'before any member is replaced': stale(5),
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
    'the last one goes first': when(stale(5), next(4), settings),
    'a second one goes while the first is terminating': when(stale(5).members(terminating(4)), next(3), settings),
    'a second one goes while the first is starting': when(stale(5).members(starting(4)), next(3), settings),
    'a second one goes while the first has to settle': when(
      stale(5).members(back(4).participatingFor(1)),
      next(3),
      settings,
    ),
    'a second one waits until the first has its role': when(
      stale(5).members(back(4).unlabelled()),
      holds({ rule: 'RolesNotSettled', members: [4] }),
      settings,
    ),
    'a third one does not, while both are terminating': when(
      stale(5).members(terminating(4), terminating(3)),
      holds({ rule: 'MemberTerminating', member: 3 }),
      settings,
    ),
    'a third one does not, while both are starting': when(
      stale(5).members(starting(4), starting(3)),
      holds(used([3, 4], 2)),
      settings,
    ),
    'a third one does not, while both have to settle': when(
      stale(5).members(back(4).participatingFor(1), back(3).participatingFor(1)),
      holds(used([3, 4], 2)),
      settings,
    ),
    'an impaired one goes while another has to settle: every other participates': when(
      stale(5).members(back(4).participatingFor(1), member(1).impaired('slow-log')),
      deletes('MemberImpaired', 1),
      settings,
    ),
    'a third one goes as soon as one of them is back, whichever': when(
      stale(5).members(starting(4), back(3)),
      next(2),
      settings,
    ),
    'a member that is unavailable for another reason counts as well': when(
      stale(5).members(starting(4), member(1).errant()).mysqlCluster({ syncedReplicas: 4 }),
      holds(used([1, 4], 2)),
      upTo(2, { pinnedOrdinals: [1] }),
    ),
    'one that is unreachable goes by itself': when(
      stale(5).members(back(4), member(2).unreachable()),
      deletes('MemberUnreachable', 2),
      settings,
    ),
    'an updated one that fails still blocks': when(
      stale(5).members(member(4).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      notYet(4, 'down', { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 }),
      settings,
    ),
    'an updated one that crashes between two attempts still blocks': when(
      stale(5).members(member(4).updated().crashLooping()).memory({ verified: true }),
      notYet(4, 'running', { kind: 'crashLooping', container: 'mysqld', restarts: 3 }),
      settings,
    ),
    'the primary goes alone, when every other member is back': when(
      cluster(5).members(member(0).stale()),
      demotes(0),
      settings,
    ),
    'the primary waits for one that is starting': when(
      cluster(5).members(member(0).stale(), starting(4)),
      holds(used([4], 1)),
      settings,
    ),
    'the primary waits for one that is terminating, which MOCO might choose in its place': when(
      cluster(5).members(member(0).stale(), terminating(1)),
      holds({ rule: 'MemberTerminating', member: 1 }),
      settings,
    ),
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
    'it may not miss another one': when(
      unavailable().mysqlCluster({ healthy: false, syncedReplicas: 3 }),
      holds(notHealthy(3)),
      upTo(2),
    ),
    'it has to serve': when(
      unavailable().mysqlCluster({ healthy: false, syncedReplicas: 4, available: false }),
      holds(notHealthy(4)),
      upTo(2),
    ),
    'without a member being replaced the cluster has to be healthy': when(
      stale(5).mysqlCluster({ healthy: false, syncedReplicas: 5 }),
      holds(notHealthy(5)),
      upTo(2),
    ),
    'a member that is unavailable for another reason is not being replaced': when(
      stale(5).members(member(4).errant()).mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      holds(notHealthy(4)),
      upTo(2, { pinnedOrdinals: [4] }),
    ),
    'an updated one that has only to settle is no longer missed': when(
      stale(5).members(back(4).participatingFor(1)).mysqlCluster({ healthy: false, syncedReplicas: 4 }),
      holds(notHealthy(4)),
      upTo(2),
    ),
    'with maxUnavailable 1 no member may be missing': when(
      stale(5).mysqlCluster({ healthy: true, syncedReplicas: 4 }),
      holds(notHealthy(4, true)),
      upTo(1),
    ),
  });
});

describe('maxUnavailable greater than replicas', () => {
  const settings = upTo(50);
  play({
    'replaces one of three': when(
      stale(3).members(terminating(2)),
      holds({ rule: 'MemberTerminating', member: 2 }),
      settings,
    ),
    'with a partition takes what lies from it up': when(
      stale(7).members(starting(6)),
      next(5),
      upTo(50, { partition: 5 }),
    ),
  });
});

describe('maxUnavailable 3 of seven, from a partition up', () => {
  const reached = (...members: readonly number[]) =>
    holds({ rule: 'PartitionReached', partition: members.length, members, pinned: [] });
  describe('fewer members than may be unavailable', () => {
    const settings = upTo(3, { partition: 5 });
    play({
      'all of them go at once': when(stale(7).members(terminating(6)), next(5), settings),
      'and no member after them': when(stale(7).members(starting(6), back(5)), notYet(6, 'running'), settings),
      'nor while the last one has to settle with as many as there are': when(
        stale(7).members(member(6).updated().down('ErrImagePull'), back(5)),
        notYet(6, 'down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
        settings,
      ),
      'until all are back': when(stale(7).members(back(6), back(5)), reached(0, 1, 2, 3, 4), settings),
    });
  });
  describe('as many members as may be unavailable', () => {
    const settings = upTo(3, { partition: 4 });
    play({
      'the last of them goes while the others are away': when(
        stale(7).members(starting(6), terminating(5)),
        next(4),
        settings,
      ),
      'and no member after them': when(stale(7).members(back(6), back(5), back(4)), reached(0, 1, 2, 3), settings),
    });
  });
  describe('more members than may be unavailable', () => {
    const settings = upTo(3, { partition: 2 });
    play({
      'three go': when(stale(7).members(starting(6), starting(5)), next(4), settings),
      'a fourth waits': when(
        stale(7).members(starting(6), starting(5), starting(4)),
        holds(used([4, 5, 6], 3)),
        settings,
      ),
      'a fourth is replaced once one is back': when(
        stale(7).members(starting(6), back(5), starting(4)),
        next(3),
        settings,
      ),
      'those below the partition stay': when(
        stale(7).members(back(6), back(5), back(4), back(3), back(2)),
        reached(0, 1),
        settings,
      ),
    });
  });
});
