import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, isConflict, isNotFound } from '../../kube/api-error.ts';
import { mutatingWebhookConfigurations, path } from '../../kube/resource.ts';
import { ownWebhookSuffix } from '../../moco/names.ts';

/** Those of `config/webhook` and, where it is installed, of `config/partition-driver`. */
export const ownConfigurations = [
  'moco-rollout-mutating-webhook-configuration',
  'moco-rollout-partition-webhook-configuration',
] as const;

/** As much of a MutatingWebhookConfiguration as is needed here. */
interface WebhookConfiguration {
  readonly metadata: { readonly resourceVersion: string };
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[];
}

export interface ReadConfiguration {
  readonly name: (typeof ownConfigurations)[number];
  /** `null`: it is not there. */
  readonly configuration: WebhookConfiguration | null;
}

/** Rejects with `ApiError`. */
export async function readConfigurations(
  client: ApiClient,
  signal: AbortSignal,
): Promise<readonly ReadConfiguration[]> {
  return Promise.all(
    ownConfigurations.map(async (name) => {
      const options = { lane: 'read', signal } as const;
      try {
        return { name, configuration: await client.get(mutatingWebhookConfigurations, { name }, options) };
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return { name, configuration: null };
      }
    }),
  );
}

/** Places of our webhooks that tell the API server something else than this bundle, in PEM. */
function placesWithout({ configuration }: ReadConfiguration, bundle: string): readonly number[] {
  const wanted = Buffer.from(bundle).toString('base64');
  return (configuration?.webhooks ?? []).flatMap(({ name, clientConfig }, place) =>
    name.endsWith(ownWebhookSuffix) && clientConfig?.caBundle !== wanted ? [place] : [],
  );
}

export function carriesBundle(read: ReadConfiguration, bundle: string): boolean {
  return placesWithout(read, bundle).length === 0;
}

/**
 * Tells the API server the bundle, in the configuration as it was read: one that somebody has changed since stays as it
 * is, and this resolves to `false`. So a bundle never takes the place of a newer one, where the Secret was read after
 * the configuration. Nothing but `caBundle` of our webhooks is written. Rejects with `ApiError`.
 */
export async function putBundle(
  client: ApiClient,
  read: ReadConfiguration,
  bundle: string,
  signal: AbortSignal,
): Promise<boolean> {
  const value = Buffer.from(bundle).toString('base64');
  const asRead = {
    op: 'test',
    path: '/metadata/resourceVersion',
    value: read.configuration?.metadata.resourceVersion,
  };
  const patches = placesWithout(read, bundle).map((place) => {
    return { op: 'add', path: `/webhooks/${place}/clientConfig/caBundle`, value };
  });
  try {
    await client.call({
      method: 'PATCH',
      path: path(mutatingWebhookConfigurations, { name: read.name }),
      contentType: 'application/json-patch+json',
      body: [asRead, ...patches],
      lane: 'status',
      signal,
    });
    return true;
  } catch (error) {
    // A test that fails is answered 422.
    const isOther = error instanceof ApiError && error.status === 422;
    if (isOther || isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}
