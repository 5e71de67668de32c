import type { MemberStatus, RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds, timestampOf } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { mysqldOf } from '../../core/member.ts';
import type { MemberReading, MemberSaid, MysqlReading, OpenWrite } from '../../core/on-demand-facts.ts';
import { againstItself, freshSeconds, lastingSeconds, silenceSeconds } from '../../core/replicas-behind.ts';
import { longWriteSeconds } from '../../core/rules/long-write.ts';
import { andMore } from '../../core/sentences.ts';
import type { ClusterSnapshot, MemberFacts } from '../../core/snapshot.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { OpenWriteNow } from '../../mysql/statements.ts';
import { memberName } from '../facts/member-name.ts';
import { type Answered, answered, answerFacts, seriesMilliseconds } from './answers.ts';
import type { Asking, Given, Observed, Row } from './asking.ts';

// The question `mysql`: queries MySQL itself, and defines how long each piece of an answer counts.

/** The last answers of MySQL itself. Times are on the monotonic clock. */
interface KnownMysql extends Pick<MysqlReading, 'writes'> {
  /** Why no member can be queried, and since when. */
  readonly problem: { readonly message: string; readonly sinceMilliseconds: number } | null;
  readonly members: ReadonlyMap<string, Answered<MemberSaid> & Pick<MemberReading, 'last'>>;
  /** The version of each mysqld, by the uid of its pod. */
  readonly versions: ReadonlyMap<string, string>;
  /** When a member of a different cluster, at this address, was last seen connected to a member of this cluster. */
  readonly replicaAddresses: ReadonlyMap<string, number>;
  /** Since when a switchover has been waiting for writes; `null` if none is waiting. */
  readonly waitingSinceMilliseconds: number | null;
  readonly atMilliseconds: number;
}

/** If two start times differ by less than this, they are the same: the server rounds them, and the query takes time. */
const sameMilliseconds = 3000;
/** An answer that is older than this belongs to an earlier step and is no longer shown. */
const recentSeconds = 60;
/** A replica counts as connected for this long after it was last seen. Reconnecting takes less time. */
const connectedMilliseconds = 600_000;

export const mysql: Row<
  'mysql',
  KnownMysql | null,
  Pick<ClusterSnapshot, 'mysql'>,
  Pick<MemberFacts, 'serverVersion'>
> = {
  asks: 'every member whose mysqld runs, the primary first, with the account that MOCO makes for reading (`ReplicationFacts`)',
  lasts: `${freshSeconds} s; an unfavorable answer ${lastingSeconds} s`,
  silence:
    'a replica counts as behind for `replicaDelayGraceSeconds`, but at least for `silentMemberGraceSeconds`, then the rules decide as if the feature gate were off; an unfavorable answer still counts',
  initial: null,
  ask: ({ for: step }, asking, before) => readMysql(step === 'switchover', asking, before),
  facts: (known, given) => ({ mysql: given.sources.mysql === undefined ? null : mysqlFacts(known, given) }),
  memberFacts: (known) => (pod) => ({ serverVersion: known?.versions.get(pod.uid) ?? null }),
  confirm: {
    order: 'beforeClock',
    plan: ({ for: step }, asking, before) => ({
      requests: 0,
      ask: () => readMysql(step === 'switchover', asking, before),
    }),
  },
  status: {
    whileOutstanding: 'its hold',
    shows: '`mysqlProblem`, `openWrites`, `replication` of members',
    fields: (_, observed) => ({ mysqlProblem: mysqlProblemOf(observed), openWrites: openWritesOf(observed.snapshot) }),
    memberFields: (_, { snapshot }, ordinal) => ({ replication: replicationOf(snapshot, ordinal) }),
    changesInSeconds: ({ snapshot: { mysql: said } }) =>
      said === null || said.ageSeconds === null ? null : recentSeconds - said.ageSeconds,
  },
};

