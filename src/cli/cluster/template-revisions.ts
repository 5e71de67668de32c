import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, object, objects, omitUndefined, text, whole } from '../../base/json.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import { clusterNameLabel, revisionHash, statefulSetName } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { isListOfNamed, templateOf } from '../../moco/template-changes.ts';
import { CommandError } from '../command-error.ts';
import { listAll } from './clusters.ts';
import type { Session } from './session.ts';

// The pod templates that Kubernetes keeps, and the change to a MySQLCluster that restores one of them.

/**
 * A pod template that Kubernetes still keeps. `number` is the revision number that `kubectl rollout history` shows; the
 * newest revision has the highest number. `hash` is the value of the pods' revision label, without the name of the
 * StatefulSet in front.
 */
export type Revision = Awaited<ReturnType<typeof revisionsOf>>[number];

/** The revisions of the cluster's StatefulSet, the oldest first. Rejects with `ApiError`. */
export async function revisionsOf(session: Session, { namespace, name }: ClusterRecord) {
  const stem = statefulSetName(name);
  const labelSelector = `${clusterNameLabel}=${name}`;
  const found = await listAll(session, controllerRevisions, namespace, { labelSelector });
  return found
    .filter(({ metadata }) => {
      // While MOCO re-creates the StatefulSet, revisions briefly have no owner.
      const owners = objects(object(metadata)['ownerReferences']);
      return owners.length === 0 || owners.some((owner) => owner['kind'] === 'StatefulSet' && owner['name'] === stem);
    })
    .map((raw) => {
      const { name: revision, creationTimestamp } = object(raw['metadata']);
      const own = text(revision) ?? '';
      const createdAt = text(creationTimestamp) ?? '';
      const number = whole(raw['revision'], 0);
      return { number, name: own, hash: revisionHash(own, name), createdAt, template: templateOf(raw) };
    })
    .toSorted((one, other) => one.number - other.number);
}

/** Finds a revision by its number or hash. Otherwise throws `CommandError` with the existing revisions. */
export function revisionNamed(revisions: readonly Revision[], wanted: string): Revision {
  const found = revisions.find(({ number, hash, name }) => [String(number), hash, name].includes(wanted));
  if (found) return found;
  const known = revisions.map(({ number, hash }) => `${number} (${hash})`).join(', ') || 'none';
  throw new CommandError(`revision ${wanted} is no longer kept; existing revisions: ${known}`);
}

/** The previous revision; `null` for the oldest one. */
export function revisionBefore(revisions: readonly Revision[], revision: Revision): Revision | null {
  return revisions.findLast(({ number }) => number < revision.number) ?? null;
}

/** Containers and volumes that MOCO itself adds to every template, and that it may also remove. */
const ofMoco: ReadonlySet<string> = new Set(
  [
    ['agent', 'slow-log', 'mysqld-exporter', 'copy-moco-init', 'moco-init', 'shared', 'run', 'var-log', 'tmp'],
    ['mysql-conf', 'mysql-conf-d', 'my-cnf-secret', 'slow-fluent-bit-config', 'grpc-cert'],
  ].flat(),
);

/**
 * The template for the MySQLCluster from which MOCO generates `before` again. Every value that the change from `before`
 * to `after` modified or removed is restored. Fields that MOCO or the API server adds, and that the MySQLCluster does
 * not set, are left out.
 */
export function restored(own: unknown, before: unknown, after: unknown): unknown {
  if (isDeepStrictEqual(before, after)) return own;
  // The MySQLCluster does not set this value: either the change removed the value, or MOCO adds it.
  if (own === undefined) return after === undefined ? before : undefined;
  if (isObject(own) && isObject(before) && isObject(after)) return fields(own, before, after);
  if (Array.isArray(own) && Array.isArray(before) && Array.isArray(after)) {
    const named = [own, before, after].every((list) => isListOfNamed(list));
    return named ? items(own, before, after) : isDeepStrictEqual(own, after) ? before : own;
  }
  return before;
}

const fields = (own: Json, before: Json, after: Json): Json =>
  ofEach([own, before, after], (name) => restored(own[name], before[name], after[name]));

/** An object with every field that occurs in any of these objects. `valueOf` returns the value of each field. */
function ofEach(all: readonly Json[], valueOf: (name: string) => unknown): Json {
  const names = new Set(all.flatMap(Object.keys));
  return omitUndefined(Object.fromEntries([...names].map((name) => [name, valueOf(name)])));
}

function items(own: readonly unknown[], before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const kept = own.map((item) => {
    const name = itemName(item);
    return restored(item, itemNamed(before, name), itemNamed(after, name));
  });
  const removed = before.filter((item) => {
    const name = itemName(item);
    return itemNamed(own, name) === undefined && itemNamed(after, name) === undefined && !ofMoco.has(name);
  });
  return inOrderOf(before, after, [...kept.filter((item) => item !== undefined), ...removed]);
}

/**
 * Returns the list. If `before` and `after` have their common items in a different order, the list gets the order of
 * `before`.
 */
function inOrderOf(before: readonly unknown[], after: readonly unknown[], list: readonly unknown[]) {
  const isCommon = (item: unknown): boolean =>
    [before, after, list].every((one) => itemNamed(one, itemName(item)) !== undefined);
  const [earlier, later] = [before, after].map((one) => one.filter(isCommon).map(itemName));
  if (isDeepStrictEqual(earlier, later)) return list;
  const next = (earlier ?? []).values();
  return list.map((item) => (isCommon(item) ? itemNamed(list, next.next().value ?? '') : item));
}

/**
 * The JSON merge patch (RFC 7386) that changes `from` into `to`; `undefined` if they are equal. Lists are replaced as a
 * whole.
 */
export function mergePatchOf(from: unknown, to: unknown): unknown {
  if (isDeepStrictEqual(from, to)) return undefined;
  if (!isObject(from) || !isObject(to)) return to === undefined ? null : to;
  return ofEach([from, to], (name) => mergePatchOf(from[name], to[name]));
}

const itemName = (item: unknown): string => text(object(item)['name']) ?? '';

const itemNamed = (list: readonly unknown[], name: string): unknown => list.find((item) => itemName(item) === name);
