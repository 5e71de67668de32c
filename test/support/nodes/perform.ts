import type { ContentType } from '../../../src/kube/api-client.ts';
import { isAlreadyExists } from '../../../src/kube/api-error.ts';
import { path, persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import type { ClaimWrite, VolumeWrite } from './claims.ts';
import type { PodWrite } from './write.ts';

const strategicMergePatch = 'application/strategic-merge-patch+json';

interface Request {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly contentType?: ContentType;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a write sends to the API server. */
export function requestOf(write: PodWrite | ClaimWrite | VolumeWrite): Request {
  const { namespace, name } = write;
  switch (write.verb) {
    case 'bind': {
      const target = { apiVersion: 'v1', kind: 'Node', name: write.node };
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid: write.uid }, target };
      return { method: 'POST', path: path(pods, { namespace, name, subresource: 'binding' }), body };
    }
    case 'patchStatus': {
      const body = { metadata: { uid: write.uid }, status: write.status };
      const target = path(pods, { namespace, name, subresource: 'status' });
      return { method: 'PATCH', path: target, contentType: strategicMergePatch, body };
    }
    case 'delete': {
      const { graceSeconds, uid } = write;
      const grace = graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, ...grace };
      return { method: 'DELETE', path: path(pods, { namespace, name }), body };
    }
    case 'createVolume':
      return { method: 'POST', path: path(persistentVolumes, {}), body: write.body };
    case 'patchClaim': {
      const place = { namespace, name, ...(write.subresource === null ? {} : { subresource: write.subresource }) };
      const target = path(persistentVolumeClaims, place);
      return { method: 'PATCH', path: target, contentType: strategicMergePatch, body: write.body };
    }
  }
}

/** Performs one write, once. Rejects with the API server's error. */
export async function perform(client: ObjectClient, write: PodWrite | ClaimWrite | VolumeWrite): Promise<void> {
  try {
    await client.call({ ...requestOf(write), priority: 'status', retries: 0 });
  } catch (error) {
    // Two looks at a claim may both make its volume.
    if (write.verb !== 'createVolume' || !isAlreadyExists(error)) throw error;
  }
}
