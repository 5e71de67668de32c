import { copyFile, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningWebhook, startWebhook, type WebhookOptions } from '../../src/admission/server.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { mutatingWebhookConfigurations, path, statefulSets } from '../../src/kube/resource.ts';
import { readOne } from '../config/manifests.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { clusterLabels, mocoApiVersion } from '../support/moco/names.ts';
import type { StatefulSet } from '../support/moco/objects.ts';
import type { ObjectClient } from '../support/object-client.ts';
import { keeperOfOnDelete } from '../support/stage/kept-on-delete.ts';

const log = { info: ignore, warn: ignore, error: ignore };

/** Where in `config/` each of our webhook configurations is. */
export type Configuration = 'webhook' | 'partition-driver';

function ignore(): void {}

/** This project's webhook as a process of its own would be, and its configurations, led to its port. */
export class OwnWebhook {
  readonly #client: ObjectClient;
  readonly #controlPlane: ControlPlane;
  readonly #options: Omit<WebhookOptions, 'address'>;
  readonly #registered = new Set<Configuration>();
  #running: RunningWebhook;

  private constructor(
    controlPlane: ControlPlane,
    client: ObjectClient,
    options: Omit<WebhookOptions, 'address'>,
    running: RunningWebhook,
  ) {
    this.#controlPlane = controlPlane;
    this.#client = client;
    this.#options = options;
    this.#running = running;
  }

  static async start(
    controlPlane: ControlPlane,
    client: ObjectClient,
    more: Pick<WebhookOptions, 'clientCaFile'> = {},
  ): Promise<OwnWebhook> {
    const certDir = await mkdtemp(join(controlPlane.directory, 'webhook-'));
    const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    await copyFile(certificate, join(certDir, 'tls.crt'));
    await copyFile(key, join(certDir, 'tls.key'));
    const options = { certDir, log, ...more };
    const running = await startWebhook({ address: { host: '127.0.0.1', port: 0 }, ...options });
    return new OwnWebhook(controlPlane, client, options, running);
  }

  /** Registers configurations and waits until the API server asks the webhook. */
  async register(...configurations: readonly Configuration[]): Promise<void> {
    for (const configuration of configurations) {
      await this.#write(configuration);
      await until(`the API server asks by config/${configuration}`, () => this.#isAsked(configuration));
    }
  }

  async unregister(configuration: Configuration): Promise<void> {
    const { metadata } = await readOne('MutatingWebhookConfiguration', configuration);
    this.#registered.delete(configuration);
    await this.#client.call({
      method: 'DELETE',
      path: path(mutatingWebhookConfigurations, metadata),
      priority: 'disrupt',
    });
    await until(`the API server no longer asks by config/${configuration}`, async () => {
      return !(await this.#isAsked(configuration));
    });
  }

  /** The process ends, so no process listens any more. */
  async goAway(): Promise<void> {
    await this.#running.close(0);
  }

  /** At the same address. */
  async comeBack(): Promise<void> {
    const { address } = this.#running;
    this.#running = await startWebhook({ address, ...this.#options });
  }

  /** Nothing is left of it. */
  async stop(): Promise<void> {
    for (const configuration of this.#registered) await this.unregister(configuration);
    await this.goAway();
  }

  async #write(configuration: Configuration): Promise<void> {
    this.#registered.add(configuration);
    const { file: _, ...manifest } = await readOne('MutatingWebhookConfiguration', configuration);
    const webhooks = (manifest['webhooks'] as readonly Webhook[]).map((webhook) => ({
      ...webhook,
      clientConfig: {
        url: `https://127.0.0.1:${this.#running.address.port}${webhook.clientConfig.service.path}`,
        caBundle: Buffer.from(this.#controlPlane.caBundle).toString('base64'),
      },
    }));
    await this.#client.call({
      method: 'PATCH',
      path: path(mutatingWebhookConfigurations, { name: manifest.metadata.name }),
      query: { fieldManager: 'installation', force: true },
      contentType: 'application/apply-patch+yaml',
      body: { ...manifest, webhooks },
      priority: 'disrupt',
    });
  }

  /**
   * Whether the webhook has its say about a StatefulSet of MOCO's: one that is labelled, or one that would be created,
   * where MOCO's own leaves the partition that it brings.
   */
  async #isAsked(configuration: Configuration): Promise<boolean> {
    if (configuration === 'webhook') return (await keeperOfOnDelete(this.#client)) === 'webhook';
    const name = 'is-held-back';
    const labels = clusterLabels(name);
    const ownerReferences = [{ apiVersion: mocoApiVersion, kind: 'MySQLCluster', name, uid: 'none' }];
    try {
      const { spec } = await this.#client.call<StatefulSet>({
        method: 'POST',
        path: path(statefulSets, { namespace: 'default' }),
        query: { dryRun: 'All' },
        priority: 'read',
        body: {
          metadata: { name: `moco-${name}`, labels, ownerReferences },
          spec: {
            replicas: 2,
            selector: { matchLabels: labels },
            updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
            template: { metadata: { labels }, spec: { containers: [{ name: 'mysqld', image: 'none' }] } },
          },
        },
      });
      return spec.updateStrategy?.rollingUpdate?.partition === 2;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }
}

interface Webhook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}
