import { expect } from 'chai';
import { mysqldContainer, newPodsLabel } from '../../src/moco/names.ts';
import type { KubernetesObject } from '../support/moco/objects.ts';
import { cli } from './cli-program.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, useRollouts } from './rollout-fixture.ts';
import { wholeRollout } from './rollout-story.ts';

/** Kubernetes adds `apiVersion` and `expirationSeconds`, and does not store `stdin`: three reasons for the same writes. */
const side = {
  name: 'side',
  image: 'example/side:1',
  stdin: false,
  env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
};
const token = { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
const podTemplate = (image: string): object => ({
  spec: { containers: [{ name: mysqldContainer, image }, side], volumes: [token] },
});
const altered = [
  'drops spec.podTemplate.spec.containers[side].stdin (remove it)',
  'adds spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion (set it explicitly)',
  'adds spec.podTemplate.spec.volumes[token].projected.sources[0].serviceAccountToken.expirationSeconds (set it explicitly)',
];
const reconciliations = 3;

describe('a manifest for which moco-controller 0.36 writes the StatefulSet without end', () => {
  const { stage, newCluster } = useRollouts(realMocoScene);

  it('is adopted all the same, which ends the writes, and is rolled out; by partitions the hold names who writes and why', async () => {
    const cluster = newCluster();
    await cluster.appear({ spec: { podTemplate: podTemplate('mysql:8.4.8') } });
    await cluster.isTaken();
    await isLeftAlone(cluster);
    expect(await check(cluster)).to.match(/^ok: MOCO would write .* if they were released/);
    await cluster.begin();
    await judged(cluster, async () => {
      await cluster.setting({ paused: true });
      await cluster.patch({ spec: { podTemplate: podTemplate('mysql:8.4.9') } });
      await cluster.until('new pods come up at the current revision', ({ statefulSet }) =>
        Object.hasOwn(statefulSet?.metadata.labels ?? {}, newPodsLabel),
      );
      await isLeftAlone(cluster);
      await cluster.setting({ paused: null });
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
    });

    await cluster.setting({ strategy: 'Partition' });
    await cluster.holds('StatefulSetNotObserved');
    await cluster.until('the hold names the writer and the fields', ({ rollout }) =>
      rollout?.status?.hold?.message?.includes('serviceAccountToken'),
    );
    const { message = '' } = cluster.now.rollout?.status?.hold ?? {};
    expect(message).to.match(/^moco-controller keeps writing the StatefulSet \(at least (once|10 times) a second\)/);
    for (const field of altered) expect(message).to.include(field);
    const found = await check(cluster);
    expect(found).to.match(/^failed: /);
    for (const field of altered) expect(found).to.include(field);

    await cluster.setting({ strategy: 'OnDelete' });
    await cluster.isTaken();
    await isLeftAlone(cluster);
  });

  /** MOCO reconciles the cluster again, and the spec of the StatefulSet stays as it is. */
  async function isLeftAlone(cluster: RolloutCluster): Promise<void> {
    const generation = generationOf(cluster.now.statefulSet);
    for (let times = 1; times <= reconciliations; times += 1) {
      await cluster.patch({ spec: { maxDelaySecondsForPodDeletion: times } });
      await cluster.until('MOCO has reconciled the cluster', ({ cluster: now }) => {
        const { maxDelaySecondsForPodDeletion: seen } = (now?.spec ?? {}) as { maxDelaySecondsForPodDeletion?: number };
        return seen === times && now?.status?.reconcileInfo?.generation === generationOf(now);
      });
    }
    expect(generationOf(cluster.now.statefulSet)).to.equal(generation);
  }

  async function check({ namespace }: RolloutCluster): Promise<string> {
    const { out } = await cli(stage().controlPlane.adminKubeconfig, ['check', '-n', namespace, '--output=json']);
    const findings = JSON.parse(out) as readonly { about: string; result: string; sentence: string }[];
    const { result, sentence } = findings.find(({ about }) => about === 'manifests') ?? {};
    return `${result}: ${sentence}`;
  }
});

const generationOf = (object: KubernetesObject | null): number => object?.metadata.generation ?? 0;
