import { disruptive } from '../core/decision.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { milliseconds } from '../moco/timestamp.ts';
import type { ClusterState, Finished } from './cluster-state.ts';
import type { Intent, MemberStatus, RolloutProgress } from './rollout-resource.ts';

/** What a rollout remembers of each member: whose turn has come, by whom, and for how long it was away. */
type Turns = InTurn & Times;
type InTurn = OrNone<'waiting' | 'updatedOutOfTurn'>;
type Times = OrNone<'takenAt' | 'memberSeconds'>;
/** `undefined` takes away what was known before. */
type OrNone<F extends keyof RolloutProgress> = { readonly [K in F]: RolloutProgress[K] | undefined };

/** A member as the status shows it, and whether it takes part. */
export interface Seen extends Pick<MemberStatus, 'updated' | 'state'> {
  readonly ordinal: number;
  readonly participating: boolean;
  /** Since when it takes part at the update revision, where that was before now. */
  readonly updatedAt?: string | undefined;
}

/**
 * A member that was stale, that no step has taken, and that is at the update revision all the same, came up out of
 * turn. `intent` is the step that is about to be done, `ended` the one that has ended since the status was written.
 */
export function turnsOf(
  known: Partial<RolloutProgress>,
  members: readonly Seen[],
  snapshot: Pick<ClusterSnapshot, 'statefulSet'>,
  ended: Finished | null,
  { ownWrites }: Pick<ClusterState, 'ownWrites'>,
  nowTimestamp: string,
  intent: Intent | null,
): Turns {
  const missed = ended !== null && didNotHappen(ended) && ownWrites.length === 0 ? ended.lastStep.pods : [];
  const spared = missed
    .map(ordinalOf)
    .filter((ordinal) => members.some((one) => one.ordinal === ordinal && isStale(one)));
  const taken = intent !== null && takes(intent) ? intent.pods.map(({ name }) => ordinalOf(name)) : [];
  const updated = new Set(members.filter((member) => member.updated).map(({ ordinal }) => ordinal));
  return {
    ...inTurn(known, members, snapshot, spared, taken, updated),
    ...times(known, members, spared, taken, intent?.at ?? nowTimestamp, nowTimestamp),
  };
}

function inTurn(
  known: Partial<RolloutProgress>,
  members: readonly Seen[],
  { statefulSet }: Pick<ClusterSnapshot, 'statefulSet'>,
  spared: readonly number[],
  taken: readonly number[],
  updated: ReadonlySet<number>,
): InTurn {
  const outOfTurn = known.updatedOutOfTurn;
  // Elsewhere the StatefulSet replaces members by itself, and one that comes up may well be in its turn.
  if (statefulSet?.strategy !== 'OnDelete') return { waiting: undefined, updatedOutOfTurn: outOfTurn };
  const waited = known.waiting ?? members.filter(isStale).map(({ ordinal }) => ordinal);
  const came = waited.filter((ordinal) => updated.has(ordinal));
  const left = sorted([...waited, ...spared]).filter((ordinal) => !updated.has(ordinal) && !taken.includes(ordinal));
  return {
    waiting: left,
    updatedOutOfTurn: came.length === 0 ? outOfTurn : sorted([...(outOfTurn ?? []), ...came]),
  };
}

/** Times of one clock, that of the wall: they have to outlive this process. */
function times(
  { takenAt = {}, memberSeconds = {} }: Partial<RolloutProgress>,
  members: readonly Seen[],
  spared: readonly number[],
  taken: readonly number[],
  takenNow: string,
  nowTimestamp: string,
): Times {
  const away = new Map(Object.entries(takenAt).filter(([ordinal]) => !spared.includes(Number(ordinal))));
  for (const ordinal of taken) away.set(String(ordinal), takenNow);
  const seconds = new Map(Object.entries(memberSeconds));
  for (const { ordinal, updated, participating, updatedAt = nowTimestamp } of members) {
    const since = milliseconds(away.get(String(ordinal)) ?? null);
    if (since === null || !updated || !participating) continue;
    const elapsed = Math.max(0, ((milliseconds(updatedAt) ?? since) - since) / 1000);
    seconds.set(String(ordinal), Math.round(elapsed * 10) / 10);
    away.delete(String(ordinal));
  }
  return {
    takenAt: away.size === 0 ? undefined : Object.fromEntries(away),
    memberSeconds: seconds.size === 0 ? undefined : Object.fromEntries(seconds),
  };
}

const isStale = ({ updated, state }: Pick<Seen, 'updated' | 'state'>): boolean =>
  !updated && state !== 'missing' && state !== 'leaving';

/** Demotions move a role and take nobody. */
const takes = ({ step }: Intent): boolean => disruptive[step] && step !== 'demote' && step !== 'undemote';

export const didNotHappen = ({ result }: Finished): boolean => result === 'refused' || result === 'conflict';

/** Of a pod's name. */
export const ordinalOf = (name: string): number => Number(name.slice(name.lastIndexOf('-') + 1));

const sorted = (ordinals: readonly number[]): readonly number[] => [...new Set(ordinals)].toSorted((a, b) => a - b);
