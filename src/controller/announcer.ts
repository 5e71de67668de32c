import type { Decision, Step } from '../core/decision.ts';
import { explainHold, explainStep } from '../core/explain.ts';
import type { EventRecorder, ObjectReference } from '../kube/event-recorder.ts';
import type { Log } from '../kube/log.ts';
import type { World } from '../kube/world.ts';
import { clusterKind } from '../moco/names.ts';
import type { ClusterObjects, PodRecord } from '../moco/records.ts';
import { milliseconds } from '../moco/timestamp.ts';
import type { RolloutMetrics } from '../telemetry/rollout-metrics.ts';
import type { Acted } from './act.ts';
import { keyOf } from './cache.ts';
import type { ClusterState } from './cluster-state.ts';
import { alarms } from './conditions.ts';
import type { Gathered } from './gather.ts';
import { isDisruptive, ruleOf } from './intent.ts';
import type { RolloutStatus } from './rollout-resource.ts';
import { announcedAfterSeconds, isShown, memberName } from './status.ts';

/** Reasons of events about steps: past tense, as Kubernetes has them. */
export const stepReasons: Readonly<Record<Exclude<Step['kind'], 'none'>, string>> = {
  delete: 'Deleted',
  evict: 'Evicted',
  demote: 'Demoted',
  undemote: 'DemotionTakenBack',
  setStrategy: 'StrategySet',
  handBack: 'HandedBack',
  setPartition: 'PartitionUpdate',
  promoteRevision: 'RevisionPromoted',
};

/** Tells people what happens: Events on the MySQLCluster, metrics and the log, all from the same decision. */
export class Announcer {
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #metrics: RolloutMetrics;
  readonly #log: Log;
  readonly #world: World;

  constructor(options: {
    readonly recorder: Pick<EventRecorder, 'record'>;
    readonly metrics: RolloutMetrics;
    readonly log: Log;
    readonly world: World;
  }) {
    this.#recorder = options.recorder;
    this.#metrics = options.metrics;
    this.#log = options.log;
    this.#world = options.world;
  }

