import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { mutatingWebhookConfigurations } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';

const configuration = fileURLToPath(new URL('../../../config/', import.meta.url));

/** This project's MutatingWebhookConfigurations: the standard one, and the own partition driver's. */
export const webhookManifest = `${configuration}webhook/mutating-webhook-configuration.yaml`;
export const partitionWebhookManifest = `${configuration}partition-driver/mutating-webhook-configuration.yaml`;

interface WebhookManifest {
  readonly metadata: { readonly name: string };
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

/**
 * The manifest as it is, but for the address: the API server reaches this machine by a URL and not by a Service.
 *
 * @param caBundle PEM
 */
export async function registerWebhooks(
  client: ObjectClient,
  file: string,
  { port, caBundle }: { readonly port: number; readonly caBundle: string },
): Promise<void> {
  const manifest = parse(await readFile(file, 'utf8')) as WebhookManifest;
  const webhooks = manifest.webhooks.map((webhook) => ({
    ...webhook,
    clientConfig: {
      url: `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`,
      caBundle: Buffer.from(caBundle).toString('base64'),
    },
  }));
  await client.apply(mutatingWebhookConfigurations, { ...manifest, webhooks }, 'stage');
}
