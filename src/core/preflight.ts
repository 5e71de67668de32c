/**
 * What nodes have found out about the update revision before a member is taken (setting `prepull`). Only nodes count
 * that have a due member.
 */
export interface Preflight {
  /** Nodes that have no result yet. */
  readonly awaited: readonly AwaitedNode[];
  /** Nodes that would not run the update revision. */
  readonly refusals: readonly NodeRefusal[];
}

export interface AwaitedNode {
  readonly nodeName: string;
  /** Seconds since it was first asked. 0 before. */
  readonly forSeconds: number;
  /** Why its pod does not run yet, in Kubernetes' words, or `null`. */
  readonly message: string | null;
}

export interface NodeRefusal {
  readonly nodeName: string;
  readonly result: 'ImageUnavailable' | 'ConfigurationRefused';
  /** The words of the kubelet, or of mysqld. */
  readonly message: string;
  /** Seconds until it is tried again. 0 while it is. */
  readonly againInSeconds: number;
}

/** How often the pods of a preflight are looked at: the sooner, the shorter it has lasted. */
export const lookAtPodsSeconds = (forSeconds: number): number => (forSeconds < 10 ? 1 : forSeconds < 60 ? 2 : 5);

const firstRetrySeconds = 60;
const longestRetrySeconds = 600;

/** A refusal is tried again after as long as it has lasted: every try doubles the time, up to ten minutes. */
export const retryAfterSeconds = (lastedSeconds: number): number =>
  Math.min(Math.max(lastedSeconds, firstRetrySeconds), longestRetrySeconds);
