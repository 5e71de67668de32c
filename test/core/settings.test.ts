import { expect } from 'chai';
import type { Hold, HoldRule } from '../../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { isApproved, type Situation } from '../../src/core/situation.ts';
import { backupRunning, cluster, lastOne, stale } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import {
  type Case,
  check,
  decideCase,
  deletes,
  demotes,
  evicts,
  holds,
  lowers,
  play,
  takesBack,
  when,
} from './table.ts';

const next = evicts('ReplicaHealthy', 2);

describe('members that are pinned', () => {
  play({
    'are skipped': when(stale(), evicts('ReplicaHealthy', 1), { pinnedOrdinals: [2] }),
    'are skipped when they are down': when(
      stale().members(member(2).down('ErrImagePull')),
      holds({ rule: 'MaxUnavailableReached', unavailable: [2], maxUnavailable: 1 }),
      { pinnedOrdinals: [2] },
    ),
    'end the rollout there when all are pinned': when(
      stale(),
      holds({ rule: 'PartitionReached', partition: 0, members: [], pinned: [0, 1, 2] }),
      { pinnedOrdinals: [0, 1, 2] },
    ),
    'are reported apart from those below the partition': when(
      stale(),
      holds({ rule: 'PartitionReached', partition: 1, members: [0], pinned: [1, 2] }),
      { pinnedOrdinals: [2, 1], partition: 1 },
    ),
    'do not keep it back from below the partition, where they are meant to be old': when(
      cluster(3).primaryAt(2).members(member(0).stale(), member(2).stale()),
      demotes(2),
      { pinnedOrdinals: [0], partition: 1 },
    ),
    'keep it back from the partition itself up': when(
      cluster(3).primaryAt(2).members(member(1).stale(), member(2).stale()),
      holds({ rule: 'PrimaryWaitsForPinned', member: 2, pinned: [1] }),
      { pinnedOrdinals: [1], partition: 1 },
    ),
    'take back the demotion of a pinned primary': when(
      lastOne().members(member(0).stale().demotedByUs()),
      takesBack(0, 'NotDue'),
      { pinnedOrdinals: [0] },
    ),
    'that do not exist have no effect': when(stale(), next, { pinnedOrdinals: [7] }),
  });
  it('are reported as pinned', () => {
    const { members } = decideCase({ given: stale(), settings: { pinnedOrdinals: [1], partition: 1 } });
    expect(members.map(({ verdict, rule }) => [verdict, rule])).to.deep.equal([
      ['BelowPartition', 'PartitionReached'],
      ['Pinned', 'PartitionReached'],
      ['Next', null],
    ]);
  });
  it('that were updated without a step are reported as UpdatedOutOfBand', () => {
    const given = stale()
      .members(member(1).updated())
      .memory({ updatedOutOfBand: [1] });
    expect(decideCase({ given, settings: { pinnedOrdinals: [1] } }).members[1]?.verdict).to.equal('UpdatedOutOfBand');
  });
});

describe('the approval of the primary', () => {
  const manual: Partial<RolloutPolicy> = { primaryUpdatePolicy: 'Manual' };
  const awaiting = (revision = revisionAfter): Hold => ({ rule: 'AwaitingApproval', member: 0, revision });
  play({
    'is required if the user sets that': when(lastOne(), holds(awaiting()), manual),
    'of no revision of this cluster says so': when(
      lastOne(),
      holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter, unknown: 'moco-test-59' }),
      { ...manual, approvedRevision: 'moco-test-59' },
    ),
    'of a part of the hash says so': when(
      lastOne(),
      holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter, unknown: revisionAfter.slice(-3) }),
      { ...manual, approvedRevision: revisionAfter.slice(-3) },
    ),
    'is not asked for replicas': when(stale(), next, manual),
    'is asked for a single member': when(stale(1), holds(awaiting()), manual),
    'is not asked for a primary that is down': when(
      lastOne().members(member(0).stale().down('ErrImagePull')),
      deletes('MemberDown', 0),
      manual,
    ),
    'that is gone ends the demotion': when(
      lastOne().members(member(0).stale().demotedByUs()),
      takesBack(0, 'AwaitingApproval'),
      { ...manual, approvedRevision: revisionBefore },
    ),
    'that is there leaves the demotion alone': when(
      lastOne().members(member(0).stale().demotedByUs(1)),
      holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 }),
      { ...manual, approvedRevision: revisionAfter },
    ),
    'waits for what the cluster itself lacks': when(
      lastOne().unhealthy(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
      manual,
    ),
    'starts the tries anew after the last one': when(
      lastOne().memory({ switchoverTries: 4, sinceLastTrySeconds: 2700 }),
      demotes(0),
      { approvedRevision: revisionAfter },
    ),
    'of another revision does not': when(
      lastOne().memory({ switchoverTries: 4, sinceLastTrySeconds: 2700 }),
      holds({ rule: 'SwitchoverFailing', member: 0, tries: 4, retries: false }),
      { approvedRevision: revisionBefore },
    ),
    'does not hurry a try after the last one': when(
      lastOne().memory({ switchoverTries: 4, sinceLastTrySeconds: 2699 }),
      holds({ rule: 'SwitchoverFailing', member: 0, tries: 4, retries: true }),
      { approvedRevision: revisionAfter },
      1,
    ),
  });
});

