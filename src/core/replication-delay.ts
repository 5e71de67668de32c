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
