import type { RolloutSpec } from '../../api/rollout.ts';
import { omitUndefined } from '../../base/json.ts';
import { shareOf } from '../../controller/fleet/follow-fleet.ts';
import type { ObservedFacts } from '../../controller/pass/collect-facts.ts';
import { counted } from '../../core/sentences.ts';
import { byName, nameOf } from '../../kube/store.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type Cache } from '../../objects/cache.ts';
import { fleetLimitsOf } from '../../options/published.ts';
import { shownFleetPlan } from '../../plan/fleet-plan.ts';
import { playFleet } from '../../plan/simulated-fleet.ts';
import { observer, readFleet, withNewTemplate } from '../cluster/cluster-snapshot.ts';
import { clustersIn } from '../cluster/clusters.ts';
import type { connectionOptions } from '../cluster/connection-flags.ts';
import { publishedFlags } from '../cluster/controller-lease.ts';
import type { ManifestChange } from '../cluster/manifest-changes.ts';
import type { Session } from '../cluster/session.ts';
import type { Values } from '../option.ts';
import { fleetPlanLines } from '../terminal/fleet-plan-lines.ts';
import { writeResult } from '../terminal/output.ts';
import type { planOptions } from './plan-options.ts';

// The command `plan --fleet`.

/** Shows when the clusters of the fleet would begin and end, before anything is changed. */
export async function planFleet(
  session: Session,
  changes: readonly ManifestChange[],
  given: Values<typeof planOptions & typeof connectionOptions>,
): Promise<number> {
  const { host, world } = session;
  const { output, assume: assumed = {}, assumeStale, maxConcurrentRollouts, disruptionIntervalMilliseconds } = given;
  const others = omitUndefined({ maxConcurrentRollouts, disruptionIntervalMilliseconds });
  const published = await publishedFlags(session);
  const limits = fleetLimitsOf({ ...published.options, ...others });
  const { cache, unread } = await readFleet(session);
  const selected = await selectedKeys(session, cache, given.namespace);
  const facts = await factsOfAll(session, cache, selected, assumed, assumeStale, changes);
  const sequences = cache.sequences.values().toSorted(byName);
  const nowSeconds = Math.floor(world.wall() / 1000);
  const shares = (namespace: string) => shareOf(cache, namespace);
  const plan = playFleet({ nowSeconds, facts, sequences, limits, shareOf: shares });
  const changed = changes.filter(({ changesTemplate }) => changesTemplate).length;
  const applied = `of ${counted(changes.length, 'MySQLCluster')} in the manifests, MOCO would change the pod template of ${changed}, and every member of those would get a new pod`;
  const shown = shownFleetPlan(plan, selected, sequences, {
    assumed,
    assumeStale,
    applied: changes.length === 0 ? [] : [applied],
    limits,
    unknownFlags: published.unknown,
    unread,
  });
  const columns = host.terminal()?.columns ?? columnsElsewhere;
  const lines = () => fleetPlanLines(shown, columns, output === 'wide');
  writeResult(host, output === 'wide' ? undefined : output, { ...shown, drawing: undefined }, lines);
  return 0;
}

/** The width if the output is not a terminal. */
const columnsElsewhere = 120;

/**
 * The keys of the selected clusters. Without `--namespace` and `--selector`, all clusters in all namespaces are
 * selected.
 */
async function selectedKeys(
  session: Session,
  { clusters }: Cache,
  namespace: string | undefined,
): Promise<ReadonlySet<string>> {
  const { selector } = session;
  const found =
    namespace !== undefined || selector !== undefined
      ? await clustersIn(session, namespace ?? null, selector)
      : clusters.values();
  return new Set(found.map(nameOf));
}

/** The facts about each cluster, by `namespace/name`. The assumptions apply only to the selected clusters. */
async function factsOfAll(
  session: Session,
  cache: Cache,
  selected: ReadonlySet<string>,
  assumed: RolloutSpec,
  assumeStale: boolean,
  changes: readonly ManifestChange[],
): Promise<ReadonlyMap<string, ObservedFacts>> {
  const facts = new Map<string, ObservedFacts>();
  const sources = (one: ClusterRecord) => cache.settingsSources(one);
  for (const known of cache.clusters.values().toSorted(byName)) {
    const key = nameOf(known);
    const objects = cache.objects(key);
    if (objects === null || known.deleting) continue;
    const isSelected = selected.has(key);
    const change = changes.find(({ cluster }) => nameOf(cluster) === key);
    const isNew = change?.changesTemplate === true || (isSelected && assumeStale);
    const after = change === undefined ? objects : { ...objects, cluster: change.cluster };
    const rollout = cache.rollouts.get(known.namespace, known.name)?.object ?? null;
    const observe = await observer(
      session,
      isNew ? withNewTemplate(after, change?.mysqld.after) : after,
      rollout,
      sources,
    );
    facts.set(key, observe(isSelected ? assumed : {}));
  }
  return facts;
}
