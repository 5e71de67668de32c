import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigurationError, type Connection, connect } from '../../src/kube/connection.ts';
import type { KubeconfigChoice } from '../../src/kube/kubeconfig.ts';
import { proxyOf } from '../../src/kube/proxy-environment.ts';
import { textOf } from '../../src/kube/text.ts';
import { type LoopbackCertificate, loopbackCertificate } from '../support/control-plane/certificates.ts';
import { FakeProxy } from './fake-proxy.ts';
import { patienceMilliseconds } from './patience.ts';

const fixtures = new URL('../fixtures/kubeconfigs/', import.meta.url);
const request = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal, pool: 'call' } as const;

describe('a kubeconfig that kubectl can use', function suite() {
  this.timeout(patienceMilliseconds);

  let certificate: LoopbackCertificate;
  let server: Server;
  let address = '';
  let directory = '';
  let requests: IncomingMessage[] = [];
  let connection: Connection | null = null;

  before(async () => {
    certificate = await loopbackCertificate();
    server = createServer({ cert: certificate.certificate, key: certificate.key });
    server.on('request', (came: IncomingMessage, response) => {
      requests.push(came);
      response.end('there');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    requests = [];
    await write('ca.crt', certificate.certificate);
  });

  afterEach(async () => {
    await connection?.close();
    server.closeAllConnections();
    await rm(directory, { recursive: true });
  });

  async function write(name: string, text: string): Promise<string> {
    await writeFile(join(directory, name), text, { mode: 0o755 });
    return join(directory, name);
  }

  /** A file of the fixtures, beside what it names, about our server. */
  const fixture = async (name: string): Promise<string> =>
    write(name, (await readFile(new URL(name, fixtures), 'utf8')).replaceAll('SERVER', address));

  async function ask(choice: KubeconfigChoice): Promise<string> {
    connection = connect(choice);
    return textOf((await connection.exchange(request)).body);
  }

  const credential = (token: string, expirationTimestamp = ''): string =>
    JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token, ...(expirationTimestamp !== '' && { expirationTimestamp }) },
    });

  it('runs a plugin beside the file, and tells it about the cluster', async () => {
    const script = `#!/bin/sh\nprintf '%s' "$KUBERNETES_EXEC_INFO" > ${directory}/info\necho '${credential('TOKEN')}' | sed "s/TOKEN/$1-$PROFILE/"\n`;
    await write('plugin', script);
    await ask({ kubeconfigPath: await fixture('exec.yaml') });
    expect(requests[0]?.headers.authorization).to.equal('Bearer login-staging');
    expect(JSON.parse(await readFile(join(directory, 'info'), 'utf8'))).to.deep.equal({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: {
          server: address,
          'certificate-authority-data': Buffer.from(certificate.certificate).toString('base64'),
          config: { garden: 'shop' },
        },
      },
    });
    expect(connection?.namespace).to.equal('shop');
  });

  it('runs the plugin again once its credential has expired', async () => {
    await write(
      'plugin',
      `#!/bin/sh\necho x >> ${directory}/runs\necho '${credential('t', '2026-01-02T03:04:05Z')}'\n`,
    );
    await ask({ kubeconfigPath: await fixture('exec.yaml') });
    await textOf((await connection?.exchange(request))?.body ?? neverRead());
    expect(await readFile(join(directory, 'runs'), 'utf8')).to.equal('x\nx\n');
  });

  const refusals: Readonly<Record<string, readonly [script: string, error: RegExp]>> = {
    'that is not there': ['', /there is no command .*\/plugin$/],
    'that fails': ['echo not logged in >&2; exit 3', /plugin exited with 3: not logged in$/],
    'that returns no credential': [
      'echo \'{"kind":"Secret"}\'',
      /to write an ExecCredential of .*, got Secret of undefined$/,
    ],
    'that returns an empty one': [
      `echo '${credential('')}'`,
      /to return a token, or a client certificate with its key; got neither$/,
    ],
  };
  for (const [which, [script, error]] of Object.entries(refusals)) {
    it(`says what is wrong with a plugin ${which}`, async () => {
      if (script !== '') await write('plugin', `#!/bin/sh\n${script}\n`);
      const rejected = await ask({ kubeconfigPath: await fixture('exec.yaml') }).catch(
        (thrown: Error) => thrown.message,
      );
      expect(rejected).to.match(error);
      expect(requests).to.have.length(0);
    });
  }

  it('is merged of several files: the first entry of a name counts, and the first current context', async () => {
    await write('token', 'from-file\n');
    const kubeconfigPath = [await fixture('contexts.yaml'), await fixture('users.yaml')];
    expect(await ask({ kubeconfigPath })).to.equal('there');
    expect(requests[0]?.headers.authorization).to.equal('Bearer from-file');
    expect([connection?.server, connection?.namespace]).to.deep.equal([address, 'shop']);
    await connection?.close();
    connection = connect({ kubeconfigPath, context: 'there' });
    expect([connection.server, connection.namespace]).to.deep.equal([`${address}/d`, 'default']);
    expect(() => connect({ kubeconfigPath, context: 'nowhere' })).to.throw(ConfigurationError, /got: here, there$/);
  });

  it('has paths that are relative to the file of each entry', async () => {
    await mkdir(join(directory, 'other'));
    await copyFile(await fixture('users.yaml'), join(directory, 'other/users.yaml'));
    await write('other/token', 'beside-the-user');
    await ask({ kubeconfigPath: [await fixture('contexts.yaml'), join(directory, 'other/users.yaml')] });
    expect(requests[0]?.headers.authorization).to.equal('Bearer beside-the-user');
  });

  it('impersonates groups and more, not only a user', async () => {
    const user = { as: 'jane', 'as-uid': '7', 'as-groups': ['dev', 'ops'], 'as-user-extra': { 'x/Scope': ['a', 'b'] } };
    const clusters = [{ name: 'c', cluster: { server: address, 'certificate-authority': 'ca.crt' } }];
    const contexts = [{ name: 'here', context: { cluster: 'c', user: 'u' } }];
    const content = { clusters, users: [{ name: 'u', user }], contexts, 'current-context': 'here' };
    await ask({ kubeconfigPath: await write('config', JSON.stringify(content)) });
    const { rawHeaders = [] } = requests[0] ?? {};
    const sent = rawHeaders.flatMap((name, index) =>
      /^impersonate/i.test(name) ? [[name.toLowerCase(), rawHeaders[index + 1]]] : [],
    );
    expect(sent).to.have.deep.members([
      ['impersonate-user', 'jane'],
      ['impersonate-uid', '7'],
      ['impersonate-group', 'dev'],
      ['impersonate-group', 'ops'],
      ['impersonate-extra-x%2Fscope'.toLowerCase(), 'a'],
      ['impersonate-extra-x%2Fscope'.toLowerCase(), 'b'],
    ]);
  });

  for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
    it(`goes through the proxy of ${variable}`, async () => {
      const proxy = await FakeProxy.start('http');
      // Only the proxy knows this name.
      proxy.names['api.example'] = '127.0.0.1';
      const { port } = server.address() as AddressInfo;
      await write('token', 't');
      const text = await readFile(await fixture('users.yaml'), 'utf8');
      const file = await write(
        'users.yaml',
        text.replaceAll(address, `https://api.example:${port}`).replace('/d,', '/d, tls-server-name: moco-webhook,'),
      );
      const context = await fixture('contexts.yaml');
      const environment = { [variable]: `127.0.0.1:${proxy.port}` };
      expect(await ask({ kubeconfigPath: [context, file], context: 'there', environment })).to.equal('there');
      expect(proxy.targets).to.deep.equal([`api.example:${port}`]);
      await connection?.close();
      await proxy.close();
    });
  }
});

