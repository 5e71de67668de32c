/** Why something that the API server sent is not in the cache. A closed set: it is a metric's label. */
export type DecodeFailureReason =
  /** An entry of a list without metadata. */
  | 'NotAnObject'
  /** A list or an object of another kind. */
  | 'AnotherKind'
  /** Its projection threw. */
  | 'NotProjected'
  /** A watch event of a type that this program doesn't know. */
  | 'UnknownEvent'
  /** A malformed watch event, or one without an object. */
  | 'UnreadableEvent';
