import { type Moment } from '../moment.ts';
import type { Database } from './databases.ts';
import type { ClusteringDurations } from './settings.ts';
import type { Write } from './write.ts';

/** The current activity of MOCO's clustering loop. It does one thing at a time, and observes nothing meanwhile. */
export type Activity =
  /** Idle until the next pass at `passAt`. */
  | { readonly kind: 'watching'; readonly passAt: number | null }
  /** A pass has begun, and a member doesn't answer. */
  | { readonly kind: 'asking'; readonly until: number }
  | { readonly kind: 'switchover'; readonly to: number; readonly failing: boolean; readonly until: number }
  | { readonly kind: 'failover'; readonly until: number }
  | { readonly kind: 'cloning'; readonly until: number }
  | { readonly kind: 'repointing'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'labelling'; readonly unlabelled: readonly number[]; readonly until: number }
  | { readonly kind: 'opening'; readonly until: number };

/** The state outside of the API server: the databases, and the progress of MOCO's loop. Plain JSON. */
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
  /** When to run again without a change; `null` if only a change matters. */
  readonly requeueAfterMilliseconds: number | null;
}

/** Nothing but waiting for the mind's own time. */
export function still({ mind, now }: Turn): ClusteringStep {
  return goOn(now, mind.databases, mind.activity);
}

/** Waits for a change. */
export function idle({ mind, now }: Turn): ClusteringStep {
  return goOn(now, mind.databases, { kind: 'watching', passAt: null });
}

/** The next pass is after so many milliseconds, with or without changes. */
export function passAfter(
  { mind, now }: Turn,
  milliseconds: number,
  writes: readonly Write[] = [],
  databases = mind.databases,
): ClusteringStep {
  return goOn(now, databases, { kind: 'watching', passAt: now.monotonicMilliseconds + milliseconds }, writes);
}

/** The loop continues with an activity and the given databases, after these writes. */
export function goOn(
  now: Moment,
  databases: readonly Database[],
  activity: Activity,
  writes: readonly Write[] = [],
): ClusteringStep {
  const at = activity.kind === 'watching' ? activity.passAt : activity.until;
  const requeueAfterMilliseconds = at === null ? null : Math.max(0, at - now.monotonicMilliseconds);
  return { mind: { databases, activity }, writes, requeueAfterMilliseconds };
}
