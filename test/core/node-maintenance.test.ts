import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { type ClusterBuilder, cluster, stale, three } from './cluster-builder.ts';
import { type MemberBuilder, member } from './member-builder.ts';
import { decideCase, demotes, evicts, holds, movesOff, notYet, play, takesBack, when } from './table.ts';

const switchover = { nodeMaintenance: 'Switchover' } as const;
const evacuate = { nodeMaintenance: 'Evacuate' } as const;
const waits = { rolloutsDuringMaintenance: 'Wait' } as const;
const noWindow = (given: ClusterBuilder) => given.maintenance([]);

const leavingPrimary = () => three(member(0).onCordonedNode());
const leavingReplica = () => three(member(2).onCordonedNode());
const leavingAll = () => three(member(0).onCordonedNode(), member(1).onCordonedNode(), member(2).onCordonedNode());

describe('a primary on a node that is being taken out of service', () => {
  play({
    'is left to the drain by default': when(leavingPrimary(), 'idle'),
    'moves to a different node': when(leavingPrimary(), movesOff(0), switchover),
    'moves as well if replicas are evacuated': when(leavingPrimary(), movesOff(0), evacuate),
    'moves outside of the maintenance windows: a person empties the node now': when(
      noWindow(leavingPrimary()),
      movesOff(0),
      switchover,
    ),
    'moves while other clusters have their turn': when(leavingPrimary().queued(3, 1), movesOff(0), switchover),
    'moves before a rollout updates replicas': when(
      stale().members(member(0).stale().onCordonedNode()),
      movesOff(0),
      switchover,
    ),
    'moves although the new revision fails': when(
      stale()
        .members(member(0).stale().onCordonedNode())
        .memory({ failing: { member: 2, message: 'it crashed' } }),
      movesOff(0),
      switchover,
    ),
    'waits for an approval': when(
      leavingPrimary(),
      holds({ rule: 'AwaitingApproval', member: 0, revision: stale().facts().statefulSet?.updateRevision ?? '' }),
      { ...switchover, primaryUpdatePolicy: 'Manual' },
    ),
    'waits for a backup': when(
      leavingPrimary().backupJobs({}),
      holds({ rule: 'BackupRunning', job: 'emergency-backup', startedAt: '2026-07-01T12:00:00Z' }),
      switchover,
    ),
    'waits while the rollout is paused': when(leavingPrimary(), holds({ rule: 'Paused' }), {
      ...switchover,
      paused: true,
    }),
    'waits until every replica works': when(
      three(member(0).onCordonedNode(), member(2).lagging()),
      notYet(2, 'running'),
      switchover,
    ),
    'stays in a cluster of one member: the drain ends it': when(
      cluster(1).members(member(0).onCordonedNode()),
      'idle',
      evacuate,
    ),
    'is taken back after its time': when(
      three(member(0).onCordonedNode().demotedByUs(90, 'node-leaving')),
      takesBack(0, 'TimedOut'),
      switchover,
    ),
    'waits after a failed switchover': when(
      leavingPrimary().memory({ switchoverTries: 1, sinceLastTrySeconds: 60 }),
      holds({ rule: 'SwitchoverFailing', member: 0, tries: 1, retries: true }),
      switchover,
    ),
    'leaves no mark once another member is primary': when(
      three(member(0).markAlone('node-leaving')).primaryAt(1),
      takesBack(0, 'MarkWithoutDemote'),
      switchover,
    ),
  });
});

