import { type Json, object, objects, text } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { EndingClaim, TiedToNode } from '../../core/on-demand-facts.ts';
import type { Target } from '../../core/step.ts';
import {
  ApiError,
  isAlreadyExists,
  isBadRequest,
  isForbidden,
  isInternalError,
  isInvalid,
} from '../../kube/api-error.ts';
import { persistentVolumeClaims, persistentVolumes, pods as podKind, statefulSets } from '../../kube/resource.ts';
import {
  conditionTaintPrefix,
  isToBeEmptied,
  matches,
  refusalsOf,
  type Tie,
  tieOfVolume,
  tiesOf,
} from '../../moco/nodes.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import { claimsOf, fitsWithout, isTerminating, successorOf } from '../../moco/successor.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { KnownRecreatable, RecreatableReadings } from '../facts/readings.ts';
import { type NodeContext, type NodeRead, type RecentNodes, readNode } from '../fleet/recent-nodes.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';

export interface RecreatableContext extends NodeContext {
  readonly world: World;
  readonly nodes: RecentNodes;
  readonly mayLackCreate?: boolean;
}

/**
 * Reads whether the members can come back that the decision waits for. Resolves to `null` if it waits for none. Rejects
 * with `ApiError`: what can't be read permits nothing.
 */
export async function readRecreatableAwaited(
  { decision, objects }: Observation,
  { memory, api, context }: Pass,
): Promise<RecreatableReadings | null> {
  const asked = objects.pods.filter(({ ordinal }) => decision.asksRecreatable.includes(ordinal));
  return asked.length === 0 ? null : readRecreatable(asked, objects, memory.readings, { ...context, api });
}

/** So many requests does a confirmation usually need to read again what may have changed: claims, and the node. */
export const readsAgain = (targets: readonly Pick<Target, 'uid'>[], { recreatable }: RecreatableReadings): number =>
  targets.reduce((sum, { uid }) => sum + (recreatable.get(uid)?.claimNames.length ?? 0) + 1, 0);

/** Reads again what may have changed for the targets of a step. Those that were never read stay unknown. */
export async function confirmRecreatable(
  targets: readonly Target[],
  cluster: ClusterObjects,
  pass: Pass,
): Promise<RecreatableReadings> {
  const known = pass.memory.readings;
  const context = { ...pass.context, api: pass.api };
  const read = cluster.pods.filter(
    ({ uid }) => targets.some((target) => target.uid === uid) && known.recreatable.has(uid),
  );
  const readings = await readAll(read, cluster, known, context, {
    nodeOf: (pod) => readNode(context, pod),
    refusalOf: async (_, before) => before?.refusal ?? null,
  });
  return withReadings(known, cluster, readings);
}

/**
 * Reads everything about these pods, and the nodes of all other stale ones: who is on a node that is to be emptied may
 * have to go first.
 */
export async function readRecreatable(
  pods: readonly PodRecord[],
  cluster: ClusterObjects,
  known: RecreatableReadings,
  context: RecreatableContext,
): Promise<RecreatableReadings> {
  const revision = cluster.statefulSet?.updateRevision;
  const others = cluster.pods.filter((pod) => !pods.includes(pod) && pod.revision !== revision);
  const { statefulSet } = cluster;
  // Once for all pods: the template of their successors. While MOCO re-creates it, nothing is done.
  const whole =
    statefulSet === null || pods.length === 0
      ? null
      : await context.api.read(statefulSets, { namespace: statefulSet.namespace, name: statefulSet.name });
  const [readings, leaving] = await Promise.all([
    readAll(pods, cluster, known, context, {
      nodeOf: (pod) => context.nodes.read(context, pod),
      refusalOf: async (pod) => (whole === null ? null : readRefusal(pod, whole, revision ?? '', context)),
    }),
    Promise.all(others.map((pod) => context.nodes.read(context, pod))),
  ]);
  const { recreatable, leavingNodes } = withReadings(known, cluster, readings);
  const ofOthers = others.map(({ uid }, index) => [uid, isLeaving(leaving[index] ?? null)] as const);
  return { recreatable, leavingNodes: new Map([...leavingNodes, ...ofOthers]) };
}

/**
 * How the readings before a step differ from those of its confirmation, which are as fresh as can be and ask no
 * webhook.
 */
interface Asks {
  readonly nodeOf: (pod: PodRecord) => Promise<NodeRead>;
  readonly refusalOf: (pod: PodRecord, known: KnownRecreatable | undefined) => Promise<string | null>;
}

type Reading = readonly [uid: string, recreatable: KnownRecreatable, leaves: boolean];

/** What never changes of a pod is read once. */
async function readAll(
  pods: readonly PodRecord[],
  { statefulSet }: ClusterObjects,
  { recreatable: readings }: RecreatableReadings,
  context: RecreatableContext,
  { nodeOf, refusalOf }: Asks,
): Promise<readonly Reading[]> {
  const { api, world } = context;
  const revision = statefulSet?.updateRevision ?? '';
  const read = async (pod: PodRecord): Promise<readonly Reading[]> => {
    const { namespace, uid } = pod;
    const atMilliseconds = world.monotonic();
    const known = readings.get(uid);
    const fixed = known ?? (await fixedOf(pod, api));
    if (fixed === null) return [];
    const { claimNames, tolerations } = fixed;
    const [claims, node, refusal] = await Promise.all([
      Promise.all(claimNames.map((name) => api.read(persistentVolumeClaims, { namespace, name }))),
      nodeOf(pod),
      refusalOf(pod, known),
    ]);
    const existing = claims.filter((claim) => claim !== null);
    const tied = await readTied(pod, revision, tolerations, existing, node, api);
    const ending = claimNames.flatMap((name, index) => endingClaim(name, claims[index] ?? null));
    const reading = { revision, claimNames, tolerations, claims: ending, tied, refusal, atMilliseconds };
    return [[uid, reading, isLeaving(node)]];
  };
  return (await Promise.all(pods.map(read))).flat();
}

