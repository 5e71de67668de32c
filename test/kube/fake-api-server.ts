import type { IncomingMessage, ServerResponse } from 'node:http';
import { path, type ResourceKind } from '../../src/kube/resource.ts';
import { ApiServer } from '../support/api-server/api-server.ts';
import { HttpFront } from '../support/api-server/http-front.ts';
import type { StoredObject } from '../support/api-server/stored-object.ts';
import { status } from './fake-world.ts';

type Headers = Readonly<Record<string, string>>;

export type Handler = (request: IncomingMessage, response: ServerResponse, server: FakeApiServer) => void;

export const things: ResourceKind = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const others: ResourceKind = { ...things, plural: 'others', kind: 'Other', namespaced: false };
const namespace = 'ns';
const thingsPath = path(things);

/**
 * The API server in memory behind HTTP: it lists, pages and watches things, until a script says otherwise. Each
 * scripted handler answers one request instead of it, lists and watches by queues of their own.
 */
export class FakeApiServer {
  readonly lists: Handler[] = [];
  readonly watches: Handler[] = [];
  /** Of every request that came, with its query. */
  readonly urls: URL[] = [];
  readonly #streams = new Set<ServerResponse>();
  readonly #api = new ApiServer(() => 0);
  /** Nothing before it can be watched. */
  #oldest = 0;
  #uids = 0;
  #front!: HttpFront;

  private constructor() {
    this.#api.store.subscribe(({ kind, type, object }) => {
      if (kind.plural === things.plural) this.send(lineOf({ type, object }));
    });
  }

  static async start(): Promise<FakeApiServer> {
    const server = new FakeApiServer();
    server.#front = await HttpFront.start((request, response) => server.#answer(request, response));
    return server;
  }

  get front(): HttpFront {
    return this.#front;
  }

  get openWatches(): number {
    return this.#streams.size;
  }

  get version(): string {
    return String(this.#api.store.revision);
  }

  /** Every object, as a watch sends it. */
  get objects(): readonly StoredObject[] {
    return [...this.#api.store.all(things)];
  }

  /** What a cache should have: names with their versions. */
  get truth(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.objects.map(({ metadata }) => [metadata.name, `${metadata.uid}@${metadata.resourceVersion}`]),
    );
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
  send(text: string): void {
    for (const stream of this.#streams) stream.write(text);
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

  /** Answers the next lists or watches with a Status of this code. */
  refuse(which: 'lists' | 'watches', code: number, reason: string, times = 1, headers: Headers = {}): void {
    for (let time = 0; time < times; time += 1) {
      this[which].push((_, response) => json(response, code, status(code, reason), headers));
    }
  }

  /** Begins to answer the next watch with this, and leaves the rest to whoever calls back. */
  beginWatch(text: string, begun: (response: ServerResponse) => void = () => {}): void {
    this.watches.push((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(text, () => begun(response));
    });
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

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = urlOf(request);
    this.urls.push(url);
    const watching = url.searchParams.get('watch') === 'true';
    const scripted = (watching ? this.watches : this.lists).shift();
    if (scripted) scripted(request, response, this);
    else if (url.pathname !== thingsPath) json(response, 404, status(404, 'NotFound'));
    else if (watching) this.watch(request, response);
    else this.list(request, response);
  }
}

export const lineOf = (event: object): string => `${JSON.stringify(event)}\n`;

/** The bookmark after the last object of a streamed list. */
export function endOfList(resourceVersion: string): object {
  const metadata = { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } };
  return { type: 'BOOKMARK', object: { kind: 'Thing', metadata } };
}

export function json(response: ServerResponse, code: number, body: unknown, headers: Headers = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? '/', 'http://fake');
}
