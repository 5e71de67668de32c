import { expect } from 'chai';
import { type FakeCluster, runWith, useFakeCluster } from '../fake-cluster.ts';
import { addSequence, production } from '../staged-objects.ts';

describe('completion', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    cluster.clusterScoped['/api/v1/namespaces'] = { items: [{ metadata: { name: 'default' } }] };
  });

  /** Words without their descriptions, and the directive. */
  async function words(...argv: readonly string[]): Promise<readonly string[]> {
    const { status, out, err } = await cluster.run('__complete', ...argv);
    expect([status, err]).to.deep.equal([0, '']);
    return out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '');
  }

  it('knows the commands, options, their values, and what is in the cluster', async () => {
    expect(await words('st')).to.deep.equal(['status', ':4']);
    expect(await words('status', '')).to.deep.equal(['test', ':4']);
    expect(await words('status', 'test', '')).to.deep.equal([':4']);
    expect(await words('plan', '-n', 'default', 'te')).to.deep.equal(['test', ':4']);
    expect(await words('plan', 'test', '')).to.deep.equal([':4']);
    expect(await words('pin', '')).to.deep.equal(['moco-test-0', 'moco-test-1', 'moco-test-2', ':4']);
    expect(await words('override', 'test', 'BackupR')).to.deep.equal(['BackupRunning', ':4']);
    expect(await words('override', 'test', 'Paus')).to.deep.equal([':4']);
    expect(await words('explain', 'Paus')).to.deep.equal(['Paused', ':4']);
    expect(await words('wait', '--time')).to.deep.equal(['--timeout', ':4']);
    expect(await words('status', '-o', '')).to.deep.equal(['wide', 'name', 'json', 'yaml', ':4']);
    expect(await words('status', '--namespace', 'de')).to.deep.equal(['default', ':4']);
    expect(await words('status', '--kubeconfig', '')).to.deep.equal([':0']);
    addSequence(cluster, 'production', production);
    expect(await words('sequence', 'pr')).to.deep.equal(['production', ':4']);
    expect(await words('plan', '--ass')).to.deep.equal(['--assume', '--assume-stale', ':4']);
    expect(await words('')).to.include.members(['status', 'plan', 'release']);
  });

  it('is called by the script that `completion` prints', async () => {
    const { status, out } = await runWith({}, ['completion']);
    expect(status).to.equal(0);
    expect(out).to.match(/^#!\/bin\/sh\n[^]*\nexec kubectl moco-rollout __complete "\$@"\n$/);
  });

  it('completes nothing if the API server does not answer', async () => {
    cluster.fault = () => ({ status: 500, headers: {}, body: (async function* nothing() {})() });
    expect(await words('status', '')).to.deep.equal([':4']);
    expect((await runWith({ KUBECONFIG: '/nowhere' }, ['__complete', 'status', ''])).out).to.equal(':4\n');
  });
});
