import { dataOf, wasKilled } from './data.ts';
import { hasNeverStarted } from './member.ts';
import {
  clones,
  explainRefusedOpening,
  type KnownVersion,
  type MysqldFacts,
  opens,
  parseMysqlVersion,
  recovers,
  replicates,
} from './mysql-versions.ts';
import type { MemberName } from './rules/rule.ts';
import { dueMembers, type Member, type Situation } from './situation.ts';
import type { MemberFacts } from './snapshot.ts';
import type { Step } from './step.ts';

// What the mysqld of the update revision would find on the volume of a member, judged by versions. Rules hold the
// rollout for these reasons, and the commands status, plan, check and undo print the same sentences.

/**
 * The newest mysqld that is known to have started on the data of the member, from the record of the data or from the
 * pod. `null` if no mysqld is known.
 */
export function dataVersion(situation: Situation, { facts, ordinal }: Member): KnownVersion | null {
  const recorded = dataOf(situation, ordinal)?.version ?? null;
  const running = hasNeverStarted(facts) ? null : versionOfMysqld(situation, facts.mysqld);
  if (recorded === null || running === null) {
    return recorded === null ? running : { version: recorded, source: 'record' };
  }
  // A running mysqld has opened the data, so the data are at least of its version.
  const isNewer = opens(versionOf(recorded), versionOf(running.version)).because === 'later';
  return isNewer ? running : { version: recorded, source: recorded === running.version ? running.source : 'record' };
}

/** The mysqld that has started in the pod, if there is one. */
export const versionOnVolume = (
  pod: Parameters<typeof hasNeverStarted>[0] & Pick<MemberFacts, 'mysqld'>,
): KnownVersion | null => (hasNeverStarted(pod) ? null : pod.mysqld.version);

/** The version of the update revision's mysqld. */
export const updateMysqld = (situation: Pick<Situation, 'snapshot'>): KnownVersion | null =>
  versionOfMysqld(situation, situation.snapshot.statefulSet?.mysqld ?? null);

const updateVersion = (situation: Situation): string | null => updateMysqld(situation)?.version ?? null;

/**
 * The version of a mysqld. If its own image does not tell the version, a preflight or another member that has run the
 * same image may tell it.
 */
export function versionOfMysqld(
  { snapshot }: Pick<Situation, 'snapshot'>,
  mysqld: MysqldFacts | null,
): KnownVersion | null {
  if (mysqld === null || mysqld.version?.source === 'server' || mysqld.image === null) return mysqld?.version ?? null;
  const ofPreflight = snapshot.preflight?.mysqldVersion ?? null;
  if (ofPreflight !== null && mysqld.image === snapshot.statefulSet?.mysqld.image) {
    return { version: ofPreflight, source: 'preflight' };
  }
  if (mysqld.version !== null) return mysqld.version;
  const said = snapshot.members.find((one) => one.mysqld.image === mysqld.image && one.mysqld.version !== null);
  if (said !== undefined) return said.mysqld.version;
  const records = [...snapshot.lastRuns, ...snapshot.dataRecords.map(({ record }) => record)];
  const version = records.find((one) => one?.image === mysqld.image && one.version !== null)?.version ?? null;
  return version === null ? null : { version, source: 'record' };
}

const versionOf = (text: string | null) => (text === null ? null : parseMysqlVersion(text));

/**
 * Two versions between which MySQL cannot clone: the version of the primary, and the version that the member would
 * have.
 */
export interface Uncloneable {
  readonly donor: string;
  readonly mysqld: string;
}

/**
 * Why the member would stay empty if the step destroyed its data: MySQL clones only within a series. `null` if the
 * member can be cloned, if a version is not known, and for the primary, because replicas are cloned from it.
 */
export function uncloneable(situation: Situation, step: Step, { primary }: Member): Uncloneable | null {
  if (primary || situation.primary === null) return null;
  const { currentRevision, updateRevision } = situation;
  const donor = versionOfMysqld(situation, situation.primary.facts.mysqld)?.version ?? null;
  const comesBackAt = step.kind === 'restore' ? currentRevision : updateRevision;
  const mysqld = mysqldAt(situation, comesBackAt)?.version ?? null;
  if (donor === null || mysqld === null) return null;
  return clones(versionOf(donor), versionOf(mysqld)) === false ? { donor, mysqld } : null;
}

