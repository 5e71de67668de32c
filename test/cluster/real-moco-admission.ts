import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { ApiError, isNotFound } from '../../src/kube/api-error.ts';
import { mutatingWebhookConfigurations, path } from '../../src/kube/resource.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { until } from '../support/control-plane/until.ts';
import type { ObjectClient } from '../support/object-client.ts';
import { installAdmissionPolicy, removeAdmissionPolicy } from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { webhookManifest } from '../support/stage/webhook-registration.ts';

interface WebhookManifest {
  readonly metadata: { readonly name: string };
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

/** What an API server from 1.36 on has: the policy, and no webhook of ours. */
export async function withPolicy(client: ObjectClient): Promise<void> {
  const { metadata } = await webhook();
  const target = path(mutatingWebhookConfigurations, metadata);
  await client.call({ method: 'DELETE', path: target, priority: 'disrupt' }).catch(unlessNotFound);
  await installAdmissionPolicy(client);
  await until('the policy is in force', async () => (await kept(client)) === true);
}

/** What an API server before 1.36 has: our webhook, at an address where no process listens. */
export async function withAbsentWebhook(client: ObjectClient, failurePolicy: 'Fail' | 'Ignore'): Promise<void> {
  await removeAdmissionPolicy(client).catch(unlessNotFound);
  const { metadata, webhooks, ...manifest } = await webhook();
  const port = await freePort();
  const led = webhooks.map((one) => ({
    ...one,
    failurePolicy,
    clientConfig: { url: `https://127.0.0.1:${port}${one.clientConfig.service.path}` },
  }));
  await client.call({
    method: 'PATCH',
    path: path(mutatingWebhookConfigurations, metadata),
    query: { fieldManager: 'stage', force: true },
    contentType: 'application/apply-patch+yaml',
    body: { ...manifest, metadata, webhooks: led },
    priority: 'disrupt',
  });
  const answer = failurePolicy === 'Fail' ? 'refused' : false;
  await until(`the webhook is absent under ${failurePolicy}`, async () => (await kept(client)) === answer);
}

async function kept(client: ObjectClient): Promise<boolean | 'refused'> {
  try {
    return await isKeptOnDelete(client);
  } catch (error) {
    if (error instanceof ApiError && error.message.includes('failed calling webhook')) return 'refused';
    throw error;
  }
}

async function webhook(): Promise<WebhookManifest> {
  return parse(await readFile(webhookManifest, 'utf8')) as WebhookManifest;
}

function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
