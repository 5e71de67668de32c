import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, Server as TlsServer } from 'node:https';
import { textOf } from '../../src/base/text.ts';
import type { ExchangeRequest } from '../../src/base/world.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import type { KubeconfigChoice } from '../../src/kube/kubeconfig.ts';
import { HttpFront } from '../support/api-server/http-front.ts';
import type { LoopbackCertificate } from '../support/control-plane/certificates.ts';
import { patienceMilliseconds } from '../support/patience.ts';

const never = new AbortController().signal;

export const get = (path: string, more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  method: 'GET',
  path,
  headers: {},
  signal: never,
  pool: 'call',
  ...more,
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers 200 with a body to a client that sends this token, otherwise 401 with the same body. */
export const only =
  (token: string): Answer =>
  (request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${token}` ? 200 : 401;
    response.end('body');
  };

/** An HTTPS server that keeps what it is asked, and connections to it. */
export class AskedServer extends HttpFront {
  readonly requests: IncomingMessage[] = [];
  answer: Answer = (request, response) => response.end(request.url);
  readonly #connections: Connection[] = [];

  /** Takes a certificate of any client, and shows this one. */
  static async showing({ certificate: cert, key }: LoopbackCertificate): Promise<AskedServer> {
    const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false });
    const asked = await new AskedServer(server).open();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      asked.requests.push(request);
      asked.answer(request, response);
    });
    await asked.write('ca.crt', cert);
    return asked;
  }

  /** The Authorization of each request. */
  get authorizations(): readonly (string | undefined)[] {
    return this.requests.map(({ headers }) => headers.authorization);
  }

  /** By a kubeconfig of this user. */
  async connectAs(user: object, cluster?: object): Promise<Connection> {
    return this.connect({ kubeconfigPath: await this.kubeconfig(user, cluster) });
  }

  connect(choice: KubeconfigChoice): Connection {
    const connection = connect(choice);
    this.#connections.push(connection);
    return connection;
  }

  /** Another certificate from now on, for new connections; those that are open end. */
  async present({ certificate: cert, key }: LoopbackCertificate): Promise<void> {
    if (this.server instanceof TlsServer) this.server.setSecureContext({ cert, key });
    for (const socket of this.sockets) socket.destroy();
    await this.gone();
  }

  gone(): Promise<void> {
    return until(() => this.sockets.size === 0, 'no connection left over');
  }

  async disconnect(): Promise<void> {
    await Promise.all(this.#connections.splice(0).map((connection) => connection.close()));
    await this.gone();
  }

  override async close(): Promise<void> {
    await this.disconnect();
    await super.close();
  }
}

/** The body of the answer. */
export const ask = async (connection: Connection, request = get('/')): Promise<string> =>
  textOf((await connection.exchange(request)).body);

/** The same, or what it rejects with. */
export const outcome = (connection: Connection, request?: ExchangeRequest): Promise<unknown> =>
  ask(connection, request).catch((error: unknown) => error);

/** Looks again and again, every millisecond. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const since = performance.now();
  while (!condition()) {
    if (performance.now() - since > patienceMilliseconds) throw new Error(`expected ${what}, it never came`);
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}
