import type { Comeback, EndingClaim } from '../../core/comeback.ts';
import type { Decision } from '../../core/decision.ts';
import type { Target } from '../../core/step.ts';
import type { World } from '../../kube/world.ts';
import { claimsOf, isTerminating } from '../../moco/claims.ts';
import { object } from '../../moco/json.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from './cluster-reader.ts';
import type { ClusterState } from './cluster-state.ts';

/** What was last read about a pod, by its uid. Volumes of a pod never change. */
export interface KnownComeback {
  readonly claimNames: readonly string[];
  readonly claims: readonly EndingClaim[];
  readonly atMilliseconds: number;
}

export interface ComebackContext {
  readonly api: ClusterReader;
  readonly world: World;
}

/** These holds last until something else is read. */
const holdsOnReading: ReadonlySet<string> = new Set(['ComebackUnknown', 'ClaimTerminating']);
/** A reading is repeated a little before it is too old for a step. */
const againMilliseconds = 55_000;

/**
 * Reads whether members can come back, if the decision waits for that. All stale members are read, since the reading
 * may change who is next. Resolves to whether anything was read. Rejects with `ApiError`: what can't be read permits
 * nothing.
 */
export async function refreshComebacks(
  { decision: { hold }, objects }: { readonly decision: Decision; readonly objects: ClusterObjects },
  state: ClusterState,
  context: ComebackContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (hold === null || !holdsOnReading.has(hold.rule)) return false;
  const revision = objects.statefulSet?.updateRevision ?? '';
  const asked: readonly number[] = hold.rule === 'ComebackUnknown' ? hold.members : [];
  const old = objects.pods.filter((pod) => {
    const known = state.comebacks.get(pod.uid);
    const isOld = known === undefined || context.world.monotonic() - known.atMilliseconds >= againMilliseconds;
    return isOld && (pod.revision !== revision || asked.includes(pod.ordinal));
  });
  if (old.length === 0) return false;
  await readComebacks(old, objects, state, context, signal);
  return true;
}

/** Reads everything about these pods. */
export async function readComebacks(
  pods: readonly PodRecord[],
  objects: ClusterObjects,
  state: ClusterState,
  { api, world }: ComebackContext,
  signal: AbortSignal,
): Promise<void> {
  const readings = await Promise.all(
    pods.map(async ({ namespace, name, uid }): Promise<readonly [string, KnownComeback] | null> => {
      const atMilliseconds = world.monotonic();
      const pod = await api.read('Pod', namespace, name, signal);
      if (pod === null || object(pod['metadata'])['uid'] !== uid) return null;
      const claimNames = claimsOf(pod);
      const claims = await endingClaims(namespace, claimNames, api, signal);
      return [uid, { claimNames, claims, atMilliseconds }];
    }),
  );
  note(
    state,
    objects,
    readings.filter((reading) => reading !== null),
  );
}

/** So many requests does a confirmation need to read again what may have changed since the last reading. */
export const readsAgain = (targets: readonly Pick<Target, 'uid'>[], { comebacks }: ClusterState): number =>
  targets.reduce((sum, { uid }) => sum + (comebacks.get(uid)?.claimNames.length ?? 0), 0);

/** Reads again what may have changed for these pods. Those that were never read stay unknown. */
export async function confirmComebacks(
  targets: readonly Target[],
  objects: ClusterObjects,
  state: ClusterState,
  { api, world }: ComebackContext,
  signal: AbortSignal,
): Promise<void> {
  const readings = await Promise.all(
    targets.map(async ({ uid }): Promise<readonly [string, KnownComeback] | null> => {
      const known = state.comebacks.get(uid);
      if (known === undefined) return null;
      const atMilliseconds = world.monotonic();
      const claims = await endingClaims(objects.cluster.namespace, known.claimNames, api, signal);
      return [uid, { ...known, claims, atMilliseconds }];
    }),
  );
  note(
    state,
    objects,
    readings.filter((reading) => reading !== null),
  );
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

/** Pods that are gone are forgotten. */
function note(
  state: ClusterState,
  { pods }: ClusterObjects,
  readings: readonly (readonly [string, KnownComeback])[],
): void {
  const present = new Set(pods.map(({ uid }) => uid));
  state.comebacks = new Map([...state.comebacks, ...readings].filter(([uid]) => present.has(uid)));
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
