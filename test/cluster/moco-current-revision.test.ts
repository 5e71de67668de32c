import { expect } from 'chai';
import { mutatingWebhookConfigurations } from '../../src/kube/resource.ts';
import { clusterNameLabel, revisionHashLabel } from '../../src/moco/names.ts';
import { type MocoStandIn, startMoco } from '../support/moco/driver.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { MySQLCluster, PersistentVolumeClaim, Pod, StatefulSet } from '../support/moco/objects.ts';
import { type Nodes, startNodes } from '../support/nodes/driver.ts';
import { type AlwaysOnDelete, startAlwaysOnDelete } from './moco-always-on-delete.ts';
import {
  createCluster,
  type Installed,
  installed,
  list,
  patch,
  read,
  startDeadlineMilliseconds,
  statefulSet,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';

describe('currentRevision under OnDelete, on this Kubernetes', function () {
  this.timeout(testDeadlineMilliseconds);
  let environment: Installed;
  let moco: MocoStandIn;
  let nodes: Nodes;
  let onDelete: AlwaysOnDelete;

  before(async function startEverything() {
    this.timeout(startDeadlineMilliseconds);
    environment = await installed();
    const { client, world } = environment;
    onDelete = await startAlwaysOnDelete();
    await client.create(mutatingWebhookConfigurations, {}, onDelete.configuration, { priority: 'disrupt' });
    moco = await startMoco({ client, world });
    nodes = await startNodes({ client, world, databases: moco });
  });

  after(async () => {
    await nodes?.stop();
    await moco?.stop();
    await environment?.stop();
    await onDelete?.stop();
  });

  it('never changes by itself, and keeps a value patched into the status, which makes StatefulSetReady True', async () => {
    await rolledOut('promoted');
    const before = await statefulSet(environment.client, 'promoted');
    expect(before.status?.updatedReplicas).to.equal(3);
    expect(before.status?.currentRevision).not.to.equal(before.status?.updateRevision);
    expect(await condition('promoted', 'StatefulSetReady')).to.equal('False StatefulSetNotReady');
    await promote('promoted');
    // Whatever makes the StatefulSet controller write the status again, a restart of a pod for one, leaves it.
    await restart('promoted', 2);
    const after = await statefulSet(environment.client, 'promoted');
    expect(after.status?.currentRevision).to.equal(before.status?.updateRevision);
    await until('StatefulSetReady is True again', async () => (await ready('promoted')) === 'True');
  });

  it('prevents the growth of volumes if it lags: the template grows, the claims never do', async () => {
    await rolledOut('lost');
    await grow('lost');
    expect(await template('lost')).to.equal('2Gi');
    expect(await claims('lost')).to.deep.equal(['1Gi', '1Gi', '1Gi']);
    expect(await condition('lost', 'ReconcileSuccess')).to.equal('True ReconcileSuccess');
    // The re-created StatefulSet has no revision that lags, and still nobody asks for the growth again.
    await until('StatefulSetReady is True', async () => (await ready('lost')) === 'True');
    await patch(environment.client, 'MySQLCluster', 'lost', { metadata: { annotations: { look: 'again' } } });
    await patch(environment.client, 'MySQLCluster', 'lost', { spec: { maxDelaySeconds: 61 } });
    await until('MOCO has reconciled that too', () => isReconciled('lost'));
    expect(await claims('lost')).to.deep.equal(['1Gi', '1Gi', '1Gi']);
  });

  it('lets the claims grow once it was set, and the pods stay', async () => {
    await rolledOut('grown');
    await promote('grown');
    const before = await uids('grown');
    await grow('grown');
    expect(await template('grown')).to.equal('2Gi');
    expect(await claims('grown')).to.deep.equal(['2Gi', '2Gi', '2Gi']);
    expect(await uids('grown')).to.deep.equal(before);
  });

  /** A cluster whose pods have all been replaced by hand for a new template. */
  async function rolledOut(name: string): Promise<void> {
    await createCluster(environment.client, { name });
    await until(`${name} is healthy`, async () => (await condition(name, 'Healthy')) === 'True Healthy');
    const spec = { podTemplate: { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.9' }] } } };
    await patch(environment.client, 'MySQLCluster', name, { spec });
    await until('the new template is observed', async () => {
      const { status, metadata } = await statefulSet(environment.client, name);
      return status?.observedGeneration === metadata.generation && status?.updateRevision !== status?.currentRevision;
    });
    for (const ordinal of [2, 1, 0]) {
      await restart(name, ordinal);
    }
  }

  async function restart(name: string, ordinal: number): Promise<void> {
    const podName = `moco-${name}-${ordinal}`;
    const { metadata } = await read<Pod>(environment.client, 'Pod', podName);
    await environment.client.remove(
      writtenKinds.Pod,
      { namespace: 'default', name: podName },
      {},
      { priority: 'disrupt' },
    );
    await until(`${podName} is back and the cluster healthy`, async () => {
      const [pod] = await list<Pod>(environment.client, 'Pod', `statefulset.kubernetes.io/pod-name=${podName}`);
      const { status } = await statefulSet(environment.client, name);
      return (
        pod !== undefined &&
        pod.metadata.uid !== metadata.uid &&
        pod.metadata.labels?.[revisionHashLabel] === status?.updateRevision &&
        status?.availableReplicas === 3 &&
        (await condition(name, 'Healthy')) === 'True Healthy'
      );
    });
  }

  /**
   * A sync of the StatefulSet controller that is under way writes the status that it has computed before, old revision
   * and all; so where that has won, once more.
   */
  async function promote(name: string): Promise<void> {
    await until('the revision is promoted and StatefulSetReady is True', async () => {
      const { status } = await statefulSet(environment.client, name);
      if (status?.currentRevision !== status?.updateRevision) {
        const promoted = { status: { currentRevision: status?.updateRevision, currentReplicas: 3 } };
        await patch<StatefulSet>(environment.client, 'StatefulSet', `moco-${name}`, promoted, 'status');
      }
      return (await ready(name)) === 'True';
    });
  }

  async function grow(name: string): Promise<void> {
    const { metadata } = await statefulSet(environment.client, name);
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
    const volumeClaimTemplates = [{ metadata: { name: 'mysql-data' }, spec }];
    await patch(environment.client, 'MySQLCluster', name, { spec: { volumeClaimTemplates } });
    await until('the StatefulSet is another one and MOCO is through', async () => {
      const [set] = await list<StatefulSet>(environment.client, 'StatefulSet', `${clusterNameLabel}=${name}`);
      const another = set !== undefined && set.metadata.uid !== metadata.uid && set.status?.readyReplicas === 3;
      return another && (await isReconciled(name));
    });
  }

  async function isReconciled(name: string): Promise<boolean> {
    const { metadata, status } = await read<MySQLCluster>(environment.client, 'MySQLCluster', name);
    return status?.reconcileInfo?.generation === metadata.generation;
  }

  async function condition(name: string, type: string): Promise<string | undefined> {
    const { status } = await read<MySQLCluster>(environment.client, 'MySQLCluster', name);
    const found = status?.conditions?.find((candidate) => candidate.type === type);
    return found === undefined ? undefined : `${found.status} ${found.reason}`;
  }

  async function ready(name: string): Promise<string | undefined> {
    return (await condition(name, 'StatefulSetReady'))?.split(' ')[0];
  }

  async function template(name: string): Promise<string | undefined> {
    const { spec } = await statefulSet(environment.client, name);
    return spec.volumeClaimTemplates?.[0]?.spec.resources?.requests?.['storage'];
  }

  async function claims(name: string): Promise<(string | undefined)[]> {
    const selector = `${clusterNameLabel}=${name}`;
    const found = await list<PersistentVolumeClaim>(environment.client, 'PersistentVolumeClaim', selector);
    return found.map(({ spec }) => spec.resources?.requests?.['storage']);
  }

  async function uids(name: string): Promise<string[]> {
    const pods = await list<Pod>(environment.client, 'Pod', `${clusterNameLabel}=${name}`);
    return pods.map(({ metadata }) => metadata.uid).sort();
  }
});
