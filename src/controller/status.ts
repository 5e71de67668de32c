import type { Decision, Hold } from '../core/decision.ts';
import { explainEvidence, explainHold, type MemberName, phase } from '../core/explain.ts';
import type { MemberState } from '../core/member.ts';
import { type ClusterState, type Finished, untold } from './cluster-state.ts';
import type { Gathered } from './gather.ts';
import type {
  Condition,
  Intent,
  MemberStatus,
  RolloutProgress,
  RolloutStatus,
  SwitchoverTries,
} from './rollout-resource.ts';

/** How a member is called in sentences about its cluster. */
export function memberName({ objects }: Gathered): MemberName {
  const stem = objects.statefulSet?.name ?? `moco-${objects.cluster.name}`;
  return (ordinal) => `${stem}-${ordinal}`;
}

/**
 * Rules that pass by themselves within moments. They are neither shown nor announced before they have lasted for
 * `shownAfterSeconds`, so that what people see are the waits that mean something.
 */
const passing: ReadonlySet<Hold['rule']> = new Set([
  'AwaitingOwnWrite',
  'StatefulSetNotObserved',
  'StatefulSetMissing',
  'StatefulSetDeleting',
  'NotReconciled',
  'MemberMissing',
  'MemberLeaving',
  'RolesNotSettled',
  'BudgetUsed',
  'ClusterNotHealthy',
]);

export const shownAfterSeconds = 10;

/** Whether a hold that has lasted for so long is for people's eyes. */
export function isShown(hold: Hold, heldForSeconds: number): boolean {
  if (heldForSeconds >= shownAfterSeconds) return true;
  if (hold.rule === 'BlockedByPDB') return hold.cause === 'closed' || hold.cause === 'several';
  return !passing.has(hold.rule);
}

/**
 * The status that follows from a look and its decision. Equal to `before` but for what has changed, timestamps
 * included, so that comparing the two says whether there is anything to write.
 */
export function statusOf(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  nowTimestamp: string,
  intent: Intent | null,
): RolloutStatus {
  const { objects, rollout, snapshot } = gathered;
  const before: RolloutStatus = rollout?.status ?? {};
  const { statefulSet, cluster } = objects;
  const revision = statefulSet?.updateRevision ?? '';
  const hold = decision.hold !== null && isShown(decision.hold, heldForSeconds) ? decision.hold : null;
  const members = Object.fromEntries(memberStatuses(decision, hold));
  const ended = untold(before, state);
  const progress = progressOf(before, gathered, decision, state, members, nowTimestamp, intent);
  const unresolved = before.intent && before.intent.id !== state.settledIntent ? before.intent : undefined;
  const completed =
    before.rollout && before.rollout.revision !== progress?.revision
      ? {
          revision: before.rollout.revision,
          startedAt: before.rollout.startedAt,
          finishedAt: nowTimestamp,
          disruptions: before.rollout.disruptions + disruptedFor(before.rollout.revision, ended),
          switchovers: before.rollout.switchovers,
          outcome: decision.complete && before.rollout.revision === revision ? 'Complete' : 'Superseded',
        }
      : before.lastCompleted;
  return defined({
    observedGeneration: rollout?.metadata.generation,
    observedClusterGeneration: cluster.generation,
    phase: phase({ ...decision, hold }),
    strategy: statefulSet?.strategy,
    updateRevision: revision === '' ? undefined : revision,
    currentRevision: statefulSet?.currentRevision || undefined,
    replicas: cluster.replicas,
    updatedReplicas: decision.members.filter((member) => member.updated).length,
    participatingReplicas: decision.members.filter((member) => member.participating).length,
    readyReplicas: decision.members.filter((member) => member.ready).length,
    currentReplicas: snapshot.members.filter((member) => member.revision === statefulSet?.currentRevision).length,
    primary: cluster.primaryIndex >= 0 ? cluster.primaryIndex : undefined,
    hold:
      hold === null
        ? undefined
        : {
            rule: hold.rule,
            message: explainHold(hold, memberName(gathered)),
            since: before.hold?.rule === hold.rule ? before.hold.since : (state.holding?.since ?? nowTimestamp),
          },
    members,
    intent: intent ?? unresolved,
    lastStep: ended?.lastStep ?? before.lastStep,
    rollout: progress ?? undefined,
    recentRevisions: recentRevisions(before, revision, nowTimestamp),
    lastCompleted: completed,
    conditions: conditions(before, decision, hold, gathered, nowTimestamp),
  });
}

/** A rule that isn't shown yet isn't shown as a member's either. */
function* memberStatuses(decision: Decision, shown: Hold | null): Generator<[string, MemberStatus]> {
  const hidden = shown === null ? decision.hold?.rule : undefined;
  for (const { ordinal, role, revision, updated, state, verdict, rule, evidence } of decision.members) {
    yield [
      String(ordinal),
      defined({
        role,
        revision: revision ?? undefined,
        updated,
        state,
        verdict,
        rule: rule === null || rule === hidden ? undefined : rule,
        message: evidence === null ? undefined : explainEvidence(evidence),
      }),
    ];
  }
}

