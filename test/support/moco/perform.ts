import type { ContentType } from '../../../src/kube/api-client.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import { path } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { writtenKinds } from './kinds.ts';
import { mocoManager } from './names.ts';
import type { KubernetesObject } from './objects.ts';
import { isRecord } from './same.ts';
import type { Patch, Write } from './write.ts';

interface Request {
  readonly method: 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly contentType?: ContentType;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a write sends to the API server. */
export function requestOf(write: Write): Request {
  const kind = writtenKinds[write.kind];
  const target = path(kind, write);
  const query = { fieldManager: mocoManager };
  switch (write.verb) {
    case 'apply': {
      const contentType = 'application/apply-patch+yaml';
      return { method: 'PATCH', path: target, query: { ...query, force: 'true' }, contentType, body: write.body };
    }
    case 'patch': {
      const contentType = 'application/merge-patch+json';
      return { method: 'PATCH', path: target, query, contentType, body: patchBody(write) };
    }
    case 'replaceStatus':
      return { method: 'PUT', path: `${target}/status`, query, body: write.body };
    case 'delete': {
      const propagationPolicy = write.orphan ? 'Orphan' : 'Background';
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
      return { method: 'DELETE', path: target, query: {}, body };
    }
  }
}

/** Performs one write. Resolves to the resulting object, or `null` if there is none; rejects with ApiError. */
export async function perform(client: ObjectClient, write: Write): Promise<KubernetesObject | null> {
  const priority = write.verb === 'replaceStatus' ? 'status' : 'disrupt';
  try {
    const left = await client.call<KubernetesObject>({ ...requestOf(write), priority });
    return write.verb === 'delete' ? null : left;
  } catch (error) {
    if (write.verb === 'delete' && isNotFound(error)) return null;
    throw error;
  }
}

/** The API server answers 409 to a patch that names another uid than the object's. */
function patchBody({ body, uid }: Patch): Readonly<Record<string, unknown>> {
  const metadata = isRecord(body['metadata']) ? body['metadata'] : {};
  return uid === null ? body : { ...body, metadata: { ...metadata, uid } };
}
