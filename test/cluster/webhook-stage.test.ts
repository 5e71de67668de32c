import { expect } from 'chai';
import { mutatingWebhookConfigurations, path, pods, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { clusterDefinitionFile } from '../support/moco/install.ts';
import { statefulSetWebhook } from '../support/moco/names.ts';
import type { Pod, StatefulSet } from '../support/moco/objects.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { Stage } from '../support/stage/stage.ts';
import { startDeadlineMilliseconds, testDeadlineMilliseconds, until } from './moco-fixture.ts';

const namespace = 'held-back';
const gateOff = ['--feature-gates=UpdateStrategyOnDelete=false'];
const newImage = 'mysql:8.4.9';

describe('a cluster without MOCO’s webhook for StatefulSets', function () {
  this.timeout(testDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let stage: Stage;

  before(async function openStage() {
    this.timeout(startDeadlineMilliseconds);
    controlPlane = await startControlPlane({
      manifests: [clusterDefinitionFile],
      audit: { writes: 'RequestResponse' },
    });
    stage = await Stage.open(controlPlane, { partitionDriver: 'own' });
    await stage.startController(gateOff);
    await stage.createNamespace(namespace);
  });

  after(async () => {
    await stage?.close();
    await controlPlane?.stop();
  });

  it('has the webhook of this program in its place once a controller runs', async () => {
    const { items } = await stage.client.call<{ items: { webhooks?: { name: string }[] }[] }>({
      method: 'GET',
      path: path(mutatingWebhookConfigurations),
      priority: 'read',
    });
    const names = items.flatMap(({ webhooks = [] }) => webhooks.map(({ name }) => name));
    expect(names).to.include('partition.moco-rollout.io').and.not.include(statefulSetWebhook);
  });

  it('creates the StatefulSet of a new cluster with partition = replicas', async () => {
    await stage.client.create(clusterKind, { namespace }, sampleCluster({ name: 'x', namespace }), {
      priority: 'disrupt',
    });
    await until('MOCO has made the StatefulSet', async () => (await listed()).length === 1);
    expect((await listed())[0]?.spec.updateStrategy).to.deep.equal({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 3 },
    });
  });

  it('replaces no pod while no controller runs, and holds MOCO’s new template back once one does', async () => {
    await until('there are three pods', async () => (await podUids()).length === 3);
    const before = await podUids();
    await Promise.all(stage.controllers.map((controller) => controller.stop('SIGKILL')));
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: newImage }] } };
    const change = { spec: { podTemplate } };
    const place = { namespace, name: 'x' };
    await stage.client.patch(clusterKind, place, 'application/merge-patch+json', change, { priority: 'disrupt' });
    await until('MOCO’s new template is refused', async () => (await applied()).some(({ code }) => code === 500));
    expect(await podUids()).to.deep.equal(before);
    await stage.startController(gateOff);
    await until('MOCO’s new template is taken', async () => (await applied()).some(({ code }) => code === 200));
    const [taken] = (await applied()).filter(({ code }) => code === 200);
    expect(taken?.partition).to.equal(3);
  });

  /** MOCO's applies of the new template, as the API server has answered them. */
  async function applied(): Promise<readonly { readonly code: number; readonly partition: number | undefined }[]> {
    const events = (await controlPlane.audit()).filter(
      ({ user, verb, objectRef, requestObject }) =>
        user.username === 'moco-controller' &&
        verb === 'patch' &&
        objectRef?.resource === 'statefulsets' &&
        objectRef.namespace === namespace &&
        JSON.stringify(requestObject).includes(newImage),
    );
    return events.map(({ responseStatus, responseObject }) => ({
      code: responseStatus?.code ?? 0,
      partition: (responseObject as StatefulSet | undefined)?.spec?.updateStrategy?.rollingUpdate?.partition,
    }));
  }

  async function podUids(): Promise<readonly string[]> {
    const target = path(pods, { namespace });
    const { items } = await stage.client.call<{ items: Pod[] }>({ method: 'GET', path: target, priority: 'read' });
    return items.map(({ metadata }) => metadata.uid).toSorted();
  }

  async function listed(): Promise<readonly StatefulSet[]> {
    const target = path(statefulSets, { namespace });
    return (await stage.client.call<{ items: StatefulSet[] }>({ method: 'GET', path: target, priority: 'read' })).items;
  }
});
