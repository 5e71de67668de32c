import { expect } from 'chai';
import { stepIdentity } from '../../src/core/step.ts';
import { cluster, three } from './cluster-builder.ts';
import { type MemberBuilder, member, revisionAfter } from './member-builder.ts';
import { deletes, evicts, holds, notYet, play, when } from './table.ts';

const factsOf = (builder: MemberBuilder) => builder.facts(0, 'revision');
const stale = (replicas = 3) => cluster(replicas).templateChanged();
const next = evicts('ReplicaHealthy', 2);

describe('an adoption', () => {
  play({
    'counts for half an hour towards the pause before the next one': when(
      cluster(3).atPartition(3).adopted(1799, 30),
      holds({ rule: 'StrategyNotOnDelete', labelled: false }),
    ),
  });
});

describe('a step that failed', () => {
  const eviction = { step: `evict uid-2 ${revisionAfter}`, tries: 10 };
  play({
    'waits 29 s more after 1 s, however often it failed': when(
      stale().stepFailed({ ...eviction, sinceLastTrySeconds: 29 }),
      holds({ rule: 'StepRefused', message: 'it is denied' }),
      {},
      1,
    ),
    'is tried again after 30 s': when(stale().stepFailed({ ...eviction, sinceLastTrySeconds: 30 }), next),
    'holds nothing once no step is due': when(cluster(3).stepFailed({}), 'idle'),
  });
  it('is another one with another partition', () => {
    const step = { kind: 'setPartition', rule: 'AlreadyUpdated', partition: 2, targets: [] } as const;
    expect(stepIdentity(step, 'b')).to.equal('setPartition 2 b');
  });
});

describe('an impaired primary', () => {
  play({
    'is taken while MOCO protects the impaired replica': when(
      stale().members(member(2).impaired('slow-log').preventDelete(), member(0).impaired('slow-log')),
      deletes('MemberImpaired', 0),
    ),
  });
});

describe('a missing member', () => {
  play({
    'keeps another one that is down, while others are missing that the StatefulSet does not have yet': when(
      cluster(5)
        .templateChanged()
        .statefulSet({ replicas: 3 })
        .missing(2, 3, 4)
        .members(member(1).down('ErrImagePull')),
      holds({ rule: 'MemberMissing', members: [2, 3, 4], message: null }),
    ),
  });
});

describe('the mark of a finished demotion for another revision', () => {
  const marked = () => cluster(3).primaryAt(1).members(member(0).stale().markAlone('another'));
  play({
    'stays until Kubernetes has observed the newest revision': when(
      marked().statefulSet({ observed: false }),
      holds({ rule: 'StatefulSetNotObserved' }),
    ),
    'stays while the StatefulSet is re-created': when(
      marked().statefulSet({ deleting: true }),
      holds({ rule: 'StatefulSetDeleting' }),
    ),
  });
});

describe('an unreachable primary', () => {
  play({
    'is named as such even if MOCO protects it': when(
      stale().members(member(0).unreachable().preventDelete()).primaryUnavailableFor(200),
      holds({ rule: 'MemberUnreachable', member: 0 }),
    ),
  });
});

describe('a partition', () => {
  const settings = { mode: 'Partition' } as const;
  play({
    'that the StatefulSet does not have is 0': when(
      three(member(0).stale()).atPartition(1).statefulSet({ partition: null }),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'revision' } }),
      settings,
    ),
    'waits for a member that recovers': when(
      stale().atPartition(3).members(member(0).recovering(300)),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
      settings,
    ),
  });
});

describe('a running replica', () => {
  const labelless = (forSeconds: number) => member(2).lagging(forSeconds).role(null);
  const unlabelled = (forSeconds: number) => labelless(forSeconds).container('mysqld', { readySinceRestart: false });
  play({
    'without a role that has been ready stays: MOCO may have configured it, and gives no role while it can not configure another':
      when(
        stale().members(member(1).recovering(), labelless(180)),
        holds({ rule: 'NotEnoughAcknowledging', member: 2, others: 1, needed: 2 }),
      ),
    'without a role and never ready goes after its grace, whether or not the others have a quorum': when(
      stale().members(member(1).recovering(), unlabelled(180)),
      deletes('MemberNotParticipating', 2),
    ),
    'is judged by mysqld, whatever its other containers do': when(
      stale().members(
        member(1).recovering(),
        unlabelled(180).but({ containers: factsOf(unlabelled(180)).containers.toReversed() }),
      ),
      deletes('MemberNotParticipating', 2),
    ),
    'that MOCO protects remains': when(
      stale().members(member(2).lagging().preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
  });
});

describe('an updated member whose mysqld has not run yet', () => {
  play({
    'has not failed because of a sidecar': when(
      stale().members(
        member(2).updated().creating(120).container('slow-log', { state: 'terminated', reason: 'Error', restarts: 3 }),
      ),
      notYet(2, 'down', { kind: 'idle' }),
    ),
  });
});