describe('a replica on a node that is being taken out of service', () => {
  play({
    'is evicted outside of the maintenance windows': when(
      noWindow(leavingReplica()),
      evicts('NodeLeaving', 2),
      evacuate,
    ),
    'is evicted while other clusters have their turn': when(
      leavingReplica().queued(3, 1),
      evicts('NodeLeaving', 2),
      evacuate,
    ),
    'is evicted from the highest ordinal down, the old primary last': when(
      three(member(1).onCordonedNode(), member(2).onCordonedNode()),
      evicts('NodeLeaving', 2),
      evacuate,
    ),
    'goes before the primary if MOCO would move the primary to it': when(
      leavingAll(),
      evicts('NodeLeaving', 2),
      evacuate,
    ),
    'stays if no different node can run it': when(
      three(member(2).tiedToCordonedNode()),
      holds({
        rule: 'NodeTakesNoPods',
        member: 2,
        nodeName: 'n-2',
        refusals: ['is cordoned'],
        ties: ['the volume pvc-2'],
      }),
      evacuate,
    ),
    'lets a different one go if it has to stay': when(
      three(member(1).onCordonedNode(), member(2).tiedToCordonedNode()),
      evicts('NodeLeaving', 1),
      evacuate,
    ),
    'stays while it is protected': when(
      three(member(2).onCordonedNode().preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
      evacuate,
    ),
    'stays while the rollout is paused': when(leavingReplica(), holds({ rule: 'Paused' }), {
      ...evacuate,
      paused: true,
    }),
    'is left to the drain while it does not work': when(
      three(member(2).onCordonedNode().lagging()),
      notYet(2, 'running'),
      evacuate,
    ),
  });
});

describe('nodes that are being taken out of service, and a rollout', () => {
  play({
    'a member is updated as it leaves its node': when(
      stale().members(member(1).stale().onCordonedNode()),
      evicts('ReplicaHealthy', 1),
      evacuate,
    ),
    'the primary is not updated while MOCO would move it to a node that it would leave at once': when(
      three(member(0).stale(), member(1).onCordonedNode()),
      holds({ rule: 'NoReplicaElsewhere', member: 0, next: 1 }),
      { nodeMaintenance: 'Switchover' },
    ),
    'that replica leaves first': when(
      three(member(0).stale(), member(1).onCordonedNode()),
      evicts('NodeLeaving', 1),
      evacuate,
    ),
    'without the setting, MOCO may move the primary to a node that is being taken out of service': when(
      three(member(0).stale(), member(1).onCordonedNode()),
      demotes(0),
    ),
    'a stale member keeps its revision while the rollout is held': when(
      noWindow(
        stale()
          .members(member(1).stale().onCordonedNode())
          .keepingRevisions()
          .memory({ waiting: [0, 1, 2] })
          .but({ strategyKeeper: 'policy' }),
      ),
      evicts('NodeLeaving', 1),
      evacuate,
    ),
    'a pinned member keeps its revision': when(
      stale()
        .members(member(1).stale().onCordonedNode())
        .keepingRevisions()
        .memory({ waiting: [0, 1, 2] })
        .but({ strategyKeeper: 'policy' })
        .maintenance([]),
      evicts('NodeLeaving', 1),
      { ...evacuate, pinnedOrdinals: [1] },
    ),
  });

  it('a stale member is not evicted while its next pod would start at the update revision', () => {
    const given = noWindow(stale().members(member(1).stale().onCordonedNode()));
    const { step, hold } = decideCase({ given, settings: evacuate });
    expect([step.kind, hold?.rule]).to.deep.equal(['none', 'OutsideMaintenanceWindow']);
    const kept = decideCase({
      given: given.but({ strategyKeeper: 'policy' }).memory({ waiting: [0, 1, 2] }),
      settings: evacuate,
    });
    expect(kept.step).to.deep.include({ kind: 'setStrategy', newPods: 'CurrentRevision' });
  });

  it('what an evacuation lacks is asked although the rollout is held', () => {
    const given = noWindow(
      stale()
        .members(member(1).stale().onCordonedNode().recreatable(null))
        .keepingRevisions()
        .memory({ waiting: [0, 1, 2] })
        .but({ strategyKeeper: 'policy' }),
    );
    const { hold, asks } = decideCase({ given, settings: evacuate });
    expect(hold?.rule).to.equal('OutsideMaintenanceWindow');
    expect(asks).to.deep.include({ kind: 'recreatable', members: [1] });
  });

  it('what an evacuation lacks is asked although the primary is held, and so is another replica', () => {
    const unasked = (...members: readonly MemberBuilder[]) => ({ ...three(...members).facts(), memberAnswers: [] });
    const beside = (given: ClusterSnapshot) => decide(given, { ...defaultPolicy, ...evacuate });
    const toNext = beside(unasked(member(0).onCordonedNode(), member(1).onCordonedNode()));
    expect(toNext.hold?.rule).to.equal('NoReplicaElsewhere');
    expect(toNext.asks).to.deep.include({ kind: 'members', members: [0, 2] });
    const tied = beside(unasked(member(1).onCordonedNode(), member(2).tiedToCordonedNode()));
    expect(tied.hold?.rule).to.equal('NodeTakesNoPods');
    expect(tied.asks).to.deep.include({ kind: 'members', members: [0, 2] });
  });

  it('a rollout waits for the next node, for ten minutes', () => {
    const after = (overForSeconds: number) =>
      decide(
        stale()
          .but({ nodesLeaving: { names: [], overForSeconds } })
          .facts(),
        { ...defaultPolicy, ...waits },
      );
    expect(after(599)).to.deep.include({
      hold: { rule: 'AwaitingNodeMaintenance', nodes: [] },
      requeueAfterSeconds: 1,
    });
    expect(after(600).step).to.include({ kind: 'evict', rule: 'ReplicaHealthy' });
  });

  it('the nodes are read again before each step of a cluster that depends on them', () => {
    const again = (settings: object) =>
      decideCase({ given: stale(), settings }).asksAgain.filter(({ kind }) => kind === 'nodes');
    expect(again({})).to.deep.equal([]);
    expect(again(switchover)).to.deep.equal([{ kind: 'nodes', members: [0, 1, 2] }]);
    expect(again(waits)).to.deep.equal([{ kind: 'nodes', members: [0, 1, 2] }]);
  });
});
