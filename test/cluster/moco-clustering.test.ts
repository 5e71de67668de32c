import { expect } from 'chai';
import { demoteAnnotation, roleLabel } from '../../src/moco/names.ts';
import { type MocoStandIn, startMoco } from '../support/moco/driver.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { MySQLCluster, Pod } from '../support/moco/objects.ts';
import { type Nodes, startNodes } from '../support/nodes/driver.ts';
import { ObjectClient } from '../support/object-client.ts';
import {
  createCluster,
  type Installed,
  installed,
  isGone,
  list,
  patch,
  read,
  startDeadlineMilliseconds,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';

const namespace = 'default';
describe('the stand-in for MOCO, on the real API server', function () {
  this.timeout(testDeadlineMilliseconds);
  let environment: Installed;
  let client: ObjectClient;
  let moco: MocoStandIn;
  let nodes: Nodes;
  let writes = 0;

  before(async function startEverything() {
    this.timeout(startDeadlineMilliseconds);
    environment = await installed();
    client = environment.client;
    const { world } = environment;
    const onAnswer = ({ method }: { method: string }): void => {
      writes += method === 'GET' ? 0 : 1;
    };
    moco = await startMoco({ client: new ObjectClient({ world, qps: 1000, burst: 1000, onAnswer }), world });
    nodes = await startNodes({ client, world, databases: moco });
  });

  after(async () => {
    await nodes?.stop();
    await moco?.stop();
    await environment?.stop();
  });

  it('makes a cluster healthy and then stops writing', async () => {
    await healthyCluster('quiet');
    await until('StatefulSetReady is True', async () => (await condition('quiet', 'StatefulSetReady')) === 'True');
    const before = writes;
    const { metadata } = await read<MySQLCluster>(client, 'MySQLCluster', 'quiet');
    // An event that every part of MOCO looks at, and that changes nothing.
    await patch(client, 'MySQLCluster', 'quiet', { metadata: { annotations: { look: 'again' } } });
    await patch(client, 'Pod', 'moco-quiet-0', { metadata: { annotations: { look: 'again' } } });
    await patch(client, 'MySQLCluster', 'quiet', { spec: { maxDelaySeconds: 61 } });
    await until('the last of these is reconciled', async () => {
      const { status } = await read<MySQLCluster>(client, 'MySQLCluster', 'quiet');
      return status?.reconcileInfo?.generation === (metadata.generation ?? 0) + 1;
    });
    // The new generation costs a StatefulSet (the agent's argument) and its status; the annotations nothing.
    expect(await condition('quiet', 'ReconcileSuccess')).to.equal('True');
    expect(writes - before).to.be.at.most(4);
  });

  it('fails over when the mysqld of the primary dies and does not come back', async () => {
    await healthyCluster('failing');
    nodes.killMysqld(namespace, 'moco-failing-0');
    await until('another member is primary and takes writes', async () => {
      const { status } = await read<MySQLCluster>(client, 'MySQLCluster', 'failing');
      return status?.currentPrimaryIndex === 1 && (await condition('failing', 'Available')) === 'True';
    });
    nodes.heal(namespace, 'moco-failing-0');
    await until('the cluster is healthy again', async () => (await condition('failing', 'Healthy')) === 'True');
    expect(await roles('failing')).to.deep.equal(['replica', 'primary', 'replica']);
  });

  it('does nothing while it is down, and catches up afterwards', async () => {
    await healthyCluster('down');
    await moco.pause();
    await patch(client, 'Pod', 'moco-down-0', { metadata: { annotations: { [demoteAnnotation]: 'true' } } });
    await createCluster(client, { name: 'later', replicas: 1 });
    await until('the API server has both', async () => (await list(client, 'Pod', 'none')).length === 0);
    expect(await isGone(client, 'StatefulSet', 'moco-later')).to.equal(true);
    await moco.resume();
    await until('the cluster made meanwhile is healthy', async () => (await condition('later', 'Healthy')) === 'True');
    await until('the switchover asked for meanwhile is through', async () => {
      const { status } = await read<MySQLCluster>(client, 'MySQLCluster', 'down');
      return status?.currentPrimaryIndex === 1;
    });
  });

  it('loses a foreign field of the status and keeps a foreign condition', async () => {
    await healthyCluster('foreign', {}, 1);
    const foreign = {
      type: 'example.com/Foreign',
      status: 'True',
      reason: 'Said',
      message: '',
      lastTransitionTime: '2026-11-21T07:00:00Z',
    };
    await until('the status is written without a conflict', async () => {
      const cluster = await read<MySQLCluster>(client, 'MySQLCluster', 'foreign');
      const conditions = [...(cluster.status?.conditions ?? []), foreign];
      const body = { ...cluster, status: { ...cluster.status, conditions, rollout: 'mine' } };
      const place = { namespace, name: 'foreign', subresource: 'status' };
      return client.replace(writtenKinds.MySQLCluster, place, body, { priority: 'status' }).then(
        () => true,
        () => false,
      );
    });
    await patch(client, 'MySQLCluster', 'foreign', { spec: { offline: true } });
    await until('MOCO has written the status', async () => (await condition('foreign', 'Available')) === 'False');
    const { status } = await read<MySQLCluster>(client, 'MySQLCluster', 'foreign');
    expect(status).not.to.have.property('rollout');
    expect(status?.conditions?.find(({ type }) => type === foreign.type)).to.deep.equal(foreign);
  });

  it('reports a refused StatefulSet as a failed reconciliation of that generation', async () => {
    await healthyCluster('refused', {}, 1);
    const containers = [
      { name: 'mysqld', image: 'mysql:8.4.8' },
      { name: 'Not A Name', image: 'none' },
    ];
    await patch(client, 'MySQLCluster', 'refused', { spec: { podTemplate: { spec: { containers } } } });
    await until('the failure shows', async () => (await condition('refused', 'ReconcileSuccess')) === 'False');
    const { status, metadata } = await read<MySQLCluster>(client, 'MySQLCluster', 'refused');
    expect(status?.reconcileInfo?.generation).to.equal(metadata.generation);
  });

  async function healthyCluster(name: string, spec: object = {}, replicas = 3): Promise<void> {
    await createCluster(client, { name, replicas, spec: { ...spec } });
    await until(`${name} is healthy`, async () => (await condition(name, 'Healthy')) === 'True');
  }

  async function condition(name: string, type: string): Promise<string | undefined> {
    const { status } = await read<MySQLCluster>(client, 'MySQLCluster', name);
    return status?.conditions?.find((candidate) => candidate.type === type)?.status;
  }

  async function roles(name: string): Promise<(string | undefined)[]> {
    const pods = await list<Pod>(client, 'Pod', `app.kubernetes.io/instance=${name}`);
    return pods.map(({ metadata }) => metadata.labels?.[roleLabel]);
  }
});
