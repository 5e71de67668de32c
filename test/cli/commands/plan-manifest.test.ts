import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { clusterKind } from '../../../src/moco/names.ts';
import { addWholeCluster } from '../../controller/whole-clusters.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const apiVersion = 'moco.cybozu.com/v1beta2';
const template = (image: string) => ({ spec: { containers: [{ name: 'mysqld', image }] } });

describe('plan --filename', () => {
  let cluster: FakeCluster;
  let directory: string;

  useFakeCluster(
    async (fresh) => {
      cluster = fresh;
      cluster.server.change(clusterKind, 'test', {
        metadata: { annotations: { [lastApplied]: null } },
        spec: { podTemplate: template('mysql:8.4.8') },
      });
      await cluster.bench.start().work();
      directory = await mkdtemp(join(tmpdir(), 'plan-'));
    },
    { stale: false },
  );

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  async function manifest(...documents: readonly object[]): Promise<string> {
    const file = join(directory, 'manifests.yaml');
    await writeFile(file, documents.map((one) => JSON.stringify(one)).join('\n---\n'));
    return file;
  }

  const of = (name: string, spec: object) => ({
    apiVersion,
    kind: 'MySQLCluster',
    metadata: { name, namespace: 'default' },
    spec,
  });
  const patches = () => cluster.requests.filter(({ method }) => method === 'PATCH');

  it('shows the rollout of a change of the template, before it is applied', async () => {
    const file = await manifest(
      { apiVersion: 'v1', kind: 'Secret' },
      of('test', { replicas: 3, podTemplate: template('mysql:8.4.9') }),
    );
    const { status, out, err } = await cluster.run('plan', '-f', file);
    expect([status, err]).to.deep.equal([0, '']);
    expect(out)
      .to.match(/^test {3}OnDelete {3}3 stale {3}revision assumed\n/)
      .and.to.contain('would change spec.podTemplate.spec.containers[mysqld].image: mysql:8.4.8 -> mysql:8.4.9')
      .and.to.contain('evicting moco-test-2')
      .and.to.contain('1 switchover');
    expect(patches().every(({ path }) => path.includes('dryRun=All'))).to.equal(true);
  });

  it('says so if nothing would be restarted', async () => {
    const same = of('test', { replicas: 3, podTemplate: template('mysql:8.4.8') });
    expect((await cluster.run('plan', '-f', await manifest(same))).out)
      .to.contain('applying it would change nothing')
      .and.to.contain('nothing to do');
    const backup = of('test', { ...same.spec, backupPolicyName: 'daily' });
    expect((await cluster.run('plan', '-f', await manifest(backup))).out)
      .to.contain('would change spec.backupPolicyName: none -> daily')
      .and.to.contain('none of it changes the pod template')
      .and.to.contain('nothing to do');
  });

  it('removes fields that were applied before and are no longer in the manifest, as kubectl apply does', async () => {
    const spec = { replicas: 3, podTemplate: template('mysql:8.4.8') };
    const before = of('test', { ...spec, startupWaitSeconds: 7 });
    cluster.server.change(clusterKind, 'test', {
      metadata: { annotations: { [lastApplied]: JSON.stringify(before) } },
      spec: { startupWaitSeconds: 7, maxDelaySeconds: 5 },
    });
    const { out } = await cluster.run('plan', '-f', await manifest(of('test', spec)));
    expect(out).to.contain('would change spec.startupWaitSeconds: 7 -> none').and.not.to.contain('maxDelaySeconds');
  });

  it('uses the field manager that applies the cluster now', async () => {
    const managedFields = [{ manager: 'argocd-controller', operation: 'Apply', fieldsV1: { 'f:spec': {} } }];
    cluster.server.change(clusterKind, 'test', { metadata: { managedFields } });
    await cluster.run('plan', '-f', await manifest(of('test', { podTemplate: template('mysql:8.4.9') })));
    expect(patches().map(({ path, headers }) => [path.split('?')[1], headers['content-type']])).to.deep.equal([
      ['dryRun=All&force=true&fieldManager=argocd-controller', 'application/apply-patch+yaml'],
    ]);
  });

  it('simulates the fleet with all manifests, and says what is left out', async () => {
    addWholeCluster(cluster.server, { name: 'other' });
    const file = await manifest(
      { kind: 'List', items: [of('other', { replicas: 3, podTemplate: template('mysql:8.4.9') })] },
      of('new', {}),
      of('test', { backupPolicyName: 'daily' }),
    );
    const { out, err } = await cluster.run('plan', '--fleet', '-f', file, '-o', 'wide');
    expect(err).to.equal('note: default/new does not exist yet, so nothing would be rolled out\n');
    expect(out)
      .to.contain('1 of 1 stale clusters end')
      .and.to.match(/default +other/)
      .and.to.contain('of 2 MySQLClusters in the manifests, MOCO would change the pod template of 1');
  });

  it('shows a change that is only assumed for a single cluster, too', async () => {
    const { out } = await cluster.run('plan', 'test', '--assume-stale');
    expect(out).to.contain('3 stale').and.to.contain('evicting moco-test-2');
  });
});
