import { projectSequence, type SequenceSpec, sequenceKind } from '../../src/api/rollout-sequence.ts';
import { factsOf } from '../../src/cli/cluster/cluster-snapshot.ts';
import { noFleetLimits } from '../../src/controller/fleet/fleet-limits.ts';
import { shareOf } from '../../src/controller/fleet/follow-fleet.ts';
import { keyOf } from '../../src/kube/store.ts';
import { Cache, forEachCachedKind } from '../../src/objects/cache.ts';
import type { FleetInput } from '../../src/plan/simulated-fleet.ts';
import { ObjectServer } from '../controller/object-server.ts';
import { addWholeCluster, type WholeCluster } from '../controller/whole-clusters.ts';
import { FakeWorld } from '../kube/fake-world.ts';

/** What `plan --fleet` knows of these clusters. */
export function observedFleet(
  clusters: readonly WholeCluster[],
  sequences: Readonly<Record<string, SequenceSpec>>,
  limits: Partial<FleetInput['limits']> = {},
): FleetInput {
  const world = new FakeWorld(() => Promise.reject(new Error('expected no request')));
  const server = new ObjectServer(() => world.wall());
  const cache = new Cache();
  for (const one of clusters) addWholeCluster(server, one);
  forEachCachedKind(cache, { keepsLivePods: true, leavingSigns: null }, ({ kind, store, project }) => {
    for (const raw of server.all(kind)) {
      const record = project(raw);
      if (record !== null) store.put(record);
    }
  });
  const facts = cache.clusters.values().flatMap(({ namespace, name }) => {
    const key = keyOf(namespace, name);
    const objects = cache.objects(key);
    const rollout = cache.rollouts.get(namespace, name)?.object ?? null;
    return objects === null
      ? []
      : [[key, factsOf(objects, rollout, (cluster) => cache.settingsSources(cluster), world)] as const];
  });
  return {
    nowSeconds: Math.floor(world.wall() / 1000),
    facts: new Map(facts.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    sequences: Object.entries(sequences).map(([name, spec]) =>
      projectSequence({
        apiVersion: sequenceKind.group,
        metadata: { name, uid: name, resourceVersion: '1', generation: 1 },
        spec,
      }),
    ),
    limits: { ...noFleetLimits, ...limits },
    shareOf: (namespace) => shareOf(cache, namespace),
  };
}
