import { roleLabel, rolePrimary, roleReplica } from '../../src/moco/names.ts';
import { type Gathered, primaryIndex, replicaOrdinals } from './cluster-state.ts';
import { answers, type Database } from './databases.ts';
import type { Pod } from './objects.ts';
import type { Patch } from './write.ts';

/** Whether there is nothing for MOCO to set right: roles labelled, replicas following, writes open. */
export function isConfigured(gathered: Gathered): boolean {
  return (
    membersWithoutRole(gathered).length === 0 &&
    writesOpen(gathered) &&
    replicaOrdinals(gathered).every((ordinal) => !needsRepointing(gathered, ordinal))
  );
}

export function writesOpen({ cluster, databases }: Gathered): boolean {
  return databases[primaryIndex(cluster)]?.writable === true;
}

/** Members whose label is absent or no longer true; an errant replica has no role. */
export function membersWithoutRole(gathered: Gathered): number[] {
  return gathered.members.flatMap((pod, ordinal) => {
    const role = pod.metadata.labels?.[roleLabel];
    const wanted = roleOf(gathered, ordinal);
    return role === wanted && wanted !== undefined ? [] : wanted === undefined && role === undefined ? [] : [ordinal];
  });
}

/** The first thing of a configuration: a label that is no longer true goes, so that no client follows it. */
export function unlabelWrites(gathered: Gathered): Patch[] {
  return membersWithoutRole(gathered).flatMap((ordinal) => {
    const pod = gathered.members[ordinal];
    return pod?.metadata.labels?.[roleLabel] === undefined ? [] : [labelPatch(pod, null)];
  });
}

/** The replicas that answer follow the primary now; the errant ones follow nobody. */
export function configured(gathered: Gathered): readonly Database[] {
  const { databases, faults, cluster } = gathered;
  const source = primaryIndex(cluster);
  return databases.map((database, ordinal) => {
    if (ordinal === source || !answers(databases, ordinal, faults)) {
      return database;
    }
    return faults.errant.includes(ordinal)
      ? { ...database, writable: false, replicating: false }
      : { ...database, writable: false, draining: false, source, replicating: true };
  });
}

/** The labels of members that had lost theirs or had none. A pod needn't run to get one. */
export function labelWrites(gathered: Gathered, ordinals: readonly number[]): Patch[] {
  return ordinals.flatMap((ordinal) => {
    const pod = gathered.members[ordinal];
    const role = roleOf(gathered, ordinal);
    return pod === undefined || role === undefined || pod.metadata.labels?.[roleLabel] === role
      ? []
      : [labelPatch(pod, role)];
  });
}

function roleOf({ cluster, faults }: Gathered, ordinal: number): string | undefined {
  if (ordinal === primaryIndex(cluster)) {
    return rolePrimary;
  }
  return faults.errant.includes(ordinal) ? undefined : roleReplica;
}

function needsRepointing({ cluster, databases, faults }: Gathered, ordinal: number): boolean {
  const database = databases[ordinal];
  if (database === undefined || !answers(databases, ordinal, faults)) {
    return false;
  }
  if (faults.errant.includes(ordinal)) {
    return database.writable || database.replicating;
  }
  return database.writable || !database.replicating || database.source !== primaryIndex(cluster);
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
