import { expect } from 'chai';
import {
  clusteringStoppedAnnotation,
  demoteAnnotation,
  preventDeleteAnnotation,
  roleLabel,
} from '../../../src/moco/names.ts';
import { clusteringStep } from './clustering.ts';
import { fastClustering } from './settings.ts';
import { Story } from './story.ts';

const healthy = 'Available True (Healthy), Healthy True (Healthy)';
const degraded = 'Available True (Degraded), Healthy False (Degraded)';
const incomplete = 'Available False (Incomplete), Healthy False (Incomplete)';
const failed = 'Available False (Failed), Healthy False (Failed)';

describe('test/support/moco: clustering', () => {
  describe('a new cluster', () => {
    it('is labelled before it accepts writes, and healthy last', () => {
      const story = new Story(3);
      story.startAll();
      story.settle();
      expect(story.reported).to.deep.equal([
        incomplete,
        '1 follows 0',
        '2 follows 0',
        '0 role primary',
        '1 role replica',
        '2 role replica',
        '1 ready',
        '2 ready',
        '0 takes writes',
        '0 ready',
        healthy,
      ]);
      expect(story.condition('Initialized')).to.equal('True Healthy');
      expect(story.condition('ClusteringActive')).to.equal('True ClusteringActive');
      expect(story.cluster.status?.syncedReplicas).to.equal(3);
    });

    it('is Lost before a mysqld has run', () => {
      const story = new Story(3);
      story.settle();
      expect(story.condition('Available')).to.equal('False Lost');
    });

    it('gets no status while a pod is missing', () => {
      const story = new Story(3);
      story.removePod(1);
      story.startAll();
      story.settle();
      expect(story.reported).to.deep.equal([]);
      expect(story.cluster.status).to.equal(undefined);
    });

    it('of one member opens for writes without a replica', () => {
      const story = Story.healthy(1);
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('that clones is not initialized until the clone is complete', () => {
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
      incomplete,
      '0 role gone',
      '1 role gone',
      '0 follows 1',
      '2 follows 1',
      '0 role replica',
      '1 role primary',
      '1 takes writes',
      healthy,
    ];

    it('moves the index first and opens for writes last', () => {
      const story = Story.healthy(3);
      story.demote(0);
      story.settle();
      expect(story.reported).to.deep.equal(order);
    });

    it('happens on a deletion as well', () => {
      const story = Story.healthy(3);
      story.deletePod(0);
      story.settle();
      expect(story.reported).to.deep.equal(order.filter((line) => line !== '0 demote gone'));
    });

    it('selects the lowest good replica, even one that is terminating', () => {
      const story = Story.healthy(5);
      story.deletePod(1);
      story.demote(0);
      story.settle(fastClustering.notice + fastClustering.drain + 1);
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('skips a replica that is not ready', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, lagSeconds: { 1: 90 } };
      story.settle();
      story.demote(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
    });

    it('continues to the next replica if the new primary has the demote annotation too', () => {
      const story = Story.healthy(3);
      story.demote(1);
      story.settle();
      expect(story.reported).to.deep.equal([]);
      story.demote(0);
      story.settle();
      expect(story.reported.filter((line) => line.startsWith('index'))).to.deep.equal(['index 1', 'index 0']);
    });

    it('selects the scripted replica', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, nextPrimary: 2 };
      story.demote(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
    });

    it('never happens if scripted so', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, switchover: 'ignored' };
      story.demote(0);
      story.settle();
      expect(story.reported).to.deep.equal([]);
      expect(story.pod(0).metadata.annotations?.[demoteAnnotation]).to.equal('true');
    });

    it('that fails closes writes, opens them again and is retried while the demote annotation stays', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, switchover: 'failing' };
      story.demote(0);
      story.settle(3_000);
      const tries = story.reported.filter((line) => line === '0 is read-only').length;
      expect(tries).to.be.greaterThan(1);
      expect(story.reported.slice(0, 4)).to.deep.equal(['0 is read-only', '0 not ready', incomplete, '0 takes writes']);
      expect(story.reported).not.to.include('index 1');
      story.annotatePod(0, { [demoteAnnotation]: null });
      story.settle();
      expect(story.condition('Healthy')).to.equal('True Healthy');
      expect(story.reported.filter((line) => line === '0 is read-only').length).to.be.at.most(tries + 1);
    });

    it('becomes a failover if the primary is lost before it is done', () => {
      const story = Story.healthy(3);
      story.deletePod(0);
      story.settle(fastClustering.notice + 1);
      story.killMysqld(0);
      story.settle();
      expect(story.reported).to.include(failed);
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('does not happen with one member', () => {
      const story = Story.healthy(1);
      story.demote(0);
      story.settle();
      expect(story.reported).to.deep.equal([]);
    });
  });

  describe('a failover', () => {
    it('leaves the old primary without a role until its mysqld answers', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle();
      expect(story.pod(0).metadata.labels?.[roleLabel]).to.equal(undefined);
      story.startMysqld(0, 1);
      story.settle();
      expect(story.pod(0).metadata.labels?.[roleLabel]).to.equal('replica');
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('needs both replicas of three: with one missing the cluster is lost until a member returns', () => {
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

    it('needs running replicas, not ready ones', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, lagSeconds: { 1: 90, 2: 90 } };
      story.settle();
      expect([story.isReady(1), story.isReady(2)]).to.deep.equal([false, false]);
      story.killMysqld(0);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('does not happen if the primary returns first', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(1);
      story.startMysqld(0, 1);
      story.settle();
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('does not happen if the primary answers within MOCO’s retries', () => {
      const story = Story.healthy(3);
      story.killMysqld(0);
      story.settle(fastClustering.notice + fastClustering.silence - 1);
      story.startMysqld(0, 1);
      story.settle();
      expect(story.reported).not.to.include(failed);
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
    });

    it('continues as soon as every member answers', () => {
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

    describe('whose candidate has received more than it has applied', () => {
      const begun = (): Story => {
        const story = Story.healthy(3);
        story.faults = { ...story.faults, backlog: [1, 2] };
        story.settle(1);
        story.killMysqld(0);
        story.settle();
        return story;
      };

      it('fails and is tried again until that is applied', () => {
        const story = begun();
        expect(story.condition('Healthy')).to.equal('False Failed');
        expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
        story.faults = { ...story.faults, backlog: [] };
        story.settle();
        expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
        expect(story.condition('Available')).to.equal('True Degraded');
      });

      it('never ends once the replicas have restarted, since their SQL threads stay stopped', () => {
        const story = begun();
        for (const ordinal of [1, 2]) story.startMysqld(ordinal, 1);
        story.settle();
        story.faults = { ...story.faults, backlog: [] };
        story.settle(3_600_000);
        expect(story.condition('Healthy')).to.equal('False Failed');
        expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
      });

      it('is not needed if the old primary comes back, with which MOCO starts replication again', () => {
        const story = begun();
        for (const ordinal of [1, 2]) story.startMysqld(ordinal, 1);
        story.settle();
        story.faults = { ...story.faults, backlog: [] };
        story.startMysqld(0, 1);
        story.settle();
        expect(story.condition('Healthy')).to.equal('True Healthy');
        expect(story.mind.databases.map(({ backlog }) => backlog)).to.deep.equal([undefined, undefined, undefined]);
      });

      it('elects a replica that has received everything', () => {
        const story = Story.healthy(3);
        story.faults = { ...story.faults, unreceived: [1] };
        story.killMysqld(0);
        story.settle();
        expect(story.cluster.status?.currentPrimaryIndex).to.equal(2);
      });
    });

    it('happens for a primary on a lost node', () => {
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
      expect(story.reported).to.deep.equal([degraded, '2 role replica', '2 ready', healthy]);
    });

    it('of a briefly unavailable primary becomes primary again', () => {
      const story = Story.healthy(1);
      story.removePod(0);
      story.settle();
      story.createPod(0);
      story.startMysqld(0);
      story.settle();
      expect(story.reported.slice(-4)).to.deep.equal(['0 role primary', '0 takes writes', '0 ready', healthy]);
    });
  });

  describe('a replica that MOCO fails to configure', () => {
    it('keeps a fresh one without a role, until another pod takes its place', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, unconfigurable: [story.pod(2).metadata.uid] };
      story.removePod(1);
      story.createPod(1);
      story.startMysqld(1);
      story.settle();
      expect([story.isReady(1), story.isReady(2)]).to.deep.equal([true, false]);
      expect(story.pod(1).metadata.labels?.[roleLabel]).to.equal(undefined);
      story.removePod(2);
      story.createPod(2);
      story.startMysqld(2);
      story.settle();
      expect(story.pod(1).metadata.labels?.[roleLabel]).to.equal('replica');
      expect(story.condition('Healthy')).to.equal('True Healthy');
    });

    it('keeps those with a higher ordinal unconfigured, and a primary that has restarted closed', () => {
      const story = Story.healthy(3);
      story.faults = { ...story.faults, unconfigurable: [story.pod(1).metadata.uid] };
      story.settle();
      for (const ordinal of [0, 2]) story.startMysqld(ordinal, 1);
      story.settle();
      expect([0, 1, 2].map((ordinal) => story.isReady(ordinal))).to.deep.equal([false, false, false]);
      expect(story.condition('Healthy')).to.equal('False Incomplete');
    });
  });

  it('leaves a former primary that it fails to configure read-only and not ready', () => {
    const story = Story.healthy(3);
    story.faults = { ...story.faults, unconfigurable: [story.pod(0).metadata.uid] };
    story.demote(0);
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    expect(story.isReady(0)).to.equal(false);
  });

  describe('replicas', () => {
    it('that lag are not ready until they catch up', () => {
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

  it('does not switch over while the pod of the primary is not ready, and fails over once it is deleted', () => {
    const story = Story.healthy(3);
    story.faults = { ...story.faults, upstreamUnavailable: true };
    story.settle();
    expect(story.condition('Healthy')).to.equal('False Incomplete');
    story.demote(0);
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
    story.deletePod(0);
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(0);
    story.killMysqld(0);
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
  });

  describe('prevent-delete', () => {
    it('is on the primary while a replica lags too far, and prevents the switchover', () => {
      const story = Story.healthy(3, { maxDelaySecondsForPodDeletion: 10 });
      story.faults = { ...story.faults, lagSeconds: { 1: 11 } };
      story.demote(0);
      story.settle();
      expect(story.reported).to.deep.equal(['0 prevent-delete true']);
      story.faults = { ...story.faults, lagSeconds: {} };
      story.settle();
      expect(story.reported[1]).to.equal('0 prevent-delete gone');
      expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
    });

    it('of another writer is removed', () => {
      const story = Story.healthy(3);
      story.annotatePod(2, { [preventDeleteAnnotation]: 'true' });
      story.settle();
      expect(story.reported).to.deep.equal(['2 prevent-delete gone']);
    });
  });

  it('does nothing while clustering is stopped, and continues afterwards', () => {
    const story = Story.healthy(3);
    story.annotateCluster({ [clusteringStoppedAnnotation]: 'true' });
    story.demote(0);
    story.settle();
    expect(story.reported).to.deep.equal([]);
    story.annotateCluster({ [clusteringStoppedAnnotation]: null });
    story.settle();
    expect(story.cluster.status?.currentPrimaryIndex).to.equal(1);
  });

  it('reports a cluster with offline set as Offline, with or without pods', () => {
    const story = Story.healthy(3);
    story.changeSpec({ offline: true });
    story.removePod(1);
    story.settle();
    expect(story.condition('Healthy')).to.equal('False Offline');
    expect(story.condition('Initialized')).to.equal('True Offline');
    expect(story.cluster.status?.syncedReplicas).to.equal(undefined);
  });

  it('detects changes later if scripted so', () => {
    const story = Story.healthy(3);
    story.faults = { ...story.faults, statusLagMilliseconds: 60_000 };
    story.killMysqld(2);
    story.settle(59_000);
    expect(story.condition('Healthy')).to.equal('True Healthy');
    story.settle(2_000);
    expect(story.condition('Healthy')).to.equal('False Degraded');
  });

  it('writes nothing if nothing has changed', () => {
    const story = Story.healthy(3);
    const step = clusteringStep(story.view, story.mind, story.now, fastClustering, story.faults);
    expect(step.writes).to.deep.equal([]);
    expect(step.requeueAfterMilliseconds).to.equal(null);
    expect(step.mind).to.deep.equal(story.mind);
  });
});
