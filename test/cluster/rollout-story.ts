import {
  annotationOn,
  dataAnnotation,
  demoteAnnotation,
  invalidatedIntentAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  revisionHashLabel,
  strategyLabel,
} from '../../src/moco/names.ts';
import type { AuditEvent } from '../support/control-plane/control-plane.ts';
import { ordinalOf } from '../support/moco/names.ts';

/** The ServiceAccount that `config/` gives the controller, by the name that the API server writes down. */
export const controllerUser = 'system:serviceaccount:moco-rollout-system:moco-rollout';
const mocoUser = 'moco-controller';
const nodesUser = 'nodes';

/** What the controller does to a healthy cluster of three members. */
export const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

/** One thing that a client did to a cluster, by the API server's own record. */
export interface Deed {
  /** Such as `evict 2`, `promoteRevision`, `primary 0 -> 1`; one that was refused ends with `: 429`. */
  readonly text: string;
  readonly by: 'controller' | 'moco' | 'nodes';
  readonly at: string;
  readonly code: number;
}

type Body = Readonly<Record<string, unknown>>;

/** What was done in a namespace, in order: each request counts from its arrival, since each author sends one after another. */
export function storyOf(audit: readonly AuditEvent[], namespace: string): readonly Deed[] {
  const events = audit
    .filter(({ objectRef, stage }) => objectRef?.namespace === namespace && stage === 'ResponseComplete')
    .toSorted((left, right) => left.requestReceivedTimestamp.localeCompare(right.requestReceivedTimestamp));
  const ready = new Map<string, boolean>();
  let primary: number | null = null;
  return events.flatMap((event): Deed[] => {
    switch (event.user.username) {
      case controllerUser:
        return ours(event);
      case mocoUser: {
        const moved = indexOf(event);
        if (moved === null || moved === primary) return [];
        const text = primary === null ? null : `primary ${primary} -> ${moved}`;
        primary = moved;
        return text === null ? [] : [deed(event, 'moco', text)];
      }
      case nodesUser:
        return nodes(event, ready);
      default:
        return [];
    }
  });
}

function deed(event: AuditEvent, by: Deed['by'], text: string): Deed {
  const code = event.responseStatus?.code ?? 0;
  return { text: code < 300 ? text : `${text}: ${code}`, by, at: event.requestReceivedTimestamp, code };
}

/** Everything that the controller does to what isn't its own; what it tells (statuses, Events, notes about data) is not a deed. */
function ours(event: AuditEvent): Deed[] {
  const { verb, objectRef } = event;
  const body = record(event.requestObject);
  const what = [verb, objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join(' ');
  const ordinal = ordinalOf(objectRef?.name ?? '');
  switch (what) {
    case 'delete pods':
      return [deed(event, 'controller', `delete ${ordinal}`)];
    case 'create pods eviction':
      return [deed(event, 'controller', `evict ${ordinal}`)];
    case 'patch pods':
      if (event.requestURI.includes('dryRun=')) return [];
      if (revisionHashLabel in record(record(body['metadata'])['labels']))
        return [deed(event, 'controller', `in place ${ordinal}`)];
      return [deed(event, 'controller', `${annotated(record(record(body['metadata'])['annotations']))} ${ordinal}`)];
    case 'patch pods resize':
      return event.requestURI.includes('dryRun=') ? [] : [deed(event, 'controller', `resize ${ordinal}`)];
    case 'patch persistentvolumeclaims':
      return isDataNote(body) ? [] : [deed(event, 'controller', what)];
    case 'patch statefulsets':
      return event.requestURI.includes('dryRun=') ? [] : [deed(event, 'controller', changed(body))];
    case 'patch statefulsets status':
      return [deed(event, 'controller', 'promoteRevision')];
    default: {
      const reported = ['events', 'mysqlrollouts'].includes(objectRef?.resource ?? '') || what === completion;
      return reported || ['get', 'list', 'watch'].includes(verb) ? [] : [deed(event, 'controller', what)];
    }
  }
}

/** It notes on a claim which mysqld has started on its data, and nothing else. */
function isDataNote({ metadata, ...others }: Body): boolean {
  const { annotations, uid: _, resourceVersion: __, ...rest } = record(metadata);
  const fields = [...Object.keys(others), ...Object.keys(rest), ...Object.keys(record(annotations))];
  return fields.join() === dataAnnotation;
}

/** Writes that change what new pods start at. They take no member. */
export const newPodsDeeds = { keep: 'new pods at the current revision', update: 'new pods at the update revision' };

/** What a patch of a StatefulSet is for. */
function changed(body: Body): string {
  const { labels, annotations } = record(body['metadata']) as { labels?: Body; annotations?: Body };
  if (annotations && invalidatedIntentAnnotation in annotations) return 'invalidate';
  if (labels?.[strategyLabel] === null) return 'release';
  if (labels?.[newPodsLabel] === newPodsAtCurrentRevision) return newPodsDeeds.keep;
  // An adoption sends the same.
  if (labels !== undefined) return newPodsDeeds.update;
  const { partition } = record(record(record(body['spec'])['updateStrategy'])['rollingUpdate']);
  return `setPartition ${String(partition)}`;
}

const completion = 'update mysqlclusters status';

function annotated(annotations: Body): string {
  if (invalidatedIntentAnnotation in annotations) return 'invalidate';
  if (demoteAnnotation in annotations) return annotations[demoteAnnotation] === annotationOn ? 'demote' : 'undemote';
  return 'annotate';
}

/** The index in a status that MOCO has written, or `null` for anything else. */
function indexOf({ verb, objectRef, requestObject, responseStatus }: AuditEvent): number | null {
  const isStatus = verb === 'update' && objectRef?.resource === 'mysqlclusters' && objectRef.subresource === 'status';
  const status = record(record(requestObject)['status']);
  const index = status['currentPrimaryIndex'] ?? 0;
  return isStatus && responseStatus?.code === 200 && typeof index === 'number' ? index : null;
}

function nodes(event: AuditEvent, ready: Map<string, boolean>): Deed[] {
  const { verb, objectRef, requestObject, responseStatus } = event;
  const name = objectRef?.name ?? '';
  if (objectRef?.resource !== 'pods' || (responseStatus?.code ?? 0) >= 300) return [];
  if (verb === 'delete') return [deed(event, 'nodes', `gone ${ordinalOf(name)}`)];
  const conditions = record(record(requestObject)['status'])['conditions'];
  if (verb !== 'patch' || !Array.isArray(conditions)) return [];
  const condition = (conditions as Body[]).find(({ type }) => type === 'Ready');
  if (condition === undefined) return [];
  const is = condition['status'] === 'True';
  const was = ready.get(name) ?? false;
  ready.set(name, is);
  return is === was ? [] : [deed(event, 'nodes', `${is ? 'ready' : 'not ready'} ${ordinalOf(name)}`)];
}

function record(value: unknown): Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {};
}
