import { realWorld, type World } from '../../src/base/world.ts';
import {
  ApiClient,
  type ApiClientOptions,
  type Call,
  type CallOptions,
  type ContentType,
} from '../../src/kube/api-client.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { apiVersion, path, type ResourceKind, type ResourcePlace } from '../../src/kube/resource.ts';
import { patienceMilliseconds } from './patience.ts';

type Named = ResourcePlace & { readonly name: string };
type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;
/** Calls of one client that wait for its limit have priorities; those of most tests wait for nothing. */
type Options = Partial<CallOptions>;

/** Far above what one machine can do. */
const unlimited = { qps: 100_000, burst: 100_000 };

/** The program's own client, with a method for each verb on an object: tests write more than the program does. */
export class ObjectClient extends ApiClient {
  constructor(options: Optional<ApiClientOptions, 'qps' | 'burst'>) {
    super({ ...unlimited, ...options });
  }

  override call<T>(call: Optional<Call, 'priority'>): Promise<T> {
    return super.call({ priority: 'disrupt', ...call });
  }

  get<T>(kind: ResourceKind, place: Named, options: Options = {}): Promise<T> {
    return this.call({ ...options, method: 'GET', path: path(kind, place) });
  }

  list<T>(kind: ResourceKind, place: Pick<ResourcePlace, 'namespace'>, options: Options = {}): Promise<T> {
    return this.call({ ...options, method: 'GET', path: path(kind, place) });
  }

  create<T>(kind: ResourceKind, place: ResourcePlace, body: unknown, options: Options = {}): Promise<T> {
    return this.call({ ...options, method: 'POST', path: path(kind, place), body });
  }

  replace<T>(kind: ResourceKind, place: Named, body: unknown, options: Options = {}): Promise<T> {
    return this.call({ ...options, method: 'PUT', path: path(kind, place), body });
  }

  patch<T>(
    kind: ResourceKind,
    place: Named,
    contentType: ContentType,
    body: unknown,
    options: Options = {},
  ): Promise<T> {
    return this.call({ ...options, method: 'PATCH', path: path(kind, place), contentType, body });
  }

  /** A JSON merge patch (RFC 7386). */
  merge<T>(kind: ResourceKind, place: Named, body: unknown, options: Options = {}): Promise<T> {
    return this.patch(kind, place, 'application/merge-patch+json', body, options);
  }

  /** Server-side apply with force of an object of no namespace, whose metadata has its name. */
  apply<T>(kind: ResourceKind, object: object, fieldManager: string): Promise<T> {
    const { name } = (object as { readonly metadata: { readonly name: string } }).metadata;
    const body = { ...object, apiVersion: apiVersion(kind), kind: kind.kind };
    return this.patch(kind, { name }, 'application/apply-patch+yaml', body, { query: { fieldManager, force: true } });
  }

  /** `body` is a DeleteOptions, for its preconditions. */
  remove<T>(kind: ResourceKind, place: Named, body: unknown = {}, options: Options = {}): Promise<T> {
    return this.call({ ...options, method: 'DELETE', path: path(kind, place), body });
  }
}

/** An API server as a client reaches it. */
export interface Access {
  readonly client: ObjectClient;
  readonly world: World;
}

/** To be closed. */
export interface Connected extends Access {
  readonly connection: Connection;
}

export function accessWith(
  kubeconfigPath: string,
  options: Omit<ApiClientOptions, 'world' | 'qps' | 'burst'> = {},
): Connected {
  const connection = connect({ kubeconfigPath });
  const world = realWorld(connection.exchange);
  return {
    client: new ObjectClient({ timeoutMilliseconds: patienceMilliseconds, ...options, world }),
    world,
    connection,
  };
}
