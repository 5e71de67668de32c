import { isAdopted, keepsRevisions } from './adoption.ts';
import { isEarlier, opens, parseMysqlVersion } from './mysql-versions.ts';
import type { Member, Situation } from './situation.ts';
import type { DataRecord, DataRecordFacts, LastRun } from './snapshot.ts';

// The data of a member belong to the revision of the newest mysqld that has started on them. A revision is named after
// the hash of its template, so comparing names is enough. Revisions need no order: a member may come back at the
// revision of its data, and every other revision except the update revision counts as older.

/** If the claim was read longer ago than this, it is read again before a decision depends on it. */
const freshSeconds = 60;
/**
 * A claim that is missing or unbound is read again after this time, because it may be created and bound at any time.
 */
const withoutDataSeconds = 5;

const recordOf = ({ snapshot }: Situation, ordinal: number): DataRecordFacts | undefined =>
  snapshot.dataRecords.find((one) => one.ordinal === ordinal);

const lastRunOf = ({ snapshot }: Situation, ordinal: number): LastRun | undefined =>
  snapshot.lastRuns.find((one) => one.ordinal === ordinal);

/**
 * The newest mysqld that has started on the data of the member. `null` if that mysqld is unknown, because another one
 * may have started without a record.
 */
export function dataOf(situation: Situation, ordinal: number): DataRecord | null {
  const lastRun = lastRunOf(situation, ordinal);
  const record = recordOf(situation, ordinal)?.record ?? null;
  if (lastRun?.worked) return lastRun;
  if (lastRun !== undefined) return record?.revision === lastRun.revision ? record : null;
  return record !== null && isCurrent(situation, ordinal, record) ? record : null;
}

/**
 * Whether the record on the claim is still true. This process has not seen the mysqld of the member run, so another pod
 * may have run since the record was made. That does not matter if every pod that can have been created since then has
 * the recorded revision.
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

/**
 * The newest mysqld that has started on the data of the member has this revision. So the member may come back at the
 * revision.
 */
export const isAt = (situation: Situation, ordinal: number, revision: string): boolean =>
  dataOf(situation, ordinal)?.revision === revision;

const isWithoutData = ({ claim, record }: DataRecordFacts): boolean =>
  claim === 'missing' || (claim === 'unbound' && record === null);

/**
 * Whether the member has no data, so that its next pod may have any revision: it has no pod, the API server has just
 * said that its claim does not exist or has no volume, and this process has seen no mysqld of it.
 */
export function hasNoData(situation: Situation, ordinal: number): boolean {
  const { missing, deadlines } = situation;
  const known = recordOf(situation, ordinal);
  return (
    known !== undefined &&
    isWithoutData(known) &&
    missing.includes(ordinal) &&
    lastRunOf(situation, ordinal) === undefined &&
    !deadlines.reached(known.ageSeconds, withoutDataSeconds)
  );
}

/**
 * The member whose claim was created together with its pod, or has just had no volume yet. `null` if another pod may
 * have used the claim or the claim has a record, or if this process has seen a mysqld of another revision.
 */
function firstOnItsData(situation: Situation, ordinal: number): Member | null {
  const known = recordOf(situation, ordinal);
  const member = situation.members.find((one) => one.ordinal === ordinal);
  if (member === undefined || known?.record !== null) return null;
  const isUnbound = known.claim === 'unbound' && !situation.deadlines.reached(known.ageSeconds, withoutDataSeconds);
  if (!isUnbound && known.claim !== 'madeForPod') return null;
  const { revision } = member.facts;
  return (lastRunOf(situation, ordinal)?.revision ?? revision) === revision ? member : null;
}

/**
 * Whether the newest mysqld that may have started on the member's data is of this revision. Also if the member has no
 * data.
 */
export const suits = (situation: Situation, ordinal: number, revision: string): boolean =>
  isAt(situation, ordinal, revision) ||
  hasNoData(situation, ordinal) ||
  firstOnItsData(situation, ordinal)?.facts.revision === revision;

/** Whether the mysqld of the update revision may have started on the data of the member. */
export function mayBeUpdated(situation: Situation, ordinal: number): boolean {
  const data = dataOf(situation, ordinal);
  return data === null || data.revision === situation.updateRevision;
}

/**
 * Whether a person may restore the member to the revision: its data belong to that revision, or MySQL supports the
 * downgrade.
 */
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

/**
 * Whether more than one revision is in use. Only then may a member come back at a revision that is older than its data.
 */
const isRolling = ({ members, missing, updateRevision }: Situation): boolean =>
  updateRevision !== '' && (members.some(({ updated }) => !updated) || missing.length > 0);

/** The members whose claims are the only evidence of which mysqld has started on their data. */
export const unsureData = (situation: Situation): readonly number[] =>
  ordinalsOf(situation).filter((ordinal) => !lastRunOf(situation, ordinal)?.worked);

/**
 * The members whose claims have to be read. If the data of a member are unknown, its claim is read repeatedly. While
 * new pods start at the current revision, the claim of a member that waits for the update is read once. The controller
 * may restart and find such a member without a pod, and then only the claim shows at which revision the member may come
 * back.
 */
