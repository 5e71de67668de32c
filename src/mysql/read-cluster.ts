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

// What is asked of the members of a cluster, in which order, and when an answer counts as complete.

export interface AskedMember {
  readonly uid: string;
  /** The name of its pod, which is the host name of its mysqld. */
  readonly name: string;
  readonly address: MysqlAddress;
}

export interface AskedCluster {
  /** `null` while no member serves as primary. */
  readonly primary: AskedMember | null;
  readonly replicas: readonly AskedMember[];
  /** True before a switchover: then the writes that it would cut off are read as well. */
  readonly forSwitchover: boolean;
  readonly account: Account;
}

export interface Answers {
  readonly said: ReadonlyMap<string, MemberSaid>;
  /** `null` if no switchover is next, or if the primary did not report them. */
  readonly writes: readonly OpenWriteNow[] | null;
  /** What each member that answers is, by the uid of its pod. */
  readonly servers: ReadonlyMap<string, ServerSaid>;
  /** Every member has refused the account. */
  readonly isDenied: boolean;
}

export interface ServerSaid {
  /** Such as `8.4.8`, or `null` if it is not that of a MySQL. */
  readonly version: string | null;
  /** The IP addresses of the replicas that are connected to it, of this cluster or another one. */
  readonly replicaAddresses: readonly string[];
}

/**
 * A replica never has exactly the transactions of a primary under load: it may catch up for this long while it is
 * queried.
 */
const catchUpMilliseconds = 700;
/** How long to wait for the end of short writes. */
const quietMilliseconds = 400;
const pauseMilliseconds = 50;
/** InnoDB repeats its last answer about transactions if it is asked again within 100 ms. */
const refreshedMilliseconds = 150;

/**
 * Asks the primary what it has committed, then every replica what it has received and applied of that. At the end,
 * right before a switchover, it asks the primary again about open writes. One connection at a time to each of them.
 * Never rejects.
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
        error instanceof MysqlError ? error : new MysqlError('the answer is not that of a mysqld');
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

/** How far the member is with the clone that it receives; `null` if it does not report it. Never rejects. */
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
 * Records at once what counts against the step: the end of the conversation, such as its time limit, does not withdraw
 * it.
 */
type Keep<T> = (answer: T) => void;

/**
 * The answer of a replica once it has received and applied everything that the primary had committed, or when time runs
 * out.
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

/** The open writes at the first moment without any, or else when time runs out. */
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
