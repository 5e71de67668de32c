import { isAskedFor } from '../core/asked-for.ts';
import type { Decision, HoldRule } from '../core/decision.ts';
import type { MemberState } from '../core/member.ts';
import { type ClusterState, type Finished, untold } from './cluster-state.ts';
import { defined } from './defined.ts';
import { needsSlot } from './fleet.ts';
import type { Gathered } from './gather.ts';
import type { Intent, MemberStatus, RolloutProgress, RolloutStatus, SwitchoverTries } from './rollout-resource.ts';
import { didNotHappen, ordinalOf, turnsOf } from './turns.ts';

// What the status remembers of the rollout under way: what the next decision needs and no object says.

export const disruptedFor = (revision: string, ended: Finished | null): number =>
  ended?.revision === revision ? ended.disrupted : 0;

/**
 * The rollout of the present update revision as far as it has come, its end included; `null` where there is none, and
 * as it was before while it is not known which revision is wanted.
 */
export function progressOf(
  before: RolloutStatus,
  { objects, snapshot }: Gathered,
  decision: Decision,
  state: ClusterState,
  members: Readonly<Record<string, MemberStatus>>,
  nowTimestamp: string,
  intent: Intent | null,
): RolloutProgress | null {
  const revision = objects.statefulSet?.updateRevision ?? '';
  // MOCO is re-creating the StatefulSet: which revision it will want is not known yet.
  if (revision === '') return before.rollout ?? null;
  const same = before.rollout?.revision === revision ? before.rollout : null;
  if (same === null && (decision.complete || decision.stale === 0)) {
    state.moved = null;
    return null;
  }
  const known: RolloutProgress = same ?? begun(revision, decision, nowTimestamp);
  const ended = untold(before, state);
  const resumed = wasAskedToWait(before) && !(decision.hold && isAskedFor(decision.hold.rule));
  const shape = signature(members);
  const moved = resumed || ended?.result === 'done' || shape !== signature(before.members ?? {});
  const seen = `${shape}\n${ended?.result === 'done' ? ended.lastStep.at : ''} ${resumed}`;
  if (!moved) state.moved = null;
  else if (state.moved?.seen !== seen || state.moved.revision !== revision) {
    state.moved = { revision, seen, at: nowTimestamp };
  }
  const tries = triesOf(known, ended, state, objects, nowTimestamp, intent);
  const switched =
    known.tries?.askedAt !== undefined &&
    !isDemotionMissed(ended) &&
    primaryMoved(known, objects.pods, objects.cluster.primaryIndex);
  const reported = decision.members.map((one) => ({ ...one, updatedAt: members[String(one.ordinal)]?.updatedAt }));
  const down = intent?.rule === 'MemberDown' ? intent.pods.map(({ name }) => ordinalOf(name)) : [];
  return defined<RolloutProgress>({
    ...known,
    lastProgressAt: state.moved?.at ?? known.lastProgressAt,
    begunAt: known.begunAt ?? (intent !== null && needsSlot(intent) ? intent.at : undefined),
    proven: known.proven || decision.proven,
    takenDown: [...new Set([...known.takenDown, ...down])].toSorted((a, b) => a - b),
    disruptions: known.disruptions + disruptedFor(revision, ended),
    switchovers: known.switchovers + (switched ? 1 : 0),
    // The switchover has come: what is left is how often it had not.
    tries: switched && tries ? defined<SwitchoverTries>({ count: tries.count, lastEndedAt: tries.lastEndedAt }) : tries,
    ...turnsOf(known, reported, snapshot, ended, state, nowTimestamp, intent),
    changes: known.changes ?? changesRead(known, state),
  });
}

/** Time that somebody has asked for is nobody's lack of progress. */
export function wasAskedToWait({ hold }: RolloutStatus): boolean {
  return hold !== undefined && isAskedFor(hold.rule as HoldRule);
}

function begun(revision: string, { members }: Decision, nowTimestamp: string): RolloutProgress {
  return defined<RolloutProgress>({
    revision,
    startedAt: nowTimestamp,
    lastProgressAt: nowTimestamp,
    proven: false,
    takenDown: [],
    disruptions: 0,
    switchovers: 0,
    from: mostCommonStale(members),
  });
}

