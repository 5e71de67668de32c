import { revisionHashLabel } from '../../../src/moco/names.ts';
import { controllerUser } from '../../cluster/rollout-story.ts';
import type { AuditEvent } from '../../support/control-plane/control-plane.ts';
import type { Disruption } from '../witness/disruption.ts';
import { type Change, ordinalOf } from '../witness/moment.ts';
import type { WitnessedStatefulSet } from '../witness/objects.ts';
import type { Asked } from './store-clock.ts';

/** What the disruptions of one cluster are found in. */
export interface Requests {
  readonly namespace: string;
  readonly cluster: string;
  /** In the order of the store. */
  readonly changes: readonly Change[];
  readonly audit: readonly AuditEvent[];
  readonly asked: readonly Asked[];
}

/** Its revision in the store, the user who disrupted it, and the version before that. */
interface Target {
  readonly verb: Disruption['verb'];
  readonly ordinal: number;
  readonly uid: string;
  readonly before: number;
  readonly atMilliseconds: number;
}

/** Refused, so that nothing can have been done. */
const refused: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 422, 429]);

export const actorOf = ({ userAgent }: AuditEvent): string => userAgent?.split(' ').at(-1) ?? '';
const codeOf = ({ responseStatus }: AuditEvent): number => responseStatus?.code ?? 0;
export const isAgreed = (event: AuditEvent): boolean => codeOf(event) >= 200 && codeOf(event) < 300;

/**
 * The requests of the controller that disrupted members, among those that the API server executed, whatever it
 * answered. `object` is called with the fault of a request that no disruption shows.
 */
export function disruptionsOf(
  requests: Requests,
  object: (law: string, text: string, atMilliseconds: number) => void,
): readonly Disruption[] {
  const { namespace, cluster, audit, asked } = requests;
  const ours = audit.filter(
    (event) =>
      event.user.username === controllerUser &&
      event.stage === 'ResponseComplete' &&
      event.objectRef?.namespace === namespace &&
      (isOfPod(event) || partitionOf(event) !== null),
  );
  const agreed = new Set(ours.filter((event) => isOfPod(event) && isAgreed(event)).map(uidOf));
  const counted = new Set<string>();
  const disruptions = ours.flatMap((event): Disruption[] => {
    const { verb, objectRef, requestReceivedTimestamp } = event;
    const receivedAt = Date.parse(requestReceivedTimestamp);
    const what = `${verb} ${objectRef?.resource} ${objectRef?.name}`;
    const uid = uidOf(event);
    if (uid === undefined) {
      object('I9', `${what} carried no uid and resourceVersion`, receivedAt);
      return [];
    }
    if (refused.has(codeOf(event))) return [];
    // No answer, or an unclear one: this request or a successful one may have disrupted the pod.
    if (isOfPod(event) && !isAgreed(event) && agreed.has(uid)) return [];
    const target = isOfPod(event) ? podOf(event, uid, requests, counted) : atPartition(event, requests);
    if (target === null) return [];
    const actor = actorOf(event);
    const began = asked.findLast(
      (one) => one.actor === actor && one.namespace === namespace && one.atMilliseconds <= receivedAt + 1,
    );
    if (began === undefined) {
      object('I9', `${what} by ${actor} was not confirmed`, receivedAt);
      return [];
    }
    const confirmingSince = { revision: began.revision, atMilliseconds: began.atMilliseconds };
    return [{ ...target, actor, cluster: `${namespace}/${cluster}`, confirmingSince }];
  });
  return disruptions.toSorted((one, other) => one.before - other.before);
}

function isOfPod({ verb, objectRef }: AuditEvent): boolean {
  return objectRef?.resource === 'pods' && (verb === 'delete' || objectRef.subresource === 'eviction');
}

function podOf(event: AuditEvent, uid: string, { changes }: Requests, counted: Set<string>): Target | null {
  const receivedAt = Date.parse(event.requestReceivedTimestamp);
  const left = changes.find(({ identity: { metadata }, object }) => {
    return metadata.uid === uid && (object === null || metadata.deletionTimestamp !== undefined);
  });
  if (left === undefined) return null;
  const isFirst = !counted.has(uid);
  counted.add(uid);
  const later = changes.findLast(({ atMilliseconds }) => atMilliseconds <= receivedAt);
  return {
    verb: event.verb === 'delete' ? 'delete' : 'evict',
    ordinal: ordinalOf(event.objectRef?.name ?? ''),
    uid,
    before: isFirst ? left.revision - 1 : (later?.revision ?? left.revision),
    atMilliseconds: left.atMilliseconds,
  };
}

/** The member that a lower partition lets the StatefulSet replace; `null` if there is none, or it is updated. */
function atPartition(event: AuditEvent, { changes }: Requests): Target | null {
  const partition = partitionOf(event);
  const { resourceVersion } = (event.requestObject as { metadata: { resourceVersion: string } }).metadata;
  const set = changes.find(({ kind, revision }) => kind === 'StatefulSet' && revision > Number(resourceVersion));
  const { spec, status } = (set?.object as WitnessedStatefulSet | null | undefined) ?? {};
  if (set === undefined || spec?.updateStrategy?.rollingUpdate?.partition !== partition) return null;
  const name = `${event.objectRef?.name}-${partition}`;
  const pod = changes.findLast(
    ({ kind, identity, revision }) => kind === 'Pod' && identity.metadata.name === name && revision < set.revision,
  )?.object;
  if (!pod || pod.metadata.labels?.[revisionHashLabel] === status?.updateRevision) return null;
  const { revision, atMilliseconds } = set;
  const { uid } = pod.metadata;
  return { verb: 'setPartition', ordinal: ordinalOf(name), uid, before: revision - 1, atMilliseconds };
}

/** `null` for a request that lowers none. A release disrupts no member. */
function partitionOf({ verb, objectRef, requestURI, requestObject }: AuditEvent): number | null {
  if (verb !== 'patch' || objectRef?.resource !== 'statefulsets' || objectRef.subresource !== undefined) return null;
  if (requestURI.includes('dryRun=')) return null;
  const { metadata, spec } = (requestObject ?? {}) as PartitionPatch;
  return metadata?.labels === undefined ? (spec?.updateStrategy?.rollingUpdate?.partition ?? null) : null;
}

interface PartitionPatch {
  readonly metadata?: Preconditions & { readonly labels?: unknown };
  readonly spec?: { readonly updateStrategy?: { readonly rollingUpdate?: { readonly partition?: number } | null } };
}

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Of the preconditions; `undefined` if they don't name one exact version of the object. */
function uidOf({ requestObject }: AuditEvent): string | undefined {
  const { preconditions, deleteOptions, metadata } = (requestObject ?? {}) as {
    readonly preconditions?: Preconditions;
    readonly deleteOptions?: { readonly preconditions?: Preconditions };
    readonly metadata?: Preconditions;
  };
  const { uid, resourceVersion } = preconditions ?? deleteOptions?.preconditions ?? metadata ?? {};
  return resourceVersion === undefined ? undefined : uid;
}