/** The mysqld of a revision; `null` if no pod and no record shows it. */
function mysqldAt(situation: Situation, revision: string): KnownVersion | null {
  const { snapshot, updateRevision } = situation;
  if (revision === updateRevision) return updateMysqld(situation);
  const pod = snapshot.members.find((one) => one.revision === revision);
  if (pod !== undefined) return versionOfMysqld(situation, pod.mysqld);
  const records = [...snapshot.lastRuns, ...snapshot.dataRecords.map(({ record }) => record)];
  const version = records.find((one) => one?.revision === revision && one.version !== null)?.version ?? null;
  return version === null ? null : { version, source: 'record' };
}

/** A member with data that the mysqld of the update revision would refuse. */
export interface RefusedData {
  readonly member: number;
  /** The version of the data, and the version of the update revision. */
  readonly data: string;
  readonly mysqld: string;
}

/**
 * The refused data of the member. `null` if MySQL supports an upgrade or a downgrade between the two versions, or if
 * one of them is not known.
 */
export function refusedData(situation: Situation, member: Member): RefusedData | null {
  const mysqld = updateVersion(situation);
  const data = dataVersion(situation, member)?.version ?? null;
  if (mysqld === null || data === null || explainRefusedOpening(data, mysqld) === null) return null;
  return { member: member.ordinal, data, mysqld };
}

/** Whether the mysqld of the update revision would refuse the data of a member without a pod. */
export function refusesDataOfMissing(situation: Situation, ordinal: number): boolean {
  const data = dataOf(situation, ordinal)?.version ?? null;
  return opens(versionOf(data), versionOf(updateVersion(situation))).allowed === false;
}

export const explainRefusedData = ({ member, data, mysqld }: RefusedData, name: MemberName): string =>
  `the update revision cannot start on the data of ${name(member)}: ${explainRefusedOpening(data, mysqld)}`;

/** A cluster that replicates from this one and runs an older series than the update revision. */
export interface OlderReplicaCluster {
  /** `namespace/name`; `null` for a cluster of another namespace. */
  readonly cluster: string | null;
  /** The oldest version of that cluster, which is `null` for a cluster of another namespace. */
  readonly replica: string | null;
  /** The version of the update revision. */
  readonly mysqld: string;
}

export function replicaClusterBehind(situation: Situation): OlderReplicaCluster | null {
  const mysqld = updateVersion(situation);
  if (mysqld === null) return null;
  for (const { cluster, version: replica } of situation.snapshot.mysql?.replicaClusters ?? []) {
    if (replica !== null && replicates(versionOf(mysqld), versionOf(replica)) === false) {
      return { cluster, replica: cluster === null ? null : replica, mysqld };
    }
  }
  return null;
}

/** A tenant may not see clusters of other namespaces, so the sentence says nothing else about such a cluster. */
export const explainOlderReplicaCluster = ({ cluster, replica, mysqld }: OlderReplicaCluster): string =>
  `${
    cluster === null
      ? 'a cluster of another namespace replicates from this one'
      : `cluster ${cluster} replicates from this one and has mysqld ${replica}`
  }: MySQL does not support a replica of an older series than its source (${mysqld}), so upgrade ${
    cluster ?? 'that cluster'
  } first`;

/**
 * Whether the member's mysqld has ended and probably not closed its redo log. That includes a mysqld that was killed in
 * the previous pod.
 */
function mayHaveCrashed(situation: Situation, member: Member): boolean {
  const { facts, ordinal, state, participates, crashLoop, updated } = member;
  if (updated || participates) return false;
  const killed = wasKilled(situation, ordinal);
  if (state === 'terminating') return killed;
  return (killed || !hasNeverStarted(facts)) && (state === 'down' || state === 'unreachable' || crashLoop !== null);
}

/**
 * A working member with a previous mysqld that was killed, because it did not end in time or used too much memory. The
 * present mysqld may be killed in the same way when the pod ends.
 */
const mayBeKilledAgain = ({ facts, participates, updated }: Member): boolean =>
  !updated && participates && facts.mysqldKilled;

export interface OpenRedoLog {
  readonly member: number;
  /** The member works. Its redo log stays open only if its mysqld is killed again. */
  readonly works: boolean;
  /**
   * The version of the mysqld that may have left its redo log open, and the version of the update revision. `null` if
   * unknown.
   */
  readonly before: string | null;
  readonly after: string | null;
  /** The member's mysqld was killed (exit code 137). */
  readonly killed: boolean;
}

/**
 * A redo log that the member may have left open, and that the mysqld of the update revision may be unable to read.
 * `isKnown` is true if that mysqld certainly cannot read it. `null` if that mysqld can read the log, or if no log is
 * open.
 */
