import { isObject } from '../base/json.ts';

export interface RawMetadata {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The metadata of an object; `null` if the value is not an object that an API server could have sent. */
export function metadataOf(raw: unknown): RawMetadata | null {
  const metadata = isObject(raw) ? raw['metadata'] : null;
  if (!isObject(metadata)) return null;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const isWhole =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    typeof uid === 'string' &&
    typeof resourceVersion === 'string';
  return isWhole ? { namespace, name, uid, resourceVersion } : null;
}

const numeric = /^\d+$/;

/**
 * Whether resourceVersion `a` equals `b` or is later than `b`. Both must belong to one kind. Kubernetes'
 * resourceVersions are decimal integers of any length (KEP-5504, Kubernetes 1.35; also true of earlier versions with
 * etcd), so this function compares them as text and never converts them to numbers. For any other values the result is
 * true only if they are equal.
 */
export function isAtLeast(a: string, b: string): boolean {
  if (a === b) return true;
  if (!numeric.test(a) || !numeric.test(b)) return false;
  const [left, right] = [withoutZeros(a), withoutZeros(b)];
  return left.length === right.length ? left >= right : left.length > right.length;
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}
