import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { path, type ResourceKind } from '../../src/kube/resource.ts';
import type { World } from '../../src/kube/world.ts';
import {
  annotationOn,
  createdByLabel,
  createdByMoco,
  mocoWebhookConfiguration,
  preventDeleteAnnotation,
} from '../../src/moco/names.ts';
import { isTrue } from './conditions.ts';
import { storageClasses } from './kinds.ts';
import { clusterWebhook, deleteValidatorPolicy, mocoGroup, mocoManager, statefulSetWebhook } from './names.ts';
import type { Condition } from './objects.ts';
import { clusterWebhookPath, type MocoWebhookServer, statefulSetWebhookPath } from './webhook-server.ts';
import type { Body } from './write.ts';

export const clusterDefinitionFile = fileURLToPath(new URL('crd/moco.cybozu.com_mysqlclusters.yaml', import.meta.url));

/** The default StorageClass, under which claims can grow. */
export const defaultStorageClass = 'std';

const definitionPollMilliseconds = 50;
const webhookTimeoutSeconds = 10;

const definitions = clusterScoped(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
);
const webhookConfigurations = clusterScoped(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);
const policies = clusterScoped(
  'admissionregistration.k8s.io',
  'v1',
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
);
const bindings = clusterScoped(
  'admissionregistration.k8s.io',
  'v1',
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
);

function clusterScoped(group: string, version: string, plural: string, kind: string): ResourceKind {
  return { group, version, plural, kind, namespaced: false };
}

/**
 * Puts into the API server what MOCO's installation does: its definition of MySQLCluster, its webhooks (answered at
 * `webhook`), its policy against deleting a protected pod; and a default StorageClass. May be done again.
 */
export async function installMoco(client: ApiClient, world: World, webhook: MocoWebhookServer): Promise<void> {
  await apply(client, definitions, parse(await readFile(clusterDefinitionFile, 'utf8')) as Body);
  await apply(client, storageClasses, storageClass());
  await apply(client, webhookConfigurations, webhookConfiguration(webhook));
  await apply(client, policies, deleteValidator());
  await apply(client, bindings, {
    metadata: { name: deleteValidatorPolicy },
    spec: { policyName: deleteValidatorPolicy, validationActions: ['Deny'] },
  });
  await established(client, world);
}

/** MOCO is installed without its StatefulSet webhook, or no longer. */
export async function uninstallMocoWebhooks(client: ApiClient): Promise<void> {
  await client.call<unknown>({
    method: 'DELETE',
    path: path(webhookConfigurations, { name: mocoWebhookConfiguration }),
    lane: 'disrupt',
  });
}

async function apply(client: ApiClient, kind: ResourceKind, body: Body): Promise<void> {
  const { name } = body['metadata'] as { name: string };
  const { group, version } = kind;
  await client.call<unknown>({
    method: 'PATCH',
    path: path(kind, { name }),
    query: { fieldManager: mocoManager, force: true },
    contentType: 'application/apply-patch+yaml',
    body: { ...body, apiVersion: `${group}/${version}`, kind: kind.kind },
    lane: 'disrupt',
  });
}

async function established(client: ApiClient, world: World): Promise<void> {
  const target = path(definitions, { name: `mysqlclusters.${mocoGroup}` });
  for (;;) {
    const { status } = await client.call<{ status?: { conditions?: Condition[] } }>({
      method: 'GET',
      path: target,
      lane: 'read',
    });
    if (isTrue(status?.conditions, 'Established')) {
      return;
    }
    await new Promise<void>((resolve) => {
      world.timer(definitionPollMilliseconds, resolve);
    });
  }
}

function storageClass(): Body {
  return {
    metadata: {
      name: defaultStorageClass,
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: 'example.com/none',
    allowVolumeExpansion: true,
  };
}

function webhookConfiguration(server: MocoWebhookServer): Body {
  const clientConfig = (webhookPath: string): Body => ({
    url: `${server.url}${webhookPath}`,
    caBundle: Buffer.from(server.authority).toString('base64'),
  });
  const common = {
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    timeoutSeconds: webhookTimeoutSeconds,
  };
  return {
    metadata: { name: mocoWebhookConfiguration },
    webhooks: [
      {
        ...common,
        name: clusterWebhook,
        clientConfig: clientConfig(clusterWebhookPath),
        rules: [
          { apiGroups: [mocoGroup], apiVersions: ['v1beta2'], resources: ['mysqlclusters'], operations: ['CREATE'] },
        ],
      },
      {
        ...common,
        name: statefulSetWebhook,
        clientConfig: clientConfig(statefulSetWebhookPath),
        objectSelector: { matchLabels: { [createdByLabel]: createdByMoco } },
        rules: [
          { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['statefulsets'], operations: ['CREATE', 'UPDATE'] },
        ],
      },
    ],
  };
}

/** Refuses a DELETE, not an eviction, which is none; so the kubelet's own last DELETE is refused too. */
function deleteValidator(): Body {
  const annotation = `oldObject.metadata.annotations['${preventDeleteAnnotation}']`;
  return {
    metadata: { name: deleteValidatorPolicy },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['DELETE'], resources: ['pods'] }],
      },
      validations: [
        {
          expression: [
            '!has(oldObject.metadata.annotations)',
            `!('${preventDeleteAnnotation}' in oldObject.metadata.annotations)`,
            `${annotation} != '${annotationOn}'`,
          ].join(' || '),
          messageExpression: "oldObject.metadata.name + ' is protected from deletion'",
        },
      ],
    },
  };
}
