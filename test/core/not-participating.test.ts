import { expect } from 'chai';
import type { ReplicaSaid } from '../../src/core/on-demand-facts.ts';
import { backupRunning, stale, three } from './cluster-builder.ts';
import { type MemberBuilder, member, revisionAfter } from './member-builder.ts';
import { decideCase, deletes, evicts, holds, notYet, play, tooYoung, when } from './table.ts';

const factsOf = (builder: MemberBuilder) => builder.facts(0, 'revision');
const unfinished = (member: number, said: ReplicaSaid | null = null, state: 'Failed' | 'Lost' | null = null) =>
  holds({ rule: 'FailoverUnfinished', primary: 0, member, graceSeconds: 180, state, said });
const awaitingFailover = holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 });

describe('members that are down', () => {
  play({
    'go all at once, in descending ordinal': when(
      stale(5).members(member(1).failed(), member(3).down('RunContainerError')),
      deletes('MemberDown', 3, 1),
    ),
    'go during a switchover that another client requested': when(
      stale().members(member(0).demotedBySomebody(), member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
    'go without the one that MOCO protects': when(
      stale().members(member(0).down('CrashLoopBackOff').preventDelete(), member(1).down('CrashLoopBackOff')),
      deletes('MemberDown', 1),
    ),
    'stay if the only one is a replica that MOCO protects': when(
      stale().members(member(2).down('CrashLoopBackOff').preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
    'leave a protected one to those that run, where a quorum stays': when(
      stale(5).members(member(4).down('CrashLoopBackOff').preventDelete(), member(3).lagging()),
      deletes('MemberNotParticipating', 3),
    ),
    'are named if they are the primary and MOCO protects it': when(
      stale().members(member(0).down('CrashLoopBackOff').preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'are named when the only member is protected': when(
      stale(1).members(member(0).down('CrashLoopBackOff').preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'stay when they are updated': when(
      three(member(2).down('CrashLoopBackOff')).memory({ verified: true }),
      notYet(2, 'down', { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 }),
    ),
    'stay while another pod is missing, which may be one that cannot be created again': when(
      stale().missing(1).members(member(2).down('ErrImagePull')),
      holds({ rule: 'MemberMissing', members: [1], message: null }),
    ),
    'stay while the StatefulSet reports that it cannot create another pod': when(
      stale().missing(1).members(member(2).down('ErrImagePull')).but({ createFailure: 'exceeded quota: pods' }),
      holds({ rule: 'MemberMissing', members: [1], message: 'exceeded quota: pods' }),
    ),
    'go although the StatefulSet is not scaled up yet': when(
      stale(5).statefulSet({ replicas: 3 }).missing(3, 4).members(member(2).down('ErrImagePull')),
      deletes('MemberDown', 2),
    ),
    'stay, though without a quorum a failing revision has had its time, while another pod is missing': when(
      stale()
        .missing(1)
        .members(member(0).down('CrashLoopBackOff'), member(2).updated().crashLooping())
        .memory({ sinceProgressSeconds: 600 }),
      holds({ rule: 'MemberMissing', members: [1], message: null }),
    ),
    'go while the cluster is being scaled': when(
      stale().statefulSet({ replicas: 5 }).members(member(2).down('ErrImagePull')),
      deletes('MemberDown', 2),
    ),
    'stay while paused': when(stale().members(member(2).down('ErrImagePull')), holds({ rule: 'Paused' }), {
      paused: true,
    }),
    'stay while another pod is missing, though others are that the StatefulSet does not have yet': when(
      stale(5).statefulSet({ replicas: 3 }).missing(2, 3, 4).members(member(1).down('ErrImagePull')),
      holds({ rule: 'MemberMissing', members: [2, 3, 4], message: null }),
    ),
  });
});

describe('members that are unreachable', () => {
  play({
    'stay when MOCO protects them': when(
      stale().members(member(2).unreachable().preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
    'are replaced one at a time': when(stale().members(member(2).unreachable()), deletes('MemberUnreachable', 2)),
    'are shown when nothing else can go': when(
      stale(5).members(member(1).unreachable(), member(2).unreachable()),
      holds({ rule: 'MemberUnreachable', member: 2 }),
    ),
    'let a member behind go before them while a quorum stays': when(
      stale(5).members(member(1).unreachable(), member(2).lagging()),
      deletes('MemberNotParticipating', 2),
    ),
    'never go as primary: MOCO fails over': when(stale().members(member(0).unreachable()), awaitingFailover, {}, 180),
    'never go as primary, however long no failover comes': when(
      stale().members(member(0).unreachable()).primaryUnavailableFor(9999),
      holds({ rule: 'MemberUnreachable', member: 0 }),
    ),
    'are named as such as primary, even if MOCO protects it': when(
      stale().members(member(0).unreachable().preventDelete()).primaryUnavailableFor(200),
      holds({ rule: 'MemberUnreachable', member: 0 }),
    ),
  });
});

describe('members that run without participating', () => {
  play({
    'both behind: until then none goes, since the other may acknowledge nothing': when(
      stale().members(member(1).lagging(170), member(2).lagging(175)),
      holds({ rule: 'NotEnoughAcknowledging', member: 2, others: 1, needed: 2 }),
      {},
      5,
    ),
    'one behind stays while the other was never given a role: that one acknowledges nothing': when(
      stale().members(member(1).starting(), member(2).lagging(170)),
      holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
      {},
      10,
    ),
    'one that was never given a role is the first to go': when(
      stale().members(member(1).lagging(180).role(null), member(2).lagging(200)),
      deletes('MemberNotParticipating', 1),
    ),
    'and goes with a quorum that participates at once': when(
      stale(5).members(member(1).starting().clone({ kind: 'notCloning' }), member(4).lagging()),
      deletes('MemberNotParticipating', 1),
    ),
    'one that was never given a role never counts, however long the other has been behind': when(
      stale().members(member(1).updated().lagging(10).role(null), member(2).lagging(9999)).memory({ verified: true }),
      notYet(1, 'running'),
      { maxUnavailable: 1, failoverGraceSeconds: 20 },
    ),
    'one that is held and was never given a role never counts': when(
      stale().members(member(1).starting().but({ role: null }), member(2).lagging(9999)),
      holds({ rule: 'NotEnoughAcknowledging', member: 2, others: 1, needed: 2 }),
      { pinnedOrdinals: [1] },
    ),
    'both behind: the second waits for the first': when(
      stale().members(member(1).lagging(), member(2).updated().starting()),
      notYet(2, 'running'),
    ),
    'both behind: the second waits while the first terminates': when(
      stale().members(member(1).lagging(), member(2).terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'both behind: the second goes once the first has settled': when(
      stale().members(member(1).lagging(), member(2).updated().participatingFor(5)),
      deletes('MemberNotParticipating', 1),
    ),
    'an errant one goes, acknowledging nothing': when(
      stale().members(member(1).errant()),
      deletes('MemberNotParticipating', 1),
    ),
    'a higher one that acknowledges and is needed lets a lower one go that does not': when(
      stale().members(member(1).crashLooping(), member(2).lagging()),
      deletes('MemberNotParticipating', 1),
    ),
    'wait for roles that move': when(
      stale().members(member(1).role('primary'), member(2).lagging()),
      holds({ rule: 'RolesNotSettled', members: [1] }),
    ),
    'wait while Jobs cannot be read': when(
      stale().members(member(2).lagging()).but({ backupsUnreadable: 'no' }),
      holds({ rule: 'BackupsUnreadable', message: 'no' }),
    ),
    'wait for a backup': when(stale().members(member(2).lagging()).backupJobs({}), holds(backupRunning)),
    'need neither Healthy nor a budget that allows it': when(
      stale().members(member(2).lagging()).unhealthy().budgets({ disruptionsAllowed: 0 }),
      deletes('MemberNotParticipating', 2),
    ),
    'stay when the partition keeps them back': when(
      stale().members(member(1).lagging()),
      holds({ rule: 'PartitionReached', partition: 3, members: [0, 1, 2], pinned: [] }),
      { partition: 3 },
    ),
  });
});

describe('a running replica', () => {
  const labelless = (forSeconds: number) => member(2).lagging(forSeconds).role(null);
  const unlabelled = (forSeconds: number) => labelless(forSeconds).container('mysqld', { readySinceRestart: false });
  play({
    'without a role that has been ready stays: MOCO may have configured it, and sets no role while it cannot configure another':
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

describe('a member that does not participate, while another one does not answer although its pod is ready', () => {
  const lagging = () => stale().members(member(1).lagging(200));
  const silent = (ordinal: number) =>
    holds({
      rule: 'MemberSilent',
      member: ordinal,
      answer: 'unknown',
      message: 'no answer within 1000 ms',
      graceSeconds: 120,
    });
  play({
    'stays as a replica that runs: MOCO may need it for a failover': when(lagging().silent(0), silent(0)),
    'stays as a replica that runs: commits may need it': when(lagging().silent(2, 119), silent(2), {}, 1),
    'is deleted as a replica that runs, once a dead node would have been noticed': when(
      lagging().silent(2, 120),
      deletes('MemberNotParticipating', 1),
    ),
    'is deleted as a replica that runs, with an override': when(
      lagging().silent(0),
      deletes('MemberNotParticipating', 1),
      {
        overrides: [{ rule: 'MemberSilent', remainingSeconds: 60 }],
      },
    ),
    'stays as a replica that runs, while the other one reports that it is not ready': when(
      lagging().answers(2, { kind: 'notReady', message: 'it is behind' }),
      holds({ rule: 'MemberSilent', member: 2, answer: 'notReady', message: 'it is behind', graceSeconds: 120 }),
    ),
    'stays as a replica that runs, until the others have been asked again': when(
      lagging().answers(2, { kind: 'ready' }, { ageSeconds: 5 }),
      holds({ rule: 'MembersNotAsked', members: [2] }),
    ),
    'stays if its node does not answer: its mysqld may still acknowledge': when(
      stale().members(member(2).unreachable()).silent(1),
      silent(1),
    ),
    'stays in partition mode': when(stale().members(member(2).lagging(200)).atPartition(3).silent(1), silent(1), {
      mode: 'Partition',
    }),
    'is deleted if it is down: nothing is lost with its pod': when(
      stale().members(member(1).down('CrashLoopBackOff')).silent(0),
      deletes('MemberDown', 1),
    ),
    'is deleted if it is down, before another one that runs': when(
      stale(5).members(member(3).lagging(200), member(4).down('CrashLoopBackOff')).silent(1),
      deletes('MemberDown', 4),
    ),
    'is deleted if it is down, before another one whose node does not answer': when(
      stale(5).members(member(3).unreachable(), member(4).down('CrashLoopBackOff')).silent(1),
      deletes('MemberDown', 4),
    ),
    'is deleted as primary: writes have already stopped': when(
      stale().members(member(0).lagging()).primaryUnavailableFor(180).silent(2),
      deletes('PrimaryNotParticipating', 0),
    ),
  });

  it('is deleted only after the others have been asked, and asked again right before the deletion', () => {
    const others = { kind: 'members', members: [0, 2] };
    const unasked = { ...lagging().facts(), memberAnswers: [] };
    expect(decideCase({ given: unasked }).asks).to.deep.include(others);
    expect(decideCase({ given: lagging() }).asksAgain).to.deep.include(others);
    const unreachable = { ...stale().members(member(1).unreachable()).facts(), memberAnswers: [] };
    expect(decideCase({ given: unreachable }).asks).to.deep.include(others);
  });
});

describe('members of several kinds that do not participate', () => {
  play({
    'no member is replaced when all due members are unreachable and none participates': when(
      three(
        member(0).updated().lagging(),
        member(1).stale().unreachable(),
        member(2).stale().unreachable(),
      ).primaryUnavailableFor(180),
      holds({ rule: 'FailoverUnfinished', primary: 0, member: 2, graceSeconds: 180, state: null, said: null }),
    ),
    'the primary is not replaced like a replica when too few others participate': when(
      three(member(0).stale().lagging(), member(2).updated().lagging()).primaryUnavailableFor(180),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
    ),
    'one that acknowledges nothing goes whatever the others do': when(
      stale().members(member(1).errant(), member(2).errant()),
      deletes('MemberNotParticipating', 2),
    ),
    'one that acknowledges stays while the primary itself does not': when(
      stale(5).members(member(0).impaired('agent'), member(4).lagging()),
      holds({ rule: 'NotEnoughAcknowledging', member: 4, others: 3, needed: 3 }),
    ),
    'the grace of a single one starts when its time is unknown': when(
      stale(1).members(member(0).lagging()).mysqlCluster({ primaryUnavailableForSeconds: null }),
      holds({ rule: 'AwaitingRecovery', member: 0, graceSeconds: 180 }),
      {},
      180,
    ),
    'the grace of a new primary starts when its time is unknown': when(
      stale().mysqlCluster({ available: false, primarySettledForSeconds: null }),
      holds({ rule: 'RolesNotSettled', members: [0], unavailable: true }),
      {},
      180,
    ),
    'of the impaired the primary is the last, wherever it is': when(
      stale().primaryAt(2).members(member(2).impaired('slow-log'), member(1).impaired('slow-log')),
      deletes('MemberImpaired', 1),
    ),
  });
});

describe('while the primary does not participate', () => {
  play({
    'nothing running is deleted: the failover is waited for': when(
      stale().members(member(0).crashLooping(), member(1).lagging(), member(2).lagging()),
      awaitingFailover,
      {},
      180,
    ),
    'healthy replicas stay too': when(stale().members(member(0).lagging()).healthyAsBefore(), awaitingFailover),
    'a primary that is down goes, its replicas do not': when(
      stale().members(member(0).down('CrashLoopBackOff'), member(1).lagging(), member(2).lagging()),
      deletes('MemberDown', 0),
    ),
    'an updated primary that is down stays': when(
      stale()
        .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(), member(2).lagging())
        .memory({ verified: true }),
      awaitingFailover,
    ),
    'a lost replica does not go': when(stale().members(member(0).lagging(), member(2).unreachable()), awaitingFailover),
    'a switchover that a user requested is reported': when(
      stale().members(member(0).lagging().demotedBySomebody()),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
    ),
    'without knowing for how long, no time is believed to have passed': when(
      stale().members(member(0).lagging()).mysqlCluster({ primaryUnavailableForSeconds: null }),
      awaitingFailover,
      {},
      180,
    ),
  });
});

describe('if no failover happened within its time', () => {
  play({
    'it does not when MOCO protects it': when(
      stale().members(member(0).agentDead().preventDelete()).primaryUnavailableFor(180),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'it does not when it is updated': when(
      stale().members(member(0).updated().lagging()).primaryUnavailableFor(180),
      awaitingFailover,
    ),
    'replicas that run go while the primary acknowledges, as far as a quorum stays': when(
      stale().members(member(0).lagging(), member(1).lagging(180)).primaryUnavailableFor(180),
      deletes('MemberNotParticipating', 1),
    ),
    'they stay without that quorum while the primary acknowledges': when(
      stale(5)
        .members(member(0).lagging(), member(1).unreachable(), member(2).unreachable(), member(3).lagging(180))
        .primaryUnavailableFor(180),
      holds({ rule: 'NotEnoughAcknowledging', member: 3, others: 2, needed: 3 }),
    ),
    'they stay while they have not been behind for as long as a failover may take': when(
      stale().members(member(0).lagging(), member(1).lagging(179)).primaryUnavailableFor(180),
      holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
      {},
      1,
    ),
    'they go without that quorum when the primary was never given a role': when(
      stale(5)
        .members(member(0).starting(), member(1).unreachable(), member(2).unreachable(), member(3).lagging())
        .primaryUnavailableFor(180),
      deletes('MemberNotParticipating', 3),
    ),
    'they go without it when the primary does not': when(
      stale(5)
        .members(member(0).crashLooping(), member(1).unreachable(), member(2).unreachable(), member(3).lagging())
        .primaryUnavailableFor(180),
      deletes('MemberNotParticipating', 3),
    ),
    'they are replaced one at a time': when(
      stale()
        .members(member(0).crashLooping(), member(1).lagging(), member(2).updated().participatingFor(1))
        .primaryUnavailableFor(180),
      tooYoung(2, 5),
      {},
      4,
    ),
    'the primary goes first and alone when no member participates: it has no relay log': when(
      stale().members(member(0).agentDead(), member(1).agentDead(), member(2).agentDead()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
    'the replicas follow one at a time once it serves again': when(
      stale().members(member(0).updated(), member(1).lagging(200), member(2).lagging(200)),
      deletes('MemberNotParticipating', 2),
    ),
    'the replicas stay while the primary is protected': when(
      stale()
        .members(member(0).lagging().preventDelete(), member(1).lagging(), member(2).errant())
        .primaryUnavailableFor(180),
      unfinished(2),
    ),
    'and are named when MOCO protects all of them': when(
      stale()
        .members(member(0).lagging().preventDelete(), member(1).updated().lagging(), member(2).updated().lagging())
        .memory({ verified: true })
        .primaryUnavailableFor(180),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'the replicas stay while the primary starts anew': when(
      three(member(0).starting(), member(1).stale().lagging(), member(2).starting()).primaryUnavailableFor(180),
      unfinished(1),
    ),
    'the rollout waits for a terminating primary while a member participates': when(
      stale().members(member(0).terminating()).primaryUnavailableFor(180),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: true }),
    ),
    'a shorter grace counts': when(
      stale().members(member(0).agentDead()).primaryUnavailableFor(20),
      deletes('PrimaryNotParticipating', 0),
      { failoverGraceSeconds: 20 },
    ),
  });
});

describe('the primary dies while the template changes', () => {
  const dead = () => stale().members(member(1).lagging(), member(2).lagging());
  play({
    'its pod is gone: no member is deleted': when(
      dead().missing(0),
      holds({ rule: 'MemberMissing', members: [0], message: null }),
    ),
    'it is back at the new revision and not yet ready: no member is deleted': when(
      dead().members(member(0).updated().starting()),
      awaitingFailover,
    ),
    'its node is lost: no member is deleted': when(dead().members(member(0).unreachable()), awaitingFailover),
    'MOCO has failed over and has not finished with the roles: no member is deleted': when(
      stale().primaryAt(1).members(member(0).updated().starting(), member(1).role('replica'), member(2).lagging()),
      holds({ rule: 'RolesNotSettled', members: [1] }),
    ),
    'the rollout continues once the old primary is back': when(
      stale().primaryAt(1).members(member(0).updated()),
      evicts('ReplicaHealthy', 2),
    ),
  });
});

describe('the primary of a cluster that replicates from elsewhere', () => {
  const unavailable = (...others: readonly MemberBuilder[]) =>
    stale()
      .members(member(0).lagging(9999).participatingFor(9999), ...others)
      .mysqlCluster({
        replicatesFromElsewhere: true,
        available: false,
        healthy: false,
        primaryUnavailableForSeconds: null,
        primarySettledForSeconds: 9999,
      });
  play({
    'stays while its upstream is unavailable, however long it is not ready': when(
      unavailable(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 2, replicas: 3 }),
    ),
    'stays when it is the only one that is due': when(
      unavailable(member(1).updated(), member(2).updated()),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 2, replicas: 3 }),
    ),
    'counts when a member behind is replaced': when(
      unavailable(member(2).lagging()),
      deletes('MemberNotParticipating', 2),
    ),
    'unsettled nothing once it is updated': when(
      three(member(0).lagging().participatingFor(9999)).mysqlCluster({
        replicatesFromElsewhere: true,
        primaryUnavailableForSeconds: null,
      }),
      'idle',
    ),
    'does not count before MOCO has configured it': when(
      unavailable(member(0).lagging().role(null)).primaryUnavailableFor(10),
      awaitingFailover,
    ),
    'does not count before its mysqld has started': when(
      unavailable(member(0).lagging().container('mysqld', { started: false })).primaryUnavailableFor(10),
      awaitingFailover,
    ),
    'does not count elsewhere: a primary that accepts writes is ready': when(
      unavailable().mysqlCluster({ replicatesFromElsewhere: false }).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
    'is passed over without a role where MOCO calls the cluster Healthy': when(
      stale().members(member(0).unlabelled(180)).mysqlCluster({ replicatesFromElsewhere: true }),
      evicts('ReplicaHealthy', 2),
    ),
    'is waited for until that has lasted as long as a failover may take': when(
      stale().members(member(0).unlabelled(179)).mysqlCluster({ replicatesFromElsewhere: true }),
      holds({ rule: 'RolesNotSettled', members: [0] }),
      {},
      1,
    ),
  });
});

describe('a member that recovers', () => {
  const recovery = (ordinal: number) => holds({ rule: 'AwaitingRecovery', member: ordinal, graceSeconds: 3600 });
  play({
    'is left alone as replica': when(stale().members(member(2).recovering(3300)), recovery(2), {}, 300),
    'is left alone as replica while it catches up after its startup probe': when(
      stale().members(member(2).catchingUp(89)),
      holds({ rule: 'AwaitingRecovery', member: 2, graceSeconds: 90 }),
      {},
      1,
    ),
    'goes as replica once it had time to catch up': when(
      stale().members(member(2).catchingUp(90)),
      deletes('MemberNotParticipating', 2),
    ),
    // Replicas without a primary are not ready before Kubernetes knows of the primary's node.
    'is left alone as replica that was ready, for the primary may be gone': when(
      stale().members(member(2).lagging(59)),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: 2, graceSeconds: 60 }),
      {},
      1,
    ),
    'is left alone as a replica that has a role, although it was never seen ready': when(
      stale().members(member(2).lagging(59).container('mysqld', { readySinceRestart: false })),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: 2, graceSeconds: 60 }),
      {},
      1,
    ),
    'goes as replica that was ready, once Kubernetes would know of the primary': when(
      stale().members(member(2).lagging(60)),
      deletes('MemberNotParticipating', 2),
    ),
    'goes as replica at once if it has never followed and does not clone': when(
      stale().members(member(2).starting().clone({ kind: 'notCloning' })),
      deletes('MemberNotParticipating', 2),
    ),
    'goes as replica at once if it crashes again and again': when(
      stale().members(member(2).crashLooping()),
      deletes('MemberNotParticipating', 2),
    ),
    'is left alone until the progress deadline if it has no startup probe': when(
      stale().members(member(2).recovering(599).but({ startupSeconds: null })),
      holds({ rule: 'AwaitingRecovery', member: 2, graceSeconds: 600 }),
      {},
      1,
    ),
    'goes as replica once its startup probe allows no more': when(
      stale().members(member(2).recovering(3600)),
      deletes('MemberNotParticipating', 2),
    ),
    'lets one go that runs, where a quorum stays': when(
      stale(5).members(member(3).lagging(), member(4).recovering(200)),
      deletes('MemberNotParticipating', 3),
    ),
    'is left alone as primary, beyond the time of a failover': when(
      stale().members(member(0).recovering(3300)).primaryUnavailableFor(3300),
      recovery(0),
      {},
      300,
    ),
    'goes as primary once its startup probe allows no more': when(
      stale().members(member(0).recovering(3600)).primaryUnavailableFor(3600),
      deletes('PrimaryNotParticipating', 0),
    ),
    'is left alone as the only member, from the first moment': when(
      stale(1).members(member(0).recovering(10)).primaryUnavailableFor(10),
      recovery(0),
    ),
    'and beyond the time of a failover': when(
      stale(1).members(member(0).recovering(300)).primaryUnavailableFor(300),
      recovery(0),
    ),
    'goes as the only member once its startup probe allows no more': when(
      stale(1).members(member(0).recovering(3600)).primaryUnavailableFor(3600),
      deletes('PrimaryNotParticipating', 0),
    ),
    'is left alone when no member participates': when(
      stale()
        .members(member(0).recovering(300), member(1).recovering(300), member(2).lagging(300))
        .primaryUnavailableFor(300),
      unfinished(2),
    ),
    'is reported when no member participates and all recover': when(
      stale()
        .members(member(0).recovering(300), member(1).recovering(300), member(2).recovering(300))
        .primaryUnavailableFor(300),
      recovery(2),
    ),
    'goes as the primary where its startup probe allows less, and alone': when(
      stale()
        .members(
          member(0).recovering(300).but({ startupSeconds: 300 }),
          member(1).recovering(300),
          member(2).recovering(300),
        )
        .primaryUnavailableFor(300),
      deletes('PrimaryNotParticipating', 0),
    ),
  });
});

/** The pod network of the primary is cut: its probes, which are local, go on to pass, and MOCO says so. */
const unreachedPrimary = (mocoState: 'Failed' | 'Lost', ...others: readonly MemberBuilder[]) =>
  stale()
    .members(...others)
    .mysqlCluster({ healthy: false, available: false, mocoState });

describe('a primary that MOCO does not reach although its pod is ready', () => {
  const running = [member(1).lagging(600), member(2).lagging(600)];
  const impaired = member(0).impaired('slow-log');
  play({
    'leads no replica': when(unreachedPrimary('Failed', ...running), unfinished(2, null, 'Failed')),
    'leads none either while too few are left for a failover': when(
      unreachedPrimary('Lost', ...running),
      unfinished(2, null, 'Lost'),
    ),
    'does not let an impaired replica go': when(
      unreachedPrimary('Failed', member(2).impaired('slow-log')),
      unfinished(2, null, 'Failed'),
    ),
    'does not go itself, however long it has been settled': when(
      unreachedPrimary('Failed', impaired, member(1).updated(), member(2).updated()),
      holds({ rule: 'RolesNotSettled', members: [0], unavailable: true, state: 'Failed' }),
    ),
    'does not keep members that are down': when(
      unreachedPrimary('Lost', member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
    'lets replicas go by an override': when(
      unreachedPrimary('Lost', ...running),
      deletes('MemberNotParticipating', 2),
      { overrides: [{ rule: 'FailoverUnfinished', remainingSeconds: 60 }] },
    ),
  });

  const unavailable = { healthy: false, available: false };
  play({
    'is waited for without an end if MOCO gives no reason': when(
      stale()
        .members(member(2).lagging(600))
        .mysqlCluster({ ...unavailable, mocoState: null }),
      holds({ rule: 'RolesNotSettled', members: [0], unavailable: true }),
    ),
    'is not waited for if MOCO reaches it and another member has to be repaired': when(
      stale()
        .members(member(2).lagging(600))
        .mysqlCluster({ ...unavailable, mocoState: 'Incomplete' }),
      deletes('MemberNotParticipating', 2),
    ),
  });
});

/** Replicas run, with their labels, and are not ready: MOCO has stopped their I/O threads and waits for their appliers. */
const waitsForAppliers = (primary: ReturnType<typeof member>, seconds: number) =>
  stale()
    .members(primary, member(1).lagging(seconds), member(2).lagging(seconds))
    .primaryUnavailableFor(seconds)
    .mysqlCluster({ healthy: false, available: false })
    .memory({ verified: true });

describe('a failover that waits for the appliers of the replicas', () => {
  const crashed = () => member(0).updated().down('CrashLoopBackOff');
  const override = { overrides: [{ rule: 'FailoverUnfinished', remainingSeconds: 60 }] };
  play({
    'has its time': when(waitsForAppliers(crashed(), 179), awaitingFailover),
    'continues after that: no replica is restarted': when(waitsForAppliers(crashed(), 180), unfinished(2)),
    'continues while the node of the primary is lost': when(
      waitsForAppliers(member(0).unreachable(), 600),
      unfinished(2),
    ),
    'continues while the primary is missing': when(
      waitsForAppliers(crashed(), 600).missing(0),
      holds({ rule: 'MemberMissing', members: [0], message: null }),
    ),
    'does not keep members that are down': when(
      waitsForAppliers(member(0).stale().down('CrashLoopBackOff'), 600),
      deletes('MemberDown', 0),
    ),
    'continues in partition mode': when(waitsForAppliers(crashed(), 600).atPartition(3), unfinished(2), {
      mode: 'Partition',
    }),
    'continues in partition mode although members would start at the update revision': when(
      waitsForAppliers(crashed(), 600).atPartition(3).statefulSet({ currentRevision: revisionAfter }),
      unfinished(2),
      { mode: 'Partition' },
    ),
    'ends by an override, a replica at a time': when(
      waitsForAppliers(crashed(), 600),
      deletes('MemberNotParticipating', 2),
      override,
    ),
    'is over when a replica follows a primary': when(
      stale().members(member(0).agentDead(), member(1), member(2).lagging(600)).primaryUnavailableFor(600),
      deletes('MemberNotParticipating', 2),
    ),
  });

  it('is late after the progress deadline', () => {
    const late = waitsForAppliers(crashed(), 600).memory({ verified: true, sinceProgressSeconds: 600 });
    expect(decideCase({ given: late }).progressDeadlineExceeded).to.equal(true);
  });
});
