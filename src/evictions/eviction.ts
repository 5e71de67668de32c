import { fewObjects, identityOf, isConditionTrue, type Json, milliseconds, named, object, text } from '../base/json.ts';
import { shortened } from '../base/text.ts';
import type { ResourceKind } from '../kube/resource.ts';
import type { Stored } from '../kube/store.ts';

// Evictions of Kubernetes' API group lifecycle.k8s.io (KEP-4563, v1alpha1 of Kubernetes 1.37), as this program reads
// them. The subresource `pods/eviction` of the API group policy is something else.
// docs/decisions/0051-eviction-requests.md says which program writes which fields.

export const evictionKind: ResourceKind = {
  group: 'lifecycle.k8s.io',
  version: 'v1alpha1',
  plural: 'evictions',
  kind: 'Eviction',
  namespaced: true,
};

/**
 * The name of this program in `spec.evictionResponders` of a pod and in the status of an Eviction. Kubernetes also sets
 * this name as a label on each Eviction of a pod that lists the name.
 */
export const responderName = 'moco-rollout.io/responder';

/**
 * Selects every Eviction with the label that has this program's name, whatever the value of the label
 * (`EvictionParticipantRole`).
 */
export const evictionSelector = responderName;

/**
 * The states that `status.targetResponders` can give this program. Kubernetes' evictionrequest-controller sets the
 * state: `Active` as soon as this program has to answer. Only an active responder may change its entry of
 * `status.responders`.
 */
const responderStates = ['Inactive', 'Active', 'Interrupted', 'Canceled', 'Completed'] as const;
export type ResponderState = (typeof responderStates)[number];

/** An Eviction in which this program is a responder. Times are milliseconds since 1970, in whole seconds. */
export interface EvictionRecord extends Stored {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly state: ResponderState;
  /** Kubernetes has set the condition `TargetEvicted` or `Failed`, so no responder answers any more. */
  readonly hasEnded: boolean;
  /** The requesters that have not withdrawn, such as `drain.example.com/node`; at most three of them. */
  readonly requesters: readonly string[];
  /** When this program became active. */
  readonly startedAt: number | null;
  readonly heartbeatAt: number | null;
  readonly expectedAt: number | null;
  readonly completedAt: number | null;
  readonly message: string | null;
}

/** The API server accepts at most 100 conditions, 100 requesters and 11 responders. */
const mostConditions = 100;
const mostRequesters = 100;
const mostResponders = 11;
/** A message names at most this many requesters. */
const mostNamed = 3;
/** The longest name of a requester: a prefix of 253 characters, a slash, and a name of 63 characters. */
const mostRequesterCharacters = 317;
/** Messages of this program are cut at this length. */
export const mostMessageCharacters = 1024;
const mostNameCharacters = 253;

/**
 * Reads an Eviction. Returns `null` if its target is not a pod, or if Kubernetes has not made this program one of its
 * responders. Throws a `RangeError` if the object exceeds the limits of the API; the object is then skipped.
 */
export function projectEviction(raw: Json): EvictionRecord | null {
  const { generation: _, ...identity } = identityOf(raw);
  const target = object(object(object(raw['spec'])['target'])['pod']);
  const [name, uid] = [text(target['name']), text(target['uid'])];
  const status = object(raw['status']);
  fewObjects(status['targetResponders'], mostResponders, 'target responders');
  fewObjects(status['responders'], mostResponders, 'responders');
  fewObjects(status['conditions'], mostConditions, 'conditions');
  const state = stateOf(named(status['targetResponders'], responderName));
  if (name === null || uid === null || state === null) return null;
  if (name.length > mostNameCharacters || uid.length > mostNameCharacters) {
    throw new RangeError(`expected the name and the uid of a pod, each of at most ${mostNameCharacters} characters`);
  }
  const own = named(status['responders'], responderName);
  const at = (field: string): number | null => milliseconds(text(own[field]));
  const message = text(own['message']);
  return {
    ...identity,
    pod: { name, uid },
    state,
    hasEnded: ['TargetEvicted', 'Failed'].some((type) => isConditionTrue(status, type)),
    requesters: requestersOf(status),
    startedAt: at('startTime'),
    heartbeatAt: at('heartbeatTime'),
    expectedAt: at('expectedCompletionTime'),
    completedAt: at('completionTime'),
    message: message === null ? null : shortened(message, mostMessageCharacters),
  };
}

/** A state that a later version of Kubernetes adds counts as `Inactive`: this program does not answer then. */
function stateOf(target: Json): ResponderState | null {
  if (text(target['name']) !== responderName) return null;
  return responderStates.find((state) => state === target['state']) ?? 'Inactive';
}

const requestersOf = (status: Json): readonly string[] =>
  fewObjects(status['requesters'], mostRequesters, 'requesters')
    .filter(({ intent }) => intent === 'Eviction')
    .flatMap(({ name }) => text(name) ?? [])
    .slice(0, mostNamed)
    .map((name) => shortened(name, mostRequesterCharacters));

/**
 * Whether the target has to leave its node. This begins when Kubernetes makes this program active, and ends when the
 * pod is gone or every request is withdrawn. It does not end when this program has completed its part or is
 * interrupted, because another responder then continues with the eviction.
 */
export const isRequested = ({ state, hasEnded }: EvictionRecord): boolean =>
  !hasEnded && (state === 'Active' || state === 'Completed' || state === 'Interrupted');

/** Whether Kubernetes waits for this program. */
export const isAwaited = ({ state, hasEnded, startedAt, completedAt }: EvictionRecord): boolean =>
  !hasEnded && state === 'Active' && startedAt !== null && completedAt === null;
