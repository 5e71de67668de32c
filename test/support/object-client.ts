import { ApiClient, type CallOptions, type ContentType } from '../../src/kube/api-client.ts';
import { path, type ResourceKind, type ResourcePlace } from '../../src/kube/resource.ts';

type Named = ResourcePlace & { readonly name: string };

/** The program's own client, with a method for each verb on an object: tests write more than the program does. */
export class ObjectClient extends ApiClient {
  get<T>(kind: ResourceKind, place: Named, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: 'GET', path: path(kind, place) });
  }

  list<T>(kind: ResourceKind, place: Pick<ResourcePlace, 'namespace'>, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: 'GET', path: path(kind, place) });
  }

  create<T>(kind: ResourceKind, place: ResourcePlace, body: unknown, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: 'POST', path: path(kind, place), body });
  }

  replace<T>(kind: ResourceKind, place: Named, body: unknown, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: 'PUT', path: path(kind, place), body });
  }

  patch<T>(
    kind: ResourceKind,
    place: Named,
    contentType: ContentType,
    body: unknown,
    options: CallOptions,
  ): Promise<T> {
    return this.call({ ...options, method: 'PATCH', path: path(kind, place), contentType, body });
  }

  /** `body` is a DeleteOptions, for its preconditions. */
  remove<T>(kind: ResourceKind, place: Named, body: unknown, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: 'DELETE', path: path(kind, place), body });
  }
}
