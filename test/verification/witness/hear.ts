import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { AuditEvent } from '../../support/control-plane/audit-log.ts';
import type { Disruption } from './disruption.ts';
import { type Change, ordinalOf } from './moment.ts';
import { Witness } from './witness.ts';

/**
 * The witness of one namespace of a real API server: it sees the watches, and the requests of this user in the audit
 * log. The user has one process at a time; its confirmation began when the API server got its last read of the
 * StatefulSet by name, and everything that the watches had shown by then was in the store.
 */
export function hear(changes: readonly Change[], audit: readonly AuditEvent[], user: string): Witness {
  const witness = new Witness();
  const disruptions = disruptionsOf(changes, audit, user);
  for (const change of changes) {
    for (const disruption of disruptions) if (disruption.before === change.revision - 1) witness.disrupted(disruption);
    witness.observe(change);
  }
  return witness;
}

function disruptionsOf(changes: readonly Change[], audit: readonly AuditEvent[], user: string): readonly Disruption[] {
  const own = audit
    .filter(({ user: { username }, stage }) => username === user && stage === 'ResponseComplete')
    .toSorted((left, right) => received(left) - received(right));
  let askedAt: number | null = null;
  return own.flatMap((event): Disruption[] => {
    const { verb, objectRef, responseStatus } = event;
    if (verb === 'get' && objectRef?.resource === 'statefulsets') askedAt = received(event);
    const taken = takenBy(event);
    if (taken === null || (responseStatus?.code ?? 500) >= 300) return [];
    const committed = changes.find(
      ({ kind, object, atMilliseconds }) =>
        kind === 'Pod' &&
        object?.metadata.name === objectRef?.name &&
        object?.metadata.deletionTimestamp !== undefined &&
        atMilliseconds >= received(event),
    );
    if (committed === undefined) return [];
    const { metadata } = committed.identity;
    const since = askedAt ?? received(event);
    return [
      {
        verb: taken,
        actor: user,
        cluster: `${metadata.namespace ?? ''}/${metadata.labels?.[clusterNameLabel] ?? ''}`,
        uid: metadata.uid,
        ordinal: ordinalOf(metadata.name),
        confirmingSince: { revision: toldUntil(changes, since), atMilliseconds: since },
        before: committed.revision - 1,
        atMilliseconds: received(event),
      },
    ];
  });
}

function takenBy({ verb, objectRef }: AuditEvent): 'delete' | 'evict' | null {
  if (objectRef?.resource !== 'pods') return null;
  if (verb === 'delete') return 'delete';
  return verb === 'create' && objectRef.subresource === 'eviction' ? 'evict' : null;
}

const received = ({ requestReceivedTimestamp }: AuditEvent): number => Date.parse(requestReceivedTimestamp);

function toldUntil(changes: readonly Change[], atMilliseconds: number): number {
  return Math.max(0, ...changes.filter((one) => one.atMilliseconds <= atMilliseconds).map(({ revision }) => revision));
}
