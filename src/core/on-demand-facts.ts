/** What Prometheus said about a check when it was asked. */
export type CheckReading =
  /** The query returned nothing. */
  | { readonly kind: 'passing' }
  /** The query returned series. */
  | { readonly kind: 'failing'; readonly series: FailingSeries }
  /** It could not be asked, or the answer can't be used. */
  | { readonly kind: 'unknown'; readonly message: string };

/** The first series of an answer. */
export interface FailingSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  /** How many others the answer has. */
  readonly others: number;
}

/** A check of the user, and the last answer to it. */
export interface CheckFacts {
  readonly name: string;
  /** `null` before the first answer. */
  readonly reading: CheckReading | null;
  /** Since the answer came. */
  readonly ageSeconds: number;
  /** Seconds since the first of the unknown answers in a row that the last one belongs to. 0 if it is not unknown. */
  readonly unknownForSeconds: number;
}

/** What was last read about what the end of a member's pod destroys, and whether another pod can take its place. */
export interface Comeback {
  readonly ageSeconds: number;
  /** The claims of its pod that are about to go, or have gone. */
  readonly claims: readonly EndingClaim[];
  /** Why its node would not take another pod of it, if that is tied to this node; else `null`. */
  readonly tied: TiedToNode | null;
  /** Why the API server would not admit its next pod, in its words; `null` if it would. */
  readonly refusal: string | null;
}

/** No other node may take the pod, or none takes pods. */
export interface TiedToNode {
  readonly nodeName: string;
  /** Ends of a sentence about the node, such as `is cordoned`. At least one. */
  readonly refusals: readonly string[];
  /** What rules other nodes out, such as `the volume pvc-1`. */
  readonly ties: readonly string[];
}

/** A PersistentVolumeClaim that only the pod keeps: its protection ends with the pod (kubernetes.io/pvc-protection). */
export interface EndingClaim {
  readonly name: string;
  /**
   * `terminating`: its deletion has been requested. `missing`: it is gone, and the pod still has the volume mounted.
   */
  readonly state: 'terminating' | 'missing';
}

/** Of a pod that was just created: its claims are there. */
export const justCreated: Comeback = { ageSeconds: 0, claims: [], tied: null, refusal: null };

/** An older reading allows no step. Right before the step what can change is read again. */
export const freshComebackSeconds = 60;

/** A reading that grows old changes nothing by itself, so it sets no deadline: it is read once a step needs it. */
export const hasToBeRead = (comeback: Comeback | null): boolean =>
  comeback === null || !(comeback.ageSeconds < freshComebackSeconds);

/** What a replica said about its replication when it was asked. */
export type DelayReading =
  /** How much later the newest transaction that it has received was committed than the newest that it has applied. */
  | { readonly kind: 'delay'; readonly seconds: number }
  /** Its agent says that it does not replicate as it should, in these words. */
  | { readonly kind: 'notReplicating'; readonly message: string }
  /** It could not be asked, or the answer can't be used. */
  | { readonly kind: 'unknown'; readonly message: string };

/** The last reading of one replica. */
export interface ReplicationDelay {
  /** The uid of its pod. */
  readonly uid: string;
  readonly reading: DelayReading;
  readonly ageSeconds: number;
  /** Seconds since the first of the unknown readings in a row that the last one belongs to. 0 if it is not unknown. */
  readonly unknownForSeconds: number;
}
