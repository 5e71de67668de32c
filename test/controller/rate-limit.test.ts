import { expect } from 'chai';
import { type MySQLRollout, rolloutKind, wholeRecord } from '../../src/api/rollout.ts';
import { policyKind, projectPolicy } from '../../src/api/rollout-policy.ts';
import { delay } from '../../src/base/delay.ts';
import { noFleetLimits } from '../../src/controller/fleet/fleet-limits.ts';
import { podDisruptionBudgets, pods, statefulSets } from '../../src/kube/resource.ts';
import { keyOf } from '../../src/kube/store.ts';
import { WorkQueue } from '../../src/kube/work-queue.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectBudget, projectCluster, projectStatefulSet } from '../../src/moco/projections.ts';
import { FakeWorld } from '../kube/fake-world.ts';
import { Process } from './bench.ts';
import { FakeMembers, FakeMysql, FakePrometheus, FakeReplicas } from './fake-servers.ts';
import { budget, mysqlCluster, pod, revisionBefore, statefulSet } from './moco-objects.ts';
import { ObjectServer } from './object-server.ts';

const answerMilliseconds = 20;
/** Those of the flags, unless told. */
const defaultRate = { qps: 100, burst: 200 };
const concurrency = 8;

const eviction = /\/eviction$/;

/** So many clusters that are all due, with a policy for each of so many teams, at one rate limit. */
function fleet(clusters: number, policies: number, rate = defaultRate) {
  const world: FakeWorld = new FakeWorld(async (request) => {
    await delay(world, answerMilliseconds);
    return server.exchange(request);
  });
  const server = new ObjectServer(() => world.wall());
  const program = new Process(
    {
      world,
      server,
      replicas: new FakeReplicas(),
      members: new FakeMembers(),
      mysql: new FakeMysql(),
      prometheus: new FakePrometheus(),
    },
    'process-1',
    {},
    noFleetLimits,
    rate,
  );
  const { cache } = program;
  for (let number = 0; number < policies; number += 1) {
    const spec = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': `team-${number}` } } };
    const raw = server.create(policyKind, { metadata: { name: `team-${number}`, namespace: undefined }, spec });
    cache.policies.put(projectPolicy(raw));
  }
  const keys = Array.from({ length: clusters }, (_, number) => {
    const namespace = `team-${number}`;
    const create = (kind: typeof pods, object: object) => {
      const { metadata } = object as { metadata: object };
      return server.create(kind, { ...object, metadata: { ...metadata, namespace } });
    };
    const put = <R>(record: R | null, into: { put: (record: R) => void }): void => {
      if (record !== null) into.put(record);
    };
    put(projectCluster(create(clusterKind, mysqlCluster())), cache.clusters);
    put(projectStatefulSet(create(statefulSets, statefulSet({ current: revisionBefore }))), cache.statefulSets);
    put(projectBudget(create(podDisruptionBudgets, budget())), cache.budgets);
    for (const ordinal of [0, 1, 2]) {
      const role = ordinal === 0 ? 'primary' : 'replica';
      put(projectPod(create(pods, pod(ordinal, { revision: revisionBefore, role }))), cache.pods);
    }
    const object = create(rolloutKind, { metadata: { name: 'test' } }) as unknown as MySQLRollout;
    cache.rollouts.put(wholeRecord(object));
    return keyOf(namespace, 'test');
  });
  const queue = new WorkQueue({
    name: 'clusters',
    world,
    concurrency,
    process: (key, signal) => program.reconciler.reconcile(key, signal),
    onError: () => {},
  });
  program.wake = (key) => queue.add(key);
  for (const key of keys) queue.add(key);
  queue.start();
  const evictions = (): number => server.writes.filter(({ path }) => eviction.test(path)).length;
  return { world, server, evictions };
}

describe('the rate limit of a whole fleet', () => {
  it('lets 60 clusters that are due at once start, with 50 policies', async () => {
    const { world, server, evictions } = fleet(60, 50);
    await world.advance(2_000);
    expect(evictions(), 'from the start').to.be.above(10);
    await world.advance(8_000);
    expect(evictions(), 'once each').to.equal(60);
    const reads = server.reads.filter((path) => !path.includes('/nodes/'));
    expect(reads.length, 'nothing is read in vain').to.equal(60 * 16);
    expect(server.reads.length - reads.length, 'clusters share what is known of nodes').to.be.below(60 * 2);
  });

  it('lets them start even if its burst is less than one confirmation needs', async () => {
    const { world, evictions } = fleet(10, 50, { qps: 5, burst: 2 });
    await world.advance(60_000);
    expect(evictions()).to.equal(10);
  });
});
