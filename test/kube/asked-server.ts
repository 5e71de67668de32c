import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, connect } from '../../src/kube/connection.ts';
import type { KubeconfigChoice } from '../../src/kube/kubeconfig.ts';
import { textOf } from '../../src/kube/text.ts';
import type { ExchangeRequest } from '../../src/kube/world.ts';
import { kubeconfigOf } from '../support/api-server/http-front.ts';
import type { LoopbackCertificate } from '../support/control-plane/certificates.ts';

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

/** 200 with a body for whoever shows this token, else 401 with the same. */
export const only =
  (token: string): Answer =>
  (request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${token}` ? 200 : 401;
    response.end('body');
  };

/** An HTTPS server that keeps what it is asked, a directory with kubeconfigs about it, and connections to it. */
export class AskedServer {
  readonly requests: IncomingMessage[] = [];
  readonly sockets = new Set<Socket>();
  answer: Answer = (request, response) => response.end(request.url);
  readonly server: Server;
  readonly directory: string;
  readonly #connections: Connection[] = [];

  private constructor(server: Server, directory: string) {
    this.server = server;
    this.directory = directory;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push(request);
      this.answer(request, response);
    });
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  /** Takes a certificate of any client and shows it; `ca.crt` is in the directory. */
  static async start({ certificate: cert, key }: LoopbackCertificate): Promise<AskedServer> {
    const options = { cert, key, requestCert: true, rejectUnauthorized: false };
    const asked = new AskedServer(createServer(options), await mkdtemp(join(tmpdir(), 'asked-server-')));
    await new Promise<void>((resolve) => {
      asked.server.listen(0, '127.0.0.1', resolve);
    });
    await asked.write('ca.crt', cert);
    return asked;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get address(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** The Authorization of each request. */
  get authorizations(): readonly (string | undefined)[] {
    return this.requests.map(({ headers }) => headers.authorization);
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.directory, name);
    await writeFile(path, text, { mode: 0o755 });
    return path;
  }

  kubeconfig(user: object, cluster: object = {}): Promise<string> {
    const about = { server: this.address, 'certificate-authority': 'ca.crt', ...cluster };
    return this.write('kubeconfig', kubeconfigOf(about, user));
  }

  async open(user: object, cluster?: object): Promise<Connection> {
    return this.connect({ kubeconfigPath: await this.kubeconfig(user, cluster) });
  }

  connect(choice: KubeconfigChoice): Connection {
    const connection = connect(choice);
    this.#connections.push(connection);
    return connection;
  }

  /** Another certificate from now on, for new connections; those that are open end. */
  async present({ certificate: cert, key }: LoopbackCertificate): Promise<void> {
    this.server.setSecureContext({ cert, key });
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

  async close(): Promise<void> {
    await this.disconnect();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
    await rm(this.directory, { recursive: true });
  }
}

/** The body of the answer. */
export const ask = async (connection: Connection, request = get('/')): Promise<string> =>
  textOf((await connection.exchange(request)).body);

/** The same, or what it rejects with. */
export const outcome = (connection: Connection, request?: ExchangeRequest): Promise<unknown> =>
  ask(connection, request).catch((error: unknown) => error);

/** Looks again and again, every millisecond, and gives up after thousands of times. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let looks = 0; !condition(); looks += 1) {
    if (looks === 5_000) throw new Error(`expected ${what}, it never came`);
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}
