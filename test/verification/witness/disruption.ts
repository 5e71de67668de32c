/** What takes a member: its pod goes, by whosever hand, or containers of it restart. */
export type TakingVerb = 'delete' | 'evict' | 'setPartition' | 'restartInPlace';
/**
 * What runs something of the update revision without taking the member, prepares that it is taken, or deletes an updated
 * one that is to come back as what it was.
 */
export type Verb = TakingVerb | 'resize' | 'demote' | 'restore';

/** A member whose disruption, directly or by the StatefulSet, the API server has just accepted; or another step with it. */
export interface Disruption {
  readonly verb: Verb;
  /** Those that restart in place. */
  readonly containers?: readonly string[];
  /** The process that did it, by whatever name the API server knows it. */
  readonly actor: string;
  /** `namespace/name` of its cluster. */
  readonly cluster: string;
  readonly uid: string;
  readonly ordinal: number;
  /** The store as it was when the actor began the reads that its last question to the API server consists of. */
  readonly confirmingSince: { readonly revision: number; readonly atMilliseconds: number };
  /** The last revision of the store before it. */
  readonly before: number;
  readonly atMilliseconds: number;
}
