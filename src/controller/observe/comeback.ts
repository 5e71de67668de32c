import type { Comeback, EndingClaim } from '../../core/comeback-reading.ts';
import type { Decision } from '../../core/decision.ts';
import type { Target } from '../../core/step.ts';
import type { World } from '../../kube/world.ts';
import { claimsOf, isTerminating } from '../../moco/claims.ts';
import { object } from '../../moco/json.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from './cluster-reader.ts';
import type { ClusterState, KnownComeback } from './cluster-state.ts';

export interface ComebackContext {
  readonly api: ClusterReader;
  readonly world: World;
}

/**
 * Reads whether the members can come back that the decision waits for. Resolves to whether anything was read. Rejects
 * with `ApiError`: what can't be read permits nothing.
 */
export async function refreshComebacks(
  { decision: { asksComebacks: asked }, objects }: { readonly decision: Decision; readonly objects: ClusterObjects },
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<boolean> {
  const old = objects.pods.filter(({ ordinal }) => asked.includes(ordinal));
  if (old.length === 0) return false;
  await readComebacks(old, objects, state, context, signal);
  return true;
}

/** So many requests does a confirmation need to read again what may have changed since the last reading. */
export const readsAgain = (targets: readonly Pick<Target, 'uid'>[], { comebacks }: ClusterState): number =>
  targets.reduce((sum, { uid }) => sum + (comebacks.get(uid)?.claimNames.length ?? 0), 0);

/** Reads again what may have changed for the targets of a step. Those that were never read stay unknown. */
export const confirmComebacks = (
  targets: readonly Target[],
  objects: ClusterObjects,
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<void> =>
  readComebacks(
    objects.pods.filter(({ uid }) => state.comebacks.has(uid) && targets.some((target) => target.uid === uid)),
    objects,
    state,
    context,
    signal,
  );

/** The volumes of a pod never change, so it is read once. Pods that are gone are forgotten. */
export async function readComebacks(
  pods: readonly PodRecord[],
  objects: ClusterObjects,
  state: ClusterState,
  { api, world }: ComebackContext,
  signal: AbortSignal,
): Promise<void> {
  const read = async (pod: PodRecord): Promise<readonly (readonly [string, KnownComeback])[]> => {
    const { namespace, uid } = pod;
    const atMilliseconds = world.monotonic();
    const claimNames = state.comebacks.get(uid)?.claimNames ?? (await claimNamesOf(pod, api, signal));
    if (claimNames === null) return [];
    return [[uid, { claimNames, claims: await endingClaims(namespace, claimNames, api, signal), atMilliseconds }]];
  };
  const readings = (await Promise.all(pods.map(read))).flat();
  const present = new Set(objects.pods.map(({ uid }) => uid));
  state.comebacks = new Map([...state.comebacks, ...readings].filter(([uid]) => present.has(uid)));
}

/** `null` if the pod is gone. */
async function claimNamesOf(
  { namespace, name, uid }: PodRecord,
  api: ClusterReader,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const pod = await api.read('Pod', namespace, name, signal);
  return pod === null || object(pod['metadata'])['uid'] !== uid ? null : claimsOf(pod);
}

async function endingClaims(
  namespace: string,
  names: readonly string[],
  api: ClusterReader,
  signal: AbortSignal,
): Promise<readonly EndingClaim[]> {
  const claims = await Promise.all(names.map((name) => api.readClaim(namespace, name, signal)));
  return names.flatMap((name, index): readonly EndingClaim[] => {
    const claim = claims[index] ?? null;
    if (claim === null) return [{ name, state: 'missing' }];
    return isTerminating(claim) ? [{ name, state: 'terminating' }] : [];
  });
}

/** The reading of a pod as a fact. */
export function comebackFacts(
  { uid }: Pick<PodRecord, 'uid'>,
  { comebacks }: ClusterState,
  nowMilliseconds: number,
): Comeback | null {
  const known = comebacks.get(uid);
  if (known === undefined) return null;
  const { claims, atMilliseconds } = known;
  return { ageSeconds: (nowMilliseconds - atMilliseconds) / 1000, claims };
}
