import { limitOf } from '../../../hack/bench/rollouts/limit.ts';
import { beginObservation, type Observation, observed, restarted } from '../../../hack/bench/rollouts/observation.ts';
import type { Sight } from '../../../hack/bench/rollouts/sight.ts';
import { hear } from '../../verification/witness/hear.ts';
import { checkRows, type MemberRows } from '../load/check-rows.ts';
import type { WriteGap } from '../load/write-gaps.ts';
import { now, WriteLoad } from '../load/write-load.ts';
import { alarmsOf } from './alarms.ts';
import { departuresOf } from './departures.ts';
import { complaints } from './expectations.ts';
import type { Program } from './program.ts';
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
  readonly gaps: readonly WriteGap[];
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

/** A scenario with a cluster that serves and that nobody writes into yet. */
export interface Prepared {
  readonly scenario: Scenario;
  readonly cluster: RealityCluster;
  /** Where all that is seen of it goes. */
  readonly directory: string;
}

/** Makes its cluster, in a namespace of its own. */
export async function prepare(
  surroundings: Surroundings,
  scenario: Scenario,
  namespace: string,
  directory: string,
): Promise<Prepared> {
  const { members, way, spec } = scenario;
  const cluster = await RealityCluster.create(surroundings, { namespace, members, way, spec });
  return { scenario, cluster, directory };
}

/** Plays a scenario, and writes all that was seen of it into its directory. */
export async function play({ scenario, cluster, directory }: Prepared, program: Program): Promise<Played> {
  const { passwords } = cluster;
  const { writers } = scenario;
  const run = await RunDirectory.open(directory, program);
  const load = await WriteLoad.start({ address: () => cluster.primaryAddress, passwords, writers });
  try {
    await scenario.before(cluster, program, load);
    const rollout = await rollOut(cluster, program, load, scenario);
    const gaps = load.gaps().filter((gap) => gap.fromMilliseconds + gap.milliseconds > rollout.fromMilliseconds);
    await load.stop();
    const rows = await checkRows(load.acknowledged, cluster.addresses, passwords);
    const written = { gaps, rows, acknowledged: load.acknowledged.size, errors: load.errors };
    const played = await judged(cluster, scenario, rollout, written);
    await run.writeResult(played);
    return played;
  } finally {
    await load.stop();
    await run.close(cluster, load.gaps());
    await cluster.remove();
  }
}

/** A rollout that has ended, or why it has not. */
interface Rollout {
  readonly fromMilliseconds: number;
  readonly milliseconds: number;
  readonly limitMilliseconds: number | null;
  readonly unfinished: string | null;
}

async function rollOut(
  cluster: RealityCluster,
  program: Program,
  load: WriteLoad,
  scenario: Scenario,
): Promise<Rollout> {
  const revision = cluster.sight.updateRevision;
  const fromMilliseconds = now();
  let observation = restarted(beginObservation(cluster.sight), cluster.bed.world.monotonic());
  const unsubscribe = cluster.onSight((sight) => {
    observation = observed(observation, sight);
  });
  const isOver = (sight: Sight): boolean =>
    isServing(sight) && (scenario.keepsRevision || sight.updateRevision !== revision);
  try {
    const meanwhile = scenario.meanwhile(cluster, program, load);
    await Promise.all([meanwhile, scenario.change(cluster, program, load)]);
    await cluster.until('every member to be back at the new revision', isOver);
    await cluster.untilAtRest();
    return { fromMilliseconds, ...timesOf(observation, cluster.bed.world.monotonic()), unfinished: null };
  } catch (error) {
    const unfinished = error instanceof Error ? error.message : String(error);
    return { fromMilliseconds, ...timesOf(observation, cluster.bed.world.monotonic()), unfinished };
  } finally {
    unsubscribe();
  }
}

function timesOf(
  { measure, wholeSince }: Observation,
  nowMilliseconds: number,
): Pick<Rollout, 'milliseconds' | 'limitMilliseconds'> {
  const limit = limitOf(measure, minReadySeconds, null);
  return {
    milliseconds: (wholeSince ?? nowMilliseconds) - measure.beganMilliseconds,
    limitMilliseconds: Number.isFinite(limit) && limit > 0 ? limit : null,
  };
}

interface Written {
  readonly gaps: readonly WriteGap[];
  readonly rows: readonly MemberRows[];
  readonly acknowledged: number;
  readonly errors: Readonly<Record<string, number>>;
}

async function judged(
  cluster: RealityCluster,
  { slug, title, way, members, expectations }: Scenario,
  { fromMilliseconds, milliseconds, limitMilliseconds: restarts, unfinished }: Rollout,
  { gaps, rows, acknowledged, errors }: Written,
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
  const audit = (await bed.controlPlane.audit()).filter(({ objectRef }) => objectRef?.namespace === namespace);
  const { findings } = hear(changes, audit, controllerUser);
  return findings.filter(({ kind }) => kind === 'violation').map(({ law, text }) => `${law}: ${text}`);
}
