import type { ApiClient } from '../../../src/kube/api-client.ts';
import { path, statefulSets } from '../../../src/kube/resource.ts';
import { createdByLabel, createdByMoco, strategyLabel, strategyOnDelete } from '../../../src/moco/names.ts';
import type { StatefulSet } from '../moco/objects.ts';

const place = { namespace: 'default', name: 'is-kept-on-delete' };
const write = { priority: 'disrupt' } as const;

/**
 * Whether admission keeps labelled StatefulSets at OnDelete now. The API server learns of a policy or a webhook a moment
 * after it was written. A StatefulSet without replicas and without an owner shows it: MOCO's webhook ignores that one.
 */
export async function isKeptOnDelete(client: ApiClient): Promise<boolean> {
  const labels = { [createdByLabel]: createdByMoco, [strategyLabel]: strategyOnDelete };
  await client.create<StatefulSet>(
    statefulSets,
    { namespace: place.namespace },
    {
      metadata: { name: place.name, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'none', image: 'none' }] } },
      },
    },
    write,
  );
  try {
    const asked = await client.call<StatefulSet>({
      method: 'PATCH',
      path: path(statefulSets, place),
      query: { dryRun: 'All' },
      contentType: 'application/merge-patch+json',
      body: { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } } },
      priority: 'read',
    });
    return asked.spec.updateStrategy?.type === strategyOnDelete;
  } finally {
    await client.remove(statefulSets, place, {}, write);
  }
}
