import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** An object of a manifest. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface Webhook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}

/** Where the API server finds moco-controller's webhooks. */
export interface WebhookAddress {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
}

/** What runs in pods, and what cert-manager would act on. */
const omittedKinds = ['Deployment', 'Service', 'Certificate', 'Issuer'];

/**
 * MOCO's installation as its own `config/default` has it, but for what nobody here would act on: webhooks are reached on
 * loopback, and what its ServiceAccount may do, this user may.
 *
 * @param kustomized what `kubectl kustomize config/default` prints
 */
export function installation(kustomized: string, webhooks: WebhookAddress, user: string): readonly Manifest[] {
  return parseAllDocuments(kustomized)
    .map((document) => document.toJS() as Manifest)
    .filter(({ kind }) => !omittedKinds.includes(kind))
    .map((manifest) => {
      switch (manifest.kind) {
        case 'MutatingWebhookConfiguration':
        case 'ValidatingWebhookConfiguration':
          return { ...manifest, webhooks: (manifest['webhooks'] as Webhook[]).map((one) => onLoopback(one, webhooks)) };
        case 'RoleBinding':
        case 'ClusterRoleBinding':
          return { ...manifest, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }] };
        default:
          return manifest;
      }
    });
}

/** Definitions of cert-manager's kinds, which MOCO writes one of: MOCO tests with them. */
export function certManagerDefinitions(configuration: string): string {
  return join(configuration, 'crd/tests/third/cert-manager.crds.yaml');
}

function onLoopback(webhook: Webhook, { port, ca }: WebhookAddress): object {
  return {
    ...webhook,
    clientConfig: {
      url: `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`,
      caBundle: Buffer.from(ca).toString('base64'),
    },
  };
}
