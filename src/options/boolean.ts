const spelled: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false])),
};

/** Reads the spellings that Go's strconv.ParseBool reads, which Kubernetes' flags take; `null` for anything else. */
export function parseBoolean(text: string): boolean | null {
  return Object.hasOwn(spelled, text) ? (spelled[text] ?? null) : null;
}
