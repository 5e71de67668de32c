import { connect } from 'node:net';
import { expect } from 'chai';
import {
  type HttpHandler,
  healthHandler,
  ListenError,
  plainText,
  type RunningHttpServer,
  startHttpServer,
} from '../../src/telemetry/http-server.ts';

const loopback = { host: '127.0.0.1', port: 0 };

describe('the HTTP server', () => {
  const errors: unknown[] = [];
  let running: RunningHttpServer | null = null;

  afterEach(async () => {
    await running?.close();
    running = null;
    errors.length = 0;
  });

  it('answers its paths and lists them at any other', async () => {
    await serve({ '/healthz': () => plainText(200, 'ok'), '/readyz': () => plainText(500, 'not yet') });
    expect(await get('/healthz')).to.deep.equal({ status: 200, body: 'ok\n' });
    expect(await get('/readyz')).to.deep.equal({ status: 500, body: 'not yet\n' });
    expect(await get('/constructor')).to.deep.equal({
      status: 404,
      body: 'Expected one of /healthz, /readyz, got /constructor.\n',
    });
  });

  it('accepts only GET and HEAD', async () => {
    await serve({ '/healthz': () => plainText(200, 'ok') });
    expect(await get('/healthz', 'HEAD')).to.deep.equal({ status: 200, body: '' });
    expect(await get('/healthz', 'POST')).to.deep.equal({ status: 405, body: 'Expected GET or HEAD, got POST.\n' });
  });

  it('hides errors from clients and reports them to its owner', async () => {
    await serve({ '/metrics': () => Promise.reject(new Error('secret')) });
    const { status, body } = await get('/metrics');
    expect(status).to.equal(500);
    expect(body).not.to.contain('secret');
    expect(errors).to.have.length(1);
  });

  it('reports an address in use', async () => {
    await serve({});
    const problem = await startHttpServer({
      address: running?.address ?? loopback,
      flag: '--metrics-bind-address',
      handlers: {},
      onError: () => {},
    }).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(ListenError);
    expect((problem as ListenError).message).to.equal(
      `Expected --metrics-bind-address to be a free address, but something else listens on 127.0.0.1:${running?.address.port}; choose another one.`,
    );
  });

  it('reports an address of another machine', async () => {
    const problem = await startHttpServer({
      address: { host: '192.0.2.1', port: 0 },
      flag: '--metrics-bind-address',
      handlers: {},
      onError: () => {},
    }).catch((error: unknown) => error);
    expect((problem as ListenError).message).to.match(
      /^Expected --metrics-bind-address to name an address of this machine/,
    );
  });

  it('closes although a client keeps its connection', async () => {
    await serve({ '/healthz': () => plainText(200, 'ok') });
    const socket = connect(running?.address.port ?? 0, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const ended = new Promise((resolve) => socket.once('close', resolve));
    await running?.close();
    await ended;
    running = null;
  });

  it('shows health in Kubernetes’ manner', async () => {
    let problem: string | null = null;
    await serve({ '/readyz': healthHandler('readyz', { caches: () => problem, ping: () => null }) });
    expect(await get('/readyz')).to.deep.equal({ status: 200, body: 'ok\n' });
    expect(await get('/readyz?verbose')).to.deep.equal({
      status: 200,
      body: '[+]caches ok\n[+]ping ok\nreadyz check passed\n',
    });
    problem = 'pods are still being listed';
    expect(await get('/readyz')).to.deep.equal({
      status: 500,
      body: '[-]caches failed: pods are still being listed\n[+]ping ok\nreadyz check failed\n',
    });
  });

  async function serve(handlers: Readonly<Record<string, HttpHandler>>): Promise<void> {
    running = await startHttpServer({
      address: loopback,
      flag: '--metrics-bind-address',
      handlers,
      onError: (_, error) => errors.push(error),
    });
  }

  async function get(path: string, method = 'GET'): Promise<{ status: number; body: string }> {
    const response = await fetch(`http://127.0.0.1:${running?.address.port}${path}`, { method });
    return { status: response.status, body: await response.text() };
  }
});
