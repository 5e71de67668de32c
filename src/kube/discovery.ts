import { isObject, object, objects } from '../base/json.ts';
import type { ApiClient, CallOptions } from './api-client.ts';
import { ApiError, isMissing, isNotFound } from './api-error.ts';
import { apiVersion, type ResourceKind } from './resource.ts';

const options: CallOptions = { priority: 'read', retries: 0 };

/**
 * Whether the error of a request proves that the requested object does not exist. There are two proofs: the API server
 * itself answered 404 with a Status, or discovery shows that the API server does not serve the kind. Any other 404
 * proves nothing.
 */
export async function isProvenAbsent(
  error: unknown,
  client: ApiClient,
  kind: ResourceKind,
  signal: AbortSignal,
): Promise<boolean> {
  return isNotFound(error) || (isMissing(error) && (await isKnownNotServed(client, kind, signal)));
}

/**
 * Whether the API server is known not to serve the kind; `false` if that is unknown. For such a kind the API server
 * returns `404 page not found` without a Status (Kubernetes 1.36, notfoundhandler), but a proxy may return that answer
 * for any kind. So this function reads from discovery which groups the server has, and which resources the version of
 * the group has.
 *
 * Every authenticated user may read discovery (ClusterRole system:discovery).
 */
async function isKnownNotServed(client: ApiClient, kind: ResourceKind, signal: AbortSignal): Promise<boolean> {
  if (kind.group === '') return false;
  try {
    const groups = await client.call<unknown>({ ...options, method: 'GET', path: '/apis', signal });
    if (!isObject(groups) || groups['kind'] !== 'APIGroupList' || !Array.isArray(groups['groups'])) return false;
    const group = objects(groups['groups']).find(({ name }) => name === kind.group);
    const versions = objects(object(group)['versions']).map(({ version }) => version);
    if (!versions.includes(kind.version)) return true;
    const path = `/apis/${apiVersion(kind)}`;
    const resources = await client.call<unknown>({ ...options, method: 'GET', path, signal });
    if (!isObject(resources) || resources['kind'] !== 'APIResourceList' || !Array.isArray(resources['resources']))
      return false;
    return !objects(resources['resources']).some(({ name }) => name === kind.plural);
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}
