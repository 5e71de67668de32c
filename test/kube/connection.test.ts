import { mkdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { textOf } from '../../src/base/text.ts';
import type { ExchangeRequest } from '../../src/base/world.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { ConfigurationError, type Connection, connect } from '../../src/kube/connection.ts';
import { type LoopbackCertificate, loopbackCertificate } from '../support/control-plane/certificates.ts';
import { AskedServer, ask, get, only, outcome, until } from './asked-server.ts';
import { FakeProxy } from './fake-proxy.ts';

describe('a connection', () => {
  let first: LoopbackCertificate;
  let second: LoopbackCertificate;
  let server: AskedServer;

  before(async () => {
    [first, second] = await Promise.all([loopbackCertificate(), loopbackCertificate()]);
  });

  beforeEach(async () => {
    server = await AskedServer.showing(first);
  });

  afterEach(() => server.close());

  const watch = get('/watch', { pool: 'watch' });
  const begin: AskedServer['answer'] = (_, response) => response.write('more to come');

  it('sends method, path, headers and body unchanged, and returns status, headers and body', async () => {
    server.answer = (request, response) => {
      response.writeHead(418, { 'Retry-After': '7', 'X-Twice': ['a', 'b'] });
      request.pipe(response);
    };
    const connection = await server.connectAs({});
    const sent = get('/a?b=c', { method: 'PUT', body: 'ü', headers: { 'content-type': 'x/y' } });
    const { status, headers, body } = await connection.exchange(sent);
    expect([status, await textOf(body)]).to.deep.equal([418, 'ü']);
    expect(headers).to.include({ 'retry-after': '7', 'x-twice': 'a, b' });
    expect(server.requests[0]).to.deep.include({ method: 'PUT', url: '/a?b=c', httpVersion: '1.1' });
    expect(server.requests[0]?.headers['content-type']).to.equal('x/y');
    expect(connection.server).to.equal(server.address);
  });

  it('reuses its connections for calls, and has separate ones for watches', async () => {
    let connected = 0;
    server.server.on('connection', () => (connected += 1));
    const connection = await server.connectAs({});
    for (let call = 0; call < 50; call += 1) await ask(connection);
    // The next call may come just before the connection of the last one is seen to be free.
    expect(connected).to.be.within(1, 2);
    const before = connected;
    await ask(connection, watch);
    expect(connected).to.equal(before + 1);
  });

  it('opens at most 16 connections for calls, and one for every watch', async () => {
    const waiting: ServerResponse[] = [];
    server.answer = (_, response) => waiting.push(response);
    const connection = await server.connectAs({});
    const calls = Array.from({ length: 20 }, () => ask(connection));
    const watches = Array.from({ length: 20 }, () => ask(connection, watch));
    await until(() => waiting.length === 36, '36 requests');
    expect(server.sockets.size).to.equal(36);
    server.answer = (_, response) => response.end();
    for (const response of waiting) response.end();
    await Promise.all([...calls, ...watches]);
  });

  it('closes a connection whose body is not read to its end', async () => {
    server.answer = begin;
    const connection = await server.connectAs({});
    for await (const _ of (await connection.exchange(watch)).body) break;
    await server.gone();
  });

  it('rejects at once when aborted, and closes the connection', async () => {
    server.answer = () => {};
    const connection = await server.connectAs({});
    const stop = new AbortController();
    const asking = outcome(connection, get('/', { signal: stop.signal }));
    await until(() => server.requests.length === 1, 'the request');
    stop.abort();
    expect(await asking).to.have.property('name', 'AbortError');
    await server.gone();
  });

  it('rejects at once when aborted before it is connected, and keeps no connection open once it is closed', async () => {
    // It accepts connections, and never begins TLS.
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on('error', () => {}).resume()));
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const connection = await server.connectAs({}, { server: `https://127.0.0.1:${port}` });
    const stop = new AbortController();
    const asking = outcome(connection, get('/', { signal: stop.signal }));
    await until(() => sockets.size === 1, 'a connection');
    stop.abort();
    expect(await asking).to.have.property('name', 'AbortError');
    await connection.close();
    await until(() => [...sockets].every(({ closed }) => closed), 'the end of the connection');
    silent.close();
  });

  describe('asked whether a request may still be sent', () => {
    const refusal = new Error('no longer');

    /** What may be sent until `refuse` is called. */
    const revocable = (): { readonly request: ExchangeRequest; readonly refuse: () => void } => {
      let may = true;
      const assertMaySend = (): void => {
        if (!may) throw refusal;
      };
      return { request: get('/late', { method: 'POST', body: 'x', assertMaySend }), refuse: () => (may = false) };
    };

    it('asks when the connection is open, and keeps it for the next request', async () => {
      const connection = await server.connectAs({});
      const { request, refuse } = revocable();
      const asked = outcome(connection, request);
      refuse();
      expect(await asked).to.equal(refusal);
      await until(() => server.sockets.size === 1, 'its connection');
      const [socket] = server.sockets;
      expect(await ask(connection, get('/next'))).to.equal('/next');
      expect([server.requests.map(({ url }) => url), [...server.sockets]]).to.deep.equal([['/next'], [socket]]);
    });

    it('asks when one that waits for a connection gets it', async () => {
      const waiting: ServerResponse[] = [];
      server.answer = (_, response) => waiting.push(response);
      const connection = await server.connectAs({});
      const calls = Array.from({ length: 16 }, () => ask(connection));
      await until(() => waiting.length === 16, '16 requests');
      const { request, refuse } = revocable();
      const asked = outcome(connection, request);
      refuse();
      waiting[0]?.end();
      expect(await asked).to.equal(refusal);
      for (const response of waiting.slice(1)) response.end();
      await Promise.all(calls);
      expect(server.requests).to.have.length(16);
    });

    it('asks again before it retries after 401', async () => {
      await server.write('token', 'old');
      const connection = await server.connectAs({ tokenFile: 'token' });
      await ask(connection);
      await server.write('token', 'new');
      const { request, refuse } = revocable();
      server.answer = (_, response) => {
        refuse();
        response.writeHead(401).end();
      };
      expect(await outcome(connection, request)).to.equal(refusal);
      expect(server.requests).to.have.length(2);
    });
  });

  it('aborts current requests when closed, and sends nothing any more', async () => {
    server.answer = begin;
    const connection = await server.connectAs({});
    const { body } = await connection.exchange(watch);
    await connection.close();
    expect(await textOf(body).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await outcome(connection)).to.be.instanceOf(Error);
    expect(server.requests).to.have.length(1);
  });

  it('survives a body that breaks before it is read', async () => {
    server.answer = (_, response) => response.write('half', () => response.destroy());
    const { body } = await (await server.connectAs({})).exchange(get('/'));
    await server.gone();
    expect(await textOf(body).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it("keeps the path of the server's address", async () => {
    const connection = await server.connectAs({}, { server: `${server.address}/k8s/c-1` });
    expect(await ask(connection, get('/api?x'))).to.equal('/k8s/c-1/api?x');
  });

  it('trusts only the CA of the kubeconfig', async () => {
    await server.write('ca.crt', second.certificate);
    expect(await outcome(await server.connectAs({})))
      .to.have.property('code')
      .that.contains('CERT');
    expect(server.requests).to.have.length(0);
  });

  it('uses a new CA as soon as its file changes', async () => {
    const connection = await server.connectAs({});
    await ask(connection);
    await server.present(second);
    await server.write('ca.crt', second.certificate);
    expect(await ask(connection, get('/again'))).to.equal('/again');
  });

  it('sends its client certificate, and a new one as soon as its files change, without ending a watch', async () => {
    await server.write('tls.crt', first.certificate);
    await server.write('tls.key', first.key);
    const connection = await server.connectAs({ 'client-certificate': 'tls.crt', 'client-key': 'tls.key' });
    const shown: string[] = [];
    const watches: ServerResponse[] = [];
    server.answer = (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().serialNumber);
      if (request.url !== watch.path) {
        response.end();
        return;
      }
      response.flushHeaders();
      watches.push(response);
    };
    await ask(connection);
    const watching = ask(connection, watch);
    await until(() => watches.length === 1, 'the watch');
    await server.write('tls.crt', second.certificate);
    await server.write('tls.key', second.key);
    await ask(connection);
    watches[0]?.end('still there');
    expect(await watching).to.equal('still there');
    expect([shown[0] === shown[1], shown[0] === shown[2]]).to.deep.equal([true, false]);
  });

  it('sends a token, a password, and of a token file and a token the former without its trailing newline', async () => {
    await server.write('token', 'from-file\n');
    await ask(await server.connectAs({ token: 't' }));
    await ask(await server.connectAs({ username: 'me', password: 'p' }));
    await ask(await server.connectAs({ token: 'inline', tokenFile: 'token' }));
    const basic = `Basic ${Buffer.from('me:p').toString('base64')}`;
    expect(server.authorizations).to.deep.equal(['Bearer t', basic, 'Bearer from-file']);
  });

  describe('answered 401', () => {
    it('reads its token again and retries the request with its body', async () => {
      await server.write('token', 'old');
      const connection = await server.connectAs({ tokenFile: 'token' });
      await ask(connection);
      await server.write('token', 'new');
      server.answer = (request, response) => {
        response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
        request.pipe(response);
      };
      const { status, body } = await connection.exchange(get('/', { method: 'POST', body: 'once more' }));
      expect([status, await textOf(body), server.requests.length]).to.deep.equal([200, 'once more', 3]);
    });

    it('returns the 401 with its body if nothing has changed', async () => {
      server.answer = only('new');
      const { status, body } = await (await server.connectAs({ token: 'old' })).exchange(get('/'));
      expect([status, await textOf(body), server.requests.length]).to.deep.equal([401, 'body', 1]);
    });

    it('retries once', async () => {
      server.answer = only('newer');
      await server.write('token', 'old');
      const connection = await server.connectAs({ tokenFile: 'token' });
      await ask(connection);
      await server.write('token', 'new');
      const { status, body } = await connection.exchange(get('/'));
      expect([status, await textOf(body), server.requests.length]).to.deep.equal([401, 'body', 3]);
    });

    it('returns the 401 if the kubeconfig was deleted, and uses a changed one', async () => {
      server.answer = only('new');
      const connection = await server.connectAs({ token: 'old' });
      await rm(join(server.directory, 'kubeconfig'));
      expect((await connection.exchange(get('/'))).status).to.equal(401);
      await server.kubeconfig({ token: 'new' });
      const three = await Promise.all([1, 2, 3].map(() => connection.exchange(get('/'))));
      expect(three.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    });
  });

  describe('through a proxy', () => {
    let proxy: FakeProxy;

    afterEach(async () => {
      await server.disconnect();
      await until(() => proxy.openConnections === 0, 'no connection left over');
      await proxy.close();
    });

    for (const scheme of ['http', 'socks5', 'socks5h'] as const) {
      const openThrough = async (user: object): Promise<Connection> => {
        proxy = await FakeProxy.start(scheme === 'http' ? 'http' : 'socks5');
        return server.connectAs(user, { 'proxy-url': `${scheme}://127.0.0.1:${proxy.port}` });
      };

      it(`with ${scheme} has end-to-end TLS for calls and watches`, async () => {
        const connection = await openThrough({ token: 't' });
        expect(await ask(connection, get('/one'))).to.equal('/one');
        expect(await ask(connection, get('/two'))).to.equal('/two');
        server.answer = (_, response) => response.write('a line\n');
        const { body } = await connection.exchange(watch);
        for await (const chunk of body) {
          expect(new TextDecoder().decode(chunk)).to.equal('a line\n');
          break;
        }
        expect(new Set(proxy.targets)).to.deep.equal(new Set([`127.0.0.1:${server.port}`]));
        expect(server.authorizations).to.deep.equal(['Bearer t', 'Bearer t', 'Bearer t']);
      });

      it(`of ${scheme} trusts no other certificate for it than without one`, async () => {
        await server.write('ca.crt', second.certificate);
        const error = await outcome(await openThrough({}));
        expect((error as Error).message).to.match(/certificate/i);
        expect(server.requests).to.have.length(0);
      });

      it(`of ${scheme} sends nothing where the proxy or its caller refuses`, async () => {
        const connection = await openThrough({});
        const refusal = new Error('no longer');
        const assertMaySend = (): void => {
          throw refusal;
        };
        expect(await outcome(connection, get('/', { assertMaySend }))).to.equal(refusal);
        await server.disconnect();
        await proxy.close();
        const refused = await openThrough({});
        proxy.refuses = true;
        expect(await outcome(refused)).to.be.instanceOf(Error);
        expect(server.requests).to.have.length(0);
      });
    }
  });

  describe('inside a pod', () => {
    const account = 'var/run/secrets/kubernetes.io/serviceaccount';
    const before = { ...process.env };

    beforeEach(async () => {
      await mkdir(join(server.directory, account), { recursive: true });
      await server.write(`${account}/token`, 'of-the-pod');
      await server.write(`${account}/ca.crt`, first.certificate);
      await server.write(`${account}/namespace`, 'here');
      Object.assign(process.env, { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: `${server.port}` });
    });

    afterEach(() => {
      for (const name of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'] as const) {
        delete process.env[name];
        if (before[name] !== undefined) process.env[name] = before[name];
      }
    });

    const openInPod = (): Connection => server.connect({ kubeconfigPath: null, podRoot: `${server.directory}/` });

    it('reads address, token and CA of its ServiceAccount, and rotated ones again', async () => {
      const connection = openInPod();
      expect(connection.server).to.equal(server.address);
      expect(await ask(connection, get('/api'))).to.equal('/api');
      await server.write(`${account}/token`, 'rotated');
      server.answer = only('rotated');
      expect((await connection.exchange(get('/'))).status).to.equal(200);
      expect(server.authorizations).to.deep.equal(['Bearer of-the-pod', 'Bearer of-the-pod', 'Bearer rotated']);
      await server.present(second);
      await server.write(`${account}/ca.crt`, second.certificate);
      expect((await connection.exchange(get('/'))).status).to.equal(200);
    });

    it('rejects as long as there is no token, and sends nothing', async () => {
      await rm(join(server.directory, account, 'token'));
      const connection = openInPod();
      const unavailable = { status: 0, reason: 'CredentialsUnavailable' };
      expect(await outcome(connection))
        .to.be.instanceOf(ApiError)
        .and.to.include(unavailable);
      await server.write(`${account}/token`, 'late');
      await ask(connection);
      expect(server.authorizations).to.deep.equal(['Bearer late']);
    });

    it('names the missing variables outside of one', () => {
      delete process.env['KUBERNETES_SERVICE_HOST'];
      expect(() => connect({ kubeconfigPath: null })).to.throw(ConfigurationError, 'or to run in a pod');
    });
  });

  describe('with an invalid configuration', () => {
    const whole = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'here',
    };
    const cluster = (more: object): object => ({ ...whole, clusters: [{ name: 'c', cluster: more }] });

    const invalid: Readonly<Record<string, readonly [content: string | object, expected: RegExp]>> = {
      'is no YAML': ['{{{', /^expected a kubeconfig in .*, got: /],
      'is empty': ['', /^expected a kubeconfig in .*, got: /],
      'is a list': ['[]', /^expected a current-context in the kubeconfig .*, got none$/],
      'has a cluster without a server': [
        cluster({}),
        /^expected a kubeconfig in .*, got: clusters\[0\].cluster.server is missing$/,
      ],
      'has no current context': [
        { ...whole, 'current-context': '' },
        /^expected a current-context in the kubeconfig .*, got none$/,
      ],
      'has another context': [
        { ...whole, 'current-context': 'there' },
        /^expected a context there in the kubeconfig .*, got: here$/,
      ],
      'has no such cluster': [{ ...whole, clusters: [] }, /^expected the cluster c of context here in .*, got none$/],
      'has no such user': [{ ...whole, users: [] }, /^expected the user u of context here in .*, got none$/],
      'has an address that is none': [
        cluster({ server: 'nowhere' }),
        /^expected an https address for the cluster c in .*, got nowhere$/,
      ],
      'has an address without TLS': [
        cluster({ server: 'http://h' }),
        /^expected an https address, or insecure-skip-tls-verify, .* got http:\/\/h$/,
      ],
      'has a proxy of another kind': [
        cluster({ server: 'https://h', 'proxy-url': 'socks4://p' }),
        /^expected an http, https or socks5 proxy-url for the cluster c, got socks4:\/\/p$/,
      ],
    };
    for (const [what, [content, expected]] of Object.entries(invalid)) {
      it(`reports what it expected of a kubeconfig that ${what}`, async () => {
        const path = await server.write('bad', typeof content === 'string' ? content : JSON.stringify(content));
        expect(() => connect({ kubeconfigPath: path })).to.throw(ConfigurationError, expected);
      });
    }

    it('names a kubeconfig that is missing or a directory', () => {
      const path = join(server.directory, 'none');
      const expected = `expected a kubeconfig at ${path}, got: no such file`;
      expect(() => connect({ kubeconfigPath: path })).to.throw(ConfigurationError, expected);
      expect(() => connect({ kubeconfigPath: server.directory })).to.throw(ConfigurationError, 'got: EISDIR');
    });
  });
});
