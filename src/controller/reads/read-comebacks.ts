import type { Decision } from '../../core/decision.ts';
import type { EndingClaim } from '../../core/readings.ts';
import type { Target } from '../../core/step.ts';
import type { World } from '../../kube/world.ts';
import { type Json, object, objects } from '../../moco/json.ts';
import { isToBeEmptied } from '../../moco/nodes.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import { claimsOf, isTerminating } from '../../moco/successor.ts';
import type { KnownComeback } from '../facts/comeback-facts.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { ClusterReader } from './cluster-reader.ts';
import { type NodeContext, type NodeRead, type RecentNodes, readNode, readTied } from './read-node.ts';
import { readRefusal, type SuccessorContext } from './read-successor.ts';

export interface ComebackContext extends NodeContext, SuccessorContext {
  readonly world: World;
  readonly nodes: RecentNodes;
}

/**
 * Reads whether the members can come back that the decision waits for. Resolves to whether anything was read. Rejects
 * with `ApiError`: what can't be read permits nothing.
 */
export async function refreshComebacks(
  {
    decision: { asksComebacks: asked },
    objects: cluster,
  }: { readonly decision: Decision; readonly objects: ClusterObjects },
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<boolean> {
  const old = cluster.pods.filter(({ ordinal }) => asked.includes(ordinal));
  if (old.length === 0) return false;
  await readComebacks(old, cluster, state, context, signal);
  return true;
}

/** So many requests does a confirmation usually need to read again what may have changed: claims, and the node. */
export const readsAgain = (targets: readonly Pick<Target, 'uid'>[], { comebacks }: ClusterState): number =>
  targets.reduce((sum, { uid }) => sum + (comebacks.get(uid)?.claimNames.length ?? 0) + 1, 0);

/** Reads again what may have changed for the targets of a step. Those that were never read stay unknown. */
export async function confirmComebacks(
  targets: readonly Target[],
  cluster: ClusterObjects,
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<void> {
  const read = cluster.pods.filter(
    ({ uid }) => targets.some((target) => target.uid === uid) && state.comebacks.has(uid),
  );
  const reading = await readAll(read, cluster, state, context, signal, {
    nodeOf: (pod) => readNode(context, pod, signal),
    refusalOf: async (_, known) => known?.refusal ?? null,
  });
  note(state, cluster, reading);
}

/**
 * Reads everything about these pods, and the nodes of all other stale ones: who is on a node that is to be emptied may
 * have to go first.
 */
export async function readComebacks(
  pods: readonly PodRecord[],
  cluster: ClusterObjects,
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<void> {
  const revision = cluster.statefulSet?.updateRevision;
  const others = cluster.pods.filter((pod) => !pods.includes(pod) && pod.revision !== revision);
  const { statefulSet } = cluster;
  // Once for all pods: the template of their successors. While MOCO re-creates it, nothing is done.
  const whole =
    statefulSet === null || pods.length === 0
      ? null
      : await context.api.read('StatefulSet', statefulSet.namespace, statefulSet.name, signal);
  const [readings, leaving] = await Promise.all([
    readAll(pods, cluster, state, context, signal, {
      nodeOf: (pod) => context.nodes.read(context, pod, signal),
      refusalOf: async (pod) => (whole === null ? null : readRefusal(pod, whole, revision ?? '', context, signal)),
    }),
    Promise.all(others.map((pod) => context.nodes.read(context, pod, signal))),
  ]);
  note(state, cluster, readings);
  const known = new Map(state.leavingNodes);
  for (const [index, { uid }] of others.entries()) known.set(uid, isLeaving(leaving[index] ?? null));
  state.leavingNodes = known;
}

/**
 * How the readings before a step differ from those of its confirmation, which are as fresh as can be and ask no
 * webhook.
 */
interface Asks {
  readonly nodeOf: (pod: PodRecord) => Promise<NodeRead>;
  readonly refusalOf: (pod: PodRecord, known: KnownComeback | undefined) => Promise<string | null>;
}

type Reading = readonly [uid: string, comeback: KnownComeback, leaves: boolean];

/** What never changes of a pod is read once. */
async function readAll(
  pods: readonly PodRecord[],
  { statefulSet }: ClusterObjects,
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
  { nodeOf, refusalOf }: Asks,
): Promise<readonly Reading[]> {
  const { api, world } = context;
  const revision = statefulSet?.updateRevision ?? '';
  const read = async (pod: PodRecord): Promise<readonly Reading[]> => {
    const { namespace, uid } = pod;
    const atMilliseconds = world.monotonic();
    const known = state.comebacks.get(uid);
    const fixed = known ?? (await fixedOf(pod, api, signal));
    if (fixed === null) return [];
    const { claimNames, tolerations } = fixed;
    const [claims, node, refusal] = await Promise.all([
      Promise.all(claimNames.map((name) => api.readClaim(namespace, name, signal))),
      nodeOf(pod),
      refusalOf(pod, known),
    ]);
    const existing = claims.filter((claim) => claim !== null);
    const tied = await readTied({ pod, tolerations, claims: existing, revision }, node, context, signal);
    const ending = claimNames.flatMap((name, index) => endingClaim(name, claims[index] ?? null));
    const comeback = { revision, claimNames, tolerations, claims: ending, tied, refusal, atMilliseconds };
    return [[uid, comeback, isLeaving(node)]];
  };
  return (await Promise.all(pods.map(read))).flat();
}

const isLeaving = (node: NodeRead): boolean => node !== 'unreadable' && isToBeEmptied(node);

/** Volumes of a pod never change, and tolerations only become more. `null` if the pod is gone. */
async function fixedOf(
  { namespace, name, uid }: PodRecord,
  api: ClusterReader,
  signal: AbortSignal,
): Promise<Pick<KnownComeback, 'claimNames' | 'tolerations'> | null> {
  const pod = await api.read('Pod', namespace, name, signal);
  if (pod === null || object(pod['metadata'])['uid'] !== uid) return null;
  return { claimNames: claimsOf(pod), tolerations: objects(object(pod['spec'])['tolerations']) };
}

function endingClaim(name: string, claim: Json | null): readonly EndingClaim[] {
  if (claim === null) return [{ name, state: 'missing' }];
  return isTerminating(claim) ? [{ name, state: 'terminating' }] : [];
}

/** Pods that are gone are forgotten. */
function note(state: ClusterState, { pods }: ClusterObjects, readings: readonly Reading[]): void {
  const present = new Set(pods.map(({ uid }) => uid));
  const isPresent = ([uid]: readonly [string, unknown]): boolean => present.has(uid);
  const comebacks = readings.map(([uid, comeback]) => [uid, comeback] as const);
  state.comebacks = new Map([...state.comebacks, ...comebacks].filter(isPresent));
  const leaving = readings.map(([uid, , leaves]) => [uid, leaves] as const);
  state.leavingNodes = new Map([...state.leavingNodes, ...leaving].filter(isPresent));
}
