import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { delay } from '../../../src/base/delay.ts';
import type { World } from '../../../src/base/world.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import {
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  type ResourceKind,
} from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusterKind,
  createdByLabel,
  createdByMoco,
  mocoWebhookConfiguration,
  preventDeleteAnnotation,
} from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { isTrue } from './conditions.ts';
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
const namespace = 'default';
const webhookTimeoutSeconds = 10;

const policies = ofAdmission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
const bindings = ofAdmission('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding');

function ofAdmission(plural: string, kind: string): ResourceKind {
  return { group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false };
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
  const bound = {
    metadata: { name: deleteValidatorPolicy },
    spec: { policyName: deleteValidatorPolicy, validationActions: ['Deny'] },
  };
  await client.apply(customResourceDefinitions, parse(await readFile(clusterDefinitionFile, 'utf8')), mocoManager);
  await client.apply(mutatingWebhookConfigurations, webhookConfiguration(webhook, withStatefulSets), mocoManager);
  await client.apply(policies, deleteValidator(), mocoManager);
  await client.apply(bindings, bound, mocoManager);
  while (!(await isEstablished(client))) await delay(world, pollMilliseconds);
  while (!(await isConsulted(client))) await delay(world, pollMilliseconds);
}

async function isEstablished(client: ObjectClient): Promise<boolean> {
  const name = `mysqlclusters.${mocoGroup}`;
  const { status } = await client.get<{ status?: { conditions?: Condition[] } }>(customResourceDefinitions, { name });
  return isTrue(status?.conditions, 'Established');
}

/**
 * The API server needs a moment for a new configuration; a dry run shows whether one of its webhooks is called, and so
 * the others.
 */
async function isConsulted(client: ObjectClient): Promise<boolean> {
  try {
    const cluster = sampleCluster({ name: 'is-consulted', namespace });
    const made = await client.create<MySQLCluster>(clusterKind, { namespace }, cluster, { query: { dryRun: 'All' } });
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