/** Asks the primary, then all replicas in parallel. Resolves to `null` while the feature gate is off. Never rejects. */
async function readMysql(
  forSwitchover: boolean,
  { key, observed: { objects }, sources, signal, world, log, metrics }: Omit<Asking, 'api'>,
  before: KnownMysql | null,
): Promise<KnownMysql | null> {
  if (sources.mysql === undefined) return null;
  const { cluster } = objects;
  const pods = objects.pods.filter(isRunning);
  const primary = pods.find(({ ordinal }) => ordinal === cluster.primaryIndex) ?? null;
  const replicas = pods.filter((pod) => pod !== primary);
  // The time is taken before the query, because the answer may lack transactions that are committed during the query.
  const atMilliseconds = world.monotonic();
  const {
    problem: message,
    said,
    writes,
    servers,
  } = await sources.mysql.ask({ cluster, primary, replicas, forSwitchover }, signal);
  const isSeries = before !== null && atMilliseconds - before.atMilliseconds < seriesMilliseconds;
  const last = isSeries ? before : null;
  const members = objects.pods.flatMap(({ uid }) => {
    const known = before?.members.get(uid);
    const one = said.get(uid) ?? (known && notAsked);
    return one === undefined
      ? []
      : [[uid, { ...answered(one, last?.members.get(uid), atMilliseconds), last: lastOf(one, known) }] as const];
  });
  const hasSaid = primary !== null && before?.members.get(primary.uid)?.last?.kind === 'primary';
  const open = hasSaid ? before.writes : null;
  const problem =
    message === null ? null : { message, sinceMilliseconds: last?.problem?.sinceMilliseconds ?? atMilliseconds };
  if (message !== null && message !== last?.problem?.message) {
    log.warn({ cluster: key, reason: message }, 'Cannot query MySQL; continuing without replication facts');
  }
  for (const { uid, name } of pods) {
    const one = said.get(uid);
    if (one === undefined) continue;
    metrics.countMysqlReading(one.kind);
    if (message === null && one.kind === 'unknown' && last?.members.get(uid)?.reading.kind !== 'unknown') {
      log.warn({ cluster: key, member: name, reason: one.message }, 'Failed to query mysqld');
    }
  }
  const versions = objects.pods.flatMap(({ uid }) => {
    const version = servers.get(uid)?.version ?? before?.versions.get(uid) ?? null;
    return version === null ? [] : [[uid, version] as const];
  });
  // Only addresses of known clusters are kept. Everything else that a mysqld reports is dropped.
  const connected = [...servers.values()]
    .flatMap(({ replicaAddresses }) => replicaAddresses)
    .filter((address) => sources.cache.replicaClustersAt([address], key).length > 0);
  const earlier = [...(before?.replicaAddresses ?? [])].filter(([, at]) => atMilliseconds - at < connectedMilliseconds);
  return {
    problem,
    members: new Map(members),
    versions: new Map(versions),
    replicaAddresses: new Map([...earlier, ...connected.map((address) => [address, atMilliseconds] as const)]),
    ...writesAfter(forSwitchover ? writes : 'not asked', { last, open }, world, atMilliseconds),
    atMilliseconds,
  };
}

const notAsked: MemberSaid = { kind: 'unknown', message: 'it was not asked' };

/**
 * The newest usable answer. Until the primary reports what it has committed, it is unknown which transactions the
 * replica lacks.
 */
function lastOf(said: MemberSaid, before: Pick<MemberReading, 'last'> | undefined): MemberReading['last'] {
  const known = before?.last ?? null;
  if (said.kind === 'unknown') return known;
  if (said.kind === 'primary' || said.missing !== null || known?.kind !== 'replica') return said;
  return { ...said, missing: known.missing };
}

/**
 * The open writes, and since when a switchover has been waiting for them. If the answer is missing, the writes and the
 * wait continue.
 *
 * @param open the open writes in the primary's last answer, of any age
 */
function writesAfter(
  writes: readonly OpenWriteNow[] | null | 'not asked',
  { last, open }: { readonly last: KnownMysql | null; readonly open: MysqlReading['writes'] },
  world: World,
  atMilliseconds: number,
): Pick<KnownMysql, 'writes' | 'waitingSinceMilliseconds'> {
  if (writes === 'not asked') return { writes: null, waitingSinceMilliseconds: null };
  const { waitingSinceMilliseconds = null } = last ?? {};
  if (writes === null) return { writes: open, waitingSinceMilliseconds };
  const isLong = writes.some(({ ageSeconds }) => ageSeconds >= longWriteSeconds);
  return {
    writes: writes.map((write) => ({ ...write, since: sinceOf(write, open ?? [], world) })),
    waitingSinceMilliseconds: isLong ? (waitingSinceMilliseconds ?? atMilliseconds) : null,
  };
}

