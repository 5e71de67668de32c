/** Why something that the API server has sent is not in the cache. For logs and as a metric's label: a closed set. */
export type IgnoredReason =
  /** An entry of a list without metadata. */
  | 'NotAnObject'
  /** A list or an object of a kind that was not asked for. */
  | 'AnotherKind'
  /** Its projection threw. */
  | 'NotProjected'
  /** A watch event of a type that this program doesn't know. */
  | 'UnknownEvent'
  /** A watch event that isn't one, or whose object isn't one. */
  | 'UnreadableEvent';
