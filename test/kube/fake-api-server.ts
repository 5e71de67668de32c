import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { path, type ResourceKind } from '../../src/kube/resource.ts';
import { ApiServer } from '../support/api-server/api-server.ts';
import type { LoopbackCertificate } from '../support/moco/certificate.ts';
import { status } from './fake-world.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, server: FakeApiServer) => void;

const things: ResourceKind = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const others: ResourceKind = { ...things, plural: 'others', kind: 'Other', namespaced: false };
const namespace = 'ns';
/** Where it has its objects. */
export const thingsPath = path(things);

/**
 * The API server in memory behind HTTP: it lists, pages and watches things, until a script says otherwise. Each
 * scripted handler answers one request instead of it, lists and watches by queues of their own.
 */
export class FakeApiServer {
  readonly lists: Handler[] = [];
  readonly watches: Handler[] = [];
  /** Of every request that came, with its query. */
  readonly urls: URL[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** Unless `null`, requests with any other are answered 401. */
  token: string | null = null;
  readonly #server: Server | TlsServer;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #api = new ApiServer(() => 0);
  /** Nothing before it can be watched. */
  #oldest = 0;
  #uids = 0;
  #directory = '';
  /** What watches would have been told, while that is collected. */
  #collected: string[] | null = null;

  private constructor(certificate: LoopbackCertificate | undefined) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = certificate
      ? createTlsServer({ cert: certificate.certificate, key: certificate.key }, answer)
      : createServer(answer);
    this.#api.store.subscribe(({ kind, type, object }) => {
      if (kind.plural === things.plural) this.send(lineOf({ type, object }));
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** By plain HTTP, unless a certificate is given. */
  static async start(certificate?: LoopbackCertificate): Promise<FakeApiServer> {
    const server = new FakeApiServer(certificate);
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    server.#directory = await mkdtemp(join(tmpdir(), 'fake-api-server-'));
    await server.trust(certificate);
    return server;
  }

  get address(): string {
    const scheme = this.#server instanceof TlsServer ? 'https' : 'http';
    return `${scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What its clients find in the file of the authority that they are to trust. */
  async trust(certificate: LoopbackCertificate | undefined): Promise<void> {
    await writeFile(join(this.#directory, 'ca.crt'), certificate?.certificate ?? '');
  }

  /** For connections made from now on; those that are open end. */
  useCertificate({ certificate: cert, key }: LoopbackCertificate): void {
    if (!(this.#server instanceof TlsServer)) throw new Error('expected a server that was started with a certificate');
    this.#server.setSecureContext({ cert, key });
    for (const socket of this.#sockets) socket.destroy();
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  get openWatches(): number {
    return this.#streams.size;
  }

  get version(): string {
    return String(this.#api.store.revision);
  }

  get tokenFile(): string {
    return join(this.#directory, 'token');
  }

  /** What a cache should have: names with their versions. */
  get truth(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#api.store.all(things).map(({ metadata }) => [metadata.name, `${metadata.uid}@${metadata.resourceVersion}`]),
    );
  }

  /** The path of a kubeconfig for it, whose token is in a file. */
  async kubeconfig(): Promise<string> {
    const path = join(this.#directory, 'kubeconfig');
    await writeFile(this.tokenFile, 'old\n');
    await writeFile(
      path,
      JSON.stringify({
        clusters: [{ name: 'fake', cluster: { server: this.address, ...this.#trust } }],
        users: [{ name: 'me', user: { tokenFile: 'token' } }],
        contexts: [{ name: 'here', context: { cluster: 'fake', user: 'me' } }],
        'current-context': 'here',
      }),
    );
    return path;
  }

  /** Creates or changes an object, and tells every watch. */
  put(name: string, more: { readonly metadata?: object; readonly [field: string]: unknown } = {}): void {
    const before = this.#api.store.get(things, namespace, name);
    this.#uids += before ? 0 : 1;
    const uid = before?.metadata.uid ?? `uid-${this.#uids}`;
    const metadata = { ...more.metadata, namespace, name, uid, resourceVersion: '' };
    this.#api.store.put(things, { kind: things.kind, ...more, metadata });
  }

  delete(name: string): void {
    const before = this.#api.store.get(things, namespace, name);
    if (!before) throw new Error(`expected a thing called ${name}, got none`);
    this.#api.store.remove(things, before);
  }

  bookmark(): void {
    this.#api.store.put(others, { metadata: { name: 'a', uid: 'other', resourceVersion: '' } });
    this.send(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: this.version } } })}\n`);
  }

  /** As it is, to every watch. */
  send(text: string | Uint8Array): void {
    if (this.#collected && typeof text === 'string') this.#collected.push(text);
    else for (const stream of this.#streams) stream.write(text);
  }

  /** Whatever watches are told meanwhile, as bytes that are still to be sent. */
  collect(happens: () => void): Uint8Array {
    this.#collected = [];
    happens();
    const text = this.#collected.join('');
    this.#collected = null;
    return new TextEncoder().encode(text);
  }

  /** The watches end as their time is over. */
  endWatches(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** The watches break, in the middle of whatever they were saying. */
  breakWatches(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Nothing from before can be watched any more. */
  compact(): void {
    this.#oldest = this.#api.store.revision;
  }

  /** The server's own list, for a script that wants to do only something beside it. */
  list(request: IncomingMessage, response: ServerResponse): void {
    const target = { kind: things, namespace: '', name: null, subresource: null };
    const { code, body } = this.#api.lists.answer(target, urlOf(request).searchParams);
    json(response, code, body);
  }

  /** The server's own watch. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = urlOf(request);
    const { store } = this.#api;
    const isList = searchParams.has('sendInitialEvents');
    const from = isList ? store.revision : Number(searchParams.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (isList) {
      for (const object of store.all(things)) response.write(lineOf({ type: 'ADDED', object }));
      response.write(lineOf(endOfList(this.version)));
    } else if (from < this.#oldest) {
      response.end(lineOf({ type: 'ERROR', object: status(410, 'Expired') }));
      return;
    }
    for (const { type, object } of store.changesAfter(things, from)) response.write(lineOf({ type, object }));
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    await rm(this.#directory, { recursive: true });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = urlOf(request);
    this.urls.push(url);
    const { authorization } = request.headers;
    this.authorizations.push(authorization);
    if (this.token !== null && authorization !== `Bearer ${this.token}`) {
      json(response, 401, status(401, 'Unauthorized'));
      return;
    }
    const watching = url.searchParams.get('watch') === 'true';
    const scripted = (watching ? this.watches : this.lists).shift();
    if (scripted) scripted(request, response, this);
    else if (url.pathname !== thingsPath) json(response, 404, status(404, 'NotFound'));
    else if (watching) this.watch(request, response);
    else this.list(request, response);
  }

  get #trust(): object {
    return this.#server instanceof TlsServer
      ? { 'certificate-authority': 'ca.crt' }
      : { 'insecure-skip-tls-verify': true };
  }
}

const lineOf = (event: object): string => `${JSON.stringify(event)}\n`;

/** The bookmark after the last object of a streamed list. */
export function endOfList(resourceVersion: string): object {
  const metadata = { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } };
  return { type: 'BOOKMARK', object: { kind: 'Thing', metadata } };
}

export function json(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? '/', 'http://fake');
}
