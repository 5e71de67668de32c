import { roleLabel, rolePrimary, roleReplica } from '../../../src/moco/names.ts';
import { factsOf, primaryIndex, type Snapshot } from './cluster-state.ts';
import { answers, type Database, isUnconfigurable } from './databases.ts';
import { has, repointed, wantedRole } from './decisions.ts';
import type { Pod } from './objects.ts';
import type { Patch } from './write.ts';

const labels = { primary: rolePrimary, replica: roleReplica } as const;

/** Members whose label is to be removed or set. */
export function membersWithoutRole(snapshot: Snapshot): number[] {
  const { mislabelled } = factsOf(snapshot);
  return snapshot.members.map((_, ordinal) => ordinal).filter((ordinal) => has(mislabelled, ordinal));
}

/** The first part of a configuration: wrong labels are removed, so that no client follows them. */
export function unlabelWrites(snapshot: Snapshot): Patch[] {
  return membersWithoutRole(snapshot).flatMap((ordinal) => {
    const pod = snapshot.members[ordinal];
    return pod?.metadata.labels?.[roleLabel] === undefined ? [] : [labelPatch(pod, null)];
  });
}

/**
 * The databases after MOCO has configured the replicas in ascending order; errant ones follow no member. `isDone` is
 * false if it fails at one of them: it returns there, before it sets labels and lets writes in (clustering/operations.go,
 * configure, MOCO 0.36).
 */
export function configured(snapshot: Snapshot): { readonly databases: readonly Database[]; readonly isDone: boolean } {
  const { databases, faults, cluster } = snapshot;
  const source = primaryIndex(cluster);
  const followers = repointed(factsOf(snapshot));
  const failsAt = databases.findIndex(
    (database, ordinal) => has(followers, ordinal) && isUnconfigurable(database, faults),
  );
  const after = databases.map((database, ordinal): Database => {
    // By then the probe of a primary that was made read-only, and replicates from no member, has failed three times.
    if (failsAt >= 0 && ordinal >= failsAt) return { ...database, draining: false };
    if (has(followers, ordinal)) return following(database, source);
    return ordinal === source || !answers(databases, ordinal, faults)
      ? database
      : { ...database, writable: false, replicating: false };
  });
  return { databases: after, isDone: failsAt < 0 };
}

/** Both threads are started: what it had received is applied. */
function following(database: Database, source: number): Database {
  const follows = { ...database, writable: false, draining: false, source, replicating: true };
  return database.backlog === undefined ? follows : { ...follows, backlog: 'applying' };
}

/** The labels of members that had a wrong one or none, and that answered when the configuration began. */
export function labelWrites(snapshot: Snapshot, ordinals: readonly number[]): Patch[] {
  const facts = factsOf(snapshot);
  return ordinals.flatMap((ordinal) => {
    const pod = snapshot.members[ordinal];
    const role = wantedRole(facts, ordinal);
    return pod === undefined || role === null || pod.metadata.labels?.[roleLabel] === labels[role]
      ? []
      : [labelPatch(pod, labels[role])];
  });
}

function labelPatch(pod: Pod, role: string | null): Patch {
  const { name, namespace, uid } = pod.metadata;
  return { verb: 'patch', kind: 'Pod', namespace, name, uid, body: { metadata: { labels: { [roleLabel]: role } } } };
}
