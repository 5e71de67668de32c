import type { Moment } from './cluster-view.ts';
import type { Database } from './databases.ts';
import type { ClusteringDurations } from './settings.ts';
import type { Write } from './write.ts';

/** What MOCO's clustering loop is in the middle of. It does one thing at a time, and looks at nothing meanwhile. */
export type Activity =
  /** Waiting for something to do; the pass that does it comes at `passAt`. */
  | { readonly kind: 'watching'; readonly passAt: number | null }
  /** A pass has begun, and a member doesn't answer. */
  | { readonly kind: 'asking'; readonly until: number }
  | { readonly kind: 'switchover'; readonly to: number; readonly failing: boolean; readonly until: number }
  | { readonly kind: 'failover'; readonly until: number }
  | { readonly kind: 'cloning'; readonly until: number }
  | { readonly kind: 'repointing'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'labelling'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'opening'; readonly until: number };

/** All that is not in the API server's objects: the truth of MySQL, and where MOCO's loop is. Plain JSON. */
export interface ClusteringMind {
  readonly databases: readonly Database[];
  readonly activity: Activity;
}

export const freshMind: ClusteringMind = { databases: [], activity: { kind: 'watching', passAt: null } };

/** The loop at one moment. */
export interface Turn {
  readonly mind: ClusteringMind;
  readonly now: Moment;
  readonly durations: ClusteringDurations;
}

export interface ClusteringStep {
  /** Counts only once all writes are through; else the mind stays as it was and the step is asked for again. */
  readonly mind: ClusteringMind;
  readonly writes: readonly Write[];
  /** When to look again though nothing has changed; `null` where only a change matters. */
  readonly lookAgainAfterMilliseconds: number | null;
}

/** Nothing but waiting for the mind's own time. */
export function still({ mind, now }: Turn): ClusteringStep {
  return goOn(now, mind.databases, mind.activity);
}

/** Nothing is to be done before something changes. */
export function idle({ mind, now }: Turn): ClusteringStep {
  return goOn(now, mind.databases, { kind: 'watching', passAt: null });
}

/** The next pass comes after so many milliseconds, changes or not. */
export function passAfter(
  { mind, now }: Turn,
  milliseconds: number,
  writes: readonly Write[] = [],
  databases = mind.databases,
): ClusteringStep {
  return goOn(now, databases, { kind: 'watching', passAt: now.monotonicMilliseconds + milliseconds }, writes);
}

/** The loop goes on with an activity, the databases as they are now, and these writes before that counts. */
export function goOn(
  now: Moment,
  databases: readonly Database[],
  activity: Activity,
  writes: readonly Write[] = [],
): ClusteringStep {
  const at = activity.kind === 'watching' ? activity.passAt : activity.until;
  const lookAgainAfterMilliseconds = at === null ? null : Math.max(0, at - now.monotonicMilliseconds);
  return { mind: { databases, activity }, writes, lookAgainAfterMilliseconds };
}
