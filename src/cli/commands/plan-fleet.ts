import type { RolloutSpec } from '../../api/rollout.ts';
import { type Cache } from '../../controller/cache/cache.ts';
import type { ObservedFacts } from '../../controller/facts/collect-facts.ts';
import { type InPlaceReadings, nothingRead } from '../../controller/facts/in-place-updates.ts';
import { type FleetLimits, noFleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { keyOf } from '../../kube/store.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { type Flag, read } from '../../options/flag.ts';
import { flags } from '../../options/flags.ts';
import { factsOf, readFleet, readInPlace } from '../cluster/cluster-snapshot.ts';
import { clustersIn } from '../cluster/clusters.ts';
import { type Session, textOf } from '../cluster/session.ts';
import { playFleet } from '../fleet/play-fleet.ts';
import { type Assumptions, shownFleetPlan } from '../fleet/shown-fleet-plan.ts';
import { fleetPlanLines } from '../terminal/fleet-plan.ts';
import { formatOf, writeData, writeLines } from '../terminal/output.ts';
import { type CommandOption, fleetSelectionOptions } from './command.ts';
import { parseAssumed } from './plan-assumptions.ts';

const { maxConcurrentRollouts, disruptionIntervalMilliseconds, maxFailingRollouts } = flags;

/** The options of `plan` that need `--fleet`. */
export const fleetOptions: readonly CommandOption[] = [
  { flags: '--fleet', description: 'show when each cluster of the fleet would begin and end' },
  ...fleetSelectionOptions,
  { flags: '--assume-stale', description: 'with --fleet, as if a change had just reached each of these clusters' },
  ...[maxConcurrentRollouts, disruptionIntervalMilliseconds].map(({ name, placeholder, defaultText }) => ({
    flags: `--${name} ${placeholder}`,
    description: `with --fleet, the value of the controller's flag (default ${defaultText})`,
  })),
];

/** Shows when the clusters of the fleet would begin and end, before anything is changed. */
export async function planFleet(session: Session): Promise<number> {
  const { given, host, world } = session;
  const isWide = given['output'] === 'wide';
  const format = isWide ? 'table' : formatOf(given);
  const limits = limitsOf(given);
  const assumed = parseAssumed(textOf(given['assume']) ?? '');
  const assumeStale = given['assumeStale'] === true;
  const { cache, unread } = await readFleet(session);
  const selected = await selectedKeys(session, cache);
  const facts = await factsOfAll(session, cache, selected, assumed, assumeStale);
  const sequences = cache.sequences.values().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const plan = playFleet({ nowSeconds: Math.floor(world.wall() / 1000), facts, sequences, limits });
  const assumptions: Assumptions = { assumed, assumeStale, limits, unread };
  const shown = shownFleetPlan(plan, selected, sequences, assumptions);
  const terminal = host.terminal();
  if (format === 'table') writeLines(host, fleetPlanLines(shown, terminal?.columns ?? columnsElsewhere, isWide));
  else writeData(host, format, { ...shown, drawing: undefined });
  return 0;
}

/** For output that goes to no terminal. */
const columnsElsewhere = 120;

function limitsOf(given: Session['given']): FleetLimits {
  const valueOf = (flag: Flag<number>, text = flag.defaultText): number => read(flag, text);
  return {
    ...noFleetLimits,
    maxConcurrentRollouts: valueOf(maxConcurrentRollouts, textOf(given['maxConcurrentRollouts'])),
    disruptionIntervalSeconds: valueOf(disruptionIntervalMilliseconds, textOf(given['disruptionInterval'])) / 1000,
    maxFailingRollouts: valueOf(maxFailingRollouts),
  };
}

/** Without `--namespace` and `--selector` those of all clusters. */
async function selectedKeys(session: Session, { clusters }: Cache): Promise<ReadonlySet<string>> {
  const { given, namespace, selector } = session;
  const isOneNamespace = given['namespace'] !== undefined;
  const found =
    isOneNamespace || selector !== undefined
      ? await clustersIn(session, isOneNamespace ? namespace : null, selector)
      : clusters.values();
  return new Set(found.map((cluster) => keyOf(cluster.namespace, cluster.name)));
}

/** By `namespace/name`. The assumptions are about the selected clusters alone. */
async function factsOfAll(
  session: Session,
  cache: Cache,
  selected: ReadonlySet<string>,
  assumed: RolloutSpec,
  assumeStale: boolean,
): Promise<ReadonlyMap<string, ObservedFacts>> {
  const facts = new Map<string, ObservedFacts>();
  for (const { namespace, name, deleting } of cache.clusters.values()) {
    const key = keyOf(namespace, name);
    const objects = cache.objects(key);
    if (objects === null || deleting) continue;
    const isSelected = selected.has(key);
    const observe = (inPlace: InPlaceReadings): ObservedFacts =>
      factsOf(
        isSelected && assumeStale ? withChange(objects) : objects,
        cache.rollouts.get(namespace, name)?.object ?? null,
        (cluster) => cache.settingsSources(cluster),
        session.world,
        isSelected ? assumed : {},
        inPlace,
      );
    const seen = observe(nothingRead);
    const inPlace = await readInPlace(session, seen);
    facts.set(key, inPlace === nothingRead ? seen : observe(inPlace));
  }
  return new Map([...facts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** As if MOCO had just changed the pod template. */
function withChange({ statefulSet, ...objects }: ClusterObjects): ClusterObjects {
  const updateRevision = `${statefulSetName(objects.cluster.name)}-assumed`;
  return { ...objects, statefulSet: statefulSet && { ...statefulSet, updateRevision } };
}
