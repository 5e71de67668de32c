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
