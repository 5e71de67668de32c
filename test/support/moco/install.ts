import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { isNotFound } from '../../../src/kube/api-error.ts';
import {
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  path,
  type ResourceKind,
} from '../../../src/kube/resource.ts';
import type { World } from '../../../src/kube/world.ts';
import {
  annotationOn,
  createdByLabel,
  createdByMoco,
  mocoWebhookConfiguration,
  preventDeleteAnnotation,
} from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { isTrue } from './conditions.ts';
import { writtenKinds } from './kinds.ts';
import {
  clusterFinalizer,
  clusterWebhook,
  deleteValidatorPolicy,
  mocoGroup,
  mocoManager,
  statefulSetWebhook,
} from './names.ts';
import type { Condition, MySQLCluster } from './objects.ts';
import { sampleCluster } from './sample.ts';
import { clusterWebhookPath, type MocoWebhookServer, statefulSetWebhookPath } from './webhook-server.ts';
import type { Body } from './write.ts';

export const clusterDefinitionFile = fileURLToPath(new URL('crd/moco.cybozu.com_mysqlclusters.yaml', import.meta.url));

const pollMilliseconds = 50;
/** A namespace that every API server has, for a request that is never carried out. */
const dryRunNamespace = 'default';
const webhookTimeoutSeconds = 10;

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

export interface MocoInstallation {
  /** MOCO's webhook `statefulset.kb.io`, which belongs to its partition controller. */
  readonly statefulSetWebhook?: boolean;
}

/**
 * Puts into the API server what MOCO's installation does: its definition of MySQLCluster, its webhooks (answered at
 * `webhook`), its policy against deleting a protected pod. Resolves once the kind is served and the webhooks are
 * consulted. May be done again.
 */
export async function installMoco(
  client: ObjectClient,
  world: World,
  webhook: MocoWebhookServer,
  { statefulSetWebhook: withStatefulSets = true }: MocoInstallation = {},
): Promise<void> {
  await apply(client, customResourceDefinitions, parse(await readFile(clusterDefinitionFile, 'utf8')) as Body);
  await apply(client, mutatingWebhookConfigurations, webhookConfiguration(webhook, withStatefulSets));
  await apply(client, policies, deleteValidator());
  await apply(client, bindings, {
    metadata: { name: deleteValidatorPolicy },
    spec: { policyName: deleteValidatorPolicy, validationActions: ['Deny'] },
  });
  await until(world, () => isEstablished(client));
  await until(world, () => isConsulted(client));
}

async function apply(client: ObjectClient, kind: ResourceKind, body: Body): Promise<void> {
  const { name } = body['metadata'] as { name: string };
  const { group, version } = kind;
  await client.call<unknown>({
    method: 'PATCH',
    path: path(kind, { name }),
    query: { fieldManager: mocoManager, force: true },
    contentType: 'application/apply-patch+yaml',
    body: { ...body, apiVersion: `${group}/${version}`, kind: kind.kind },
    priority: 'disrupt',
  });
}

async function until(world: World, condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await new Promise<void>((resolve) => {
      world.timer(pollMilliseconds, resolve);
    });
  }
}

async function isEstablished(client: ObjectClient): Promise<boolean> {
  const target = path(customResourceDefinitions, { name: `mysqlclusters.${mocoGroup}` });
  const definition = await client.call<{ status?: { conditions?: Condition[] } }>({
    method: 'GET',
    path: target,
    priority: 'read',
  });
  return isTrue(definition.status?.conditions, 'Established');
}

/**
 * The API server needs a moment for a new configuration; a dry run shows whether one of its webhooks is called, and so
 * the others.
 */
async function isConsulted(client: ObjectClient): Promise<boolean> {
  try {
    const made = await client.call<MySQLCluster>({
      method: 'POST',
      path: path(writtenKinds.MySQLCluster, { namespace: dryRunNamespace }),
      query: { dryRun: 'All' },
      priority: 'read',
      body: sampleCluster({ name: 'is-consulted', namespace: dryRunNamespace }),
    });
    return made.metadata.finalizers?.includes(clusterFinalizer) ?? false;
  } catch (error) {
    // An established kind is served a moment later.
    if (isNotFound(error)) return false;
    throw error;
  }
}

function webhookConfiguration(server: MocoWebhookServer, withStatefulSets: boolean): Body {
  const clientConfig = (webhookPath: string): Body => ({
    url: `${server.url}${webhookPath}`,
    caBundle: Buffer.from(server.ca).toString('base64'),
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
      ...(withStatefulSets
        ? [
            {
              ...common,
              name: statefulSetWebhook,
              clientConfig: clientConfig(statefulSetWebhookPath),
              objectSelector: { matchLabels: { [createdByLabel]: createdByMoco } },
              rules: [
                {
                  apiGroups: ['apps'],
                  apiVersions: ['v1'],
                  resources: ['statefulsets'],
                  operations: ['CREATE', 'UPDATE'],
                },
              ],
            },
          ]
        : []),
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