/**
 * When a write began. The server reports ages in whole seconds, so the start time varies by a second. A write that
 * users have already seen keeps its start time.
 */
function sinceOf({ session, ageSeconds }: OpenWriteNow, before: readonly OpenWrite[], world: World): string {
  const began = world.wall() - ageSeconds * 1000;
  const known = before.find((write) => write.session === session)?.since ?? null;
  const isSame = Math.abs((milliseconds(known) ?? 0) - began) < sameMilliseconds;
  return known !== null && isSame ? known : timestampOf(began);
}

const isRunning = (pod: PodRecord): boolean => pod.deletionTimestamp === null && mysqldOf(pod)?.state === 'running';

function mysqlFacts(known: KnownMysql | null, { key, sources, nowMilliseconds }: Given): MysqlReading {
  if (known === null) {
    return {
      ageSeconds: null,
      problem: null,
      members: [],
      writes: null,
      waitedForWritesSeconds: 0,
      replicaClusters: [],
    };
  }
  const { problem, members, writes, replicaAddresses, waitingSinceMilliseconds: waitingSince, atMilliseconds } = known;
  return {
    ageSeconds: (nowMilliseconds - atMilliseconds) / 1000,
    problem: problem && {
      message: problem.message,
      forSeconds: (nowMilliseconds - problem.sinceMilliseconds) / 1000,
    },
    members: [...members].map(([uid, one]) => {
      const { reading: said, unknownForSeconds } = answerFacts(one, nowMilliseconds);
      return { uid, said, unknownForSeconds, last: one.last };
    }),
    writes,
    waitedForWritesSeconds: waitingSince === null ? 0 : (nowMilliseconds - waitingSince) / 1000,
    replicaClusters: sources.cache.replicaClustersAt(
      [...replicaAddresses].flatMap(([ip, at]) => (nowMilliseconds - at < connectedMilliseconds ? [ip] : [])),
      key,
    ),
  };
}

const isRecent = (said: MysqlReading | null): said is MysqlReading =>
  said !== null && said.ageSeconds !== null && said.ageSeconds < recentSeconds;

/**
 * Why the rules ignore MySQL: no member can be queried, or a running member has not answered within the grace period.
 */
function mysqlProblemOf(observed: Observed): string | undefined {
  const { snapshot, policy } = observed;
  const { mysql: said, members } = snapshot;
  if (said === null) return undefined;
  if (said.problem !== null) return said.problem.message;
  const leastSeconds = silenceSeconds(policy) - freshSeconds + (said.ageSeconds ?? 0);
  const [first, ...others] = said.members.flatMap(({ uid, said: one, unknownForSeconds }) => {
    const member = members.find((each) => each.uid === uid);
    const isSilent = one.kind === 'unknown' && unknownForSeconds >= leastSeconds;
    return isSilent && member && mysqldOf(member)?.state === 'running' ? [{ ...one, ...member }] : [];
  });
  if (first === undefined) return undefined;
  return `${memberName(observed)(first.ordinal)}${andMore(others.length)} does not answer: ${first.message}`;
}

function openWritesOf({ mysql: said }: ClusterSnapshot): RolloutStatus['openWrites'] {
  if (!isRecent(said) || said.writes === null) return undefined;
  const [oldest, ...others] = said.writes.filter(({ ageSeconds }) => ageSeconds >= longWriteSeconds);
  return oldest === undefined ? { count: 0 } : { count: 1 + others.length, since: oldest.since };
}

function replicationOf(
  { cluster, members, mysql: recent }: ClusterSnapshot,
  ordinal: number,
): MemberStatus['replication'] {
  if (!isRecent(recent)) return undefined;
  const readingOf = (of: number) => {
    const uid = members.find((member) => member.ordinal === of)?.uid;
    return recent.members.find((one) => one.uid === uid);
  };
  const { said } = readingOf(ordinal) ?? {};
  if (said?.kind !== 'replica') return undefined;
  const { missing, unapplied: notApplied } = said;
  const against = againstItself({ ...said, missing: 0 }, readingOf(cluster.primaryIndex)?.last, false)?.kind;
  return {
    notApplied,
    ...(missing !== null && { notReceived: missing }),
    ...(against === 'notReceiving' && { problem: 'NotReceiving' }),
    ...(against === 'notAcknowledging' && { problem: 'NotAcknowledging' }),
  };
}
