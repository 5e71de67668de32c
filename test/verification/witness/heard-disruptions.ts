import { clusterNameLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import type { AuditEvent } from '../../support/control-plane/audit-log.ts';
import type { Disruption } from './disruption.ts';
import { type Change, ordinalOf } from './moment.ts';
import type { WitnessedStatefulSet } from './objects.ts';

type Object = (law: string, text: string, atMilliseconds: number) => void;

/** Where a request shows in the store. */
type Target = Omit<Disruption, 'actor' | 'confirmingSince'>;

/** Refused, so that nothing can have been done. */
const refused: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 422, 429]);
const credential = 'authentication.kubernetes.io/credential-id';

/** A process by its token, or by its user where the API server does not tell tokens apart. */
const actorOf = ({ user }: AuditEvent): string => user.extra?.[credential]?.[0] ?? user.username;

const codeOf = ({ responseStatus }: AuditEvent): number => responseStatus?.code ?? 500;
const isAgreed = (event: AuditEvent): boolean => codeOf(event) < 300;
const received = ({ requestReceivedTimestamp }: AuditEvent): number => Date.parse(requestReceivedTimestamp);

/**
 * The requests of a user that disrupted members, among those that the API server executed, whatever it answered, in the
 * order of the store. The confirmation of a process began when the API server got its last read of the StatefulSet by
 * name, and everything that the watches had shown by then was in the store. `object` is called with the faults of a
 * request itself.
 */
export function heardDisruptions(
  changes: readonly Change[],
  audit: readonly AuditEvent[],
  user: string,
  object: Object,
): readonly Disruption[] {
  const own = audit
    .filter(({ user: { username }, stage }) => username === user && stage === 'ResponseComplete')
    .toSorted((left, right) => received(left) - received(right));
  const agreed = new Set(own.filter((event) => takenBy(event) !== null && isAgreed(event)).map(uidOf));
  const counted = new Set<string>();
  const askedAt = new Map<string, number>();
  const disruptions = own.flatMap((event): Disruption[] => {
    const { verb, objectRef } = event;
    const process = `${objectRef?.namespace}/${actorOf(event)}`;
    if (verb === 'get' && objectRef?.resource === 'statefulsets') askedAt.set(process, received(event));
    const taken = takenBy(event);
    if ((taken === null && partitionOf(event) === null) || refused.has(codeOf(event))) return [];
    const uid = uidOf(event);
    // No answer, or an unclear one: this request or a successful one may have disrupted the pod.
    if (taken !== null && !isAgreed(event) && agreed.has(uid)) return [];
    const target = taken === null ? atPartition(event, changes) : podOf(event, taken, changes, counted);
    if (target === null) return [];
    const what = `${target.verb} ${target.ordinal} by ${actorOf(event)}`;
    if (uid === undefined) object('I9', `${what} carried no uid and resourceVersion`, received(event));
    const began = askedAt.get(process);
    if (began === undefined) object('I9', `${what} was not confirmed`, received(event));
    const since = began ?? received(event);
    const confirmingSince = { revision: toldUntil(changes, since), atMilliseconds: since };
    return [{ ...target, actor: actorOf(event), confirmingSince }];
  });
  return disruptions.toSorted((one, other) => one.before - other.before);
}

/** Pods that find out what nodes can run, and that no cluster has as a member. */
const preflight = /^moco-rollout-preflight-[0-9a-f]{16}$/;

function takenBy({ verb, objectRef }: AuditEvent): 'delete' | 'evict' | null {
  if (objectRef?.resource !== 'pods' || preflight.test(objectRef.name ?? '')) return null;
  if (verb === 'delete') return 'delete';
  return verb === 'create' && objectRef.subresource === 'eviction' ? 'evict' : null;
}

/** The pod that goes; what asks for it again asks for a pod that is going already. */
function podOf(
  event: AuditEvent,
  verb: 'delete' | 'evict',
  changes: readonly Change[],
  counted: Set<string>,
): Target | null {
  const { namespace, name = '' } = event.objectRef ?? {};
  const uid = uidOf(event);
  const left = changes.find(({ kind, identity: { metadata }, object, atMilliseconds }) => {
    const isIt = uid === undefined ? atMilliseconds >= received(event) : metadata.uid === uid;
    const isGoing = object === null || metadata.deletionTimestamp !== undefined;
    return kind === 'Pod' && metadata.namespace === namespace && metadata.name === name && isIt && isGoing;
  });
  if (left === undefined) return null;
  const { metadata } = left.identity;
  const isFirst = !counted.has(metadata.uid);
  counted.add(metadata.uid);
  return {
    verb,
    cluster: `${namespace}/${metadata.labels?.[clusterNameLabel] ?? ''}`,
    ordinal: ordinalOf(name),
    uid: metadata.uid,
    before: isFirst ? left.revision - 1 : Math.max(left.revision, toldUntil(changes, received(event))),
    atMilliseconds: received(event),
  };
}

/** The member that a lower partition lets the StatefulSet replace; `null` if there is none, or it is updated. */
function atPartition(event: AuditEvent, changes: readonly Change[]): Target | null {
  const partition = partitionOf(event);
  const { namespace, name = '' } = event.objectRef ?? {};
  const { resourceVersion } = (event.requestObject as PartitionPatch).metadata ?? {};
  const set = changes.find(
    ({ kind, revision, identity: { metadata } }) =>
      kind === 'StatefulSet' && metadata.namespace === namespace && revision > Number(resourceVersion),
  );
  const { spec, status } = (set?.object as WitnessedStatefulSet | null | undefined) ?? {};
  if (set === undefined || spec?.updateStrategy?.rollingUpdate?.partition !== partition) return null;
  const podName = `${name}-${partition}`;
  const pod = changes.findLast(
    ({ kind, identity: { metadata }, revision }) =>
      kind === 'Pod' && metadata.namespace === namespace && metadata.name === podName && revision < set.revision,
  )?.object;
  if (!pod || pod.metadata.labels?.[revisionHashLabel] === status?.updateRevision) return null;
  return {
    verb: 'setPartition',
    cluster: `${namespace}/${pod.metadata.labels?.[clusterNameLabel] ?? ''}`,
    ordinal: ordinalOf(podName),
    uid: pod.metadata.uid,
    before: set.revision - 1,
    atMilliseconds: set.atMilliseconds,
  };
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

function toldUntil(changes: readonly Change[], atMilliseconds: number): number {
  return Math.max(0, ...changes.filter((one) => one.atMilliseconds <= atMilliseconds).map(({ revision }) => revision));
}
