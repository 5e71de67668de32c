import { expect } from 'chai';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags, useRollouts } from './rollout-fixture.ts';

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
});

const holderPath = 'jsonpath={.spec.holderIdentity}';