const isLeaving = (node: NodeRead): boolean => node !== 'unreadable' && isToBeEmptied(node);

/** Volumes of a pod never change, and tolerations only become more. `null` if the pod is gone. */
async function fixedOf(
  { namespace, name, uid }: PodRecord,
  api: ClusterReader,
): Promise<Pick<KnownRecreatable, 'claimNames' | 'tolerations'> | null> {
  const pod = await api.read(podKind, { namespace, name });
  if (pod === null || object(pod['metadata'])['uid'] !== uid) return null;
  return { claimNames: claimsOf(pod), tolerations: objects(object(pod['spec'])['tolerations']) };
}

function endingClaim(name: string, claim: Json | null): readonly EndingClaim[] {
  if (claim === null) return [{ name, state: 'missing' }];
  return isTerminating(claim) ? [{ name, state: 'terminating' }] : [];
}

/**
 * Whether the pod is tied to a node that takes none; `null` if not. The other nodes, the volumes and the template are
 * read only where its own node takes no pods. Rejects with `ApiError`.
 */
async function readTied(
  pod: PodRecord,
  revision: string,
  tolerations: readonly Json[],
  claims: readonly Json[],
  node: NodeRead,
  api: ClusterReader,
): Promise<TiedToNode | null> {
  if (pod.node === null || node === 'unreadable' || refusalsOf(node, tolerations).length === 0) return null;
  const template = (await api.readTemplate(pod.namespace, revision)) ?? {};
  const tolerated = [...objects(object(template['spec'])['tolerations']), ...tolerations.filter(isOfKubernetes)];
  const refusals = refusalsOf(node, tolerated);
  if (refusals.length === 0) return null;
  const volumes = claims.map((claim) => text(object(claim['spec'])['volumeName'])).filter((name) => name !== null);
  const read = await Promise.all(volumes.map((name) => api.read(persistentVolumes, { name })));
  const ofVolumes = read.flatMap((volume) => (volume === null ? [] : [tieOfVolume(volume)]));
  const ties = [...ofVolumes.filter((tie) => tie !== null), ...tiesOf(template)];
  if (ties.length === 0) return null;
  const others = (await api.listNodes()).filter(
    (other) => object(other['metadata'])['name'] !== pod.node && refusalsOf(other, tolerated).length === 0,
  );
  if (others.some((other) => ties.every((tie) => matches(tie, other)))) return null;
  const excludes = (tie: Tie): boolean => others.some((other) => !matches(tie, other));
  return { nodeName: pod.node, refusals, ties: ties.filter(excludes).map(({ what }) => what) };
}

/** Admission adds them to pods, such as those of nodes that are not ready. */
const isOfKubernetes = ({ key }: Json): boolean => (text(key) ?? '').startsWith(conditionTaintPrefix);

/** Pods that are gone are forgotten. */
function withReadings(
  known: RecreatableReadings,
  { pods }: ClusterObjects,
  readings: readonly Reading[],
): RecreatableReadings {
  const present = new Set(pods.map(({ uid }) => uid));
  const isPresent = ([uid]: readonly [string, unknown]): boolean => present.has(uid);
  const recreatable = readings.map(([uid, recreatable]) => [uid, recreatable] as const);
  const leaving = readings.map(([uid, , leaves]) => [uid, leaves] as const);
  return {
    recreatable: new Map([...known.recreatable, ...recreatable].filter(isPresent)),
    leavingNodes: new Map([...known.leavingNodes, ...leaving].filter(isPresent)),
  };
}

/**
 * Why the API server would not admit the next pod of a member, from a dry run; `null` if it would. Its name exists, and
 * that is found out last (Kubernetes 1.36; test/cluster/pod-dry-run.test.ts), so `AlreadyExists` is the answer to a pod
 * that is admitted. Rejects with `ApiError` if the API server does not say.
 */
async function readRefusal(
  pod: PodRecord,
  statefulSet: Json,
  updateRevision: string,
  { api, mayLackCreate = false }: RecreatableContext,
): Promise<string | null> {
  const { namespace } = pod;
  try {
    await api.tryToCreatePod(successorOf(statefulSet, updateRevision, pod.ordinal, pod.name), namespace);
    return null;
  } catch (error) {
    if (isAlreadyExists(error)) return null;
    if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
    if (lacksRight(error)) {
      if (mayLackCreate) return null;
      throw error;
    }
    const { message } = error;
    if (!message.includes('exceeded quota: ')) return message;
    const existing = await api.read(podKind, { namespace, name: pod.name });
    return existing !== null && fitsWithout(message, existing) ? null : message;
  }
}

/** A webhook that can't be reached keeps the StatefulSet controller from creating the pod as well. */
export const isRefusal = (error: ApiError): boolean =>
  isForbidden(error) || isInvalid(error) || isBadRequest(error) || isInternalError(error);

/** It is we who may not create pods. */
const lacksRight = ({ message }: ApiError): boolean => message.includes('cannot create resource "pods"');
