import { events, type ResourceKind } from '../../../src/kube/resource.ts';
import { isKind, knownKinds } from '../known-kinds.ts';
import * as mocoKinds from '../moco/kinds.ts';

/** What a path of the API names. */
export interface ResourcePath {
  readonly kind: ResourceKind;
  /** Empty for all of them, and for what has none. */
  readonly namespace: string;
  /** `null` for a list. */
  readonly name: string | null;
  readonly subresource: string | null;
}

/** Every kind that the program itself, or the stand-in for MOCO, knows by name. */
const kinds: ReadonlyMap<string, ResourceKind> = new Map(
  [...Object.values(mocoKinds).filter(isKind), ...knownKinds].map((kind) => [`${kind.group}/${kind.plural}`, kind]),
);

const known = new Map<string, ResourcePath | null>();

/** `null` if no resource is served there. */
export function resourceAt(path: string): ResourcePath | null {
  const before = known.get(path);
  if (before !== undefined) return before;
  const parsed = parse(path);
  // Each event has a unique name that is never requested twice.
  if (parsed?.kind !== events) known.set(path, parsed);
  return parsed;
}

function parse(path: string): ResourcePath | null {
  const parts = path.slice(1).split('/').map(decodeURIComponent);
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? (rest[1] ?? '') : '';
  const [plural = '', name = null, subresource = null] = namespace === '' ? rest : rest.slice(2);
  if (plural === '') return null;
  const version = parts[parts[0] === 'api' ? 1 : 2] ?? '';
  // Unknown kinds are served all the same.
  const unknown: ResourceKind = { group, version, plural, kind: plural, namespaced: namespace !== '' };
  return { kind: kinds.get(`${group}/${plural}`) ?? unknown, namespace, name, subresource };
}
