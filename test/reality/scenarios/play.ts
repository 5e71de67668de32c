import { hear } from '../../verification/witness/hear.ts';
import type { ClusterLoad, LoadResult } from '../load/cluster-load.ts';
import { now } from '../load/write-load.ts';
import { beginMeasure, lasted, limitOf, type Measure, measured } from '../sight/measure.ts';
import type { Sight } from '../sight/sight.ts';
import { alarmsOf } from './alarms.ts';
import { departuresOf } from './departures.ts';
import { complaints, type GapsByKind, gapsSince } from './expectations.ts';
import { isServing, RealityCluster, type Surroundings } from './reality-cluster.ts';
import { eventsOf, RunDirectory } from './run-directory.ts';
import type { Scenario } from './scenario.ts';

/** One rollout in numbers, as the record keeps it. */
export interface Played {
  readonly slug: string;
  readonly title: string;
  readonly way: string;
  readonly members: number;
  /** From the change until every member was back and updated. */
  readonly seconds: number;
  /** Of its own restarts, its switchover and minReadySeconds; `null` where members do not go one after the other. */
  readonly limitSeconds: number | null;
  /** Of each member that was away, in the order in which they went. */
  readonly awaySeconds: readonly number[];
  readonly gaps: GapsByKind;
  readonly acknowledged: number;
  /** Acknowledged rows that a member does not have, of all members. */
  readonly lost: number;
  readonly order: readonly number[];
  readonly errors: Readonly<Record<string, number>>;
  /** Sentences; none: it passed. */
  readonly complaints: readonly string[];
}

/** The default of `minReadySeconds`. */
const minReadySeconds = 5;
/** The user of this program in the audit log. */
const controllerUser = 'system:serviceaccount:moco-rollout-system:moco-rollout';

/** Makes its cluster, in a namespace of its own. */
async function prepare(
  surroundings: Surroundings,
  scenario: Scenario,
  namespace: string,
): Promise<{ readonly cluster: RealityCluster; readonly load: ClusterLoad }> {
  const { members, way, spec, writers } = scenario;
  const cluster = await RealityCluster.create(surroundings, { namespace, members, way, spec });
  try {
    await scenario.created(cluster);
    // Under load members of a new cluster are ready earlier by a minute.
    const load = await cluster.startLoad(writers);
    await cluster.untilAtRest();
    return { cluster, load };
  } catch (error) {
    await cluster.remove().catch(() => undefined);
    throw error;
  }
}

/** Plays a scenario, and writes all that was seen of it into its directory. */
export async function play(
  surroundings: Surroundings,
  scenario: Scenario,
  namespace: string,
  directory: string,
): Promise<Played> {
  const { cluster, load } = await prepare(surroundings, scenario, namespace);
  const run = await RunDirectory.open(directory, cluster.bed);
  let gaps: GapsByKind = { kept: [], fresh: [] };
  try {
    await scenario.before(cluster, load);
    const rollout = await rollOut(cluster, load, scenario);
    const result = await load.stop();
    gaps = gapsSince(result.gaps, rollout.fromMilliseconds);
    const played = await judged(cluster, scenario, rollout, { ...result, gaps });
    await run.writeResult(played);
    return played;
  } finally {
    load.kill();
    await run.close(cluster, gaps);
    await cluster.remove();
  }
}

/** A rollout that has ended, or why it has not. */
interface Rollout {
  readonly fromMilliseconds: number;
  readonly milliseconds: number;
  readonly limitMilliseconds: number | null;
  readonly awayMilliseconds: readonly number[];
  readonly unfinished: string | null;
}

async function rollOut(cluster: RealityCluster, load: ClusterLoad, scenario: Scenario): Promise<Rollout> {
  const revision = cluster.sight.updateRevision;
  const fromMilliseconds = now();
  let measure = beginMeasure(cluster.sight, cluster.bed.world.monotonic());
  const unsubscribe = cluster.onSight((sight) => {
    measure = measured(measure, sight);
  });
  const isOver = (sight: Sight): boolean =>
    isServing(sight) && (scenario.keepsRevision || sight.updateRevision !== revision);
  try {
    const meanwhile = scenario.meanwhile(cluster, load);
    await Promise.all([meanwhile, scenario.change(cluster, load)]);
    await cluster.until('every member to be back at the new revision', isOver);
    await cluster.untilAtRest();
    return { fromMilliseconds, ...timesOf(measure, cluster.bed.world.monotonic()), unfinished: null };
  } catch (error) {
    const unfinished = error instanceof Error ? error.message : String(error);
    return { fromMilliseconds, ...timesOf(measure, cluster.bed.world.monotonic()), unfinished };
  } finally {
    unsubscribe();
  }
}

function timesOf(
  measure: Measure,
  nowMilliseconds: number,
): Pick<Rollout, 'milliseconds' | 'limitMilliseconds' | 'awayMilliseconds'> {
  const limit = limitOf(measure, minReadySeconds);
  return {
    milliseconds: (measure.wholeSince ?? nowMilliseconds) - measure.beganMilliseconds,
    limitMilliseconds: Number.isFinite(limit) && limit > 0 ? limit : null,
    awayMilliseconds: measure.absences.flatMap((absence) => lasted(absence) ?? []),
  };
}

async function judged(
  cluster: RealityCluster,
  { slug, title, way, members, expectations }: Scenario,
  { fromMilliseconds, milliseconds, limitMilliseconds: restarts, awayMilliseconds, unfinished }: Rollout,
  { gaps, members: rows, acknowledged, errors }: LoadResult,
): Promise<Played> {
  const { changes } = cluster;
  const departures = departuresOf(changes, fromMilliseconds);
  // The limit is that of members that are replaced.
  const limitMilliseconds = departures.length === 0 ? null : restarts;
  const ratio = limitMilliseconds === null ? null : milliseconds / limitMilliseconds;
  const findings = way.settings.strategy === 'OnDelete' ? await findingsOf(cluster) : [];
  const alarms = alarmsOf(changes, await eventsOf(cluster));
  const facts = { rows, gaps, departures, alarms, findings, ratio, unfinished };
  return {
    slug,
    title,
    way: way.slug,
    members,
    seconds: milliseconds / 1000,
    limitSeconds: limitMilliseconds === null ? null : limitMilliseconds / 1000,
    awaySeconds: awayMilliseconds.map((one) => one / 1000),
    gaps,
    acknowledged,
    lost: rows.reduce((sum, { missing }) => sum + missing.length, 0),
    order: departures.map(({ ordinal }) => ordinal),
    errors,
    complaints: complaints(facts, expectations),
  };
}

/** What the witness says of the disruptions of this program: it sees the API server's store and audit log alone. */
export async function findingsOf({ bed, changes, namespace }: RealityCluster): Promise<readonly string[]> {
  const audit = (await bed.audit()).filter(({ objectRef }) => objectRef?.namespace === namespace);
  const { findings } = hear(changes, audit, controllerUser);
  return findings.filter(({ kind }) => kind === 'violation').map(({ law, text }) => `${law}: ${text}`);
}
