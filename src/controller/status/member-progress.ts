import type { RolloutProgress } from '../../api/rollout-progress.ts';
import type { Intent, MemberStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { replacesNobody } from '../../core/adoption.ts';
import { hasNeverStarted } from '../../core/member.ts';
import type { Recreated } from '../../core/sentences.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { replacesForRevision } from '../../core/step.ts';
import { ordinalOf } from '../../moco/names.ts';
import type { OwnWrite } from '../../objects/execute.ts';
import { didNotHappen } from '../facts/last-step.ts';
import type { StatusContext } from './status-context.ts';

// What the status records about each member during a rollout.

/** What a rollout records about each member: whether and how it was disrupted, and how long it was unavailable. */
type MemberProgress = InTurn & MemberTimes & OrNone<'createdWhileHeld'>;
type InTurn = OrNone<'waiting' | 'updatedOutOfBand'>;
type MemberTimes = OrNone<'unavailableMembers' | 'memberDurations'>;
type UnavailableMember = NonNullable<RolloutProgress['unavailableMembers']>[number];
/** `undefined` removes the recorded value. */
type OrNone<F extends keyof RolloutProgress> = { readonly [K in F]: RolloutProgress[K] | undefined };

/** A rollout that begins. `earlier` is the rollout that was in progress when the template changed, if there was one. */
interface Begins {
  readonly earlier: RolloutProgress | null;
}

/** A member as the status shows it, and whether it participates. */
export interface SeenMember extends Pick<MemberStatus, 'updated' | 'state'> {
  readonly ordinal: number;
  readonly revision?: string | null | undefined;
  readonly participating: boolean;
  readonly recreated?: Recreated | null;
  /** Since when the member has participated at the update revision, if the status already shows that. */
  readonly updatedAt?: string | undefined;
}

/** The steps, and the facts about members, that the record itself does not contain. */
export interface MemberContext extends Pick<StatusContext, 'ended' | 'intent' | 'unresolved' | 'now'> {
  readonly snapshot: Pick<ClusterSnapshot, 'statefulSet' | 'members'> & {
    readonly cluster: Pick<ClusterSnapshot['cluster'], 'offline'>;
  };
  readonly ownWrites: readonly OwnWrite[];
}

/**
 * Records how each member was disrupted. If a stale member is now at the update revision and no step has disrupted it,
 * it was updated out of band. `begins` is set if the rollout is not recorded yet.
 */
export function memberProgressOf(
  known: Partial<RolloutProgress>,
  begins: Begins | null,
  members: readonly SeenMember[],
  { snapshot, ended, ownWrites, intent, unresolved, now }: MemberContext,
): MemberProgress {
  const isKept = snapshot.statefulSet?.newPods === 'CurrentRevision';
  const missed =
    ended !== null && didNotHappen(ended) && ownWrites.length === 0 ? ended.lastStep.pods.map(ordinalOf) : [];
  const stale = members.filter(isStale).map(({ ordinal }) => ordinal);
  const isTaken = (ordinal: number): boolean | null => isTakenPod(ordinal, known, snapshot);
  const back = members.filter(({ ordinal, updated }) => !updated && isTaken(ordinal) === false);
  // If new pods start at the current revision, a member that a step replaced may still be at its previous revision.
  const spared = [
    ...stale.filter((ordinal) => missed.includes(ordinal) || (isKept && isTaken(ordinal) !== true)),
    ...back.map(({ ordinal }) => ordinal),
  ];
  const step = intent ?? unresolved;
  const taken = step !== null && takesMembers(step) ? step.pods.map(({ name }) => ordinalOf(name)) : [];
  const updated = new Set(members.filter((member) => member.updated).map(({ ordinal }) => ordinal));
  const replacing = intent !== null && replacesForRevision(intent.step, intent.rule) ? intent : null;
  return {
    ...inTurn(known, begins, members, snapshot, { stale, spared, taken, updated }),
    createdWhileHeld: createdWhileHeldOf(known, members, snapshot),
    ...times(known, members, snapshot, { spared, missed, replacing }, now),
  };
}

/**
 * Whether a step acted on the pod that the member has now. `null` if the member has no pod, or if no such step is
 * known.
 */
function isTakenPod(
  ordinal: number,
  { unavailableMembers = [] }: Partial<RolloutProgress>,
  { members }: Pick<ClusterSnapshot, 'members'>,
): boolean | null {
  const taken = unavailableMembers.find((one) => one.ordinal === ordinal)?.uid;
  const pod = members.find((member) => member.ordinal === ordinal);
  return taken === undefined || pod === undefined ? null : pod.uid === taken;
}

/** Members that another client updated while they were held, and when that was first seen. */
function createdWhileHeldOf(
  { waiting = [], createdWhileHeld = [] }: Partial<RolloutProgress>,
  members: readonly SeenMember[],
  snapshot: Pick<ClusterSnapshot, 'members'>,
): RolloutProgress['createdWhileHeld'] | undefined {
  const all = members.flatMap(({ ordinal, updated, state, recreated }) => {
    const known = createdWhileHeld.find((one) => one.ordinal === ordinal);
    const isGone = state === 'missing' || state === 'terminating';
    const isNew = updated && waiting.includes(ordinal) && recreated?.as === 'updated' && recreated.because !== null;
    if (known === undefined ? !isNew : !updated && !isGone) return [];
    const facts = snapshot.members.find((member) => member.ordinal === ordinal);
    const started = known?.started === true || (updated && facts !== undefined && !hasNeverStarted(facts));
    return [{ ordinal, started }];
  });
  return all.length === 0 ? undefined : all;
}

function inTurn(
  known: Partial<RolloutProgress>,
  begins: Begins | null,
  members: readonly SeenMember[],
  { statefulSet, cluster }: Pick<MemberContext['snapshot'], 'statefulSet' | 'cluster'>,
  { stale, spared, taken, updated }: Record<'stale' | 'spared' | 'taken', Ordinals> & { updated: ReadonlySet<number> },
): InTurn {
  const outOfBand = known.updatedOutOfBand?.filter((ordinal) => !stale.includes(ordinal));
  // In other modes the StatefulSet itself replaces members, so these members may have been updated as intended.
  if (statefulSet === null || !replacesNobody(statefulSet)) return { waiting: undefined, updatedOutOfBand: outOfBand };
  // A user removed these pods on purpose. When they come back, that is not an update.
  if (cluster.offline) return { waiting: sorted(stale), updatedOutOfBand: outOfBand };
  // There is no record yet if the rollout is only beginning, or if its mode does not keep this record.
  const isTaken = ({ ordinal }: SeenMember): boolean =>
    begins === null && known.unavailableMembers?.some((one) => one.ordinal === ordinal) === true;
  const lost = members.filter((one) => !isTaken(one) && isLost(one, begins?.earlier ?? null));
  const waited = known.waiting ?? [...stale, ...lost.map(({ ordinal }) => ordinal)];
  const restarted = waited.filter((ordinal) => updated.has(ordinal));
  const left = sorted([...waited, ...spared]).filter((ordinal) => !updated.has(ordinal) && !taken.includes(ordinal));
  return {
    waiting: left,
    updatedOutOfBand: restarted.length === 0 ? outOfBand : sorted([...(outOfBand ?? []), ...restarted]),
  };
}

/** Wall-clock times, because they must survive a restart of this process. */
function times(
  { unavailableMembers = [], memberDurations = [] }: Partial<RolloutProgress>,
  members: readonly SeenMember[],
  { members: pods }: Pick<ClusterSnapshot, 'members'>,
  { spared, missed, replacing }: Record<'spared' | 'missed', Ordinals> & { replacing: Intent | null },
  nowTimestamp: string,
): MemberTimes {
  // A restore continues until the member has a new pod, or until it turns out that the step did not happen.
  const isRestored = ({ ordinal, uid }: UnavailableMember): boolean =>
    missed.includes(ordinal) || pods.some((pod) => pod.ordinal === ordinal && pod.uid !== uid);
  const unavailable = new Map<number, Omit<UnavailableMember, 'ordinal'>>(
    unavailableMembers
      .filter(({ ordinal }) => !spared.includes(ordinal))
      .map((one) => {
        const { ordinal, restores, ...plain } = one;
        return [ordinal, restores && !isRestored(one) ? { ...plain, restores } : plain];
      }),
  );
  for (const { name, uid } of replacing?.pods ?? []) {
    const restores = replacing?.step === 'restore';
    unavailable.set(ordinalOf(name), { since: replacing?.at ?? '', uid, ...(restores && { restores }) });
  }
  const seconds = new Map(memberDurations.map(({ ordinal, seconds: known }) => [ordinal, known]));
  for (const { ordinal, updated, participating, updatedAt = nowTimestamp } of members) {
    const taken = unavailable.get(ordinal);
    const since = milliseconds(taken?.since ?? null);
    if (since === null || taken?.restores || !updated || !participating) continue;
    const elapsed = Math.max(0, ((milliseconds(updatedAt) ?? since) - since) / 1000);
    seconds.set(ordinal, Math.round(elapsed));
    unavailable.delete(ordinal);
  }
  return {
    unavailableMembers: unavailable.size === 0 ? undefined : listOf(unavailable, (one) => one),
    memberDurations: seconds.size === 0 ? undefined : listOf(seconds, (known) => ({ seconds: known })),
  };
}

function listOf<Value, Entry>(known: ReadonlyMap<number, Value>, entryOf: (value: Value) => Entry) {
  return [...known]
    .toSorted(([one], [other]) => one - other)
    .map(([ordinal, value]) => ({ ordinal, ...entryOf(value) }));
}

const isStale = ({ updated, state }: Pick<SeenMember, 'updated' | 'state'>): boolean =>
  !updated && state !== 'missing' && state !== 'terminating';

/**
 * Whether the member already lost its pod before the rollout began, for a reason other than a step of the previous
 * rollout.
 */
function isLost({ updated, state, ordinal, revision }: SeenMember, earlier: RolloutProgress | null): boolean {
  if (updated || (state !== 'terminating' && state !== 'missing')) return false;
  return earlier?.waiting === undefined || earlier.waiting.includes(ordinal) || revision === earlier.revision;
}

/**
 * Whether the members of the step no longer wait for the rollout. That includes an update in place, although it does
 * not make its member unavailable and does not show how long a new pod takes.
 */
const takesMembers = ({ step, rule }: Intent): boolean => replacesForRevision(step, rule) || step === 'updateInPlace';

type Ordinals = readonly number[];

/** Ascending, without duplicates. */
export const sorted = (ordinals: Ordinals): Ordinals => [...new Set(ordinals)].toSorted((a, b) => a - b);
