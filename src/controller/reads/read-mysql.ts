import { milliseconds, timestampOf } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { Hold } from '../../core/decision.ts';
import { mysqldOf } from '../../core/member.ts';
import type { MemberReading, MemberSaid, MysqlReading, OpenWrite } from '../../core/on-demand-facts.ts';
import { lastingSeconds } from '../../core/replicas-behind.ts';
import { longWriteSeconds } from '../../core/rules/long-write.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { OpenWriteNow } from '../../mysql/statements.ts';
import { answered, type KnownMysql, type Readings, seriesMilliseconds } from '../facts/readings.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';

/** Less is a second that the server has rounded, and the time of an answer. */
const sameMilliseconds = 3000;

/** Asks the members if the decision waits for what they say. Resolves to `null` if it does not. */
export async function readMysqlAwaited(
  { decision: { hold }, objects }: Observation,
  pass: Pass,
): Promise<Pick<Readings, 'mysql'> | null> {
  const { mysql, world } = pass.context;
  const asks = hold === null || mysql === undefined ? null : neededFor(hold, pass.memory.readings.mysql, world);
  return asks && { mysql: await readMysql(objects, asks === 'switchover', pass) };
}

function neededFor(hold: Hold, known: Readings['mysql'], world: World): 'switchover' | 'step' | null {
  switch (hold.rule) {
    case 'ReplicasBehind':
      if (hold.replicas.every(({ reading }) => reading !== null)) return null;
      return hold.limitSeconds === null ? 'step' : 'switchover';
    case 'LongWrite':
      return hold.write === null ? 'switchover' : null;
    case 'FailoverUnfinished':
    case 'NotEnoughAcknowledging': {
      const isOld = known === null || world.monotonic() - known.atMilliseconds >= lastingSeconds * 1000;
      return isOld ? 'step' : null;
    }
    default:
      return null;
  }
}

/** Asks the primary, then all replicas in parallel. Resolves to `null` while the feature gate is off. Never rejects. */
export async function readMysql(
  objects: ClusterObjects,
  forSwitchover: boolean,
  { key, memory, signal, context: { mysql, world, log, metrics } }: Pass,
): Promise<Readings['mysql']> {
  if (mysql === undefined) return null;
  const before = memory.readings.mysql;
  const { cluster } = objects;
  const pods = objects.pods.filter(isRunning);
  const primary = pods.find(({ ordinal }) => ordinal === cluster.primaryIndex) ?? null;
  const replicas = pods.filter((pod) => pod !== primary);
  // What is committed while they are asked, they may not say.
  const atMilliseconds = world.monotonic();
  const { problem: message, said, writes } = await mysql.ask({ cluster, primary, replicas, forSwitchover }, signal);
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
    message === null ? null : { message, sinceMilliseconds: before?.problem?.sinceMilliseconds ?? atMilliseconds };
  if (message !== null && message !== before?.problem?.message) {
    log.warn({ cluster: key, reason: message }, 'MySQL can not be asked, and the rollout goes on without its answers');
  }
  for (const { uid, name } of pods) {
    const one = said.get(uid);
    if (one === undefined) continue;
    metrics.countMysqlReading(one.kind);
    if (message === null && one.kind === 'unknown' && last?.members.get(uid)?.reading.kind !== 'unknown') {
      log.warn({ cluster: key, member: name, reason: one.message }, 'a mysqld can not be asked');
    }
  }
  return {
    problem,
    members: new Map(members),
    ...writesAfter(forSwitchover ? writes : 'not asked', { last, open }, world, atMilliseconds),
    atMilliseconds,
  };
}

const notAsked: MemberSaid = { kind: 'unknown', message: 'it was not asked' };

/**
 * The newest usable answer. What the replica lacks is not known while the primary does not say what it has committed.
 */
function lastOf(said: MemberSaid, before: Pick<MemberReading, 'last'> | undefined): MemberReading['last'] {
  const known = before?.last ?? null;
  if (said.kind === 'unknown') return known;
  if (said.kind === 'primary' || said.missing !== null || known?.kind !== 'replica') return said;
  return { ...said, missing: known.missing };
}

/**
 * Open writes, and since when a switchover waits for them: silence ends neither.
 *
 * @param open what this primary last said was open, however long ago
 */
function writesAfter(
  writes: readonly OpenWriteNow[] | null | 'not asked',
  { last, open }: { readonly last: Readings['mysql']; readonly open: MysqlReading['writes'] },
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

/** The server counts whole seconds: the same write keeps the time that people have seen. */
function sinceOf({ session, ageSeconds }: OpenWriteNow, before: readonly OpenWrite[], world: World): string {
  const began = world.wall() - ageSeconds * 1000;
  const known = before.find((write) => write.session === session)?.since ?? null;
  const isSame = Math.abs((milliseconds(known) ?? 0) - began) < sameMilliseconds;
  return known !== null && isSame ? known : timestampOf(began);
}

const isRunning = (pod: PodRecord): boolean => pod.deletionTimestamp === null && mysqldOf(pod)?.state === 'running';
