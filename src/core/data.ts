import { keepsRevisions } from './adoption.ts';
import { mayReturn } from './mysql-versions.ts';
import type { Situation } from './situation.ts';
import type { DataFacts, DataRecord } from './snapshot.ts';

// The data of a member, and the newest revision whose mysqld has started on them. A revision has the name of the hash of
// its template, so two revisions of one name are the same one, and need no order: a member may come back at the revision
// of its data, and every other one but the update revision counts as older.

/** After so long the claim is read again before a decision depends on what it says. */
const freshSeconds = 60;

const factsOf = ({ snapshot: { data } }: Situation, ordinal: number): DataFacts | undefined =>
  data.find((one) => one.ordinal === ordinal);

/**
 * The newest revision whose mysqld has started on the data of the member. `null` if it is not known: a mysqld may have
 * started on them of which nobody has made a record.
 */
export function dataOf(situation: Situation, ordinal: number): DataRecord | null {
  const { record = null, lastRun = null } = factsOf(situation, ordinal) ?? {};
  if (lastRun?.worked) return lastRun;
  if (lastRun !== null) return record?.revision === lastRun.revision ? record : null;
  return record !== null && isCurrent(situation, ordinal, record) ? record : null;
}

/**
 * This process has not seen the mysqld of the member run. Another pod may have run since the record was made, unless
 * every pod that can have been created since is of the revision that the record names.
 */
function isCurrent(
  { snapshot: { statefulSet }, members, updateRevision, currentRevision }: Situation,
  ordinal: number,
  { revision }: DataRecord,
): boolean {
  const pod = members.find((member) => member.ordinal === ordinal);
  const isKept = keepsRevisions(statefulSet) && revision === currentRevision;
  return isKept || revision === updateRevision || revision === pod?.facts.revision;
}

/** The member may come back at the revision: the newest mysqld that has started on its data is that of the revision. */
export const isAt = (situation: Situation, ordinal: number, revision: string): boolean =>
  dataOf(situation, ordinal)?.revision === revision;

/** The mysqld of the update revision may have started on the data of the member. */
export function mayBeUpdated(situation: Situation, ordinal: number): boolean {
  const data = dataOf(situation, ordinal);
  return data === null || data.revision === situation.updateRevision;
}

/**
 * A person may have the member back at the revision: its data are of that revision, or MySQL supports the way back from
 * the one version to the other.
 */
export function mayGoBackTo(situation: Situation, ordinal: number, revision: string): boolean {
  const data = dataOf(situation, ordinal);
  if (data === null || data.revision === revision) return data !== null;
  return situation.snapshot.data.some((one) => {
    const before = dataOf(situation, one.ordinal);
    if (before?.revision !== revision) return false;
    return isSameMysqld(before, data) || mayReturn(before.version, data.version);
  });
}

const isSameMysqld = (one: DataRecord, other: DataRecord): boolean => one.image !== null && one.image === other.image;

/** The members of which a claim has to be read before their data are known. */
export function unreadData(situation: Situation): readonly number[] {
  const { snapshot, replicas, members, missing, updateRevision } = situation;
  const isRolling = members.some(({ updated }) => !updated) || missing.length > 0;
  if (!isRolling || updateRevision === '') return [];
  return [...members.map(({ ordinal }) => ordinal), ...missing].filter((ordinal) => {
    if (ordinal >= replicas) return false;
    const { lastRun = null, readSecondsAgo = null } = snapshot.data.find((one) => one.ordinal === ordinal) ?? {};
    return !lastRun?.worked && (readSecondsAgo === null || readSecondsAgo >= freshSeconds);
  });
}
