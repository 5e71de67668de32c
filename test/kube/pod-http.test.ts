import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { PodHttp } from '../../src/kube/plain-http.ts';
import { realWorld } from '../../src/kube/world.ts';
import { patienceMilliseconds } from './patience.ts';

const never = new AbortController().signal;
const noApiServer = (): Promise<never> => Promise.reject(new Error('expected no request to the API server'));
const world = realWorld(noApiServer);
/** Longer than any answer on loopback takes, and short enough to be waited for. */
const shortMilliseconds = 200;

describe('a GET to a pod', function suite() {
  this.timeout(patienceMilliseconds);

  let server: Server;
  let port: number;
  let requests: IncomingMessage[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let pods: PodHttp;

  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    pods = new PodHttp(world, patienceMilliseconds);
  });

  afterEach(async () => {
    await pods.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const get = (path = '/metrics', from = pods, signal = never) => from.get({ ip: '127.0.0.1', port }, path, signal);
  const failure = async (asked: Promise<unknown>): Promise<string> => {
    try {
      await asked;
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('expected the request to fail, it did not');
  };

  it('returns status and body, whatever the status', async () => {
    answer = (request, response) => response.writeHead(503).end(`no: ${request.url}`);
    expect(await get('/readyz')).to.deep.equal({ status: 503, body: 'no: /readyz' });
    expect(requests[0]?.headers).to.not.have.any.keys('authorization', 'cookie');
  });

  it('keeps no connection for the next one', async () => {
    const sockets = new Set<Socket>();
    answer = (request, response) => {
      sockets.add(request.socket);
      response.end('x');
    };
    await get();
    await get();
    expect(sockets.size).to.equal(2);
  });

  it('does not follow a redirect', async () => {
    answer = (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
    expect((await get()).status).to.equal(302);
    expect(requests.map(({ url }) => url)).to.deep.equal(['/metrics']);
  });

  it('fails when the body is too large, without reading it to the end', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    expect(await failure(get())).to.equal(
      `GET http://127.0.0.1:${port}/metrics: expected at most 524288 bytes, got more`,
    );
  });

  it('fails when no head comes in time', async () => {
    const impatient = new PodHttp(world, shortMilliseconds);
    answer = () => {};
    expect(await failure(get('/readyz', impatient))).to.equal(
      `GET http://127.0.0.1:${port}/readyz: no answer within ${shortMilliseconds} ms`,
    );
    await impatient.close();
  });

  it('fails when the body does not end in time', async () => {
    const impatient = new PodHttp(world, shortMilliseconds);
    answer = (_, response) => void response.write('moco_instance_clone_count 1\n');
    expect(await failure(get('/metrics', impatient))).to.contain(`no answer within ${shortMilliseconds} ms`);
    await impatient.close();
  });

  it('fails when nobody listens', async () => {
    const free = createTcpServer();
    free.listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port: closed } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    expect(await failure(pods.get({ ip: '127.0.0.1', port: closed }, '/readyz', never))).to.equal(
      `GET http://127.0.0.1:${closed}/readyz: ECONNREFUSED`,
    );
  });

  it('fails when the server speaks something else, such as TLS', async () => {
    const other = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.resume().end(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]));
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port: strange } = other.address() as AddressInfo;
    expect(await failure(pods.get({ ip: '127.0.0.1', port: strange }, '/metrics', never))).to.match(
      /^GET http:\/\/127\.0\.0\.1:\d+\/metrics: ./,
    );
    other.close();
    await once(other, 'close');
  });

  it('fails when the connection breaks in the middle of the body', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('x', () => response.socket?.destroy());
    };
    expect(await failure(get())).to.match(/: ./);
  });

  it('ends with the signal of its caller', async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    expect(await failure(get('/readyz', pods, stop.signal))).to.match(/abort/i);
  });

  it('takes an address and never a name, and an IPv6 address too', async () => {
    answer = (_, response) => response.end('x');
    expect(await failure(pods.get({ ip: 'localhost', port }, '/metrics', never))).to.equal(
      'expected the pod to have an IP address, got `localhost`',
    );
    expect(await failure(pods.get({ ip: '127.0.0.1@example.com', port }, '/metrics', never))).to.contain('expected');
    expect(requests).to.deep.equal([]);
    expect(await failure(pods.get({ ip: '::ffff:127.0.0.1', port: 1 }, '/metrics', never))).to.match(
      /^GET http:\/\/\[::ffff:127\.0\.0\.1\]:1\/metrics: /,
    );
  });
});
