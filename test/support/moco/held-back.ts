import { ApiError } from '../../../src/kube/api-error.ts';
import { statefulSets } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { clusterLabels, mocoApiVersion } from './names.ts';
import type { StatefulSet } from './objects.ts';

const replicas = 2;
/** One that every API server has, for a request that is never carried out. */
const namespace = 'default';

/**
 * Whether a webhook sets partition = replicas on a new StatefulSet of MOCO. The API server needs a moment for a new
 * configuration; until then, or while the webhook is unavailable, the answer is no.
 */
export async function beginsHeldBack(client: ObjectClient): Promise<boolean> {
  const labels = clusterLabels('begins-held-back');
  const owner = { apiVersion: mocoApiVersion, kind: 'MySQLCluster', name: 'begins-held-back', uid: 'none' };
  try {
    const made = await client.create<StatefulSet>(
      statefulSets,
      { namespace },
      {
        metadata: { name: 'moco-begins-held-back', labels, ownerReferences: [owner] },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          // With the type given, the API server leaves the partition to the webhook.
          updateStrategy: { type: 'RollingUpdate' },
          template: { metadata: { labels }, spec: { containers: [{ name: 'mysqld', image: 'none' }] } },
        },
      },
      { query: { dryRun: 'All' } },
    );
    return made.spec.updateStrategy?.rollingUpdate?.partition === replicas;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}
