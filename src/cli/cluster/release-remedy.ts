import { ownWebhookSuffix } from '../../moco/names.ts';

/** The names in `config/`. */
const mutatingConfiguration = 'moco-rollout-mutating-webhook-configuration';
const partitionConfiguration = 'moco-rollout-partition-webhook-configuration';

/** Appends a remedy to a message about an unreachable webhook. Other messages are returned unchanged. */
export function remedyOf(sentence: string): string {
  const webhook = /failed calling webhook \\?"([^"\\]+)\\?"/.exec(sentence)?.[1];
  if (webhook === undefined) return sentence;
  if (!webhook.endsWith(ownWebhookSuffix)) {
    return `${sentence}; webhook ${webhook} has to be reachable again first: is moco-controller running?`;
  }
  const configuration = webhook.startsWith('partition.') ? partitionConfiguration : mutatingConfiguration;
  return `${sentence}; start the controller again, whose webhook this is, or let the StatefulSets go without it: kubectl delete mutatingwebhookconfiguration ${configuration}`;
}
