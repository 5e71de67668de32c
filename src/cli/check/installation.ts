import { rolloutKind, rolloutSpec } from '../../api/rollout.ts';
import { policyKind, policySpec, policyStatus } from '../../api/rollout-policy.ts';
import { sequenceKind, sequenceSpec, sequenceStatus } from '../../api/rollout-sequence.ts';
import { rolloutStatus } from '../../api/rollout-status.ts';
import { type Json, object, objects, strings, text, whole } from '../../base/json.ts';
import { judgeKubernetes, kubernetesVersion } from '../../kube/kubernetes-version.ts';
import { customResourceDefinitions, deployments, type ResourceKind } from '../../kube/resource.ts';
import { clusterKind, controllerSelector, mocoControllerSelector } from '../../moco/names.ts';
import { find, listAll } from '../cluster/clusters.ts';
import { isLed, leaseSilence, silenceNote } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok, unknown } from './finding.ts';

// Checks MOCO, the CRDs and the controller itself.

export async function kubernetes({ client }: Session): Promise<Found> {
  const version = await kubernetesVersion(client);
  const { supported, sentence } = judgeKubernetes(version);
  return supported && sentence === null ? ok(version) : failed(sentence ?? version);
}

export async function moco(session: Session): Promise<Found> {
  const definition = await definitionOf(session, clusterKind);
  if (definition === null) return failed(`there is no kind ${clusterKind.kind}: install MOCO`);
  if (schemaOf(definition, clusterKind.version) === null) {
    return failed(`MOCO's CRD does not serve ${clusterKind.group}/${clusterKind.version}: upgrade MOCO`);
  }
  const [controller] = await listAll(session, deployments, null, { labelSelector: mocoControllerSelector });
  if (controller === undefined) return unknown('no Deployment of moco-controller has its labels');
  const words = containersOf(controller).flatMap(({ args, command }) => [...strings(command), ...strings(args)]);
  const interval = words.find((word) => word.startsWith('--partition-update-interval'));
  const shared = ` with ${interval}: clusters whose new pods start at the current revision use its turns as well, so leave the flag off`;
  return ok(`moco-controller runs ${imagesText(controller)}${interval === undefined ? '' : shared}`);
}

/** The fields that this version of the program knows, by kind. */
const known: readonly (readonly [ResourceKind, spec: readonly string[], status: readonly string[]])[] = [
  [rolloutKind, Object.keys(rolloutSpec.shape), Object.keys(rolloutStatus.shape)],
  [policyKind, Object.keys(policySpec.shape), Object.keys(policyStatus.shape)],
  [sequenceKind, Object.keys(sequenceSpec.shape), Object.keys(sequenceStatus.shape)],
];

export async function definitions(session: Session): Promise<Found> {
  for (const [kind, spec, status] of known) {
    const definition = await definitionOf(session, kind);
    if (definition === null) return failed(`there is no kind ${kind.kind}: apply the CRDs of this version`);
    const schema = schemaOf(definition, kind.version);
    if (schema === null) {
      return failed(`${definitionName(kind)} does not serve ${kind.version}: apply the CRDs of this version`);
    }
    const has = (part: string): Json => object(object(object(schema['properties'])[part])['properties']);
    const missing = [
      ...spec.filter((field) => !(field in has('spec'))).map((field) => `spec.${field}`),
      ...status.filter((field) => !(field in has('status'))).map((field) => `status.${field}`),
    ];
    if (missing.length > 0) {
      return failed(`${definitionName(kind)} does not know ${missing.join(', ')}: apply the CRDs of this version`);
    }
  }
  return ok(`${rolloutKind.group}/${rolloutKind.version}, with all fields of this version`);
}

/** Calls `check` with the user that the controller authenticates as, according to its Deployment. */
export async function asController(session: Session, check: (user: string) => Promise<Found>): Promise<Found> {
  const deployment = await controllerDeployment(session);
  if (deployment === null) return unknown('without its Deployment the ServiceAccount of the controller is unknown');
  const namespace = text(object(deployment['metadata'])['namespace']) ?? '';
  const account = text(podSpecOf(deployment)['serviceAccountName']) ?? 'default';
  return check(`system:serviceaccount:${namespace}:${account}`);
}

/** The Deployment of the controller; `null` if there is none. */
async function controllerDeployment(session: Session): Promise<Json | null> {
  const [deployment] = await listAll(session, deployments, null, { labelSelector: controllerSelector });
  return deployment ?? null;
}

/** The pod spec of a Deployment or StatefulSet. */
export const podSpecOf = (raw: Json): Json => object(object(object(raw['spec'])['template'])['spec']);

const containersOf = (deployment: Json): readonly Json[] => objects(podSpecOf(deployment)['containers']);

const imagesText = (deployment: Json): string =>
  containersOf(deployment)
    .map(({ image }) => text(image))
    .join(', ');

const definitionName = ({ plural, group }: ResourceKind): string => `${plural}.${group}`;

const definitionOf = (session: Session, kind: ResourceKind): Promise<Json | null> =>
  find(session, customResourceDefinitions, null, definitionName(kind));

/** The schema of a version, or `null` if the CRD does not serve that version. */
function schemaOf(definition: Json, version: string): Json | null {
  const found = objects(object(definition['spec'])['versions']).find(({ name }) => name === version);
  return found?.['served'] === true ? object(object(found['schema'])['openAPIV3Schema']) : null;
}

export async function controller(session: Session): Promise<Found> {
  const deployment = await controllerDeployment(session);
  const without = `no Deployment has the label ${controllerSelector}`;
  if (deployment === null) {
    return (await isLed(session)) ? unknown(`a controller leads, but ${without}`) : failed(`${without}: install it`);
  }
  const { namespace, name } = object(deployment['metadata']);
  const available = whole(object(deployment['status'])['availableReplicas'], 0);
  const place = `deployment/${text(name)} in namespace ${text(namespace)}`;
  if (available === 0) return failed(`${place} has no available replica: read its log`);
  const silent = silenceNote(await leaseSilence(session));
  if (silent !== null) return failed(silent);
  return ok(`${place} has ${available} available, of ${imagesText(deployment)}`);
}
