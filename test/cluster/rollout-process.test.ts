import { expect } from 'chai';
import { demoteAnnotation } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];
const electing = [
  ...sharedFlags,
  '--leader-elect',
  '--lease-duration=3s',
  '--renew-deadline=2s',
  '--retry-period=500ms',
];
const leaseDeadlineMilliseconds = 90_000;

describe('a controller process', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts();

  before(endAll);
  afterEach(endAll);
  after(() => stage().startController(sharedFlags));

  async function endAll(): Promise<void> {
    await Promise.all(stage().controllers.map((controller) => controller.stop('SIGKILL')));
  }

  /** A cluster that the controller has taken. */
  async function takenCluster(): Promise<RolloutCluster> {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    await cluster.begin();
    return cluster;
  }

  async function leaseHolder(): Promise<string> {
    const { controlPlane } = stage();
    const lease = ['get', 'lease', 'moco-rollout', '--ignore-not-found', '-o', holderPath];
    return controlPlane.kubectl('-n', 'moco-rollout-system', ...lease);
  }

  it('that is killed while a member restarts is followed by one that continues from there', async () => {
    const killed = await stage().startController(sharedFlags);
    const cluster = await takenCluster();
    await judged(cluster, async () => {
      await cluster.setImage('mysql:8.4.9');
      await cluster.pod(2, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
      await killed.stop('SIGKILL');
      await cluster.pod(2, 'is new and ready', (pod) => imageOf(pod) === 'mysql:8.4.9' && isReady(pod));
      expect(await cluster.steps()).to.deep.equal(['evict 2']);
      await stage().startController(sharedFlags);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
    });
  });

  it('that is killed during a switchover is followed by one that requests no second switchover', async () => {
    const killed = await stage().startController(sharedFlags);
    const cluster = await takenCluster();
    await judged(cluster, async () => {
      await cluster.setImage('mysql:8.4.9');
      await cluster.pod(
        0,
        'is to hand on its role',
        ({ metadata }) => demoteAnnotation in (metadata.annotations ?? {}),
      );
      await killed.stop('SIGKILL');
      await stage().startController(sharedFlags);
      await cluster.completes();
      expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
      // What is left of the demotion goes with its pod, or before it where something else holds meanwhile.
      const steps = (await cluster.steps()).filter((step) => step !== 'undemote 0');
      expect(steps).to.deep.equal(wholeRollout);
    });
  });

  it('that leads and is killed is replaced by the other replica', async () => {
    const leader = await stage().startController(electing);
    const cluster = await takenCluster();
    await judged(cluster, async () => {
      await stage().startController(electing);
      const before = await leaseHolder();
      await cluster.setImage('mysql:8.4.9');
      await cluster.pod(2, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
      await leader.stop('SIGKILL');
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
      expect(await leaseHolder()).not.to.equal(before);
    });
  });

  it('that gets SIGTERM exits with 0 and releases the lease', async () => {
    const before = await leaseHolder();
    const leader = await stage().startController(electing);
    await until(
      async () => ([before, ''].includes(await leaseHolder()) ? undefined : true),
      leaseDeadlineMilliseconds,
      () => `Expected another holder of the lease within ${leaseDeadlineMilliseconds} ms, it is still "${before}"`,
    );
    expect(await leader.stop('SIGTERM')).to.equal(0);
    expect(await leaseHolder()).to.equal('');
  });

  it('with the gate off writes no object of MOCO', async () => {
    await stage().startController([...sharedFlags, '--feature-gates=UpdateStrategyOnDelete=false']);
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.setImage('mysql:8.4.9');
      await cluster.until('the controller has seen the new revision', ({ rollout, statefulSet, cluster: object }) => {
        const { updateRevision, observedGeneration } = statefulSet?.status ?? {};
        return (
          rollout?.status?.hold?.rule === 'AwaitingMoco' &&
          rollout.status.observedClusterGeneration === object?.metadata.generation &&
          object?.status?.reconcileInfo?.generation === object?.metadata.generation &&
          observedGeneration === statefulSet?.metadata.generation &&
          rollout.status.updateRevision === updateRevision
        );
      });
      expect(await cluster.steps()).to.deep.equal([]);
    });
  });
});

const holderPath = 'jsonpath={.spec.holderIdentity}';
