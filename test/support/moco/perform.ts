import { isNotFound } from '../../../src/kube/api-error.ts';
import { path } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { writtenKinds } from './kinds.ts';
import { mocoManager } from './names.ts';
import type { KubernetesObject } from './objects.ts';
import { isRecord } from './same.ts';
import type { Patch, Write } from './write.ts';

const manager = { fieldManager: mocoManager };

/** Performs one write. Resolves to the resulting object, or `null` if there is none; rejects with ApiError. */
export async function perform(client: ObjectClient, write: Write): Promise<KubernetesObject | null> {
  const kind = writtenKinds[write.kind];
  const target = path(kind, write);
  switch (write.verb) {
    case 'apply':
      return client.call<KubernetesObject>({
        method: 'PATCH',
        path: target,
        query: { ...manager, force: true },
        contentType: 'application/apply-patch+yaml',
        body: write.body,
        priority: 'disrupt',
      });
    case 'patch':
      return client.call<KubernetesObject>({
        method: 'PATCH',
        path: target,
        query: manager,
        contentType: 'application/merge-patch+json',
        body: patchBody(write),
        priority: 'disrupt',
      });
    case 'replaceStatus':
      return client.call<KubernetesObject>({
        method: 'PUT',
        path: path(kind, { ...write, subresource: 'status' }),
        query: manager,
        body: write.body,
        priority: 'status',
      });
    case 'delete':
      return deleteObject(client, target, write.orphan);
  }
}

async function deleteObject(client: ObjectClient, target: string, orphan: boolean): Promise<null> {
  try {
    await client.call<unknown>({
      method: 'DELETE',
      path: target,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: orphan ? 'Orphan' : 'Background' },
      priority: 'disrupt',
    });
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
  }
  return null;
}

/** The API server answers 409 to a patch that names another uid than the object's. */
function patchBody({ body, uid }: Patch): Readonly<Record<string, unknown>> {
  const metadata = isRecord(body['metadata']) ? body['metadata'] : {};
  return uid === null ? body : { ...body, metadata: { ...metadata, uid } };
}
