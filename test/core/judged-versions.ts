import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';

// What the judge of decisions takes for granted of MySQL's versions. These are the only ones that are drawn, so each way
// between two of them is here: nothing comes from the table that decides.

/** Of data, and of the update revision. `null` is an image that does not tell it. */
export const drawnVersions: readonly (readonly [data: string | null, mysqld: string | null])[] = [
  ['8.0.28', '8.4.8'],
  ['8.4.8', '8.4.9'],
  ['8.4.8', '8.0.40'],
  ['8.0.40', '9.7.4'],
  ['9.7.4', null],
  [null, '9.7.4'],
];

/** Of a cluster that replicates from this one. */
export const drawnReplicaVersion = '8.4.8';
/** Of update revisions: a series that is newer than that. */
const newerThanReplica: readonly string[] = ['9.7.4'];

export const hasOlderReplicaCluster = ({ mysql, statefulSet }: ClusterSnapshot): boolean =>
  (mysql?.replicaClusters ?? []).some(({ version }) => version === drawnReplicaVersion) &&
  newerThanReplica.includes(statefulSet?.mysqld.version?.version ?? 'unknown');

const refused: readonly string[] = ['8.4.8 8.0.40', '8.0.40 9.7.4'];
/** The redo log of the one is of another format than that of the other, or may be. */
const otherRedoLog: readonly string[] = ['8.0.28 8.4.8'];
const maybeOtherRedoLog: readonly string[] = ['9.7.4 ?', '? 9.7.4'];

const way = ({ statefulSet }: ClusterSnapshot, data: string | null): string =>
  `${data ?? '?'} ${statefulSet?.mysqld.version?.version ?? '?'}`;

const wayOf = (snapshot: ClusterSnapshot, { mysqld: { version } }: MemberFacts): string =>
  way(snapshot, version?.version ?? null);

/** The update revision refuses data of this version. */
export const isRefused = (snapshot: ClusterSnapshot, data: string | null): boolean =>
  refused.includes(way(snapshot, data));

const ofOtherSeries: readonly string[] = ['8.0.28 8.4.8', '8.4.8 8.0.40', '8.0.40 9.7.4', '8.4.8 9.7.4'];

/** Whoever comes up empty at the update revision cannot copy the data of this member. */
export const isNoDonor = (snapshot: ClusterSnapshot, donor: MemberFacts): boolean =>
  ofOtherSeries.includes(wayOf(snapshot, donor));

/** mysqld has run in this pod, whatever it does at the moment. */
const hasRun = ({ containers }: MemberFacts): boolean =>
  containers.some(({ part, state, restarts }) => part === 'mysqld' && (state !== 'waiting' || restarts > 0));

/** Only the claim tells that the mysqld of the last pod was killed, and no mysqld was seen to work since. */
const isNotedAsKilled = ({ dataRecords, lastRuns }: ClusterSnapshot, { ordinal, mysqld }: MemberFacts): boolean =>
  dataRecords.some(
    (one) => one.ordinal === ordinal && one.record?.killed === true && one.record.version === mysqld.version?.version,
  ) && !lastRuns.some((one) => one.ordinal === ordinal);

/** A mysqld of another version was also recorded or seen on the data. Then the data may be of either version. */
function isContradicted({ dataRecords, lastRuns }: ClusterSnapshot, { ordinal, mysqld }: MemberFacts): boolean {
  const known = [...dataRecords, ...lastRuns].filter((one) => one.ordinal === ordinal);
  const versions = known.map((one) => ('record' in one ? one.record?.version : one.version) ?? null);
  return versions.some((version) => version !== (mysqld.version?.version ?? null));
}

export const refusesData = (snapshot: ClusterSnapshot, one: MemberFacts): boolean =>
  hasRun(one) && refused.includes(wayOf(snapshot, one)) && !isContradicted(snapshot, one);

/** Whether its redo log may be of a format that the update revision does not read: certainly, or perhaps. */
export function redoLogLeft(snapshot: ClusterSnapshot, one: MemberFacts): 'other' | 'maybe' | 'fine' {
  if (!(hasRun(one) || isNotedAsKilled(snapshot, one)) || one.revision === snapshot.statefulSet?.updateRevision)
    return 'fine';
  const own = wayOf(snapshot, one);
  return otherRedoLog.includes(own) ? 'other' : maybeOtherRedoLog.includes(own) ? 'maybe' : 'fine';
}
