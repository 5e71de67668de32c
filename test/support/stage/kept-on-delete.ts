import { statefulSets } from '../../../src/kube/resource.ts';
import {
  admissionProbeAnnotation,
  createdByLabel,
  createdByMoco,
  probeSeenByWebhook,
  probeSent,
  strategyLabel,
  strategyOnDelete,
} from '../../../src/moco/names.ts';
import type { StatefulSet } from '../moco/objects.ts';
import type { ObjectClient } from '../object-client.ts';

const place = { namespace: 'default', name: 'is-kept-on-delete' };

/** Whether admission keeps labelled StatefulSets at OnDelete now. */
export const isKeptOnDelete = async (client: ObjectClient): Promise<boolean> =>
  (await keeperOfOnDelete(client)) !== null;

/**
 * Who keeps labelled StatefulSets at OnDelete now; with both of them it is the webhook. The API server learns of a policy or
 * a webhook a moment after it was written. A StatefulSet without replicas and without an owner shows it: MOCO's webhook
 * ignores that one.
 */
export async function keeperOfOnDelete(client: ObjectClient): Promise<'policy' | 'webhook' | null> {
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
  );
  try {
    const asked = await client.merge<StatefulSet>(
      statefulSets,
      place,
      {
        metadata: { annotations: { [admissionProbeAnnotation]: probeSent } },
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
      },
      { query: { dryRun: 'All' } },
    );
    if (asked.spec.updateStrategy?.type !== strategyOnDelete) return null;
    return asked.metadata.annotations?.[admissionProbeAnnotation] === probeSeenByWebhook ? 'webhook' : 'policy';
  } finally {
    await client.remove(statefulSets, place);
  }
}