describe('paused, with repairWhilePaused', () => {
  const repairs: Partial<RolloutPolicy> = { paused: true, repairWhilePaused: true };
  play({
    'members that are down go': when(
      stale().members(member(1).down('ErrImagePull')),
      deletes('MemberDown', 1),
      repairs,
    ),
    'members that lag do not': when(stale().members(member(1).lagging()), holds({ rule: 'Paused' }), repairs),
    'members that work do not': when(stale(), holds({ rule: 'Paused' }), repairs),
    'the setting alone pauses nothing': when(stale(), next, { repairWhilePaused: true }),
    'a demotion is taken back all the same': when(
      lastOne().members(member(0).stale().demotedByUs()),
      takesBack(0, 'Paused'),
      repairs,
    ),
    'a failing revision is given to no member': when(
      stale().members(member(2).updated().crashLooping(), member(1).down('ErrImagePull')),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 3 },
      }),
      repairs,
    ),
  });
});

describe('an approved revision', () => {
  const approves = (approvedRevision: string | null, updateRevision: string): boolean =>
    isApproved({ policy: { approvedRevision }, updateRevision } as Situation);
  it('is given by its full name or by the hash at its end', () => {
    expect(approves('moco-test-5897fd84f8', 'moco-test-5897fd84f8')).to.equal(true);
    expect(approves('5897fd84f8', 'moco-test-5897fd84f8')).to.equal(true);
  });
  it('is not granted by anything else', () => {
    for (const other of [
      '897fd84f8',
      'test-5897fd84f8',
      '-5897fd84f8',
      'moco-other-5897fd84f8',
      'moco-test',
      '',
      null,
    ]) {
      expect(approves(other, 'moco-test-5897fd84f8'), String(other)).to.equal(false);
    }
    expect(approves('', '')).to.equal(false);
  });
});

describe('an overridden rule', () => {
  const without = (one: Omit<Case, 'decides'>, rule: HoldRule): Omit<Case, 'decides'> => ({
    ...one,
    settings: { ...one.settings, overrides: [{ rule, remainingSeconds: 60 }] },
  });
  it('BackupRunning is off for a single member, too', () => {
    const given = stale(1).backupJobs({});
    check(when(given, holds(backupRunning)));
    check({ ...without({ given }, 'BackupRunning'), decides: evicts('SingleMember', 0) });
  });
  it('BackupRunning is off in partition mode, too', () => {
    const on = {
      given: stale().atPartition(3).members(member(2).stale().lagging()).budgets({ closed: true }),
      settings: { mode: 'Partition' },
    } as const;
    check({ ...on, decides: holds({ rule: 'BackupRunning', budget: 'moco-test' }) });
    check({ ...without(on, 'BackupRunning'), decides: lowers('MemberNotParticipating', 2, 2) });
  });
  it('a demotion is not cancelled by a disabled rule', () => {
    const given = lastOne().members(member(0).stale().demotedByUs(), member(2).stale());
    check({
      ...without({ given, settings: { pinnedOrdinals: [2] } }, 'PrimaryWaitsForPinned'),
      decides: holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 }),
    });
  });
});

describe('a pause with an end', () => {
  it('makes the decision again at its end', () => {
    const settings = { paused: true, pause: { author: 'ada', until: '2026-07-01T16:00:00Z', remainingSeconds: 90 } };
    const { hold, requeueAfterSeconds } = decideCase({ given: stale(), settings });
    expect(hold).to.deep.equal({ rule: 'Paused', author: 'ada', until: '2026-07-01T16:00:00Z' });
    expect(requeueAfterSeconds).to.equal(90);
  });
});

// The defaults of the other settings stand in docs/reference.md, which a test compares with them.
describe('settings of updates in place', () => {
  it('are off by default, and then have these settings', () => {
    expect(defaultPolicy.inPlaceUpdates).to.deep.equal({
      mode: 'Never',
      containers: ['agent', 'slow-log', 'mysqld-exporter'],
      resources: true,
      metadata: [
        'app.kubernetes.io/component',
        'app.kubernetes.io/managed-by',
        'app.kubernetes.io/part-of',
        'app.kubernetes.io/version',
        'helm.sh/chart',
        'cluster-autoscaler.kubernetes.io/safe-to-evict',
        'karpenter.sh/do-not-disrupt',
        'kubectl.kubernetes.io/default-container',
      ],
      primary: 'AfterSwitchover',
    });
  });
});
