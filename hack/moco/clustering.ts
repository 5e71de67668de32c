import {
  type ClusterState,
  candidates,
  clusterState,
  electable,
  type Gathered,
  needsSwitch,
  primaryIndex,
} from './cluster-state.ts';
import type { ClusterView, Moment } from './cluster-view.ts';
import { clusteringStatus } from './clustering-status.ts';
import { configured, isConfigured, labelWrites, membersWithoutRole, unlabelWrites, writesOpen } from './configure.ts';
import { answers, type Database, observeDatabases, withDatabase } from './databases.ts';
import type { Faults } from './faults.ts';
import { byOrdinal, isComplete } from './pods.ts';
import { isProtected, protectionWrites } from './prevent-delete.ts';
import { isClusteringStopped } from './reconcile.ts';
import type { ClusteringDurations } from './settings.ts';
import { moveIndex } from './switchover.ts';
import type { Write } from './write.ts';

/** What MOCO's clustering loop is in the middle of. It does one thing at a time, and looks at nothing meanwhile. */
export type Activity =
  /** Waiting for something to do; the pass that does it comes at `passAt`. */
  | { readonly kind: 'watching'; readonly passAt: number | null }
  | { readonly kind: 'switchover'; readonly to: number; readonly failing: boolean; readonly until: number }
  | { readonly kind: 'failover'; readonly until: number }
  | { readonly kind: 'cloning'; readonly until: number }
  | { readonly kind: 'repointing'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'labelling'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'opening'; readonly until: number };

/** All that is not in the API server's objects: the truth of MySQL, and where MOCO's loop is. */
export interface ClusteringMind {
  readonly databases: readonly Database[];
  readonly activity: Activity;
}

export const freshMind: ClusteringMind = { databases: [], activity: { kind: 'watching', passAt: null } };

export interface ClusteringStep {
  /** Counts only once all writes are through; else the mind stays as it was and the step is asked for again. */
  readonly mind: ClusteringMind;
  readonly writes: readonly Write[];
  /** When to look again though nothing has changed; `null` where only a change matters. */
  readonly lookAgainAfterMilliseconds: number | null;
}

/** One step of MOCO's clustering loop of a cluster. Asked again with nothing changed, it changes nothing. */
export function clusteringStep(
  view: ClusterView,
  before: ClusteringMind,
  now: Moment,
  durations: ClusteringDurations,
  faults: Faults,
): ClusteringStep {
  const databases = observeDatabases(before.databases, view.pods, view.cluster.spec.replicas);
  const mind = { databases, activity: before.activity };
  if (isClusteringStopped(view.cluster) || view.cluster.metadata.deletionTimestamp !== undefined) {
    return still({ databases, activity: { kind: 'watching', passAt: null } }, now);
  }
  if (mind.activity.kind === 'watching') {
    return watch(view, mind, now, durations, faults);
  }
  if (now.monotonicMilliseconds < mind.activity.until) {
    return still(mind, now);
  }
  return finish(gather(view, databases, faults), mind, now, durations);
}

/** Does nothing until the mind's own time comes. */
function still(mind: ClusteringMind, now: Moment): ClusteringStep {
  const at = mind.activity.kind === 'watching' ? mind.activity.passAt : mind.activity.until;
  const lookAgainAfterMilliseconds = at === null ? null : Math.max(0, at - now.monotonicMilliseconds);
  return { mind, writes: [], lookAgainAfterMilliseconds };
}

function passAt(
  mind: ClusteringMind,
  now: Moment,
  afterMilliseconds: number,
  writes: readonly Write[] = [],
): ClusteringStep {
  const activity: Activity = { kind: 'watching', passAt: now.monotonicMilliseconds + afterMilliseconds };
  return { ...still({ ...mind, activity }, now), writes };
}

function gather(view: ClusterView, databases: readonly Database[], faults: Faults): Gathered {
  const { cluster, pods } = view;
  return { cluster, members: cluster.spec.offline === true ? [] : byOrdinal(pods), databases, faults };
}

/**
 * A pass that would do nothing is no pass; one that would is made when MOCO has had the time to notice. While a pod is
 * missing the real one gives up its passes, without a word in the status.
 */
function watch(
  view: ClusterView,
  mind: ClusteringMind,
  now: Moment,
  durations: ClusteringDurations,
  faults: Faults,
): ClusteringStep {
  const { replicas, offline } = view.cluster.spec;
  const blind = offline !== true && !isComplete(view.pods, replicas);
  const step = blind ? null : pass(gather(view, mind.databases, faults), mind, now, durations);
  if (step === null) {
    return still({ ...mind, activity: { kind: 'watching', passAt: null } }, now);
  }
  const due = mind.activity.kind === 'watching' ? mind.activity.passAt : null;
  if (due === null) {
    return passAt(mind, now, durations.notice + faults.statusLagMilliseconds);
  }
  return now.monotonicMilliseconds < due ? still(mind, now) : step;
}

