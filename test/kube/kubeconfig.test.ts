import { X509Certificate } from 'node:crypto';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import { ConfigurationError } from '../../src/kube/connection.ts';
import { type KubeconfigOverrides, noOverrides } from '../../src/kube/kubeconfig-overrides.ts';
import { proxyOf } from '../../src/kube/proxy-environment.ts';
import { type LoopbackCertificate, loopbackCertificate } from '../support/control-plane/certificates.ts';
import { AskedServer, ask, get, only, outcome } from './asked-server.ts';
import { FakeProxy } from './fake-proxy.ts';

const fixtures = new URL('../fixtures/kubeconfigs/', import.meta.url);
const unavailable = { status: 0, reason: 'CredentialsUnavailable' };

describe('a kubeconfig that kubectl can use', function suite() {
  let certificate: LoopbackCertificate;
  let server: AskedServer;

  before(async () => {
    certificate = await loopbackCertificate();
  });

  beforeEach(async () => {
    server = await AskedServer.showing(certificate);
  });

  afterEach(() => server.close());

  /** A file of the fixtures, beside what it names, about our server. */
  const fixture = async (name: string): Promise<string> =>
    server.write(name, (await readFile(new URL(name, fixtures), 'utf8')).replaceAll('SERVER', server.address));

  describe('with a plugin for credentials', () => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const credential = (status: object): string => JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
    const returning = (status: object): string => `echo '${credential(status)}'`;
    /** Keeps that it has run. */
    const plugin = (script: string): Promise<string> =>
      server.write('plugin', `#!/bin/sh\necho x >> ${server.directory}/runs\n${script}\n`);
    const runs = async (): Promise<number> =>
      (await readFile(join(server.directory, 'runs'), 'utf8')).split('\n').length - 1;
    const open = async () => server.connect({ kubeconfigPath: await fixture('exec.yaml') });

    it('runs it beside the file, and tells it about the cluster', async () => {
      const info = `printf '%s' "$KUBERNETES_EXEC_INFO" > ${server.directory}/info`;
      await plugin(`${info}\n${returning({ token: 'TOKEN' })} | sed "s/TOKEN/$1-$PROFILE/"`);
      const connection = await open();
      await ask(connection);
      expect(server.authorizations).to.deep.equal(['Bearer login-staging']);
      expect(JSON.parse(await readFile(join(server.directory, 'info'), 'utf8'))).to.deep.equal({
        apiVersion,
        kind: 'ExecCredential',
        spec: {
          interactive: false,
          cluster: {
            server: server.address,
            'certificate-authority-data': Buffer.from(certificate.certificate).toString('base64'),
            config: { garden: 'shop' },
          },
        },
      });
      expect(connection.namespace).to.equal('shop');
    });

    it('runs it once for many concurrent requests, and again after 401', async () => {
      await plugin(returning({ token: 'old' }));
      const connection = await open();
      await Promise.all([ask(connection), ask(connection), ask(connection)]);
      expect(server.authorizations).to.deep.equal(['Bearer old', 'Bearer old', 'Bearer old']);
      expect(await runs()).to.equal(1);
      server.answer = only('new');
      await plugin(returning({ token: 'new' }));
      expect((await connection.exchange(get('/'))).status).to.equal(200);
    });

    it('runs it again once its credential has expired', async () => {
      await plugin(returning({ token: 't', expirationTimestamp: '2026-01-02T03:04:05Z' }));
      const connection = await open();
      await ask(connection);
      await ask(connection);
      expect(await runs()).to.equal(2);
    });

    it('sends the client certificate that it returns', async () => {
      const status = { clientCertificateData: certificate.certificate, clientKeyData: certificate.key };
      await server.write('credential', credential(status));
      await plugin(`cat ${server.directory}/credential`);
      let shown = '';
      server.answer = (request, response) => {
        shown = (request.socket as TLSSocket).getPeerCertificate().serialNumber;
        response.end();
      };
      await ask(await open());
      expect(shown).to.equal(new X509Certificate(certificate.certificate).serialNumber);
      expect(server.authorizations).to.deep.equal([undefined]);
    });

    const refusals: Readonly<Record<string, readonly [script: string, error: RegExp]>> = {
      'that is not there': ['', /there is no command .*\/plugin$/],
      'that fails': ['echo not logged in >&2; exit 3', /plugin exited with 3: not logged in$/],
      'that writes no JSON': ['echo hello', /to write an ExecCredential of .*, got no JSON$/],
      'that returns no credential': [
        'echo \'{"kind":"Secret"}\'',
        /to write an ExecCredential of .*, got Secret of undefined$/,
      ],
      'that returns an empty one': [
        returning({ token: '' }),
        /to return a token, or a client certificate with its key; got neither$/,
      ],
    };
    for (const [which, [script, message]] of Object.entries(refusals)) {
      it(`says what is wrong with one ${which}, and sends nothing`, async () => {
        if (script !== '') await plugin(script);
        const error = await outcome(await open());
        expect(error).to.be.instanceOf(ApiError).and.to.include(unavailable);
        expect((error as ApiError).message).to.match(message);
        expect(server.requests).to.have.length(0);
      });
    }
  });

  // client-node 2.0.1 can't have a token renewed: it hands openid-client an address that this doesn't take.
  it('sends the token of OpenID Connect, and rejects with the reason if it has expired', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    // Its signature is nobody's business but the API server's.
    const idToken = (lifeSeconds: number): string =>
      `${part({ alg: 'RS256' })}.${part({ sub: 'me', exp: Math.floor(Date.now() / 1000) + lifeSeconds })}.c2lnbmF0dXJl`;
    const user = (token: string): object => {
      const issuer = { 'client-id': 'c', 'idp-issuer-url': 'https://127.0.0.1:1' };
      return { 'auth-provider': { name: 'oidc', config: { ...issuer, 'id-token': token, 'refresh-token': 'r' } } };
    };
    const valid = idToken(3600);
    await ask(await server.connectAs(user(valid)));
    expect(await outcome(await server.connectAs(user(idToken(-10)))))
      .to.be.instanceOf(ApiError)
      .and.to.include(unavailable);
    expect(server.authorizations).to.deep.equal([`Bearer ${valid}`]);
  });

  for (const name of ['gcp', 'azure', 'mine']) {
    it(`is refused with the auth-provider ${name}, as by kubectl since 1.26, and no command of it is run`, async () => {
      const config = { 'cmd-path': '/bin/false', 'cmd-args': 'x', expiry: '2020-01-01T00:00:00Z' };
      const problem = await server.connectAs({ 'auth-provider': { name, config } }).catch((error: unknown) => error);
      expect((problem as Error).name).to.equal('ConfigurationError');
      expect((problem as Error).message).to.contain(
        `got the auth-provider ${name}, which kubectl has not supported since 1.26`,
      );
      expect(server.requests).to.have.length(0);
    });
  }

  it('is merged of several files: the first entry of a name counts, and the first current context', async () => {
    await server.write('token', 'from-file\n');
    const kubeconfigPath = [await fixture('contexts.yaml'), await fixture('users.yaml')];
    const connection = server.connect({ kubeconfigPath });
    await ask(connection);
    expect(server.authorizations).to.deep.equal(['Bearer from-file']);
    expect([connection.server, connection.namespace]).to.deep.equal([server.address, 'shop']);
    const there = server.connect({ kubeconfigPath, overrides: { ...noOverrides, context: 'there' } });
    expect([there.server, there.namespace]).to.deep.equal([`${server.address}/d`, 'default']);
    expect(() => server.connect({ kubeconfigPath, overrides: { ...noOverrides, context: 'nowhere' } })).to.throw(
      ConfigurationError,
      /^expected a context nowhere in .*, got: here, there$/,
    );
  });

  it('has paths that are relative to the file of each entry', async () => {
    await mkdir(join(server.directory, 'other'));
    await copyFile(await fixture('users.yaml'), join(server.directory, 'other/users.yaml'));
    await server.write('other/token', 'beside-the-user');
    const users = join(server.directory, 'other/users.yaml');
    await ask(server.connect({ kubeconfigPath: [await fixture('contexts.yaml'), users] }));
    expect(server.authorizations).to.deep.equal(['Bearer beside-the-user']);
  });

  it('impersonates groups and more, not only a user', async () => {
    const extra = { 'as-user-extra': { 'x/Scope': ['a', 'b'] } };
    await ask(await server.connectAs({ as: 'jane', 'as-uid': '7', 'as-groups': ['dev', 'ops'], ...extra }));
    const { rawHeaders = [] } = server.requests[0] ?? {};
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

  /** The headers of the one request that a connection with these overrides sends. */
  const headersWith = async (own: object, overrides: Partial<KubeconfigOverrides>, cluster?: object) => {
    const kubeconfigPath = await server.kubeconfig(own, cluster);
    await ask(server.connect({ kubeconfigPath, overrides: { ...noOverrides, ...overrides } }));
    return server.requests.at(-1)?.headers ?? {};
  };

  it('accepts flags for a user, groups and a uid to impersonate, and keeps its own groups without them', async () => {
    const userEntry = { as: 'jane', 'as-groups': ['sre', 'dba'], 'as-uid': '7' };
    expect(await headersWith({ token: 't', as: 'joe' }, { userEntry })).to.include({
      authorization: 'Bearer t',
      'impersonate-user': 'jane',
      'impersonate-group': 'sre, dba',
      'impersonate-uid': '7',
    });
    expect(await headersWith({ as: 'joe', 'as-groups': ['dev'] }, { userEntry: { as: 'jane' } })).to.include({
      'impersonate-user': 'jane',
      'impersonate-group': 'dev',
    });
    const nobody = await headersWith({ token: 't' }, { userEntry: { 'as-groups': ['sre'] } }).catch(
      (error: Error) => error,
    );
    expect(nobody).to.be.instanceOf(ConfigurationError);
    expect(nobody instanceof Error && nobody.message).to.contain('expected a user to impersonate (--as)');
  });

  it('uses a token from a flag before every other way to get one', async () => {
    const userEntry = { token: 'given' };
    for (const own of [{ token: 't' }, { tokenFile: '/nowhere' }, { username: 'u', password: 'p' }]) {
      expect((await headersWith(own, { userEntry })).authorization).to.equal('Bearer given');
    }
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/nowhere', interactiveMode: 'Never' };
    expect((await headersWith({ exec }, { userEntry })).authorization).to.equal('Bearer given');
  });

  it('accepts a flag for the address, and uses it with its certificates but without its name for TLS', async () => {
    const elsewhere = { server: 'https://127.0.0.1:1', 'tls-server-name': 'elsewhere.example' };
    const clusterEntry = { server: server.address };
    expect(await headersWith({ token: 't' }, { clusterEntry }, elsewhere)).to.include({ authorization: 'Bearer t' });
    const bare = { server: server.address.replace('https://', '') };
    expect(await headersWith({ token: 't' }, { clusterEntry: bare }, elsewhere)).to.include({
      authorization: 'Bearer t',
    });
  });

  it('verifies nothing with the flag for that, whatever certificates it has', async () => {
    const other = {
      'certificate-authority-data': Buffer.from((await loopbackCertificate()).certificate).toString('base64'),
    };
    const insecure = { clusterEntry: { 'insecure-skip-tls-verify': true } };
    expect(await headersWith({ token: 't' }, insecure, other)).to.include({ authorization: 'Bearer t' });
    const clusterEntry = { server: server.address, 'insecure-skip-tls-verify': true };
    const userEntry = { token: 'alone' };
    await ask(server.connect({ kubeconfigPath: [], overrides: { clusterEntry, userEntry } }));
    expect(server.authorizations.at(-1), 'without a kubeconfig').to.equal('Bearer alone');
  });

  it('accepts flags for the names of a cluster and a user, and lists the existing ones', async () => {
    const kubeconfigPath = await fixture('names.yaml');
    const connect = (overrides: Partial<KubeconfigOverrides>) =>
      server.connect({ kubeconfigPath, overrides: { ...noOverrides, ...overrides } });
    await ask(connect({ cluster: 'there', user: 'other' }));
    expect(server.authorizations).to.deep.equal(['Bearer of-other']);
    expect(() => connect({ user: 'nobody' })).to.throw(
      ConfigurationError,
      'expected a user nobody in the kubeconfig, got: here, other',
    );
    expect(() => connect({ cluster: 'nowhere' })).to.throw(
      ConfigurationError,
      'expected a cluster nowhere in the kubeconfig, got: here, there',
    );
  });

  for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
    it(`goes through the proxy of ${variable}`, async () => {
      const proxy = await FakeProxy.start('http');
      // Only the proxy knows this name.
      proxy.names['api.example'] = '127.0.0.1';
      const cluster = { server: `https://api.example:${server.port}`, 'tls-server-name': 'loopback' };
      const kubeconfigPath = await server.kubeconfig({ token: 't' }, cluster);
      const environment = { [variable]: `127.0.0.1:${proxy.port}` };
      expect(await ask(server.connect({ kubeconfigPath, environment }), get('/there'))).to.equal('/there');
      expect(proxy.targets).to.deep.equal([`api.example:${server.port}`]);
      await server.disconnect();
      await proxy.close();
    });
  }
});

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
