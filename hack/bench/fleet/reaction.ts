import { type Json, object, objects, text, whole } from '../../../src/moco/json.ts';
import { annotationOn, demoteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { preciseMilliseconds } from '../../../test/support/control-plane/audit-lines.ts';
import type { AuditEvent } from '../../../test/support/control-plane/audit-log.ts';

// The steps of a rollout in the audit log, and how soon each followed the write that made it possible. All times are
// the API server's, milliseconds since 1970 with fractions.

export type Verb = 'evict' | 'delete' | 'demote';

/** A successful request of the controller that disrupted a member or moved the primary. */
export interface RecordedStep {
  readonly verb: Verb;
  readonly pod: string;
  readonly receivedMilliseconds: number;
}

/** What a step waits for, as far as writes of others open it. */
export type GateName = 'Ready' | 'role' | 'PDB' | 'Healthy' | 'Available' | 'reconciled' | 'revision';

/** A write by anybody else that opened what a step waits for. */
export interface Opening {
  readonly gate: GateName;
  /** The pod that became ready; `null` for every other gate. */
  readonly readyPod: string | null;
  readonly answeredMilliseconds: number;
}

/** The required change between the previous step (or the template change) and this one; `null` if none. */
export interface Reaction extends RecordedStep {
  /** The last gate to open. */
  readonly opening: Opening | null;
  readonly sinceOpeningMilliseconds: number | null;
  /** The last pod to turn ready. */
  readonly ready: Opening | null;
  readonly sinceReadyMilliseconds: number | null;
}

const controllerUser = /^system:serviceaccount:[^:]+:moco-rollout$/;

/**
 * The steps after `sinceMilliseconds`, when the template changed. The record has to be of one cluster's namespace, from
 * its beginning, writes with their bodies.
 */
export function reactions(events: readonly AuditEvent[], sinceMilliseconds: number): readonly Reaction[] {
  const granted = events.filter((event) => (event.responseStatus?.code ?? 0) < 300);
  const opened = openings(granted).filter(({ answeredMilliseconds }) => answeredMilliseconds >= sinceMilliseconds);
  const steps = granted.flatMap(stepOf).filter(({ receivedMilliseconds }) => receivedMilliseconds >= sinceMilliseconds);
  return steps.map((step, index) => {
    const from = steps[index - 1]?.receivedMilliseconds ?? sinceMilliseconds;
    const between = opened.filter(
      ({ answeredMilliseconds }) => answeredMilliseconds > from && answeredMilliseconds <= step.receivedMilliseconds,
    );
    const opening = between.at(-1) ?? null;
    const ready = between.findLast(({ readyPod }) => readyPod !== null) ?? null;
    return {
      ...step,
      opening,
      sinceOpeningMilliseconds: opening && step.receivedMilliseconds - opening.answeredMilliseconds,
      ready,
      sinceReadyMilliseconds: ready && step.receivedMilliseconds - ready.answeredMilliseconds,
    };
  });
}

function stepOf({ user, verb, objectRef, requestObject, requestReceivedTimestamp }: AuditEvent): RecordedStep[] {
  if (!controllerUser.test(user.username) || objectRef?.resource !== 'pods' || objectRef.name === undefined) return [];
  const step = (named: Verb): RecordedStep[] => [
    { verb: named, pod: objectRef.name ?? '', receivedMilliseconds: preciseMilliseconds(requestReceivedTimestamp) },
  ];
  if (verb === 'create' && objectRef.subresource === 'eviction') return step('evict');
  if (verb === 'delete') return step('delete');
  const annotations = object(object(object(requestObject)['metadata'])['annotations']);
  return verb === 'patch' && annotations[demoteAnnotation] === annotationOn ? step('demote') : [];
}

/** In the order in which they were answered. A gate opens when it is seen open and was not open before. */
function openings(events: readonly AuditEvent[]): readonly Opening[] {
  const open = new Map<string, boolean | string>();
  return events
    .filter(({ user }) => !controllerUser.test(user.username))
    .toSorted((one, other) => preciseMilliseconds(one.stageTimestamp) - preciseMilliseconds(other.stageTimestamp))
    .flatMap((event) =>
      gatesOf(event).flatMap(({ gate, object: name, value }): Opening[] => {
        const key = `${gate} ${name}`;
        const before = open.get(key);
        open.set(key, value);
        const opens = value !== false && value !== before && before !== undefined;
        const readyPod = gate === 'Ready' ? name : null;
        return opens ? [{ gate, readyPod, answeredMilliseconds: preciseMilliseconds(event.stageTimestamp) }] : [];
      }),
    );
}

interface Gate {
  readonly gate: GateName;
  readonly object: string;
  /** `false`: closed. Anything else is open, and opens again if it changes. */
  readonly value: boolean | string;
}

function gatesOf({ verb, objectRef, requestObject }: AuditEvent): readonly Gate[] {
  const body = object(requestObject);
  const status = object(body['status']);
  const name = objectRef?.name ?? '';
  const gate = (named: GateName, value: boolean | string): Gate => ({ gate: named, object: name, value });
  switch (`${objectRef?.resource}/${objectRef?.subresource ?? ''}`) {
    case 'pods/': {
      if (verb === 'create') return [gate('Ready', false), gate('role', false)];
      const labels = object(object(body['metadata'])['labels']);
      return roleLabel in labels ? [gate('role', text(labels[roleLabel]) ?? false)] : [];
    }
    case 'pods/status':
      return [gate('Ready', isTrue(status, 'Ready'))];
    case 'poddisruptionbudgets/status':
      return [gate('PDB', whole(status['disruptionsAllowed'], 0) > 0)];
    case 'statefulsets/status':
      return [gate('revision', text(status['updateRevision']) ?? false)];
    case 'mysqlclusters/status': {
      const inSync = status['syncedReplicas'] === object(body['spec'])['replicas'];
      const generation = String(object(status['reconcileInfo'])['generation']);
      return [
        gate('Healthy', isTrue(status, 'Healthy') && inSync),
        gate('Available', isTrue(status, 'Available')),
        gate('reconciled', isTrue(status, 'ReconcileSuccess') && generation),
      ];
    }
    default:
      return [];
  }
}

function isTrue(status: Json, type: string): boolean {
  return objects(status['conditions']).find((condition) => condition['type'] === type)?.['status'] === 'True';
}