/** Status first, then `prevent-delete`, then the one operation that the state asks for. `null`: nothing to do. */
function pass(
  gathered: Gathered,
  mind: ClusteringMind,
  now: Moment,
  durations: ClusteringDurations,
): ClusteringStep | null {
  const state = clusterState(gathered);
  const status = clusteringStatus(gathered, state, now.wallMilliseconds);
  const writes = [...(status === null ? [] : [status]), ...protectionWrites(gathered)];
  const begun = begin(gathered, state, mind, now, durations);
  if (begun === null) {
    return writes.length === 0 ? null : { ...passAt(mind, now, durations.notice), writes };
  }
  return { ...still(begun.mind, now), writes: [...writes, ...begun.writes] };
}

interface Begun {
  readonly mind: ClusteringMind;
  readonly writes: readonly Write[];
}

function begin(
  gathered: Gathered,
  state: ClusterState,
  mind: ClusteringMind,
  now: Moment,
  durations: ClusteringDurations,
): Begun | null {
  const until = (milliseconds: number): number => now.monotonicMilliseconds + milliseconds;
  const start = (activity: Activity, writes: readonly Write[] = []): Begun => ({ mind: { ...mind, activity }, writes });
  switch (state) {
    case 'Healthy':
    case 'Degraded':
      return beginSwitchover(gathered, mind, until, durations) ?? (state === 'Degraded' ? configure() : null);
    case 'Incomplete':
      return configure();
    case 'Failed':
      return start({ kind: 'failover', until: until(durations.failover) });
    case 'Cloning':
      return gathered.faults.cloneHangs || !answers(mind.databases, primaryIndex(gathered.cluster), gathered.faults)
        ? null
        : start({ kind: 'cloning', until: until(durations.clone) });
    case 'Offline':
    case 'Restoring':
    case 'Lost':
      return null;
  }

  function configure(): Begun | null {
    if (isConfigured(gathered)) {
      return null;
    }
    const unlabelled = membersWithoutRole(gathered);
    return start({ kind: 'repointing', unlabelled, until: until(durations.repoint) }, unlabelWrites(gathered));
  }
}

function beginSwitchover(
  gathered: Gathered,
  mind: ClusteringMind,
  until: (milliseconds: number) => number,
  durations: ClusteringDurations,
): Begun | null {
  const { faults, cluster } = gathered;
  const chosen = candidates(gathered)[0];
  const unwilling = faults.switchover === 'ignored' || isProtected(gathered);
  if (chosen === undefined || !needsSwitch(gathered) || unwilling) {
    return null;
  }
  const failing = faults.switchover === 'failing';
  const databases = withDatabase(mind.databases, primaryIndex(cluster), { writable: false, draining: true });
  const activity: Activity = {
    kind: 'switchover',
    to: faults.nextPrimary ?? chosen,
    failing,
    until: until(failing ? durations.failedTry : durations.drain),
  };
  return { mind: { databases, activity }, writes: [] };
}

/** What comes when the time of an activity is up. */
function finish(gathered: Gathered, mind: ClusteringMind, now: Moment, durations: ClusteringDurations): ClusteringStep {
  const { activity } = mind;
  const next = (
    databases: readonly Database[],
    following: Activity,
    writes: readonly Write[] = [],
  ): ClusteringStep => ({
    ...still({ databases, activity: following }, now),
    writes,
  });
  const until = (milliseconds: number): number => now.monotonicMilliseconds + milliseconds;
  switch (activity.kind) {
    case 'watching':
      return still(mind, now);
    case 'switchover': {
      const both = [primaryIndex(gathered.cluster), activity.to];
      const lost = both.some((ordinal) => !answers(mind.databases, ordinal, gathered.faults));
      return activity.failing || lost
        ? passAt(mind, now, durations.retry)
        : passAt(mind, now, durations.healthyFalse, moveIndex(gathered, activity.to));
    }
    case 'failover': {
      const elected = gathered.faults.nextPrimary ?? electable(gathered)[0];
      return elected === undefined
        ? passAt(mind, now, durations.retry)
        : passAt(mind, now, durations.healthyFalse, moveIndex(gathered, elected));
    }
    case 'cloning': {
      const cloned = clusteringStatus(gathered, 'Incomplete', now.wallMilliseconds);
      return passAt(mind, now, durations.notice, cloned === null ? [] : [cloned]);
    }
    case 'repointing':
      return next(configured(gathered), {
        kind: 'labelling',
        unlabelled: activity.unlabelled,
        until: until(durations.label),
      });
    case 'labelling': {
      const writes = labelWrites(gathered, activity.unlabelled);
      return writesOpen(gathered)
        ? passAt(mind, now, durations.healthyTrue, writes)
        : next(mind.databases, { kind: 'opening', until: until(durations.open) }, writes);
    }
    case 'opening': {
      const primary = primaryIndex(gathered.cluster);
      const writable = answers(mind.databases, primary, gathered.faults);
      const opened = { writable, source: null, replicating: false, draining: false };
      return passAt({ ...mind, databases: withDatabase(mind.databases, primary, opened) }, now, durations.healthyTrue);
    }
  }
}
