import { keepsRevisions } from './adoption.ts';
import { opens, parseMysqlVersion } from './mysql-versions.ts';
import type { Situation } from './situation.ts';
import type { DataRecord, DataRecordFacts, LastRun } from './snapshot.ts';

// The newest revision whose mysqld has started on the data of a member. A revision is named after the hash of its
// template, so comparing names is enough, and revisions need no order: a member may come back at the revision of its
// data, and every other one except the update revision counts as older.

/** After this time the claim is read again before a decision depends on it. */
const freshSeconds = 60;

const recordOf = ({ snapshot }: Situation, ordinal: number): DataRecordFacts | undefined =>
  snapshot.dataRecords.find((one) => one.ordinal === ordinal);

const lastRunOf = ({ snapshot }: Situation, ordinal: number): LastRun | undefined =>
  snapshot.lastRuns.find((one) => one.ordinal === ordinal);

/**
 * The newest revision whose mysqld has started on the data of the member. `null` if it is unknown: a mysqld may have
 * started on them without a record.
 */
export function dataOf(situation: Situation, ordinal: number): DataRecord | null {
  const lastRun = lastRunOf(situation, ordinal);
  const record = recordOf(situation, ordinal)?.record ?? null;
  if (lastRun?.worked) return lastRun;
  if (lastRun !== undefined) return record?.revision === lastRun.revision ? record : null;
  return record !== null && isCurrent(situation, ordinal, record) ? record : null;
}

/**
 * This process has not seen the mysqld of the member run. Another pod may have run since the record was made, unless
 * every pod that can have been created since has the recorded revision.
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

/** The member may come back at the revision: it is that of the newest mysqld that has started on its data. */
export const isAt = (situation: Situation, ordinal: number, revision: string): boolean =>
  dataOf(situation, ordinal)?.revision === revision;

/** The mysqld of the update revision may have started on the data of the member. */
export function mayBeUpdated(situation: Situation, ordinal: number): boolean {
  const data = dataOf(situation, ordinal);
  return data === null || data.revision === situation.updateRevision;
}

/** A person may restore the member to the revision: its data are of that revision, or MySQL supports the downgrade. */
export function mayGoBackTo(situation: Situation, ordinal: number, revision: string): boolean {
  const data = dataOf(situation, ordinal);
  if (data === null || data.revision === revision) return data !== null;
  return ordinalsOf(situation).some((one) => {
    const before = dataOf(situation, one);
    if (before?.revision !== revision) return false;
    return isSameMysqld(before, data) || opens(versionOf(data), versionOf(before)).allowed === true;
  });
}

const versionOf = ({ version }: DataRecord) => (version === null ? null : parseMysqlVersion(version));

const isSameMysqld = (one: DataRecord, other: DataRecord): boolean => one.image !== null && one.image === other.image;

const ordinalsOf = ({ members, missing }: Situation): readonly number[] => [
  ...members.map(({ ordinal }) => ordinal),
  ...missing,
];

/** More than one revision is in use: only then may a member come back older than its data. */
const isRolling = ({ members, missing, updateRevision }: Situation): boolean =>
  updateRevision !== '' && (members.some(({ updated }) => !updated) || missing.length > 0);

/** The members whose claims are the only evidence of which mysqld has started on their data. */
export const unsureData = (situation: Situation): readonly number[] =>
  ordinalsOf(situation).filter((ordinal) => !lastRunOf(situation, ordinal)?.worked);

/**
 * The members whose claims have to be read. Those of members with unknown data are read repeatedly. While new pods
 * start at the current revision, those of members that wait for the update are read once: a later process may find such
 * a member without a pod, and then only its claim shows at which revision it may come back.
 */
export function unreadData(situation: Situation): readonly number[] {
  const { policy, deadlines, members, snapshot } = situation;
  if (policy.mode !== 'OnDelete' || !isRolling(situation)) return [];
  const unsure = unsureData(situation);
  const isKept = keepsRevisions(snapshot.statefulSet);
  const waiting = members.filter(({ updated }) => isKept && !updated).map(({ ordinal }) => ordinal);
  return ordinalsOf(situation).filter((ordinal) => {
    const ageSeconds = recordOf(situation, ordinal)?.ageSeconds;
    if (ageSeconds === undefined) return unsure.includes(ordinal) || waiting.includes(ordinal);
    return unsure.includes(ordinal) && deadlines.reached(ageSeconds, freshSeconds);
  });
}

/** A mysqld that has to be recorded on the claim of a member's data. */
export type DueRecord = Omit<LastRun, 'worked'>;

/**
 * Records that claims of members lack, as far as is known: that a mysqld of the update revision may have started on the
 * data, and so may have upgraded them; or that the previous one works on them, which is not recorded if no rollout led
 * to it. A record of the update revision stays, whichever mysqld works now.
 */
export function dueRecords(situation: Situation): readonly DueRecord[] {
  const { snapshot, policy, updateRevision } = situation;
  const isUnderWay = isRolling(situation) || snapshot.memory.waiting !== null;
  if (policy.mode !== 'OnDelete' || !isUnderWay || snapshot.cluster.deleting) return [];
  return snapshot.lastRuns.flatMap(({ worked, ...run }) => {
    const known = recordOf(situation, run.ordinal);
    const isNew = run.revision === updateRevision && (known === undefined || !isSame(known.record, run));
    const isUnknown =
      worked && known !== undefined && ![run.revision, updateRevision].includes(known.record?.revision ?? '');
    return isNew || isUnknown ? [run] : [];
  });
}

const isSame = (record: DataRecord | null, run: DataRecord): boolean =>
  record?.revision === run.revision && record.image === run.image && record.version === run.version;
