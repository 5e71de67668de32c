import { expect } from 'chai';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { path, pods } from '../../src/kube/resource.ts';
import { realWorld } from '../../src/kube/world.ts';
import { ObjectClient } from '../support/object-client.ts';
import { hear } from '../verification/witness/hear.ts';
import { LiveFeed } from '../verification/witness/live-feed.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';
import { isReady } from './rollout-judge.ts';
import { controllerUser } from './rollout-story.ts';

/** In turn, on one cluster. */
describe('the judge of rollouts, and the witness', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts();
  let connection: Connection;
  let client: ObjectClient;
  let cluster: RolloutCluster;
  let feed: LiveFeed;
  let violationsBefore = 0;

  before(async function createCluster() {
    this.timeout(scenarioDeadlineMilliseconds);
    const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
    connection = connect({ kubeconfigPath: await stage().controlPlane.kubeconfigFor(serviceAccount) });
    client = new ObjectClient({ world: realWorld(connection.exchange), qps: 100, burst: 100 });
    cluster = newCluster();
    feed = await LiveFeed.start(stage().client, cluster.namespace);
    await cluster.create({});
    await cluster.isTaken();
  });

  after(async () => {
    await feed?.stop();
    await connection?.close();
  });

  beforeEach(async () => {
    await cluster.until('the cluster is healthy', ({ cluster: now, pods: members }) => {
      return conditionOf(now, 'Healthy')?.status === 'True' && members.filter(isReady).length === 3;
    });
    await cluster.isTaken();
    violationsBefore = (await cluster.violations()).length;
  });

  const violations = async (): Promise<readonly string[]> => (await cluster.violations()).slice(violationsBefore);

  /** Deletes the pod of this ordinal, as the controller may, and waits for the next one unless told not to. */
  async function remove(ordinal: number, { withPreconditions = true, waits = true } = {}): Promise<void> {
    const { namespace } = cluster;
    const { name, uid, resourceVersion } = (await cluster.pod(ordinal, 'is there', () => true)).metadata;
    const body = withPreconditions ? { preconditions: { uid, resourceVersion } } : {};
    await client.call({ method: 'DELETE', path: path(pods, { namespace, name }), body, priority: 'disrupt' });
    await cluster.pod(ordinal, waits ? 'is new and ready' : 'is terminating', (pod) => {
      return waits ? pod.metadata.uid !== uid && isReady(pod) : pod.metadata.deletionTimestamp !== undefined;
    });
  }

  const primary = (): number => cluster.now.cluster?.status?.currentPrimaryIndex ?? 0;
  const replicas = (): readonly number[] => [2, 1, 0].filter((ordinal) => ordinal !== primary());

  it('accept a rollout, and measure it', async () => {
    const since = Date.now();
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await violations()).to.deep.equal([]);
    const heard = await witness();
    expect(heard.findings).to.deep.equal([]);
    expect(heard.measures(`${cluster.namespace}/${cluster.name}`, since)).to.include({
      disruptions: 3,
      needless: 0,
      switchovers: 1,
    });
  });

  it('object to the deletion of a healthy member without preconditions', async () => {
    const [replica = 0] = replicas();
    await remove(replica, { withPreconditions: false });
    expect((await violations()).map(lawOf)).to.deep.equal(['I9']);
    expect((await witness()).findings.map(({ law }) => law)).to.include.members(['I4', 'I5']);
  });

  it('object to the disruption of a primary without a switchover', async () => {
    await remove(primary());
    expect((await violations()).map(lawOf)).to.include('I3');
  });

  it('object to every violation of a controller that deletes pods at will', async () => {
    const order = [...replicas(), primary()];
    for (const ordinal of order) await remove(ordinal, { waits: false });
    const found = await violations();
    const about = (ordinal = 0): readonly string[] =>
      found.filter((sentence) => sentence.startsWith(`delete ${ordinal}: `)).map(lawOf);
    expect(about(order[0])).to.have.members(['unwritten', 'I4', 'I5']);
    expect(about(order[1])).to.include.members(['unwritten', 'I2', 'I4', 'I5']);
    expect(about(order[2])).to.include('unwritten');
  });

  async function witness() {
    const audit = (await stage().controlPlane.audit()).filter(
      ({ objectRef }) => objectRef?.namespace === cluster.namespace,
    );
    return hear(feed.changes, audit, controllerUser);
  }
});

function lawOf(sentence: string): string {
  return /I\d/.exec(sentence)?.[0] ?? (sentence.includes('not written down') ? 'unwritten' : sentence);
}