const disruptedFor = (revision: string, ended: Finished | null): number =>
  ended?.revision === revision ? ended.disrupted : 0;

/** `null` while nothing is to be rolled out. */
function progressOf(
  before: RolloutStatus,
  { objects }: Gathered,
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
  if (decision.complete || (same === null && decision.stale === 0)) return null;
  const known: RolloutProgress = same ?? {
    revision,
    startedAt: nowTimestamp,
    lastProgressAt: nowTimestamp,
    proven: false,
    takenDown: [],
    disruptions: 0,
    switchovers: 0,
  };
  const ended = untold(before, state);
  const moved = ended?.result === 'done' || signature(members) !== signature(before.members ?? {});
  const tries = triesOf(known, ended, state, objects, nowTimestamp);
  const switched =
    known.tries?.askedAt !== undefined && primaryMoved(known, objects.pods, objects.cluster.primaryIndex);
  const down =
    intent?.rule === 'MemberDown' ? intent.pods.map(({ name }) => Number(name.slice(name.lastIndexOf('-') + 1))) : [];
  return defined<RolloutProgress>({
    ...known,
    lastProgressAt: moved ? nowTimestamp : known.lastProgressAt,
    proven: known.proven || decision.proven,
    takenDown: [...new Set([...known.takenDown, ...down])].toSorted((a, b) => a - b),
    disruptions: known.disruptions + disruptedFor(revision, ended),
    switchovers: known.switchovers + (switched ? 1 : 0),
    // The switchover has come: what is left is how often it had not.
    tries: switched && tries ? defined<SwitchoverTries>({ count: tries.count, lastEndedAt: tries.lastEndedAt }) : tries,
  });
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
): SwitchoverTries | undefined {
  const { count = 0, lastEndedAt, askedAt } = known.tries ?? {};
  const demotion = ended?.result === 'done' ? ended.demotion : null;
  if (demotion === 'takenBack') return { count: count + 1, lastEndedAt: nowTimestamp };
  const isUntold = askedAt === undefined && ownWrites.length === 0;
  const asked = demotion ?? (isUntold ? demotionSeen(known, objects, nowTimestamp) : null);
  return asked === null ? known.tries : defined<SwitchoverTries>({ count, lastEndedAt, ...asked });
}

/**
 * What is left of a status when the step that was about to be done is over. A demotion that was about to be taken back
 * counts as one that was: whether it has been is not known, and each try blocks writes for a while.
 */
export function withoutIntent({ intent, ...status }: RolloutStatus): RolloutStatus {
  const { rollout } = status;
  if (intent?.step !== 'undemote' || rollout?.revision !== intent.revision) return status;
  const tries = { count: (rollout.tries?.count ?? 0) + 1, lastEndedAt: intent.at };
  return { ...status, rollout: { ...rollout, tries } };
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

const mostRevisionsKept = 8;

function recentRevisions(
  before: RolloutStatus,
  revision: string,
  nowTimestamp: string,
): RolloutStatus['recentRevisions'] {
  const known = before.recentRevisions ?? [];
  if (revision === '' || known.at(-1)?.revision === revision) return known;
  return [...known, { revision, firstSeenAt: nowTimestamp }].slice(-mostRevisionsKept);
}

/** Holds that a person should look at. */
const alarming: ReadonlySet<Hold['rule']> = new Set([
  'SnapshotImpossible',
  'PolicyUnknown',
  'UpdateRevisionFailing',
  'SwitchoverFailing',
  'RevisionFlapping',
  'MemberStuckTerminating',
]);

export const alarms = (hold: Hold): boolean => alarming.has(hold.rule);

/** Whether nothing but a person can end it. */
const stalls = (hold: Hold): boolean => alarms(hold) && !(hold.rule === 'SwitchoverFailing' && hold.retries);

/** Holds that somebody has asked for. */
const wanted: ReadonlySet<Hold['rule']> = new Set([
  'FeatureGateOff',
  'ReconciliationStopped',
  'ClusteringStopped',
  'Offline',
  'ForcedRollingUpdate',
  'Paused',
  'PartitionReached',
  'ClusterDeleting',
]);

function conditions(
  before: RolloutStatus,
  decision: Decision,
  hold: Hold | null,
  gathered: Gathered,
  nowTimestamp: string,
): readonly Condition[] {
  const stalled = hold !== null && stalls(hold);
  const resting = hold !== null && wanted.has(hold.rule);
  const reason = hold?.rule ?? (decision.complete ? 'UpToDate' : 'Progressing');
  const message = hold === null ? '' : explainHold(hold, memberName(gathered));
  const condition = (type: string, is: boolean): Condition => {
    const status = is ? 'True' : 'False';
    const known = before.conditions?.find((candidate) => candidate.type === type);
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : nowTimestamp,
      observedGeneration: gathered.rollout?.metadata.generation ?? 0,
    };
  };
  return [
    condition('Reconciling', !decision.complete && !stalled && !resting),
    condition('Stalled', stalled),
    condition('Complete', decision.complete),
  ];
}

/** The fields that have a value: what is absent is left out and not written as null. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