function neverRead(): never {
  throw new Error('Expected a response, there was none');
}

describe('the proxy of the environment', () => {
  const proxy = 'http://proxy:3128';
  const cases: readonly (readonly [address: string, excluded: string, expected: string | null])[] = [
    ['https://api.example', '', proxy],
    ['https://localhost:6443', '', null],
    ['https://127.3.2.1', '', null],
    ['https://[::1]:6443', '', null],
    ['http://api.example', '', null],
    ['https://api.example', '*', null],
    ['https://api.example', 'example', null],
    ['https://example', 'example', null],
    ['https://example', '.example', proxy],
    ['https://api.example', '*.example', null],
    ['https://myexample', 'example', proxy],
    ['https://api.example:6443', 'x, api.example:6443', null],
    ['https://api.example', 'api.example:6443', proxy],
    ['https://api.example', 'api.example:443', null],
    ['https://10.1.2.3:6443', '10.0.0.0/8', null],
    ['https://11.1.2.3:6443', '10.0.0.0/8', proxy],
    ['https://[2001:db8::1]', '2001:db8::/32', null],
    ['https://[2001:db8::1]:6443', '[2001:db8::1]:6443', null],
    ['https://[2001:db8::1]', '2001:db8::1', null],
    ['https://10.1.2.3', '10.1.2.3', null],
  ];
  for (const [address, excluded, expected] of cases) {
    it(`is ${expected} for ${address} with NO_PROXY=${excluded}`, () => {
      expect(proxyOf(address, { HTTPS_PROXY: proxy, NO_PROXY: excluded })).to.equal(expected);
    });
  }

  it('is an http proxy without a scheme, and upper case counts first', () => {
    expect(proxyOf('https://a.example', { https_proxy: 'lower:1', HTTPS_PROXY: 'upper:2' })).to.equal('http://upper:2');
    expect(proxyOf('https://a.example', { HTTPS_PROXY: 'socks5://s:1080' })).to.equal('socks5://s:1080');
    expect(proxyOf('http://a.example', { http_proxy: 'lower:1' })).to.equal('http://lower:1');
  });
});
