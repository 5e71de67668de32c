import { expect } from 'chai';
import { type ClusterBuilder, cluster, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, decideCase } from './table.ts';

const decisionOf = (given: ClusterBuilder, settings: Case['settings'] = {}) => decideCase({ given, settings });

describe('the decision as a whole', () => {
  it('counts the stale members, terminating ones included', () => {
    expect(decisionOf(stale().members(member(1).updated(), member(2).terminating())).stale).to.equal(2);
    expect(decisionOf(cluster(3)).stale).to.equal(0);
  });

  it('shows whether the update revision is verified', () => {
    expect(decisionOf(stale()).verified).to.equal(false);
    expect(decisionOf(stale().memory({ verified: true })).verified).to.equal(true);
    expect(decisionOf(stale().members(member(2).updated().participatingFor(4))).verified).to.equal(false);
    expect(decisionOf(stale().members(member(2).updated().participatingFor(5))).verified).to.equal(true);
  });

  const incomplete: Readonly<Record<string, ClusterBuilder>> = {
    'a member is stale': three(member(1).stale()),
    'a member is missing': cluster(3).missing(2),
    'a member does not participate': three(member(2).lagging()),
    'a member is impaired': three(member(2).impaired('slow-log')),
    'an updated member is new': three(member(2).updated().participatingFor(4)),
    'a container of an updated member has not restarted': three(member(0).restartsInPlace('agent')),
    'a container of an updated member has just restarted': three(member(0).restartedInPlace('agent', 4)),
    'a member leaves': three(member(2).terminating()),
    'there is no StatefulSet': cluster(3).statefulSet(null),
    'the StatefulSet is being deleted': cluster(3).statefulSet({ deleting: true }),
    'the StatefulSet has not been observed': cluster(3).statefulSet({ observed: false }),
    'MOCO has not applied the newest generation': cluster(3).mysqlCluster({ generation: 3 }),
    'the cluster is being scaled': cluster(3).statefulSet({ replicas: 5 }),
    'the facts cannot be': cluster(0),
  };
  it('is complete when all is done', () => expect(decisionOf(cluster(3)).complete).to.equal(true));
  it('is complete while paused or waiting for nothing but its own last write', () => {
    expect(decisionOf(cluster(3), { paused: true }).complete).to.equal(true);
    expect(decisionOf(cluster(3).but({ ownWritePending: 'promote' })).complete).to.equal(true);
  });
  for (const [sentence, given] of Object.entries(incomplete)) {
    it(`is not complete while ${sentence}`, () => expect(decisionOf(given).complete).to.equal(false));
  }
});

describe('a rollout that has not moved for long', () => {
  const late = (given: ClusterBuilder, sinceProgressSeconds: number, settings: Case['settings'] = {}) =>
    decisionOf(given.memory({ sinceProgressSeconds }), settings);
  it('is late with a step to take, too, and not before its time', () => {
    expect(late(stale(), 600).progressDeadlineExceeded).to.equal(true);
    expect(late(stale(), 599).progressDeadlineExceeded).to.equal(false);
  });
  it('is not late when it is complete', () => {
    expect(late(cluster(3), 9999).progressDeadlineExceeded).to.equal(false);
  });

  // A label says that a pod was made, not that it works.
  for (const [sentence, given] of Object.entries({
    'the last member finds no node': three(member(0).updated().unschedulable()),
    'three updated members crash-loop': three(...[0, 1, 2].map((ordinal) => member(ordinal).updated().crashLooping())),
    'a quota keeps the last member away': cluster(3).missing(0).but({ createFailure: 'exceeded quota' }),
    'an updated member lags': three(member(2).updated().lagging(9999)),
  })) {
    it(`is late although every pod has the new label: ${sentence}`, () => {
      const { hold, progressDeadlineExceeded } = late(given, 600);
      expect(hold).not.to.equal(null);
      expect(progressDeadlineExceeded).to.equal(true);
      expect(late(given, 599).progressDeadlineExceeded).to.equal(false);
    });
  }

  const noRoom = '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict.';
  for (const [sentence, [awaitsNodes, given]] of Object.entries<readonly [boolean, ClusterBuilder]>({
    'the node of a member does not answer': [true, three(member(2).updated().unreachable())],
    'a node shuts down': [true, three(member(2).updated().failed().but({ failedReason: 'NodeShutdown' }))],
    'the node controller has evicted a pod that its kubelet does not end': [
      true,
      three(member(2).updated().terminating(400).but({ disruption: 'DeletionByTaintManager' })),
    ],
    'only the node of its volume may have the pod': [true, three(member(2).updated().awaitingNode())],
    'no node may accept the pod because of what it requests': [false, three(member(2).updated().unschedulable(noRoom))],
    'its own node is cordoned, and no other has what an updated pod requests': [
      false,
      three(member(2).updated().awaitingNode('anti-affinity')),
    ],
    'no node has room': [false, three(member(2).updated().unschedulable())],
    'a pod is deleted that does not end': [false, three(member(2).updated().terminating(400))],
    'a pod was evicted for its own limits': [false, three(member(2).updated().evictedByKubelet(true))],
    'another member lags': [false, three(member(2).updated().unreachable(), member(1).updated().lagging(9999))],
    'another pod cannot be created': [false, three(member(2).updated().unreachable()).missing(1)],
    'no member is away': [false, stale()],
  })) {
    it(`is late because of nodes alone, or not: ${sentence}`, () => {
      expect(late(given, 600)).to.include({ progressDeadlineExceeded: true, awaitsNodes });
    });
  }

  it('names the updated member that does not participate, however many may be unavailable', () => {
    const given = cluster(5).members(member(4).updated().lagging(9999), member(3).updated().lagging(9999));
    const { hold, progressDeadlineExceeded } = late(given, 600, { maxUnavailable: 2 });
    expect([hold?.rule, progressDeadlineExceeded]).to.deep.equal(['UpdatedMemberNotParticipating', true]);
  });
});
