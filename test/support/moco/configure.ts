import { roleLabel, rolePrimary, roleReplica } from '../../../src/moco/names.ts';
import { factsOf, primaryIndex, type Snapshot } from './cluster-state.ts';
import { answers, type Database } from './databases.ts';
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

/** The databases after MOCO has configured the replicas; errant ones follow no member. */
export function configured(snapshot: Snapshot): readonly Database[] {
  const { databases, faults, cluster } = snapshot;
  const source = primaryIndex(cluster);
  const followers = repointed(factsOf(snapshot));
  return databases.map((database, ordinal) => {
    if (has(followers, ordinal)) return { ...database, writable: false, draining: false, source, replicating: true };
    return ordinal === source || !answers(databases, ordinal, faults)
      ? database
      : { ...database, writable: false, replicating: false };
  });
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
  return {
    verb: 'patch',
    kind: 'Pod',
    namespace,
    name,
    uid,
    body: { metadata: { labels: { [roleLabel]: role } } },
  };
}
