/** What MySQL itself said when the members of a cluster were last asked (feature gate `ReplicationFacts`). */
export interface MysqlReading {
  /** `null` if nobody has been asked yet. */
  readonly ageSeconds: number | null;
  /** Why no member can be asked, as a sentence without a full stop. Then the rules use what is known without. */
  readonly problem: string | null;
  readonly members: readonly MemberReading[];
  /** Open writes of the primary, the oldest first. `null` if it was not asked for them, or did not say. */
  readonly writes: readonly OpenWrite[] | null;
  /** Seconds for which a switchover has waited for open writes. 0 while it does not. */
  readonly waitedForWritesSeconds: number;
}

export interface MemberReading {
  /** The uid of its pod. */
  readonly uid: string;
  readonly said: MemberSaid;
  /** Seconds since the first of the unknown answers in a row that the last one belongs to. 0 if it is not unknown. */
  readonly unknownForSeconds: number;
}

export type MemberSaid =
  | PrimarySaid
  | ReplicaSaid
  /** It could not be asked, or the answer can't be used. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface PrimarySaid {
  readonly kind: 'primary';
  /** Replicas that acknowledge its commits. */
  readonly acknowledging: number;
  /** Commits that wait for an acknowledgement at that instant. */
  readonly waiting: number;
}

export interface ReplicaSaid {
  readonly kind: 'replica';
  /**
   * Transactions that the primary had committed when it was asked and that this one had not received. `null` if the
   * primary did not say.
   */
  readonly missing: number | null;
  /** Transactions that it had received and not applied. */
  readonly unapplied: number;
  readonly receiver: ThreadState;
  readonly applier: ThreadState;
}

/** A thread of a replica. */
export interface ThreadState {
  readonly runs: boolean;
  /** The number of MySQL's last error of this thread. 0 without one. */
  readonly error: number;
}

/** A session of the primary that a switchover would cut off. */
export interface OpenWrite {
  /** MySQL's number of the connection. */
  readonly session: number;
  readonly user: string;
  readonly host: string;
  readonly ageSeconds: number;
  /** When it began. For people. */
  readonly since: string;
  /** `client`: no statement runs, and the transaction is open. `null` if it works. */
  readonly waitsFor: 'rowLock' | 'metadataLock' | 'acknowledgement' | 'client' | null;
}
