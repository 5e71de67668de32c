import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import { ConfigurationError, type Connection, connect } from '../../src/kube/connection.ts';
import { textOf } from '../../src/kube/text.ts';
import type { ExchangeRequest } from '../../src/kube/world.ts';
import { type LoopbackCertificate, loopbackCertificate } from '../support/control-plane/certificates.ts';
import { FakeProxy } from './fake-proxy.ts';
import { patienceMilliseconds } from './patience.ts';

const never = new AbortController().signal;

const get = (path: string, more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  method: 'GET',
  path,
  headers: {},
  signal: never,
  pool: 'call',
  ...more,
});

describe('a connection', function suite() {
  this.timeout(patienceMilliseconds);

  let first: LoopbackCertificate;
  let second: LoopbackCertificate;
  let directory: string;
  let server: Server;
  let address: string;
  let requests: IncomingMessage[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const sockets = new Set<Socket>();
  const connections: Connection[] = [];

  before(async () => {
    [first, second] = await Promise.all([loopbackCertificate(), loopbackCertificate()]);
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'connection-'));
    requests = [];
    answer = (request, response) => response.end(request.url);
    server = createServer({
      cert: first.certificate,
      key: first.key,
      ca: [first.certificate, second.certificate],
      requestCert: true,
      rejectUnauthorized: false,
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      requests.push(request);
      answer(request, response);
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await write('ca.crt', first.certificate);
  });

  afterEach(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    connections.length = 0;
    await gone();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    await rm(directory, { recursive: true });
  });

  const gone = (): Promise<void> => until(() => sockets.size === 0, 'no connection left over');

  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o755 });
    return path;
  };

  const kubeconfig = (user: object, cluster: object = {}): Promise<string> =>
    write(
      'kubeconfig',
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: address, 'certificate-authority': 'ca.crt', ...cluster } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'here',
      }),
    );

  const open = async (user: object, cluster?: object): Promise<Connection> => {
    const connection = connect({ kubeconfigPath: await kubeconfig(user, cluster) });
    connections.push(connection);
    return connection;
  };

  const ask = async (connection: Connection, request = get('/')): Promise<string> =>
    textOf((await connection.exchange(request)).body);

  it('sends method, path, headers and body unchanged, and returns status, headers and body', async () => {
    answer = (request, response) => {
      response.writeHead(418, { 'Retry-After': '7', 'X-Twice': ['a', 'b'] });
      request.pipe(response);
    };
    const connection = await open({});
    const { status, headers, body } = await connection.exchange(
      get('/a?b=c', { method: 'PUT', body: 'ü', headers: { 'content-type': 'x/y' } }),
    );
    expect([status, headers['retry-after'], headers['x-twice'], await textOf(body)]).to.deep.equal([
      418,
      '7',
      'a, b',
      'ü',
    ]);
    expect(requests[0]).to.deep.include({ method: 'PUT', url: '/a?b=c', httpVersion: '1.1' });
    expect(requests[0]?.headers['content-type']).to.equal('x/y');
    expect(connection.server).to.equal(address);
  });

  it('reuses its connections for calls, and has separate ones for watches', async () => {
    let connected = 0;
    server.on('connection', () => (connected += 1));
    const connection = await open({});
    for (let call = 0; call < 50; call += 1) await ask(connection);
    // The next call may come just before the connection of the last one is seen to be free.
    expect(connected).to.be.within(1, 2);
    const before = connected;
    await ask(connection, get('/', { pool: 'watch' }));
    expect(connected).to.equal(before + 1);
  });

  it('opens at most 16 connections for calls, and one for every watch', async () => {
    const waiting: ServerResponse[] = [];
    answer = (_, response) => waiting.push(response);
    const connection = await open({});
    const calls = Array.from({ length: 20 }, () => ask(connection));
    const watches = Array.from({ length: 20 }, () => ask(connection, get('/', { pool: 'watch' })));
    await until(() => waiting.length === 36, '36 requests');
    expect(sockets.size).to.equal(36);
    answer = (_, response) => response.end();
    for (const response of waiting) response.end();
    await Promise.all([...calls, ...watches]);
  });

  it('closes a connection whose body is not read to its end', async () => {
    answer = (_, response) => response.write('more to come');
    const connection = await open({});
    for await (const _ of (await connection.exchange(get('/', { pool: 'watch' }))).body) break;
    await gone();
  });

  it('rejects at once when aborted, and closes the connection', async () => {
    answer = () => {};
    const connection = await open({});
    const stop = new AbortController();
    const asking = ask(connection, get('/', { signal: stop.signal })).catch((error: unknown) => error);
    await until(() => requests.length === 1, 'the request');
    stop.abort();
    expect(await asking).to.have.property('name', 'AbortError');
    await gone();
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
    const outcome = (connection: Connection, request: ExchangeRequest): Promise<unknown> =>
      ask(connection, request).catch((error: unknown) => error);

    it('asks when the connection is there, and keeps that for the next one', async () => {
      const connection = await open({});
      const { request, refuse } = revocable();
      const asked = outcome(connection, request);
      refuse();
      expect(await asked).to.equal(refusal);
      await until(() => sockets.size === 1, 'its connection');
      const [socket] = sockets;
      expect(await ask(connection, get('/next'))).to.equal('/next');
      expect([requests.map(({ url }) => url), [...sockets]]).to.deep.equal([['/next'], [socket]]);
    });

    it('asks when one that waits for a connection gets it', async () => {
      const waiting: ServerResponse[] = [];
      answer = (_, response) => waiting.push(response);
      const connection = await open({});
      const calls = Array.from({ length: 16 }, () => ask(connection));
      await until(() => waiting.length === 16, '16 requests');
      const { request, refuse } = revocable();
      const asked = outcome(connection, request);
      refuse();
      waiting[0]?.end();
      expect(await asked).to.equal(refusal);
      for (const response of waiting.slice(1)) response.end();
      await Promise.all(calls);
      expect(requests).to.have.length(16);
    });

    it('requests new credentials before it retries after 401', async () => {
      await write('token', 'old');
      const connection = await open({ tokenFile: 'token' });
      await ask(connection);
      await write('token', 'new');
      const { request, refuse } = revocable();
      answer = (_, response) => {
        refuse();
        response.writeHead(401).end();
      };
      expect(await outcome(connection, request)).to.equal(refusal);
      expect(requests).to.have.length(2);
    });

    for (const kind of ['http', 'socks5'] as const) {
      it(`asks through a ${kind} proxy too`, async () => {
        const proxy = await FakeProxy.start(kind);
        const connection = await open({}, { 'proxy-url': `${kind}://127.0.0.1:${proxy.port}` });
        const { request, refuse } = revocable();
        const asked = outcome(connection, request);
        refuse();
        expect(await asked).to.equal(refusal);
        expect(requests).to.have.length(0);
        await connection.close();
        await proxy.close();
      });
    }
  });

  it('aborts current requests when closed, and sends nothing any more', async () => {
    answer = (_, response) => response.write('more to come');
    const connection = await open({});
    const { body } = await connection.exchange(get('/', { pool: 'watch' }));
    await connection.close();
    expect(await textOf(body).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await ask(connection).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(requests).to.have.length(1);
  });

  it('survives a body that breaks before anybody reads it', async () => {
    answer = (_, response) => response.write('half', () => response.destroy());
    const { body } = await (await open({})).exchange(get('/'));
    await gone();
    expect(await textOf(body).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it("keeps the path of the server's address", async () => {
    expect(await ask(await open({}, { server: `${address}/k8s/c-1` }), get('/api?x'))).to.equal('/k8s/c-1/api?x');
  });

  it('trusts only the CA of the kubeconfig', async () => {
    await write('ca.crt', second.certificate);
    const error = await ask(await open({})).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code').that.contains('CERT');
    expect(requests).to.have.length(0);
  });

  it('uses a new CA as soon as its file changes', async () => {
    const connection = await open({});
    await ask(connection);
    server.setSecureContext({ cert: second.certificate, key: second.key });
    for (const socket of sockets) socket.destroy();
    await gone();
    await write('ca.crt', second.certificate);
    expect(await ask(connection, get('/again'))).to.equal('/again');
  });

  it('sends its client certificate, and a new one as soon as its files change, without ending a watch', async () => {
    await write('tls.crt', first.certificate);
    await write('tls.key', first.key);
    const connection = await open({ 'client-certificate': 'tls.crt', 'client-key': 'tls.key' });
    const shown: string[] = [];
    const watches: ServerResponse[] = [];
    answer = (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().serialNumber);
      if (request.url !== '/watch') {
        response.end();
        return;
      }
      response.flushHeaders();
      watches.push(response);
    };
    await ask(connection);
    const watching = connection.exchange(get('/watch', { pool: 'watch' })).then(({ body }) => textOf(body));
    await until(() => watches.length === 1, 'the watch');
    await write('tls.crt', second.certificate);
    await write('tls.key', second.key);
    await ask(connection);
    watches[0]?.end('still there');
    expect(await watching).to.equal('still there');
    expect([shown[0] === shown[1], shown[0] === shown[2]]).to.deep.equal([true, false]);
  });

  it('sends token, password and impersonation headers', async () => {
    await ask(await open({ token: 't' }));
    await ask(await open({ username: 'me', password: 'p' }));
    await ask(await open({ token: 't', as: 'other' }));
    expect(requests.map(({ headers }) => [headers.authorization, headers['impersonate-user']])).to.deep.equal([
      ['Bearer t', undefined],
      [`Basic ${Buffer.from('me:p').toString('base64')}`, undefined],
      ['Bearer t', 'other'],
    ]);
  });

  it('prefers a token file to a token, without its trailing newline', async () => {
    await write('token', 'from-file\n');
    await ask(await open({ token: 'inline', tokenFile: 'token' }));
    expect(requests[0]?.headers.authorization).to.equal('Bearer from-file');
  });

  describe('answered 401', () => {
    const only = (token: string) => (request: IncomingMessage, response: ServerResponse) => {
      response.statusCode = request.headers.authorization === `Bearer ${token}` ? 200 : 401;
      response.end('body');
    };

    it('reads its token again and retries the request with its body', async () => {
      await write('token', 'old');
      const connection = await open({ tokenFile: 'token' });
      await ask(connection);
      await write('token', 'new');
      answer = (request, response) => {
        response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
        request.pipe(response);
      };
      const { status, body } = await connection.exchange(get('/', { method: 'POST', body: 'once more' }));
      expect([status, await textOf(body), requests.length]).to.deep.equal([200, 'once more', 3]);
    });

    it('returns the 401 with its body if nothing has changed', async () => {
      answer = only('new');
      const { status, body } = await (await open({ token: 'old' })).exchange(get('/'));
      expect([status, await textOf(body), requests.length]).to.deep.equal([401, 'body', 1]);
    });

    it('retries once', async () => {
      answer = only('newer');
      await write('token', 'old');
      const connection = await open({ tokenFile: 'token' });
      await ask(connection);
      await write('token', 'new');
      const { status, body } = await connection.exchange(get('/'));
      expect([status, await textOf(body), requests.length]).to.deep.equal([401, 'body', 3]);
    });

    it('returns the 401 if the kubeconfig was deleted', async () => {
      answer = only('new');
      const connection = await open({ token: 'old' });
      await rm(join(directory, 'kubeconfig'));
      expect((await connection.exchange(get('/'))).status).to.equal(401);
    });

    it('uses the changed kubeconfig', async () => {
      answer = only('new');
      const connection = await open({ token: 'old' });
      await kubeconfig({ token: 'new' });
      expect(await Promise.all([ask(connection), ask(connection), ask(connection)])).to.deep.equal([
        'body',
        'body',
        'body',
      ]);
    });
  });

  describe('with an exec plugin', () => {
    const plugin = (body: string): Promise<string> =>
      write('plugin', `#!/bin/sh\necho x >> ${directory}/runs\n${body}\n`);
    const credential = (token: string): string =>
      `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"${token}"}}'`;
    const user = (command: string): object => ({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command } });
    const runs = async (): Promise<number> => {
      const { readFile } = await import('node:fs/promises');
      return (await readFile(join(directory, 'runs'), 'utf8')).split('\n').length - 1;
    };

    it('runs it once for many concurrent requests', async () => {
      const connection = await open(user(await plugin(credential('t'))));
      await Promise.all([ask(connection), ask(connection), ask(connection)]);
      expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer t', 'Bearer t', 'Bearer t']);
      expect(await runs()).to.equal(1);
    });

    it('runs it again after 401', async () => {
      answer = (request, response) => {
        response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
        response.end();
      };
      const connection = await open(user(await plugin(credential('old'))));
      await ask(connection);
      await plugin(credential('new'));
      expect((await connection.exchange(get('/'))).status).to.equal(200);
    });

    it('sends the client certificate that it returns', async () => {
      const status = { clientCertificateData: first.certificate, clientKeyData: first.key };
      const body = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
      await write('credential', JSON.stringify(body));
      let shown = '';
      answer = (request, response) => {
        shown = (request.socket as TLSSocket).getPeerCertificate().serialNumber;
        response.end();
      };
      await ask(await open(user(await plugin(`cat ${directory}/credential`))));
      expect(shown).to.equal(new X509Certificate(first.certificate).serialNumber);
      expect(requests[0]?.headers.authorization).to.equal(undefined);
    });

    it('rejects if it returns no credential or does not exist', async () => {
      const connection = await open(user(await plugin('echo hello')));
      const error = await ask(connection).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 0, reason: 'CredentialsUnavailable' });
      const absent = await ask(await open(user(join(directory, 'none')))).catch((thrown: unknown) => thrown);
      expect(absent).to.be.instanceOf(ApiError).and.to.include({ status: 0, reason: 'CredentialsUnavailable' });
      expect(requests).to.have.length(0);
    });

    it('rejects with its error message, and sends nothing', async () => {
      const connection = await open(user(await plugin('echo no such profile >&2; exit 1')));
      const error = await ask(connection).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 0, reason: 'CredentialsUnavailable' });
      expect((error as Error).message).to.contain('no such profile');
      expect(requests).to.have.length(0);
    });
  });

  describe('through a proxy', () => {
    let proxy: FakeProxy;

    afterEach(async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      await until(() => proxy.openConnections === 0, 'no connection left over');
      await proxy.close();
    });

    for (const scheme of ['http', 'socks5', 'socks5h'] as const) {
      it(`with ${scheme} has end-to-end TLS for calls and watches`, async () => {
        proxy = await FakeProxy.start(scheme === 'http' ? 'http' : 'socks5');
        const connection = await open({ token: 't' }, { 'proxy-url': `${scheme}://127.0.0.1:${proxy.port}` });
        expect(await ask(connection, get('/one'))).to.equal('/one');
        expect(await ask(connection, get('/two'))).to.equal('/two');
        answer = (_, response) => response.write('a line\n');
        const { body } = await connection.exchange(get('/watch', { pool: 'watch' }));
        for await (const chunk of body) {
          expect(new TextDecoder().decode(chunk)).to.equal('a line\n');
          break;
        }
        expect(new Set(proxy.targets)).to.deep.equal(new Set([address.replace('https://', '')]));
        expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal([
          'Bearer t',
          'Bearer t',
          'Bearer t',
        ]);
      });

      it(`of ${scheme} trusts no other certificate for it than without one`, async () => {
        proxy = await FakeProxy.start(scheme === 'http' ? 'http' : 'socks5');
        await write('ca.crt', second.certificate);
        const connection = await open({}, { 'proxy-url': `${scheme}://127.0.0.1:${proxy.port}` });
        const error = await ask(connection).catch((thrown: unknown) => thrown);
        expect((error as Error).message).to.match(/certificate/i);
        expect(requests).to.have.length(0);
      });

      it(`of ${scheme} that refuses rejects, and sends nothing`, async () => {
        proxy = await FakeProxy.start(scheme === 'http' ? 'http' : 'socks5');
        proxy.refuses = true;
        const connection = await open({}, { 'proxy-url': `${scheme}://127.0.0.1:${proxy.port}` });
        expect(await ask(connection).catch((thrown: unknown) => thrown)).to.be.instanceOf(Error);
        expect(requests).to.have.length(0);
      });
    }
  });

  describe('inside a pod', () => {
    const account = 'var/run/secrets/kubernetes.io/serviceaccount';
    const before = { ...process.env };

    beforeEach(async () => {
      await mkdir(join(directory, account), { recursive: true });
      await write(`${account}/token`, 'of-the-pod');
      await write(`${account}/ca.crt`, first.certificate);
      await write(`${account}/namespace`, 'here');
      const { hostname, port } = new URL(address);
      Object.assign(process.env, { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port });
    });

    afterEach(() => {
      for (const name of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'] as const) {
        delete process.env[name];
        if (before[name] !== undefined) process.env[name] = before[name];
      }
    });

    const openInPod = (): Connection => {
      const connection = connect({ kubeconfigPath: null, podRoot: `${directory}/` });
      connections.push(connection);
      return connection;
    };

    it('reads the address from the environment, token and CA from the files of its ServiceAccount', async () => {
      const connection = openInPod();
      expect(connection.server).to.equal(address);
      expect(await ask(connection, get('/api'))).to.equal('/api');
      expect(requests[0]?.headers.authorization).to.equal('Bearer of-the-pod');
    });

    it('reads a rotated token and a changed CA again', async () => {
      const connection = openInPod();
      await ask(connection);
      await write(`${account}/token`, 'rotated');
      answer = (request, response) => {
        response.statusCode = request.headers.authorization === 'Bearer rotated' ? 200 : 401;
        response.end();
      };
      expect((await connection.exchange(get('/'))).status).to.equal(200);
      server.setSecureContext({ cert: second.certificate, key: second.key });
      for (const socket of sockets) socket.destroy();
      await gone();
      await write(`${account}/ca.crt`, second.certificate);
      expect((await connection.exchange(get('/'))).status).to.equal(200);
    });

    it('rejects as long as there is no token, and sends nothing', async () => {
      await rm(join(directory, account, 'token'));
      const connection = openInPod();
      const error = await ask(connection).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 0, reason: 'CredentialsUnavailable' });
      await write(`${account}/token`, 'late');
      await ask(connection);
      expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer late']);
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

    for (const [what, text, expected] of [
      ['is no YAML', '{{{', /^expected a kubeconfig in .*, got: /],
      ['is empty', '', /^expected a kubeconfig in .*, got: /],
      ['is a list', '[]', /^expected a current-context in the kubeconfig .*, got none$/],
      [
        'has a cluster without a server',
        cluster({}),
        /^expected a kubeconfig in .*, got: clusters\[0\].cluster.server is missing$/,
      ],
      [
        'has no current context',
        { ...whole, 'current-context': '' },
        /^expected a current-context in the kubeconfig .*, got none$/,
      ],
      [
        'has another context',
        { ...whole, 'current-context': 'there' },
        /^expected a context there in the kubeconfig .*, got: here$/,
      ],
      ['has no such cluster', { ...whole, clusters: [] }, /^expected the cluster c of context here in .*, got none$/],
      ['has no such user', { ...whole, users: [] }, /^expected the user u of context here in .*, got none$/],
      [
        'has an address that is none',
        cluster({ server: 'nowhere' }),
        /^expected an https address for the cluster c in .*, got nowhere$/,
      ],
      [
        'has an address without TLS',
        cluster({ server: 'http://h' }),
        /^expected an https address, or insecure-skip-tls-verify, .* got http:\/\/h$/,
      ],
      [
        'has a proxy of another kind',
        cluster({ server: 'https://h', 'proxy-url': 'socks4://p' }),
        /^expected an http, https or socks5 proxy-url for the cluster c, got socks4:\/\/p$/,
      ],
    ] as const) {
      it(`reports what it expected of a kubeconfig that ${what}`, async () => {
        const path = await write('bad', typeof text === 'string' ? text : JSON.stringify(text));
        expect(() => connect({ kubeconfigPath: path })).to.throw(ConfigurationError, expected);
      });
    }

    it('names a kubeconfig that is missing or a directory', () => {
      const path = join(directory, 'none');
      expect(() => connect({ kubeconfigPath: path })).to.throw(
        ConfigurationError,
        `expected a kubeconfig at ${path}, got: no such file`,
      );
      expect(() => connect({ kubeconfigPath: directory })).to.throw(ConfigurationError, 'got: EISDIR');
    });

    it('names a missing context', async () => {
      const path = await write('good', JSON.stringify(whole));
      expect(() => connect({ kubeconfigPath: path, context: 'other' })).to.throw(
        ConfigurationError,
        'expected a context other',
      );
    });

    it('names the missing variables outside a pod', () => {
      const { KUBERNETES_SERVICE_HOST: host } = process.env;
      delete process.env['KUBERNETES_SERVICE_HOST'];
      try {
        expect(() => connect({ kubeconfigPath: null })).to.throw(ConfigurationError, 'or to run in a pod');
      } finally {
        if (host !== undefined) process.env['KUBERNETES_SERVICE_HOST'] = host;
      }
    });
  });
});

/** Looks again and again, every millisecond, and gives up after thousands of times. */
async function until(condition: () => boolean, what: string): Promise<void> {
  for (let looks = 0; !condition(); looks += 1) {
    if (looks === 5_000) throw new Error(`expected ${what}, it never came`);
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}
