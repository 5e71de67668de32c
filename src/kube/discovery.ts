import { isObject, object, objects } from '../base/json.ts';
import type { ApiClient, CallOptions } from './api-client.ts';
import { ApiError, isMissing, isNotFound } from './api-error.ts';
import { apiVersion, type ResourceKind } from './resource.ts';

const options: CallOptions = { priority: 'read', retries: 0 };

/**
 * Whether the error of a request for the kind proves that the requested object does not exist: the API server itself
 * says so, or its discovery shows that it does not serve the kind. Any other page that answers 404 proves nothing.
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
 * Whether the API server is known not to serve the kind. It answers the list of such a kind with `404 page not found`
 * and no Status (Kubernetes 1.36, notfoundhandler), as a proxy does for anything. So its discovery is asked which
 * groups it has, and which resources their version has. `false` if that is unknown.
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
