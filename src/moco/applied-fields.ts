import { isObject, type Json, object, objects, text } from '../base/json.ts';
import { jsonOf } from '../base/text.ts';
import type { AlteredField } from '../core/snapshot.ts';

// Finds the fields that MOCO applies again and again, from what MOCO owns of the StatefulSet.

const manager = 'moco-controller';
const template = 'spec.podTemplate.spec';
/** In Kubernetes, at most two fields identify an item: for example the number and the protocol of a port. */
const mostIdentifyingFields = 8;

/**
 * The fields of `spec.podTemplate.spec` that make MOCO apply the StatefulSet at each reconciliation although nothing
 * has changed (cybozu-go/moco#782, seen with MOCO 0.36). MOCO compares what it applies with the fields that it owns in
 * the StatefulSet, but the API server has altered those fields: it adds an `apiVersion` to a `fieldRef`, which is owned
 * as a whole, and it does not store `readOnly: false`. A value that merely differs does not count: either MOCO has not
 * applied it yet, or it is the same quantity in a different notation.
 *
 * @param cluster the MySQLCluster with all its fields
 * @param statefulSet the StatefulSet with its managedFields
 */
export function alteredFields(cluster: Json, statefulSet: Json): readonly AlteredField[] {
  const applied = objects(object(statefulSet['metadata'])['managedFields']).find(
    (entry) => entry['manager'] === manager && entry['operation'] === 'Apply' && !text(entry['subresource']),
  );
  const owned = child(child(child(object(applied?.['fieldsV1']), 'spec'), 'template'), 'spec');
  const live = object(object(statefulSet['spec'])['template'])['spec'];
  const wanted = object(object(cluster['spec'])['podTemplate'])['spec'];
  return owned === undefined ? [] : ownedDifferences(wanted, live, owned, template);
}

/**
 * The keys of `fieldsV1`: `f:name` stands for a field, `k:{"name":"side"}` for an item of a list, and `{}` for a value
 * that is owned as a whole.
 */
function ownedDifferences(wanted: unknown, live: unknown, owned: Json, path: string): readonly AlteredField[] {
  if (live === undefined || live === null) return [{ path, what: 'dropped' }];
  const isWhole = Object.keys(owned).every((key) => key === '.');
  if (isWhole) return differences(wanted, live, path);
  if (Array.isArray(wanted)) return ofItems(objects(wanted), objects(live), owned, path);
  return Object.entries(object(wanted)).flatMap(([name, value]) => {
    const below = child(owned, name);
    // MOCO does not apply this field, or applies a different value.
    return below === undefined ? [] : ownedDifferences(value, object(live)[name], below, `${path}.${name}`);
  });
}

/**
 * All items of a list are identified by the same fields, for example by `name`. A tenant may write both lists and the
 * keys, so each of them is read only once.
 */
function ofItems(wanted: readonly Json[], live: readonly Json[], owned: Json, path: string): readonly AlteredField[] {
  const keys = Object.keys(owned).filter((key) => key.startsWith('k:'));
  const names = Object.keys(fieldsOf(keys[0] ?? ''));
  if (names.length === 0 || names.length > mostIdentifyingFields) return [];
  const idOf = (item: Json): string => JSON.stringify(names.map((name) => idPart(item[name])));
  const ownedById = new Map(keys.map((key) => [idOf(fieldsOf(key)), object(owned[key])]));
  const liveById = new Map(live.toReversed().map((item) => [idOf(item), item]));
  return wanted.flatMap((item) => {
    const id = idOf(item);
    const below = ownedById.get(id);
    const place = `${path}[${names.map((name) => String(item[name])).join('/')}]`;
    // MOCO does not apply this item.
    return below === undefined ? [] : ownedDifferences(item, liveById.get(id), below, place);
  });
}

/** Only plain values identify items. An object would have to be compared as a whole for every item. */
const idPart = (value: unknown): unknown => (typeof value === 'object' ? null : value);

/** The fields in a key such as `k:{"name":"side"}`. */
const fieldsOf = (key: string): Json => object(jsonOf(key.slice('k:'.length)));

function differences(wanted: unknown, live: unknown, path: string): readonly AlteredField[] {
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.flatMap((item, index) => differences(item, live[index], `${path}[${index}]`));
  }
  if (!isObject(wanted) || !isObject(live)) return [];
  return [...new Set([...Object.keys(wanted), ...Object.keys(live)])].flatMap((name): readonly AlteredField[] => {
    const below = `${path}.${name}`;
    if (!(name in wanted)) return [{ path: below, what: 'added' }];
    return name in live ? differences(wanted[name], live[name], below) : [{ path: below, what: 'dropped' }];
  });
}

const child = (owned: Json | undefined, name: string): Json | undefined => {
  const found = owned?.[`f:${name}`];
  return isObject(found) ? found : undefined;
};
