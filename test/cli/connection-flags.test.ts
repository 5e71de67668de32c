import { expect } from 'chai';
import { FakeCluster, useFakeCluster } from './fake-cluster.ts';

describe('the connection flags of kubectl', () => {
  let cluster: FakeCluster;
  useFakeCluster((one) => {
    cluster = one;
  });

  const headersOf = async (...flags: readonly string[]) => {
    const { status, err } = await cluster.run('status', ...flags);
    expect([status, err], flags.join(' ')).to.deep.equal([0, '']);
    return cluster.requests.at(-1)?.headers ?? {};
  };

  it('impersonate a user with several groups and a uid, before the command as well as after it', async () => {
    const flags = ['--as', 'jane', '--as-group=sre', '--as-group', 'dba', '--as-uid', '7'];
    expect(await headersOf(...flags)).to.include({
      'impersonate-user': 'jane',
      'impersonate-group': 'sre, dba',
      'impersonate-uid': '7',
    });
    const { status } = await cluster.run('--as', 'joe', 'status');
    expect([status, cluster.requests.at(-1)?.headers['impersonate-user']]).to.deep.equal([0, 'joe']);
  });

  it('send a token, skip the verification, and wait without a limit', async () => {
    const flags = ['--token', 'given', '--insecure-skip-tls-verify', '--request-timeout', '0'];
    expect(await headersOf(...flags)).to.include({ authorization: 'Bearer given' });
  });

  it('name a cluster, a user and a context of the kubeconfig, and say which there are', async () => {
    for (const flag of ['--cluster', '--user', '--context']) {
      const { status, err } = await cluster.run('status', flag, 'nowhere');
      expect(status, flag).to.equal(1);
      expect(err).to.match(/^error: expected a (cluster|user|context) nowhere in the kubeconfig/);
    }
  });

  it('are refused where a value is empty, and groups without a user', async () => {
    expect((await cluster.run('status', '--as', '')).err).to.contain('expected a value after --as, got an empty text');
    expect((await cluster.run('status', '--as-group', ' ')).err).to.contain('expected a value after --as-group');
    expect((await cluster.run('status', '--as-group', 'sre')).err).to.contain('expected a user to impersonate (--as)');
  });
});