  /** A step was tried; `acted` says what became of it. */
  stepEnded(gathered: Gathered, step: Step, acted: Acted): void {
    if (step.kind === 'none') return;
    const { name, namespace } = gathered.objects.cluster;
    const rule = isDisruptive(step) ? ruleOf(step) : step.kind;
    const fields = { cluster: keyOf(namespace, name), step: step.kind, rule, result: acted.result };
    if (acted.refusedByBudget) this.#metrics.evictionsRefused.inc();
    if (acted.done.length === 0) {
      const level = acted.result === 'conflict' ? 'debug' : 'info';
      this.#log[level]({ ...fields, answer: acted.message }, `did not happen: ${explainStep(step)}`);
      return;
    }
    this.#log.info({ ...fields, member: acted.done.map((target) => target.name).join() }, explainStep(step));
    if (step.kind === 'delete' || step.kind === 'evict') {
      this.#metrics.disruptions.inc({ verb: step.kind, rule }, acted.done.length);
    }
    if (step.kind === 'undemote' && !step.demoted) return;
    this.#recorder.record({
      regarding: reference(gathered),
      ...related(gathered, acted),
      type: step.kind === 'undemote' ? 'Warning' : 'Normal',
      reason: stepReasons[step.kind],
      action: rule,
      note: explainStep(step),
    });
  }

  /** A pass has ended, and this is what it has come to. */
  decided(gathered: Gathered, decision: Decision, state: ClusterState, heldForSeconds: number): void {
    const { cluster } = gathered.objects;
    const { hold } = decision;
    this.#measure(gathered, decision, state);
    this.#returned(decision, state);
    if (hold === null) {
      state.announced = null;
    } else if (
      isShown(hold, heldForSeconds) &&
      heldForSeconds >= announcedAfterSeconds(hold) &&
      state.announced !== hold.rule
    ) {
      state.announced = hold.rule;
      this.#recorder.record({
        regarding: reference(gathered),
        type: alarms(hold) ? 'Warning' : 'Normal',
        reason: hold.rule,
        action: 'Waiting',
        note: explainHold(hold, memberName(gathered)),
      });
    }
    const words =
      hold?.rule ?? (decision.complete ? 'complete' : decision.step.kind === 'none' ? 'idle' : decision.step.kind);
    const about = hold !== null && 'member' in hold ? hold.member : null;
    const same = `${words} ${about ?? ''}`;
    if (same === state.logged) return;
    state.logged = same;
    const name = memberName(gathered);
    const fields = {
      cluster: keyOf(cluster.namespace, cluster.name),
      rule: words,
      stale: decision.stale,
      ...(about !== null && { member: name(about) }),
    };
    this.#log.info(fields, hold === null ? words : explainHold(hold, name));
  }

  /** A status was written: what has ended between the two. */
  published(before: RolloutStatus, after: RolloutStatus, objects: ClusterObjects | null): void {
    this.#cameByThemselves(before, after, objects);
    const { lastCompleted: completed } = after;
    if (completed && completed.finishedAt !== before.lastCompleted?.finishedAt) {
      this.#metrics.finished.inc({ outcome: completed.outcome });
      this.#metrics.rolloutDurationSeconds.observe(secondsBetween(completed.startedAt, completed.finishedAt));
    }
    const asked = before.rollout?.tries;
    if (!asked?.askedAt || after.rollout?.tries?.askedAt === asked.askedAt) return;
    const superseded = after.rollout !== undefined && after.rollout.revision !== before.rollout?.revision;
    const failed = superseded || (after.rollout?.tries?.count ?? 0) > asked.count;
    const switchovers = after.rollout?.switchovers ?? after.lastCompleted?.switchovers ?? 0;
    const isAsBefore = switchovers === before.rollout?.switchovers;
    const takenBack = failed || (isAsBefore && (before.intent?.step ?? after.lastStep?.step) === 'undemote');
    // One that was written down and did not happen.
    if (!takenBack && isAsBefore) return;
    this.#metrics.switchovers.inc({ outcome: takenBack ? 'takenBack' : 'done' });
    if (!takenBack) {
      const seconds = (this.#world.wall() - (milliseconds(asked.askedAt) ?? this.#world.wall())) / 1000;
      this.#metrics.switchoverDurationSeconds.observe(Math.max(0, seconds));
    }
  }

  /** Members that came up at the update revision without a step, since the status before. */
  #cameByThemselves(before: RolloutStatus, after: RolloutStatus, objects: ClusterObjects | null): void {
    const { revision, ordinals } = outOfTurn(before, after);
    if (ordinals.length === 0) return;
    this.#metrics.unplannedUpdates.inc(ordinals.length);
    if (objects === null) return;
    const { namespace, name } = objects.cluster;
    for (const ordinal of ordinals) {
      const pod = objects.pods.find((candidate) => candidate.ordinal === ordinal);
      const note = `${pod?.name ?? `member ${ordinal}`} came up at revision ${revision} without a step of this controller: it crashed, was drained or was deleted`;
      this.#log.info({ cluster: keyOf(namespace, name), member: pod?.name ?? String(ordinal), revision }, note);
      this.#recorder.record({
        regarding: reference({ objects }),
        ...(pod && { related: podReference(pod) }),
        type: 'Warning',
        reason: 'UpdatedOutOfTurn',
        action: 'Updated',
        note,
      });
    }
  }

  /** Members that this process has taken and that take part again. */
  #returned(decision: Decision, state: ClusterState): void {
    for (const { ordinal, verdict } of decision.members) {
      const takenAt = state.takenAtMilliseconds.get(ordinal);
      if (takenAt === undefined || verdict !== 'Updated') continue;
      state.takenAtMilliseconds.delete(ordinal);
      this.#metrics.memberUpdateDurationSeconds.observe((this.#world.monotonic() - takenAt) / 1000);
    }
  }

  /** The cluster is gone, and its series with it. */
  forget(namespace: string, name: string): void {
    this.#metrics.forgetCluster(namespace, name);
  }

  #measure({ objects, rollout, snapshot, policy }: Gathered, decision: Decision, state: ClusterState): void {
    const { members, stale, hold } = decision;
    const cluster = [objects.cluster.namespace, objects.cluster.name] as const;
    const status: RolloutStatus = rollout?.status ?? {};
    const counts: Record<string, number> = {};
    for (const { state: does } of members) counts[does] = (counts[does] ?? 0) + 1;
    this.#metrics.setMembers(cluster, counts, stale);
    const since = status.hold?.rule === hold?.rule ? status.hold?.since : state.holding?.since;
    const sinceSeconds = seconds(since) ?? this.#world.wall() / 1000;
    this.#metrics.setHold(cluster, hold === null ? null : { rule: hold.rule, sinceSeconds });
    this.#metrics.setLastProgress(cluster, seconds(status.rollout?.lastProgressAt));
    const current = snapshot.members.filter(
      ({ revision }) => revision === snapshot.statefulSet?.currentRevision,
    ).length;
    const lowered = status.lastStep?.step === 'setPartition' ? seconds(status.lastStep.at) : null;
    const updated = members.filter((member) => member.updated).length;
    const own = policy.mode === 'Partition';
    this.#metrics.setPartition(cluster, own ? { current, updated, lastUpdatedSeconds: lowered } : null);
  }
}

/** Unix seconds. */
function seconds(timestamp: string | undefined): number | null {
  const value = milliseconds(timestamp ?? null);
  return value === null ? null : value / 1000;
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, ((milliseconds(to) ?? 0) - (milliseconds(from) ?? 0)) / 1000);
}

/** Those of the rollout under way, or of the one that has just ended, that were not told of before. */
function outOfTurn(
  { rollout }: RolloutStatus,
  { rollout: under, history }: RolloutStatus,
): { readonly revision: string; readonly ordinals: readonly number[] } {
  const now = under?.updatedOutOfTurn ? under : history?.at(-1);
  const told = rollout?.revision === now?.revision && rollout?.startedAt === now?.startedAt ? rollout : undefined;
  // One that ended was under way before, or it has been told of already.
  if (!now?.updatedOutOfTurn || (now !== under && told === undefined)) return { revision: '', ordinals: [] };
  const known = told?.updatedOutOfTurn ?? [];
  return { revision: now.revision, ordinals: now.updatedOutOfTurn.filter((ordinal) => !known.includes(ordinal)) };
}

function reference({ objects: { cluster } }: Pick<Gathered, 'objects'>): ObjectReference {
  const { namespace, name, uid } = cluster;
  return { apiVersion: `${clusterKind.group}/${clusterKind.version}`, kind: clusterKind.kind, namespace, name, uid };
}

function related({ objects }: Gathered, { done }: Acted): { related?: ObjectReference } {
  const [target] = done;
  const pod = target && objects.pods.find(({ uid }) => uid === target.uid);
  return pod ? { related: podReference(pod) } : {};
}

function podReference({ namespace, name, uid }: PodRecord): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}
