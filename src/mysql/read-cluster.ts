import { delay } from '../base/delay.ts';
import type { World } from '../base/world.ts';
import type { CloneProgress, MemberSaid } from '../core/on-demand-facts.ts';
import { countGtids, type GtidSet, parseGtidSet, subtract, union } from './gtid-set.ts';
import { type Account, converse, type MysqlAddress, MysqlError, type SqlQuery } from './mysql-session.ts';
import {
  askClone,
  askOpenWrites,
  askReplicaAddresses,
  askReplication,
  askSemiSync,
  askWhoItIs,
  type OpenWriteNow,
  type WhoItIs,
} from './statements.ts';

// Which queries are sent to the members of a cluster, in which order, and when an answer counts as complete.

export interface AskedMember {
  readonly uid: string;
  /** The name of the member's pod, which is also the host name of its mysqld. */
  readonly name: string;
  readonly address: MysqlAddress;
}

export interface AskedCluster {
  /** `null` while no member serves as primary. */
  readonly primary: AskedMember | null;
  readonly replicas: readonly AskedMember[];
  /** Whether a switchover comes next. If so, the open writes, which the switchover would cut off, are read as well. */
  readonly forSwitchover: boolean;
  readonly account: Account;
}

export interface Answers {
  readonly said: ReadonlyMap<string, MemberSaid>;
  /** The open writes. `null` if no switchover comes next, or if the primary did not report its writes. */
  readonly writes: readonly OpenWriteNow[] | null;
  /** What each member that answers reports about its server, by the uid of its pod. */
  readonly servers: ReadonlyMap<string, ServerSaid>;
  /** Whether every member has refused the account. */
  readonly isDenied: boolean;
}

export interface ServerSaid {
  /** A version such as `8.4.8`, or `null` if the server is not a MySQL. */
  readonly version: string | null;
  /** The IP addresses of the replicas that are connected to the member, from this cluster or another one. */
  readonly replicaAddresses: readonly string[];
}

/**
 * For how long a replica is queried while it catches up. Under load a replica never has exactly the transactions of the
 * primary.
 */
const catchUpMilliseconds = 700;
/** How long to wait for short writes to end. */
const quietMilliseconds = 400;
const pauseMilliseconds = 50;
/** If InnoDB is queried again within 100 ms, it repeats its last answer about transactions. */
const refreshedMilliseconds = 150;

/**
 * Asks the primary which transactions it has committed, then asks every replica which of these it has received and
 * applied. Right before a switchover, asks the primary about open writes at the end. Has only one connection at a time
 * to each member. Never rejects.
 */
export async function readCluster(world: World, question: AskedCluster, signal: AbortSignal): Promise<Answers> {
  const { primary, replicas, forSwitchover, account } = question;
  const denied = new Set<string>();
  const said = new Map<string, MemberSaid>();
  const servers = new Map<string, ServerSaid>();
  const ask = async <T>(
    member: AskedMember,
    work: (query: SqlQuery, who: WhoItIs, keep: Keep<T>) => Promise<T>,
  ): Promise<T | null> => {
    const kept: T[] = [];
    const keep: Keep<T> = (answer) => kept.splice(0, 1, answer);
    try {
      return await converse(world, member.address, account, signal, async (query) => {
        const who = await expectItself(query, member);
        if (!servers.has(member.uid)) {
          servers.set(member.uid, { version: who.version, replicaAddresses: await askReplicaAddresses(query) });
        }
        return work(query, who, keep);
      });
    } catch (error) {
      const [answer] = kept;
      if (answer !== undefined) return answer;
      const { message, isDenied } =
        error instanceof MysqlError ? error : new MysqlError('the answer is not from a mysqld');
      if (isDenied) denied.add(member.uid);
      said.set(member.uid, { kind: 'unknown', message });
      return null;
    }
  };
  const source =
    primary &&
    (await ask(primary, async (query, { executed }) => {
      const { semiSync: _, ...counts } = await askSemiSync(query);
      return { executed: gtidSetOf(executed), says: { kind: 'primary', ...counts } as const };
    }));
  if (primary !== null && source !== null) said.set(primary.uid, source.says);
  await Promise.all(
    replicas.map(async (replica) => {
      const committed = source?.executed ?? null;
      const answer = await ask<MemberSaid>(replica, (query, _, keep) =>
        askCaughtUp(world, query, committed, keep, signal),
      );
      if (answer !== null) said.set(replica.uid, answer);
    }),
  );
  const writes =
    forSwitchover && primary !== null && source !== null
      ? await ask<readonly OpenWriteNow[]>(primary, (query, _, keep) => quietest(world, query, keep, signal))
      : null;
  const isDenied = said.size > 0 && denied.size === said.size;
  return { said, writes, servers, isDenied };
}

/** The progress of the clone that the member receives; `null` if the member does not report it. Never rejects. */
export async function readClone(
  world: World,
  member: AskedMember,
  account: Account,
  signal: AbortSignal,
): Promise<CloneProgress | null> {
  try {
    return await converse(world, member.address, account, signal, async (query) => {
      await expectItself(query, member);
      return askClone(query);
    });
  } catch {
    return null;
  }
}

/** Another pod may have received the address of a deleted pod. */
async function expectItself(query: SqlQuery, { name }: AskedMember): Promise<WhoItIs> {
  const who = await askWhoItIs(query);
  if (who.hostname !== name) throw new MysqlError('another mysqld has its address');
  return who;
}

/**
 * Keeps an answer that counts against the step. If the conversation fails later, for example because time runs out, the
 * kept answer is used.
 */
type Keep<T> = (answer: T) => void;

/**
 * Queries a replica until it has received and applied everything that the primary had committed, or until time runs
 * out. Resolves to the last answer.
 */
async function askCaughtUp(
  world: World,
  query: SqlQuery,
  committed: GtidSet | null,
  keep: Keep<MemberSaid>,
  signal: AbortSignal,
): Promise<MemberSaid> {
  const until = world.monotonic() + catchUpMilliseconds;
  for (;;) {
    const channel = await askReplication(query);
    if (channel === null) return { kind: 'unknown', message: 'it is no replica' };
    const { receiver, applier } = channel;
    const executed = gtidSetOf(channel.executed);
    const has = union(executed, gtidSetOf(channel.received));
    const missing = committed && countGtids(subtract(committed, has));
    const unapplied = countGtids(subtract(has, executed));
    const isBehind = missing === null ? unapplied > 0 : countGtids(subtract(committed ?? has, executed)) > 0;
    const { semiSync } = await askSemiSync(query);
    const says = {
      kind: 'replica',
      missing,
      unapplied: isBehind ? unapplied : 0,
      semiSync,
      receiver,
      applier,
    } as const;
    if (!isBehind || world.monotonic() + pauseMilliseconds >= until) return says;
    keep(says);
    await delay(world, pauseMilliseconds, signal);
  }
}

/** Waits until there are no open writes. If time runs out first, resolves to the writes that are open then. */
async function quietest(
  world: World,
  query: SqlQuery,
  keep: Keep<readonly OpenWriteNow[]>,
  signal: AbortSignal,
): Promise<readonly OpenWriteNow[]> {
  const until = world.monotonic() + quietMilliseconds;
  for (;;) {
    const writes = await askOpenWrites(query);
    if (writes.length === 0 || world.monotonic() + refreshedMilliseconds >= until) return writes;
    keep(writes);
    await delay(world, refreshedMilliseconds, signal);
  }
}

function gtidSetOf(text: string): GtidSet {
  try {
    return parseGtidSet(text);
  } catch (error) {
    throw new MysqlError(error instanceof Error ? error.message : String(error));
  }
}
