import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { expect } from 'chai';
import { realWorld } from '../../src/base/world.ts';
import { PodHttp } from '../../src/kube/plain-http.ts';
import { PrometheusHttp } from '../../src/kube/prometheus-http.ts';
import { patienceMilliseconds } from '../support/patience.ts';

const never = new AbortController().signal;
const noApiServer = (): Promise<never> => Promise.reject(new Error('expected no request to the API server'));
const world = realWorld(noApiServer);
/** Longer than any answer on loopback takes, and short enough to be waited for. */
const shortMilliseconds = 200;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A client of a server that is no API server. Its errors begin with what it asked. */
interface Client {
  readonly ask: () => Promise<unknown>;
  readonly asked: string;
  readonly close: () => Promise<void>;
}

const clients: Readonly<Record<string, (port: number, timeout: number) => Client>> = {
  'a GET to a pod': (port, timeout) => {
    const pods = new PodHttp(world, timeout);
    const ask = () => pods.get({ ip: '127.0.0.1', port }, '/metrics', never);
    return { ask, asked: `GET http://127.0.0.1:${port}/metrics`, close: () => pods.close() };
  },
  'a query to Prometheus': (port, timeout) => {
    const url = `http://127.0.0.1:${port}`;
    const prometheus = new PrometheusHttp(
      { url, caFile: null, tokenFile: null, basicAuthFile: null, headersFile: null, proxyUrl: null },
      world,
      timeout,
    );
    return { ask: () => prometheus.query('up'), asked: url, close: () => prometheus.close() };
  },
};

const endless: Answer = (_, response) => {
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
};
const breaksOff: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('x', () => response.socket?.destroy());
};
const late = new RegExp(`^: no answer within ${shortMilliseconds} ms$`);
const failures: Readonly<Record<string, readonly [answer: Answer, why: RegExp, timeout?: number]>> = {
  'the body is too large, without reading it to the end': [endless, /^: expected at most 524288 bytes, got more$/],
  'no head comes in time': [() => {}, late, shortMilliseconds],
  'the body does not end in time': [(_, response) => void response.write('{'), late, shortMilliseconds],
  'the connection breaks in the middle of the body': [breaksOff, /^: ./],
};

async function listening(server: Server | TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server | TcpServer): Promise<void> {
  server.close();
  await once(server, 'close');
}

const failure = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => expect.fail('expected the request to fail, it did not'),
    (error: Error) => error.message,
  );

for (const [what, clientOf] of Object.entries(clients)) {
  describe(what, () => {
    /** Why it fails; the message begins with what was asked. */
    const why = async (port: number, timeout = patienceMilliseconds): Promise<string> => {
      const { ask, asked, close } = clientOf(port, timeout);
      const message = await failure(ask());
      await close();
      expect(message.slice(0, asked.length)).to.equal(asked);
      return message.slice(asked.length);
    };

    for (const [when, [answer, expected, timeout]] of Object.entries(failures)) {
      it(`fails when ${when}`, async () => {
        const server = createServer(answer);
        expect(await why(await listening(server), timeout)).to.match(expected);
        server.closeAllConnections();
        await closed(server);
      });
    }

    it('fails when no process listens', async () => {
      const free = createTcpServer();
      const port = await listening(free);
      await closed(free);
      expect(await why(port)).to.equal(': ECONNREFUSED');
    });

    it('fails when the server speaks something else, such as TLS', async () => {
      const other = createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.resume().end(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]));
      });
      expect(await why(await listening(other))).to.match(/^: ./);
      await closed(other);
    });
  });
}

describe('a GET to a pod, answered', () => {
  let server: Server;
  let port: number;
  let requests: IncomingMessage[];
  let answer: Answer;
  let pods: PodHttp;

  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    });
    port = await listening(server);
    pods = new PodHttp(world, patienceMilliseconds);
  });

  afterEach(async () => {
    await pods.close();
    server.closeAllConnections();
    await closed(server);
  });

  const get = (path = '/metrics', signal = never) => pods.get({ ip: '127.0.0.1', port }, path, signal);

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

  it('ends with the signal of its caller', async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    expect(await failure(get('/readyz', stop.signal))).to.match(/abort/i);
  });

  it('accepts an address, also of IPv6, and never a name', async () => {
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
