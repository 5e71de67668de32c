import type { Stage } from '../../hack/stage/stage.ts';
import type { WebhookProblem } from '../../src/core/snapshot.ts';
import { mutatingWebhookConfigurations, path } from '../../src/kube/resource.ts';
import { mocoWebhookConfiguration, ownWebhook } from '../../src/moco/names.ts';

interface Configuration {
  readonly metadata: { readonly name: string };
  readonly webhooks: readonly Webhook[];
}

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
}

const write = { lane: 'disrupt' } as const;
const sortsFirst = 'a-moco-rollout-webhook-configuration';

/** The registration of this project's webhook on a stage, which somebody spoils and puts right again. */
export class RegisteredWebhook {
  readonly #stage: Stage;
  readonly #right: Configuration;
  /** `null`: it is not registered. */
  #name: string | null;

  private constructor(stage: Stage, right: Configuration) {
    this.#stage = stage;
    this.#right = right;
    this.#name = right.metadata.name;
  }

  static async of(stage: Stage): Promise<RegisteredWebhook> {
    const right = (await configurations(stage)).find(({ webhooks }) =>
      webhooks.some(({ name }) => name === ownWebhook),
    );
    if (right === undefined) throw new Error(`Expected a webhook ${ownWebhook} to be registered, there is none`);
    const { metadata, webhooks } = right;
    return new RegisteredWebhook(stage, { metadata: { name: metadata.name }, webhooks });
  }

  async spoil(problem: WebhookProblem): Promise<void> {
    switch (problem) {
      case 'notRegistered':
        return this.#become(null);
      case 'wrongOrder':
        return this.#become({ ...this.#right, metadata: { name: sortsFirst } });
      case 'noCertificate':
        return this.#become(this.#withBundle(''));
      case 'wrongCertificate': {
        const moco = (await configurations(this.#stage)).find(
          ({ metadata }) => metadata.name === mocoWebhookConfiguration,
        );
        return this.#become(this.#withBundle(moco?.webhooks[0]?.clientConfig.caBundle ?? ''));
      }
    }
  }

  putRight(): Promise<void> {
    return this.#become(this.#right);
  }

  #withBundle(caBundle: string): Configuration {
    const webhooks = this.#right.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }));
    return { ...this.#right, webhooks };
  }

  async #become(wanted: Configuration | null): Promise<void> {
    const { client } = this.#stage;
    const before = this.#name;
    this.#name = wanted?.metadata.name ?? null;
    if (before !== null && before === this.#name) {
      const webhooks = wanted?.webhooks;
      const place = { name: before };
      await client.patch(mutatingWebhookConfigurations, place, 'application/merge-patch+json', { webhooks }, write);
      return;
    }
    if (before !== null) await client.remove(mutatingWebhookConfigurations, { name: before }, {}, write);
    if (wanted !== null) await client.create(mutatingWebhookConfigurations, {}, wanted, write);
  }
}

async function configurations(stage: Stage): Promise<readonly Configuration[]> {
  const all = path(mutatingWebhookConfigurations);
  return (await stage.client.call<{ items: Configuration[] }>({ method: 'GET', path: all, lane: 'read' })).items;
}
