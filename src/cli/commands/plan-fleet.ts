import type { RolloutSpec } from '../../api/rollout.ts';
import { type Cache } from '../../controller/cache/cache.ts';
import type { ObservedFacts } from '../../controller/facts/collect-facts.ts';
import type { FleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { keyOf } from '../../kube/store.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type Flag, read } from '../../options/flag.ts';
import { flags } from '../../options/flags.ts';
import { fleetLimitsOf } from '../../options/published.ts';
import { playFleet } from '../../plan/simulated-fleet.ts';
import { observer, readFleet, withNewTemplate } from '../cluster/cluster-snapshot.ts';
import { clustersIn } from '../cluster/clusters.ts';
import { type PublishedFlags, publishedFlags } from '../cluster/controller-lease.ts';
import type { ManifestChange } from '../cluster/manifest-changes.ts';
import { type Session, textOf } from '../cluster/session.ts';
import { fleetPlanLines } from '../terminal/fleet-plan-lines.ts';
import { counted } from '../terminal/lines.ts';
import { formatOf, outputOption, writeData, writeLines } from '../terminal/output.ts';
import { type Assumptions, shownFleetPlan } from '../terminal/shown-fleet-plan.ts';
import { type CommandOption, fleetSelectionOptions } from './command.ts';
import { parseAssumed } from './plan-assumptions.ts';

const { maxConcurrentRollouts, disruptionIntervalMilliseconds } = flags;

/** The options of `plan` that need `--fleet`. */
export const fleetOptions: readonly CommandOption[] = [
  { flags: '--fleet', description: 'show when each cluster of the fleet would begin and end' },
  ...fleetSelectionOptions,
  ...[maxConcurrentRollouts, disruptionIntervalMilliseconds].map(({ name, placeholder }) => ({
    flags: `--${name} ${placeholder}`,
    description: `with --fleet, another value of the controller's flag than it has`,
  })),
];

/** Shows when the clusters of the fleet would begin and end, before anything is changed. */
export async function planFleet(session: Session, changes: readonly ManifestChange[]): Promise<number> {
  const { given, host, world } = session;
  const isWide = given['output'] === 'wide';
  const format = isWide ? 'table' : formatOf(given, outputOption);
  const published = await publishedFlags(session);
  const limits = limitsOf(given, published);
  const assumed = parseAssumed(textOf(given['assume']) ?? '');
  const assumeStale = given['assumeStale'] === true;
  const { cache, unread } = await readFleet(session);
  const selected = await selectedKeys(session, cache);
  const facts = await factsOfAll(session, cache, selected, assumed, assumeStale, changes);
  const sequences = cache.sequences.values().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const plan = playFleet({ nowSeconds: Math.floor(world.wall() / 1000), facts, sequences, limits });
  const applied = appliedSentences(changes);
  const assumptions: Assumptions = { assumed, assumeStale, applied, limits, unknownFlags: published.unknown, unread };
  const shown = shownFleetPlan(plan, selected, sequences, assumptions);
  const terminal = host.terminal();
  if (format === 'table') writeLines(host, fleetPlanLines(shown, terminal?.columns ?? columnsElsewhere, isWide));
  else writeData(host, format, { ...shown, drawing: undefined });
  return 0;
}

function appliedSentences(changes: readonly ManifestChange[]): readonly string[] {
  if (changes.length === 0) return [];
  const changed = changes.filter(({ changesTemplate }) => changesTemplate).length;
  return [
    `of ${counted(changes.length, 'MySQLCluster')} in the manifests MOCO makes another pod template for ${changed}, and every member of these gets another pod`,
  ];
}

/** For output that goes to no terminal. */
const columnsElsewhere = 120;

/** What is given, then what the controller publishes. */
function limitsOf(given: Session['given'], { options }: PublishedFlags): FleetLimits {
  const valueOf = (flag: Flag<number>, text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : read(flag, text);
  const [rollouts, interval] = [textOf(given['maxConcurrentRollouts']), textOf(given['disruptionInterval'])];
  const { maxConcurrentRollouts: most, disruptionIntervalMilliseconds: apart } = options;
  return fleetLimitsOf({
    ...options,
    maxConcurrentRollouts: valueOf(maxConcurrentRollouts, rollouts, most),
    disruptionIntervalMilliseconds: valueOf(disruptionIntervalMilliseconds, interval, apart),
  });
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
  changes: readonly ManifestChange[],
): Promise<ReadonlyMap<string, ObservedFacts>> {
  const facts = new Map<string, ObservedFacts>();
  for (const { namespace, name, deleting } of cache.clusters.values()) {
    const key = keyOf(namespace, name);
    const objects = cache.objects(key);
    if (objects === null || deleting) continue;
    const isSelected = selected.has(key);
    const change = changes.find(({ cluster }) => cluster.namespace === namespace && cluster.name === name);
    const isNew = change?.changesTemplate === true || (isSelected && assumeStale);
    const after = change === undefined ? objects : { ...objects, cluster: change.cluster };
    const rollout = cache.rollouts.get(namespace, name)?.object ?? null;
    const sources = (one: ClusterRecord) => cache.settingsSources(one);
    const observe = await observer(session, isNew ? withNewTemplate(after) : after, rollout, sources);
    facts.set(key, observe(isSelected ? assumed : {}));
  }
  return new Map([...facts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
