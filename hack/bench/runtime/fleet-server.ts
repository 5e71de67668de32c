import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { textOf } from '../../../src/kube/lines.ts';
import {
  apiVersion,
  cronJobs,
  events,
  jobs,
  leases,
  namespaces,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { Collection, type ServedObject } from './collection.ts';
import { type FleetObject, fleetCluster } from './fleet.ts';

/** Of the kinds that are this project's own. */
const ownKinds: readonly ResourceKind[] = [
  ['mysqlrollouts', 'MySQLRollout', true] as const,
  ['mysqlrolloutpolicies', 'MySQLRolloutPolicy', false] as const,
].map(([plural, kind, namespaced]) => ({ group: 'moco-rollout.io', version: 'v1alpha1', plural, kind, namespaced }));
const kinds: readonly ResourceKind[] = [
  pods,
  statefulSets,
  podDisruptionBudgets,
  clusterKind,
  ...ownKinds,
  cronJobs,
  jobs,
  leases,
  events,
  namespaces,
];
/** As an API server has it. */
const keepAliveMilliseconds = 90_000;
const bookmarkMilliseconds = 60_000;
/** Also the step in which events are spread over time. */
const tickMilliseconds = 5;
/** Goes through all pods in an order in which those of one cluster lie far apart. */
const stride = 7919;

/** On the events that `sendEvents` sends: when, in milliseconds since 1970 with fractions. */
export const sentAtLabel = 'moco-rollout.io/sent-at';

export const now = (): number => performance.timeOrigin + performance.now();

interface Target {
  readonly collection: Collection;
  readonly namespace: string;
  readonly name: string | undefined;
}

/** What one connection was used for. */
interface Use {
  calls: number;
  watches: number;
}

export interface ConnectionCounts {
  readonly calls: number;
  readonly callConnections: number;
  readonly watches: number;
  readonly watchConnections: number;
  /** How many calls of each method to each kind. */
  readonly byKind: Readonly<Record<string, number>>;
}

/**
 * An API server for watching a fleet: lists in pages, watches with bookmarks, writes with resourceVersions as
 * preconditions. It answers at once, so that only its client is measured.
 */
export class FleetServer {
  readonly #collections = new Map<string, Collection>();
  readonly #uses = new Map<Socket, Use>();
  readonly #byKind = new Map<string, number>();
  readonly #server: Server;
  readonly #bookmarks: NodeJS.Timeout;
  #version = 1;

  constructor(certificate: { readonly cert: string; readonly key: string }) {
    for (const kind of kinds) {
      this.#collections.set(`${apiVersion(kind)}/${kind.plural}`, new Collection(kind.kind, apiVersion(kind)));
    }
    this.#server = createServer(certificate, (request, response) => void this.#answer(request, response));
    this.#server.keepAliveTimeout = keepAliveMilliseconds;
    this.#bookmarks = setInterval(() => {
      for (const collection of this.#collections.values()) collection.bookmark(this.#version);
    }, bookmarkMilliseconds);
  }

  /** Resolves to its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', () => resolve()));
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    clearInterval(this.#bookmarks);
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** As many clusters of three, in so many namespaces. */
  async fill(clusters: number, inNamespaces: number): Promise<void> {
    for (let index = 0; index < clusters; index += 1) {
      const { cluster, statefulSet, budget, pods: members } = fleetCluster(index, inNamespaces);
      const owner = this.#create(clusterKind, cluster).metadata.uid;
      this.#create(statefulSets, statefulSet, owner);
      this.#create(podDisruptionBudgets, budget, owner);
      for (const member of members) this.#create(pods, member);
    }
  }

  get connections(): ConnectionCounts {
    const uses = [...this.#uses.values()];
    return {
      calls: uses.reduce((sum, { calls }) => sum + calls, 0),
      callConnections: uses.filter(({ calls }) => calls > 0).length,
      watches: uses.reduce((sum, { watches }) => sum + watches, 0),
      watchConnections: uses.filter(({ watches }) => watches > 0).length,
      byKind: Object.fromEntries(this.#byKind),
    };
  }

  /** Changes a label of one pod after the other, evenly over the time. Resolves to how many it changed. */
  async sendEvents(perSecond: number, seconds: number): Promise<number> {
    const collection = this.#collectionOf(pods);
    const all = collection.values;
    const start = performance.now();
    let sent = 0;
    for (let passed = 0; passed < seconds * 1000; passed = performance.now() - start) {
      for (; sent < (passed / 1000) * perSecond; sent += 1) {
        const { metadata } = all[(sent * stride) % all.length] as ServedObject;
        const pod = collection.get(metadata.namespace ?? '', metadata.name) as ServedObject;
        const labels = { ...(pod.metadata['labels'] as object), [sentAtLabel]: String(now()) };
        this.#put(collection, { ...pod, metadata: { ...pod.metadata, labels } });
      }
      await new Promise((resolve) => {
        setTimeout(resolve, tickMilliseconds);
      });
    }
    return sent;
  }

  #collectionOf(kind: ResourceKind): Collection {
    return this.#collections.get(`${apiVersion(kind)}/${kind.plural}`) as Collection;
  }

  #create(kind: ResourceKind, object: FleetObject, owner?: string): ServedObject {
    const { metadata } = object;
    const ownerReferences = (metadata.ownerReferences ?? []).map((one) => ({ ...one, ...(owner && { uid: owner }) }));
    return this.#put(this.#collectionOf(kind), {
      ...object,
      metadata: { ...metadata, ownerReferences, ...this.#born(), resourceVersion: '' },
    });
  }

  #born(): { readonly uid: string; readonly creationTimestamp: string } {
    return { uid: randomUUID(), creationTimestamp: new Date().toISOString().replace(/\.\d+/, '') };
  }

  #put(collection: Collection, object: ServedObject): ServedObject {
    this.#version += 1;
    return collection.put({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://localhost');
    const use = this.#useOf(request.socket);
    if (pathname === '/version') return send(response, 200, { gitVersion: 'v1.35.4', major: '1', minor: '35' });
    const target = this.#target(pathname);
    if (target === null) return send(response, 404, failure(404, 'NotFound', `${pathname} is not served`));
    if (searchParams.get('watch') === 'true') {
      use.watches += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      target.collection.watch(response, Number(searchParams.get('resourceVersion')));
      return;
    }
    use.calls += 1;
    const what = `${request.method} ${target.collection.kind}${target.name === undefined ? 's' : ''}`;
    this.#byKind.set(what, (this.#byKind.get(what) ?? 0) + 1);
    const body = await textOf(request);
    const [code, answer] = this.#carryOut(request.method ?? '', target, body, searchParams);
    send(response, code, answer);
  }

  #useOf(socket: Socket): Use {
    const use = this.#uses.get(socket) ?? { calls: 0, watches: 0 };
    this.#uses.set(socket, use);
    return use;
  }

  /** `/api/v1/namespaces/ns/pods/name/status` and the like, `null` for what is not served. */
  #target(pathname: string): Target | null {
    const parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
    const version = parts[0] === 'api' ? parts.slice(1, 2) : parts.slice(1, 3);
    const rest = parts.slice(version.length + 1);
    const [namespace = '', ...place] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(1) : ['', ...rest];
    const collection = this.#collections.get([...version, place[0]].join('/'));
    return collection ? { collection, namespace, name: place[1] } : null;
  }

  #carryOut(method: string, target: Target, body: string, query: URLSearchParams): readonly [number, object] {
    const { collection, namespace, name } = target;
    if (method === 'GET' && name === undefined) return [200, this.#page(collection, query)];
    const sent = body === '' ? null : (JSON.parse(body) as ServedObject);
    if (method === 'POST' && sent) {
      const metadata = { namespace, ...sent.metadata, ...this.#born() };
      return [201, this.#put(collection, { ...sent, metadata })];
    }
    const before = collection.get(namespace, name ?? '');
    if (before === undefined) return [404, failure(404, 'NotFound', `there is no ${namespace}/${name}`)];
    if (method === 'GET') return [200, before];
    if (method === 'PUT' && sent) {
      const asked = sent.metadata.resourceVersion ?? before.metadata.resourceVersion;
      if (asked !== before.metadata.resourceVersion) return [409, failure(409, 'Conflict', 'it has been changed')];
      return [200, this.#put(collection, { ...before, ...sent, metadata: { ...before.metadata, ...sent.metadata } })];
    }
    return [405, failure(405, 'MethodNotAllowed', `${method} is nothing that a fleet at rest calls for`)];
  }

  #page(collection: Collection, query: URLSearchParams): object {
    const all = collection.values;
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? all.length);
    return {
      kind: `${collection.kind}List`,
      apiVersion: collection.apiVersion,
      metadata: { resourceVersion: String(this.#version), ...(to < all.length && { continue: String(to) }) },
      items: all.slice(from, to),
    };
  }
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function failure(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message };
}
