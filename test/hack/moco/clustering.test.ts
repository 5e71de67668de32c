import { expect } from 'chai';
import { clusteringStep } from '../../../hack/moco/clustering.ts';
import { fastClustering } from '../../../hack/moco/settings.ts';
import {
  clusteringStoppedAnnotation,
  demoteAnnotation,
  preventDeleteAnnotation,
  roleLabel,
} from '../../../src/moco/names.ts';
import { Story } from './story.ts';

describe('hack/moco: clustering', () => {
  describe('a new cluster', () => {
    it('is labelled before it takes writes, and healthy last', () => {
      const story = new Story(3);
      story.startAll();
      story.settle();
      expect(story.told).to.deep.equal([
        'Healthy False (Incomplete)',
        '1 follows 0',
        '2 follows 0',
        '1 ready',
        '2 ready',
        '0 role primary',
        '1 role replica',
        '2 role replica',
        '0 takes writes',
        '0 ready',
        'Healthy True (Healthy)',
      ]);
      expect(story.condition('Initialized')).to.equal('True Healthy');
      expect(story.condition('ClusteringActive')).to.equal('True ClusteringActive');
      expect(story.cluster.status?.syncedReplicas).to.equal(3);
    });

    it('says nothing while a pod is missing', () => {
      const story = new Story(3);
      story.removePod(1);
      story.startAll();
      story.settle();
      expect(story.told).to.deep.equal([]);
      expect(story.cluster.status).to.equal(undefined);
    });

    it('of one member opens for writes without a replica', () => {
      const story = Story.healthy(1);
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('that clones is not initialized until that is done', () => {
      const story = new Story(3, { replicationSourceSecretName: 'donor' });
      story.faults = { ...story.faults, cloneHangs: true };
      story.startAll();
      story.settle();
      expect(story.condition('Initialized')).to.equal('False Cloning');
      story.faults = { ...story.faults, cloneHangs: false };
      story.settle();
      expect(story.condition('Initialized')).to.equal('True Healthy');
      expect(story.cluster.status?.cloned).to.equal(true);
    });

    it('that restores is not initialized', () => {
      const story = new Story(1, { restore: {} });
      story.startAll();
      story.settle();
      expect(story.condition('Initialized')).to.equal('False Restoring');
    });
  });

  describe('a switchover', () => {
    const order = [
      '0 is read-only',
      'index 1',
      '0 demote gone',
      'Healthy False (Incomplete)',
      '0 role gone',
      '1 role gone',
      '0 follows 1',
      '2 follows 1',
      '0 role replica',
      '1 role primary',
      '1 takes writes',
      'Healthy True (Healthy)',
    ];

    it('moves the index first and opens for writes last', () => {
      const story = Story.healthy(3);
      story.demote(0);
      story.settle();
      expect(story.told).to.deep.equal(order);
    });

    it('leaves Healthy True while the index has moved and nothing else has', () => {
      const story = Story.healthy(3);
      story.demote(0);
      story.settle(fastClustering.notice + fastClustering.drain + 1);
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
      expect(story.condition('Healthy')).to.equal('True Healthy');
      expect(story.pod(0).metadata.labels?.[roleLabel]).to.equal('primary');
    });

    it('comes of a deletion as well', () => {
      const story = Story.healthy(3);
      story.deletePod(0);
      story.settle();
      expect(story.told).to.deep.equal(order.filter((line) => line !== '0 demote gone'));
    });

    it('goes to the lowest good replica, even to one that is terminating', () => {
      const story = Story.healthy(5);
      story.deletePod(1);
      story.demote(0);
      story.settle(fastClustering.notice + fastClustering.drain + 1);
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('passes over a replica that is not ready', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, lagSeconds: { 1: 90 } };
      story.demote(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
    });

    it('goes on to the next when the new primary carries a demote too', () => {
      const story = Story.healthy(3);
      story.demote(1);
      story.settle();
      expect(story.told).to.deep.equal([]);
      story.demote(0);
      story.settle();
      expect(story.told.filter((line) => line.startsWith('index'))).to.deep.equal(['index 1', 'index 0']);
    });

    it('goes where the script wants it', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, nextPrimary: 2 };
      story.demote(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
    });

    it('never comes when the script says so', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, switchover: 'ignored' };
      story.demote(0);
      story.settle();
      expect(story.told).to.deep.equal([]);
      expect(story.pod(0).metadata.annotations?.[demoteAnnotation]).to.equal('true');
    });

    it('that fails closes writes, opens them again and is tried again for as long as demote stays', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, switchover: 'failing' };
      story.demote(0);
      story.settle(3_000);
      const tries = story.told.filter((line) => line === '0 is read-only').length;
      expect(tries).to.be.greaterThan(1);
      expect(story.told.slice(0, 4)).to.deep.equal([
        '0 is read-only',
        'Healthy False (Incomplete)',
        '0 takes writes',
        'Healthy True (Healthy)',
      ]);
      expect(story.told).not.to.include('index 1');
      story.annotatePod(0, { [demoteAnnotation]: null });
      story.settle();
      expect(story.condition('Healthy')).to.equal('True Healthy');
      expect(story.told.filter((line) => line === '0 is read-only').length).to.be.at.most(tries + 1);
    });

    it('becomes a failover when the primary is gone before it is done', () => {
      const story = Story.healthy(3);
      story.deletePod(0);
      story.settle(fastClustering.notice + 1);
      story.killMysqld(0);
      story.settle();
      expect(story.told).to.include('Healthy False (Failed)');
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('goes to another member when the one it was going to is gone before it is done', () => {
      const story = Story.healthy(3);
      story.demote(0);
      story.settle(fastClustering.notice + 1);
      story.killMysqld(1);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
    });

    it('does not come with one member', () => {
      const story = Story.healthy(1);
      story.demote(0);
      story.settle();
      expect(story.told).to.deep.equal([]);
    });
  });

  describe('a failover', () => {
    it('has every replica not ready until it is done', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle();
      expect(story.told).to.deep.equal([
        '0 not ready',
        '1 not ready',
        '2 not ready',
        '0 is read-only',
        'Healthy False (Failed)',
        'index 1',
        'Healthy False (Incomplete)',
        '0 role gone',
        '1 role gone',
        '2 follows 1',
        '2 ready',
        '0 role replica',
        '1 role primary',
        '1 takes writes',
        '1 ready',
        'Healthy False (Degraded)',
      ]);
    });

    it('needs both replicas of three: with one gone the cluster is lost until something comes back', () => {
      const story = Story.healthy(3);
      story.killMysqld(2);
      story.settle();
      story.killMysqld(0);
      story.settle();
      expect(story.condition('Healthy')).to.equal('False Lost');
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
      story.startMysqld(2, 1);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('needs the mysqld of the replicas running, not ready', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(1);
      expect(story.isReady(1)).to.equal(false);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('does not come when the primary is back first', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(1);
      story.startMysqld(0, 1);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('does not come for a primary that answers before MOCO has given up asking', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(fastClustering.notice + fastClustering.silence - 1);
      story.startMysqld(0, 1);
      story.settle();
      expect(story.told).not.to.include('Healthy False (Failed)');
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
    });

    it('goes on with a pass as soon as everybody answers', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(fastClustering.notice + 1);
      expect(story.mind.activity.kind).to.equal('asking');
      story.startMysqld(0, 1);
      story.settle(1);
      expect(story.condition('Healthy')).to.equal('False Incomplete');
    });

    it('waits while a pod is missing', () => {
      const story = Story.healthy(3);
      story.removePod(0);
      story.settle();
      expect(story.condition('Healthy')).to.equal('True Healthy');
      expect(story.isReady(1)).to.equal(false);
      story.createPod(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('comes for a primary on a lost node', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, unreachable: [0] };
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });
  });

  describe('a fresh pod', () => {
    it('is ready only after MOCO has configured it', () => {
      const story = Story.healthy(3);
      story.deletePod(2);
      story.removePod(2);
      story.settle();
      story.createPod(2);
      story.startMysqld(2);
      story.settle(1);
      expect(story.isReady(2)).to.equal(false);
      expect(story.pod(2).metadata.labels?.[roleLabel]).to.equal(undefined);
      story.settle();
      expect(story.told).to.deep.equal([
        'Healthy False (Degraded)',
        '2 ready',
        '2 role replica',
        'Healthy True (Healthy)',
      ]);
    });

    it('of a primary that was away for a moment becomes primary again', () => {
      const story = Story.healthy(1);
      story.removePod(0);
      story.settle();
      story.createPod(0);
      story.startMysqld(0);
      story.settle();
      expect(story.told.slice(-4)).to.deep.equal([
        '0 role primary',
        '0 takes writes',
        '0 ready',
        'Healthy True (Healthy)',
      ]);
    });
  });

  describe('replicas', () => {
    it('that lag behind are not ready, and are again', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, lagSeconds: { 1: 60, 2: 59 } };
      story.settle();
      expect([story.isReady(1), story.isReady(2)]).to.deep.equal([false, true]);
      expect(story.cluster.status?.syncedReplicas).to.equal(2);
      story.faults = { ...story.faults, lagSeconds: {} };
      story.settle();
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('that are errant lose their role and are listed', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, errant: [2] };
      story.settle();
      expect(story.cluster.status?.errantReplicas).to.equal(1);
      expect(story.cluster.status?.errantReplicaList).to.deep.equal([2]);
      expect(story.pod(2).metadata.labels?.[roleLabel]).to.equal(undefined);
      expect(story.condition('Healthy')).to.equal('False Degraded');
    });
  });

  describe('prevent-delete', () => {
    it('is on the primary while a replica lags too far, and holds the switchover', () => {
      const story = Story.healthy(3, { maxDelaySecondsForPodDeletion: 10 });
      story.faults = { ...story.faults, lagSeconds: { 1: 11 } };
      story.demote(0);
      story.settle();
      expect(story.told).to.deep.equal(['0 prevent-delete true']);
      story.faults = { ...story.faults, lagSeconds: {} };
      story.settle();
      expect(story.told[1]).to.equal('0 prevent-delete gone');
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('that somebody else has put on a pod is taken off', () => {
      const story = Story.healthy(3);
      story.annotatePod(2, { [preventDeleteAnnotation]: 'true' });
      story.settle();
      expect(story.told).to.deep.equal(['2 prevent-delete gone']);
    });
  });

  it('does nothing while clustering is stopped, and goes on afterwards', () => {
    const story = Story.healthy(3);
    story.annotateCluster({ [clusteringStoppedAnnotation]: 'true' });
    story.demote(0);
    story.settle();
    expect(story.told).to.deep.equal([]);
    story.annotateCluster({ [clusteringStoppedAnnotation]: null });
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
  });

  it('says Offline of a cluster that is to be offline, pods or not', () => {
    const story = Story.healthy(3);
    story.changeSpec({ offline: true });
    story.removePod(1);
    story.settle();
    expect(story.condition('Healthy')).to.equal('False Offline');
    expect(story.condition('Initialized')).to.equal('True Offline');
    expect(story.cluster.status?.syncedReplicas).to.equal(undefined);
  });

  it('notices later when the script says so', () => {
    const story = Story.healthy(3);
    story.faults = { ...story.faults, statusLagMilliseconds: 60_000 };
    story.killMysqld(2);
    story.settle(59_000);
    expect(story.condition('Healthy')).to.equal('True Healthy');
    story.settle(2_000);
    expect(story.condition('Healthy')).to.equal('False Degraded');
  });

  it('writes nothing when asked again with nothing changed', () => {
    const story = Story.healthy(3);
    const step = clusteringStep(story.view, story.mind, story.now, fastClustering, story.faults);
    expect(step.writes).to.deep.equal([]);
    expect(step.lookAgainAfterMilliseconds).to.equal(null);
    expect(step.mind).to.deep.equal(story.mind);
  });
});
