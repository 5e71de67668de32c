import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import type { ClaimWrite } from './claims.ts';
import type { PodWrite } from './write.ts';

const strategicMergePatch = 'application/strategic-merge-patch+json';

/** Performs one write, once. Rejects with the API server's error. */
export async function perform(client: ObjectClient, write: PodWrite | ClaimWrite): Promise<void> {
  const { namespace, name } = write;
  const options = { priority: 'status', retries: 0 } as const;
  switch (write.verb) {
    case 'bind': {
      const body = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace, name, uid: write.uid },
        target: { apiVersion: 'v1', kind: 'Node', name: write.node },
      };
      await client.create(pods, { namespace, name, subresource: 'binding' }, body, options);
      return;
    }
    case 'patchStatus': {
      const body = { metadata: { uid: write.uid }, status: write.status };
      await client.patch(pods, { namespace, name, subresource: 'status' }, strategicMergePatch, body, options);
      return;
    }
    case 'delete': {
      const { graceSeconds, uid } = write;
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid },
        ...(graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds }),
      };
      await client.remove(pods, { namespace, name }, body, options);
      return;
    }
    case 'patchClaim': {
      const place = { namespace, name, ...(write.subresource === null ? {} : { subresource: write.subresource }) };
      await client.patch(persistentVolumeClaims, place, strategicMergePatch, write.body, options);
    }
  }
}
