import { execFile } from 'node:child_process';
import { isDeepStrictEqual, promisify } from 'node:util';
import { expect } from 'chai';
import { clusterKind, mysqldContainer, revisionHashLabel, rolloutCompleteCondition } from '../../src/moco/names.ts';
import type { MySQLCluster } from '../support/moco/objects.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf, type Moment } from './rollout-history.ts';
import { imageOf, isReady } from './rollout-members.ts';

const run = promisify(execFile);

const changesEach = 4;
/** So many changes in so short a time look like two writers who fight over the template. */
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const tooOften = { rule: 'RevisionFlapping', until: inAnHour, reason: 'they are meant' } as const;

/** What a person asked for, in the MySQLCluster as it is. */
const wantedOf = (cluster: MySQLCluster | null): string | undefined =>
  cluster?.spec.podTemplate.spec.containers?.find(({ name }) => name === mysqldContainer)?.image;

/** What is not as the condition says, at the moment at which it became True. */
function early({ cluster, statefulSet, pods }: Moment): readonly string[] {
  const wanted = wantedOf(cluster);
  const revision = statefulSet?.status?.updateRevision;
  const members = pods.flatMap((pod) => {
    const { name, labels, deletionTimestamp } = pod.metadata;
    return [
      ...(imageOf(pod) === wanted ? [] : [`${name} has ${imageOf(pod)} and not ${wanted}`]),
      ...(labels?.[revisionHashLabel] === revision ? [] : [`${name} is stale`]),
      ...(isReady(pod) ? [] : [`${name} is not ready`]),
      ...(deletionTimestamp === undefined ? [] : [`${name} is terminating`]),
    ];
  });
  const missing = pods.length === cluster?.spec.replicas ? [] : [`there are ${pods.length} members`];
  const unseen = statefulSet?.status?.observedGeneration === statefulSet?.metadata.generation ? [] : ['not observed'];
  return [...members, ...missing, ...unseen];
}

describe('waiting for the condition RolloutComplete', () => {
  const { stage, scenario } = useRollouts();

  scenario(
    `in the shell line that changes the image ends when that image runs, ${changesEach} times`,
    { replicas: 1 },
    async (cluster) => {
      await cluster.setting({ overrides: [tooOften] });
      for (let change = 0; change < changesEach; change += 1) {
        const image = `mysql:8.4.${100 + change}`;
        await changeAndWait(cluster, image);
      }
      await cluster.until('the end is seen', ({ pods }) =>
        pods.every((pod) => imageOf(pod) === `mysql:8.4.${100 + changesEach - 1}`),
      );
      const [from, to] = [changesEach - 2, changesEach - 1].map((change) => `mysql:8.4.${100 + change}`);
      const path = `spec.containers[${mysqldContainer}].image`;
      await cluster.until('the history has what the last one changed', ({ rollout }) => {
        const { history: ended = [] } = rollout?.status ?? {};
        return ended.at(-1)?.changes?.some((change) => isDeepStrictEqual(change, { path, from, to }));
      });
      const came = firstTrue(cluster);
      expect(came.size, 'one generation after another').to.be.at.least(changesEach);
      for (const [generation, revision] of came) {
        expect(early(cluster.before(revision)), `generation ${generation}`).to.deep.equal([]);
      }
    },
  );

  /** As a script does it. */
  async function changeAndWait(cluster: RolloutCluster, image: string): Promise<void> {
    const { namespace, name } = cluster;
    const { controlPlane } = stage();
    const kubectl = `'${controlPlane.binaries.kubectl}' --kubeconfig '${controlPlane.adminKubeconfig}' -n ${namespace}`;
    const patch = JSON.stringify({
      spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } },
    });
    const line = [
      `${kubectl} patch mysqlcluster ${name} --type=merge -p '${patch}' >/dev/null`,
      `${kubectl} wait mysqlcluster/${name} --for=condition=${rolloutCompleteCondition} --timeout=180s >/dev/null`,
    ].join(' && ');
    await run('/bin/sh', ['-c', line]);
  }

  /** The revision of the store at which the condition first was True of each generation. */
  function firstTrue(cluster: RolloutCluster): ReadonlyMap<number, number> {
    const came = new Map<number, number>();
    for (const [revision, object] of cluster.versions(clusterKind)) {
      const condition = conditionOf(object as MySQLCluster, rolloutCompleteCondition);
      const generation = condition?.observedGeneration;
      if (condition?.status !== 'True' || generation === undefined || came.has(generation)) continue;
      came.set(generation, revision);
    }
    return came;
  }
});
