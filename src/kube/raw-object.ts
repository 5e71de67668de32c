/** An object as the API server sent it, before projection. */
export type RawObject = Readonly<Record<string, unknown>>;

/** The part of an object that this layer reads. */
export interface RawMetadata {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export function isRawObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null` if it is not an object that an API server could have sent. */
export function metadataOf(raw: unknown): RawMetadata | null {
  const metadata = isRawObject(raw) ? raw['metadata'] : null;
  if (!isRawObject(metadata)) return null;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const isWhole =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    typeof uid === 'string' &&
    typeof resourceVersion === 'string';
  return isWhole ? { namespace, name, uid, resourceVersion } : null;
}