export function unreadData(situation: Situation): readonly number[] {
  const { policy, deadlines, members, snapshot } = situation;
  // Until an adopted StatefulSet is released, the claims show whether new pods may stay at the current revision.
  const isOurs = policy.mode === 'OnDelete' || isAdopted(snapshot.statefulSet);
  if (!isOurs || !isRolling(situation)) return [];
  const unsure = unsureData(situation);
  const isKept = keepsRevisions(snapshot.statefulSet);
  const waiting = members.filter(({ updated }) => isKept && !updated).map(({ ordinal }) => ordinal);
  return ordinalsOf(situation).filter((ordinal) => {
    const known = recordOf(situation, ordinal);
    if (known === undefined) return unsure.includes(ordinal) || waiting.includes(ordinal);
    const { ageSeconds, claim } = known;
    if (!unsure.includes(ordinal)) return false;
    // The StatefulSet controller has created the claim since.
    if (claim === 'missing' && members.some((member) => member.ordinal === ordinal)) return true;
    // If no member is stale, the revision of a new pod does not depend on the claim.
    const isUrgent = isWithoutData(known) && members.some(({ updated }) => !updated);
    return deadlines.reached(ageSeconds, isUrgent ? withoutDataSeconds : freshSeconds);
  });
}

/**
 * Whether the last mysqld on the data of the member was killed, and none has been ready since. A record that says so is
 * false only if this process has seen a later mysqld ready.
 */
export function wasKilled(situation: Situation, ordinal: number): boolean {
  const lastRun = lastRunOf(situation, ordinal);
  if (lastRun?.killed === true) return true;
  return lastRun?.worked !== true && recordOf(situation, ordinal)?.record?.killed === true;
}

/** A mysqld that has to be recorded on the claim of a member's data. */
export interface DueRecord extends LastRun {
  /** If the claim already has a record, only `killed` is changed in that record. */
  readonly onlyKilled?: true;
  /** If the claim already has a record, that record stays. */
  readonly onlyFirst?: true;
}

/**
 * Records that the claims of members still lack. During a rollout there are two kinds: a mysqld of the update revision
 * may have started on the data and upgraded them, or an older mysqld works on them. A record of the update revision
 * stays, even if an older mysqld works now. Whether mysqld was killed is recorded at any time, because its exit code
 * disappears with its pod.
 */
export function dueRecords(situation: Situation): readonly DueRecord[] {
  const { snapshot, policy } = situation;
  if (policy.mode !== 'OnDelete' || snapshot.cluster.deleting) return [];
  return [...dueRecordsOfRuns(situation), ...dueFirstRecords(situation)];
}

/**
 * While new pods start at the current revision, a new member also starts at it. Until its mysqld works, which takes as
 * long as a clone, only the claim can show that its data are not newer.
 */
function dueFirstRecords(situation: Situation): readonly DueRecord[] {
  const { members, snapshot, currentRevision } = situation;
  if (!keepsRevisions(snapshot.statefulSet)) return [];
  return members.flatMap(({ ordinal, updated, facts: { revision, mysqld } }): readonly DueRecord[] => {
    const isFirst = firstOnItsData(situation, ordinal) !== null && lastRunOf(situation, ordinal)?.worked !== true;
    if (!isFirst || updated || revision !== currentRevision) return [];
    const { image, version } = mysqld;
    return [{ ordinal, revision, image, version: version?.version ?? null, worked: false, onlyFirst: true }];
  });
}

function dueRecordsOfRuns(situation: Situation): readonly DueRecord[] {
  const { snapshot, updateRevision } = situation;
  const isUnderWay = isRolling(situation) || snapshot.memory.waiting !== null;
  return snapshot.lastRuns.flatMap((run): readonly DueRecord[] => {
    const { worked } = run;
    const known = recordOf(situation, run.ordinal);
    const isOtherEnd = worked && (known === undefined ? run.killed === true : known.record?.killed !== run.killed);
    const ofItsEnd: readonly DueRecord[] = isOtherEnd ? [{ ...run, onlyKilled: true }] : [];
    if (!isUnderWay) return ofItsEnd;
    const isNew =
      run.revision === updateRevision &&
      (known === undefined || !isSameRecord(known.record, recordAfter(known.record, run)));
    const isUnknown =
      worked && known !== undefined && ![run.revision, updateRevision].includes(known.record?.revision ?? '');
    return isNew || isUnknown ? [run] : ofItsEnd;
  });
}

/**
 * The record that a claim should have, given the record that it has. A mysqld that may only be about to start replaces
 * the record of an earlier version, because it may upgrade the data. It does not replace the record of a later version:
 * until it works, it has not changed the data.
 */
export function recordAfter(known: DataRecord | null, due: DueRecord): DataRecord {
  const { revision, image, version, killed, worked, onlyKilled, onlyFirst } = due;
  const end = killed ? { killed } : {};
  if (known !== null && onlyFirst) return known;
  if (known !== null && onlyKilled) {
    return { revision: known.revision, image: known.image, version: known.version, ...end };
  }
  if (known !== null && !worked && isEarlier(versionOf(due), versionOf(known))) return { ...known, ...end };
  return { revision, image, version, ...end };
}

export const isSameRecord = (record: DataRecord | null, other: DataRecord): boolean =>
  record?.revision === other.revision &&
  record.image === other.image &&
  record.version === other.version &&
  record.killed === other.killed;
