import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { clusterDefinitionFile } from '../../hack/moco/install.ts';
import { statefulSetWebhook } from '../../hack/moco/names.ts';
import type { StatefulSet } from '../../hack/moco/objects.ts';
import { sampleCluster } from '../../hack/moco/sample.ts';
import { Stage } from '../../hack/stage/stage.ts';
import { mutatingWebhookConfigurations, path, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { startDeadlineMilliseconds, testDeadlineMilliseconds, until } from './moco-fixture.ts';

const namespace = 'held-back';

describe('a stage without MOCO’s webhook of StatefulSets', function () {
  this.timeout(testDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let stage: Stage;

  before(async function openStage() {
    this.timeout(startDeadlineMilliseconds);
    controlPlane = await startControlPlane({ manifests: [clusterDefinitionFile] });
    stage = await Stage.open(controlPlane, { partitionDriver: 'own' });
    await stage.startController(['--feature-gates=UpdateStrategyOnDelete=false']);
    await stage.createNamespace(namespace);
  });

  after(async () => {
    await stage?.close();
    await controlPlane?.stop();
  });

  it('has the webhook of this program in its place, once a controller runs', async () => {
    const { items } = await stage.client.call<{ items: { webhooks?: { name: string }[] }[] }>({
      method: 'GET',
      path: path(mutatingWebhookConfigurations),
      lane: 'read',
    });
    const names = items.flatMap(({ webhooks = [] }) => webhooks.map(({ name }) => name));
    expect(names).to.include('partition.moco-rollout.io').and.not.include(statefulSetWebhook);
  });

  it('begins the StatefulSet of a new cluster at partition = replicas', async () => {
    await stage.client.create(clusterKind, { namespace }, sampleCluster({ name: 'x', namespace }), { lane: 'disrupt' });
    await until('MOCO has made the StatefulSet', async () => (await listed()).length === 1);
    expect((await listed())[0]?.spec.updateStrategy).to.deep.equal({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 3 },
    });
  });

  async function listed(): Promise<readonly StatefulSet[]> {
    const target = path(statefulSets, { namespace });
    return (await stage.client.call<{ items: StatefulSet[] }>({ method: 'GET', path: target, lane: 'read' })).items;
  }
});
