import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists } from '../../../src/kube/api-error.ts';
import { mutatingWebhookConfigurations, type ResourceKind, secrets } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { certManagerDefinitions } from '../real-moco/manifests.ts';
import type { Cluster } from './cluster.ts';
import { ObjectLoop } from './object-loop.ts';

const jsonPatch = 'application/json-patch+json';
/** Of a webhook configuration: the Certificate whose CA its webhooks get, as `NAMESPACE/NAME`. */
const injected = 'cert-manager.io/inject-ca-from';

const certificates: ResourceKind = {
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'certificates',
  kind: 'Certificate',
  namespaced: true,
};
const mutating = mutatingWebhookConfigurations;
const validating = {
  ...mutating,
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
};
const kinds = { certificates, mutating, validating };

interface Certificate {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec: { readonly secretName: string; readonly commonName?: string; readonly dnsNames?: readonly string[] };
}

interface WebhookConfiguration {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

/** cert-manager has these as well; they are not read here. */
const issuerDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'issuers.cert-manager.io' },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced',
    names: { kind: 'Issuer', listKind: 'IssuerList', plural: 'issuers', singular: 'issuer' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/**
 * Does in a cluster what MOCO needs of cert-manager: a Secret for each Certificate, all of one authority, and that
 * authority in the webhook configurations that want it. Nothing is renewed.
 *
 * @param configuration MOCO's own `config` directory, which has cert-manager's definitions
 */
export async function startCertificates(
  cluster: Cluster,
  configuration: string,
): Promise<ObjectLoop<keyof typeof kinds>> {
  const file = join(cluster.directory, 'issuers.json');
  await writeFile(file, JSON.stringify(issuerDefinition));
  await cluster.apply(certManagerDefinitions(configuration), file);
  const issued = new Set<string>();
  const caBundle = Buffer.from(cluster.caBundle).toString('base64');
  const loop = new ObjectLoop({ kubeconfig: cluster.kubeconfig, name: 'certificates', kinds }, async (loop) => {
    for (const certificate of loop.objects('certificates') as readonly Certificate[]) {
      const { uid } = certificate.metadata;
      if (issued.has(uid)) continue;
      await createSecret(loop.client, cluster, certificate);
      await sayReady(loop.client, certificate);
      issued.add(uid);
    }
    for (const which of ['mutating', 'validating'] as const) {
      for (const { metadata, webhooks = [] } of loop.objects(which) as readonly WebhookConfiguration[]) {
        const wants = metadata.annotations?.[injected] !== undefined;
        const patch = webhooks.flatMap(({ clientConfig }, index) => {
          const place = `/webhooks/${index}/clientConfig/caBundle`;
          return clientConfig.caBundle === caBundle ? [] : [{ op: 'add', path: place, value: caBundle }];
        });
        if (!wants || patch.length === 0) continue;
        await loop.client.patch(kinds[which], { name: metadata.name }, jsonPatch, patch);
      }
    }
  });
  await loop.start();
  return loop;
}

/** MOCO looks for the Secret when the Certificate changes. */
async function sayReady(client: ObjectClient, { metadata }: Certificate): Promise<void> {
  const { namespace, name } = metadata;
  const condition = { type: 'Ready', status: 'True', reason: 'Ready', lastTransitionTime: new Date().toISOString() };
  const status = { conditions: [condition] };
  const place = { namespace, name, subresource: 'status' };
  await client.merge(kinds.certificates, place, { status });
}

async function createSecret(client: ObjectClient, cluster: Cluster, { metadata, spec }: Certificate): Promise<void> {
  const { namespace } = metadata;
  const { secretName: name, commonName, dnsNames = [] } = spec;
  const { certificate, key } = await cluster.issue(commonName ?? dnsNames[0] ?? metadata.name, dnsNames);
  const files = {
    'tls.crt': await readFile(certificate),
    'tls.key': await readFile(key),
    'ca.crt': Buffer.from(cluster.caBundle),
  };
  const data = Object.fromEntries(Object.entries(files).map(([file, bytes]) => [file, bytes.toString('base64')]));
  const body = { metadata: { name }, type: 'kubernetes.io/tls', data };
  await client.create(secrets, { namespace }, body).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
