import { expect } from 'chai';
import { persistentVolumeClaims, podDisruptionBudgets, pods } from '../../src/kube/resource.ts';
import { configMaps } from '../support/config-maps.ts';
import { dataVolume } from '../support/moco/names.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { useRollouts } from './rollout-fixture.ts';

const newImage = 'mysql:8.4.9';

// Objects that look like the fact that a step needs, and are not it, on a real API server with MOCO itself.
describe('facts that are not what they look like, with moco-controller 0.36', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('a claim that was created again while its pod runs holds the member', {}, async (cluster) => {
    const name = `${dataVolume}-${cluster.podName(2)}`;
    await cluster.kubectl('delete', 'pvc', name, '--wait=false');
    await cluster.kubectl('patch', 'pvc', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    const resources = { requests: { storage: '1Gi' } };
    await cluster.make(persistentVolumeClaims, {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources },
    });
    const { uid } = cluster.podNow(2).metadata;
    await cluster.setImage(newImage);
    await cluster.until('the hold is about the claim', ({ rollout }) =>
      rollout?.status?.hold?.message?.includes(`its claim ${name}`),
    );
    expect(cluster.podNow(2).metadata.uid).to.equal(uid);
    expect((await cluster.steps()).filter((step) => step.endsWith(' 2'))).to.deep.equal([]);
  });

  scenario("the budget of another team is named, and MOCO's is not", {}, async (cluster) => {
    await cluster.make(podDisruptionBudgets, {
      metadata: { name: 'another-team' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { 'app.kubernetes.io/name': 'mysql' } } },
    });
    await cluster.setImage(newImage);
    await cluster.holds('BlockedByPDB');
    expect(cluster.now.rollout?.status?.hold?.message).to.contain('another-team');
    await cluster.remove(podDisruptionBudgets, 'another-team');
    await cluster.completes();
  });

  scenario('a pod with the labels of a member that the StatefulSet does not own is left alone', {}, async (cluster) => {
    const { labels } = cluster.podNow(2).metadata;
    // The StatefulSet controller adopts a pod that has no controller.
    const { metadata: owner } = await cluster.make(configMaps, { metadata: { name: 'somebody' } });
    const { name, uid } = owner;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
    const container = { name: 'mysqld', image: 'mysql:missing' };
    const foreign = await cluster.make(pods, {
      metadata: { name: cluster.podName(7), labels, ownerReferences },
      spec: { containers: [container], nodeSelector: { nowhere: 'to-be-found' } },
    });
    await cluster.setImage(newImage);
    // It counts for MOCO's budget, which the disruption controller cannot compute with a pod of another controller.
    await cluster.holds('BlockedByPDB');
    const left = await cluster.kubectl('get', 'pod', cluster.podName(7), '-o', 'jsonpath={.metadata.uid}');
    expect(left).to.equal(foreign.metadata.uid);
    await cluster.kubectl('delete', 'pod', cluster.podName(7), '--grace-period=0', '--force');
    await cluster.completes();
  });
});