/** Of equally common ones that of the highest ordinal. */
function mostCommonStale(members: Decision['members']): string | undefined {
  const counts = new Map<string, number>();
  for (const { revision, updated } of members.toReversed()) {
    if (!updated && revision !== null) counts.set(revision, (counts.get(revision) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

function changesRead({ from, revision }: RolloutProgress, { template }: ClusterState): RolloutProgress['changes'] {
  return template?.from === from && template?.to === revision ? (template?.changes ?? undefined) : undefined;
}

/**
 * What has to change for a rollout to have moved: who is at which revision and takes part. Not how those fare that
 * don't: a container that crashes now and again gets nowhere.
 */
function signature(members: Readonly<Record<string, MemberStatus>>): string {
  return Object.entries(members)
    .map(([ordinal, { revision, state, role }]) => `${ordinal} ${revision} ${role} ${takesPart.has(state)}`)
    .join('\n');
}

const takesPart: ReadonlySet<string> = new Set<MemberState>(['participating', 'impaired']);

function primaryMoved({ tries }: RolloutProgress, pods: Gathered['objects']['pods'], primaryIndex: number): boolean {
  const demoted = pods.find((pod) => pod.uid === tries?.pod?.uid);
  return demoted === undefined || demoted.ordinal !== primaryIndex;
}

function triesOf(
  known: RolloutProgress,
  ended: Finished | null,
  { ownWrites }: ClusterState,
  objects: Gathered['objects'],
  nowTimestamp: string,
  intent: Intent | null,
): SwitchoverTries | undefined {
  const { count = 0, lastEndedAt, askedAt } = known.tries ?? {};
  // A try belongs to the revision that it was made for.
  const demotion = ended?.result === 'done' && ended.revision === known.revision ? ended.demotion : null;
  if (demotion === 'timedOut') return { count: count + 1, lastEndedAt: nowTimestamp };
  const intended = demotionIntended(intent);
  if (demotion === 'takenBack' && intended === null) return triesAlone(known.tries);
  const isUntold = askedAt === undefined && ownWrites.length === 0;
  const told = demotion === 'takenBack' ? null : demotion;
  const asked = intended ?? told ?? (isUntold ? demotionSeen(known, objects, nowTimestamp) : null);
  if (asked !== null) return defined<SwitchoverTries>({ count, lastEndedAt, ...asked });
  return isDemotionMissed(ended) ? triesAlone(known.tries) : known.tries;
}

/** What is left when no demotion is under way any more: how often a switchover has failed. */
function triesAlone({ count = 0, lastEndedAt }: Partial<SwitchoverTries> = {}): SwitchoverTries | undefined {
  return count === 0 ? undefined : defined<SwitchoverTries>({ count, lastEndedAt });
}

/** A demotion that is taken back for this reason was a switchover that failed. Any other reason is nobody's failure. */
export const isFailedTry = (reason: string): boolean => reason === 'TimedOut';

/** Written with the intent, so that whoever takes over knows since when, and takes it back in its time. */
function demotionIntended(intent: Intent | null): Pick<SwitchoverTries, 'askedAt' | 'pod'> | null {
  if (intent?.step !== 'demote') return null;
  const [pod] = intent.pods;
  return pod === undefined ? null : { askedAt: intent.at, pod: { name: pod.name, uid: pod.uid } };
}

const isDemotionMissed = (ended: Finished | null): boolean => ended?.lastStep.step === 'demote' && didNotHappen(ended);

/**
 * What is left of a status when the step that was about to be done is over. A demotion whose time was over, that was about
 * to be taken back and is gone, counts as a failed try: each try blocks writes for a while. One that is still there goes on
 * as it was, its time and all, and counts when it is taken back.
 */
export function withoutIntent({ intent, ...status }: RolloutStatus, staysDemoted: boolean): RolloutStatus {
  const { rollout } = status;
  if (intent?.step !== 'undemote' || intent.rule === 'NoLongerPrimary' || staysDemoted) return status;
  if (rollout?.revision !== intent.revision) return status;
  const tries = isFailedTry(intent.rule)
    ? { count: (rollout.tries?.count ?? 0) + 1, lastEndedAt: intent.at }
    : triesAlone(rollout.tries);
  return { ...status, rollout: defined<RolloutProgress>({ ...rollout, tries }) };
}

/** A demotion of ours whose author has died before telling of it, or never got its answer. */
function demotionSeen(
  { revision }: RolloutProgress,
  { pods, cluster }: Gathered['objects'],
  nowTimestamp: string,
): Pick<SwitchoverTries, 'askedAt' | 'pod'> | null {
  const pod = pods.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (!pod?.demote || pod.demotedFor !== revision) return null;
  return { askedAt: nowTimestamp, pod: { name: pod.name, uid: pod.uid } };
}