export function openRedoLog(
  situation: Situation,
  member: Member,
): (OpenRedoLog & { readonly isKnown: boolean }) | null {
  const { facts, ordinal } = member;
  const works = mayBeKilledAgain(member);
  if (!(works || mayHaveCrashed(situation, member)) || !changesMysqld(situation, member)) return null;
  // The log belongs to the last mysqld that ran.
  const last = versionOnVolume(facts) ?? dataVersion(situation, member);
  const [before, after] = [last?.version ?? null, updateVersion(situation)];
  const reads = recovers(versionOf(before), versionOf(after));
  return reads === true
    ? null
    : {
        member: ordinal,
        works,
        before,
        after,
        killed: facts.mysqldKilled || wasKilled(situation, ordinal),
        isKnown: reads === false && !works,
      };
}

/**
 * Whether a member without a pod has an open redo log that the mysqld of the update revision cannot read, because the
 * member's last mysqld was killed.
 */
export function cannotReadLogOfMissing(situation: Situation, ordinal: number): boolean {
  const data = dataOf(situation, ordinal);
  if (data === null || !wasKilled(situation, ordinal)) return false;
  return recovers(versionOf(data.version), versionOf(updateVersion(situation))) === false;
}

/**
 * Whether the mysqld image of the update revision differs from the member's. Also true if one of the images is unknown.
 */
export function changesMysqld({ snapshot }: Situation, { facts }: Member): boolean {
  const image = snapshot.statefulSet?.mysqld.image ?? null;
  return facts.mysqld.image === null || image === null || facts.mysqld.image !== image;
}

export function explainOpenRedoLog({ member, works, before, after, killed }: OpenRedoLog, name: MemberName): string {
  if (works) {
    return (
      `mysqld ${before ?? 'of its revision'} on ${name(member)} was killed (exit code 137). If it is killed again with ` +
      `its pod, it leaves its redo log open, and mysqld ${after ?? 'of the update revision'} may be unable to read it; raise ` +
      'terminationGracePeriodSeconds and the memory limit, or set innodb_fast_shutdown to 1, before the version changes'
    );
  }
  const left = killed ? 'was killed (exit code 137) and has left' : 'may have left';
  const reads = before === null || after === null ? 'may be unable to read it' : 'cannot read a log of that format';
  return (
    `${name(member)} is down, and mysqld ${before ?? 'of its revision'} ${left} its redo log open: ` +
    `mysqld ${after ?? 'of the update revision'} ${reads}, so the member has to start at its own revision first`
  );
}

/** Known problems of the update revision that follow from its version, each as a sentence without a full stop. */
export function versionWarnings(situation: Situation, name: MemberName): readonly string[] {
  const due = dueMembers(situation);
  return [
    ...due.flatMap((member) => refusedData(situation, member) ?? []).map((found) => explainRefusedData(found, name)),
    ...due.flatMap((member) => openRedoLog(situation, member) ?? []).map((found) => explainOpenRedoLog(found, name)),
  ];
}

/** What a person should know about the versions before a rollout begins, each as a sentence without a full stop. */
export function versionNotes(situation: Situation): readonly string[] {
  const { snapshot } = situation;
  const changing = dueMembers(situation).filter((member) => changesMysqld(situation, member));
  const after = updateVersion(situation);
  const known = changing.flatMap((member) => dataVersion(situation, member) ?? []);
  const images = [
    ...changing.flatMap((member) => (dataVersion(situation, member) === null ? [member.facts.mysqld.image] : [])),
    ...(changing.length > 0 && after === null ? [snapshot.statefulSet?.mysqld.image ?? null] : []),
  ].filter((image) => image !== null);
  const oneWay = [...new Set(known.map(({ version }) => version))].filter(
    (version) => after !== null && isOneWay(version, after),
  );
  return [
    ...(images.length === 0
      ? []
      : [
          `MySQL's rules for upgrades are not checked, because ${[...new Set(images)].join(' and ')} does not say its version`,
        ]),
    ...oneWay.map((version) => `there is no way back: mysqld ${version} refuses data that mysqld ${after} has opened`),
  ];
}

/** MySQL supports the upgrade, but not the way back. */
function isOneWay(version: string, after: string): boolean {
  const [before, next] = [parseMysqlVersion(version), parseMysqlVersion(after)];
  return opens(before, next).allowed === true && opens(next, before).allowed === false;
}
