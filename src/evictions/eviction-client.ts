import { timestampOf } from '../base/json.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { isNotFound, isOfAnotherUid } from '../kube/api-error.ts';
import { apiVersion, path } from '../kube/resource.ts';
import { type EvictionRecord, evictionKind, responderName } from './eviction.ts';
import type { ResponderEntry } from './respond.ts';

/** The owner of the entry's fields in `managedFields`. */
const fieldManager = 'moco-rollout';

/**
 * Applies this program's entry of `status.responders`. A server-side apply of one entry leaves the fields of
 * Kubernetes and of other responders alone; the evictionrequest-controller owns `startTime` in the same entry.
 * Resolves to `false` if there is no such Eviction any more. Rejects with `ApiError`.
 */
export async function applyEntry(
  client: Pick<ApiClient, 'call'>,
  { namespace, name, uid }: Pick<EvictionRecord, 'namespace' | 'name' | 'uid'>,
  entry: ResponderEntry,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.call({
      method: 'PATCH',
      path: path(evictionKind, { namespace, name, subresource: 'status' }),
      // Takes back each field of this entry that another field manager has taken over.
      query: { fieldManager, force: true, fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: apiVersion(evictionKind),
        kind: evictionKind.kind,
        metadata: { namespace, name, uid },
        status: { responders: [entryOf(entry)] },
      },
      priority: 'status',
      signal,
    });
    return true;
  } catch (error) {
    if (isNotFound(error) || isOfAnotherUid(error)) return false;
    throw error;
  }
}

/** Server-side apply removes each field that this program owns and leaves out. */
const entryOf = ({ heartbeatAt, expectedAt, completedAt, message }: ResponderEntry): object => ({
  name: responderName,
  heartbeatTime: timeOf(heartbeatAt),
  ...(expectedAt !== null && { expectedCompletionTime: timeOf(expectedAt) }),
  ...(completedAt !== null && { completionTime: timeOf(completedAt) }),
  message,
});

/** The time in the format of Kubernetes' `metav1.Time`, without fractions of a second. */
const timeOf = (milliseconds: number): string => timestampOf(milliseconds).replace(/\.\d+Z$/, 'Z');
