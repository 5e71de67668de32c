import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { mocoWebhookConfiguration } from '../../src/moco/names.ts';
import { configDirectory } from '../config/manifests.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { clusterDefinitionFile } from '../support/moco/install.ts';
import { Stage } from '../support/stage/stage.ts';
import { foreignKinds } from './foreign-kinds.ts';
import { Helm, set } from './helm-program.ts';
import { InstalledController } from './installed-controller.ts';
import { RolloutCluster } from './rollout-cluster.ts';
import { judged } from './rollout-fixture.ts';
import { History } from './rollout-history.ts';

const system = 'moco-rollout-system';
const values = ['featureGates.UpdateStrategyOnDelete=true', 'settings.minReadySeconds=0', 'flags.log-format=json'];
const mysqlClusters = 'customresourcedefinition/mysqlclusters.moco.cybozu.com';

/** In turn, on one control plane to which everything comes only as the tests go on; the controller is started once. */
describe('a Kubernetes cluster with missing or unknown components', () => {
  let controlPlane: ControlPlane;
  let helm: Helm;
  let controller: InstalledController;
  let stage: Stage;
  let history: History;
  let cluster: RolloutCluster;

  before(async () => {
    helm = await Helm.open();
    controlPlane = await startControlPlane({ featureGates: { WatchList: false } });
    controller = await InstalledController.in(controlPlane, join(controlPlane.directory, 'installed'));
  });

  after(async () => {
    await controller?.close();
    await history?.stop();
    await stage?.close();
    await controlPlane?.stop();
    await helm?.close();
  });

  it('without cert-manager: kubectl reports that the webhook needs it', async () => {
    const directory = join(configDirectory, 'kubernetes-before-1.36');
    const apply = controlPlane.kubectl('apply', '--server-side', '-k', directory);
    const said = await apply.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(said).to.contain('no matches for kind "Certificate" in version "cert-manager.io/v1"');
    expect(await controlPlane.kubectl('get', 'deployments', '-n', system, '-o', 'name')).to.equal(
      'deployment.apps/moco-rollout-controller\n',
    );
    await controlPlane.kubectl('delete', 'mutatingwebhookconfiguration', 'moco-rollout-mutating-webhook-configuration');
  });

  it('without MOCO: the controller logs that once, is ready, and does nothing', async () => {
    await controlPlane.apply(await controlPlane.fileOf(...foreignKinds));
    await controller.apply(await helm.render(system, ...set(...values)));
    await controller.start();
    await controller.isReady();
    await requestedByUser(3);
    expect(said('MOCO is not installed')).to.have.length(replicas);
    expect(said('"level":"error"')).to.deep.equal([]);
  });

  it('with another version of MOCO: the controller works the same', async () => {
    const text = await readFile(clusterDefinitionFile, 'utf8');
    const file = join(controlPlane.directory, 'another.yaml');
    await writeFile(file, text.replace('- name: v1beta2', '- name: v1beta1'));
    await controlPlane.apply(file);
    await requestedByUser(2);
    expect(said('MOCO is not installed')).to.have.length(replicas);
    expect(said('as moco.cybozu.com/v1beta2 now')).to.deep.equal([]);
    await controlPlane.kubectl('delete', mysqlClusters);
  });

  it('after MOCO is installed: the controller starts to work without a restart', async () => {
    stage = await Stage.open(controlPlane);
    history = await History.start(stage.client);
    cluster = new RolloutCluster(stage, history, 'shop');
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
    });
    expect(said('as moco.cybozu.com/v1beta2 now')).to.have.length(replicas);
  });

  it('with MOCO’s webhook under another name, after ours: the controller works the same', async () => {
    await judged(cluster, async () => {
      await cluster.begin();
      await rename(mocoWebhookConfiguration, `zz-${mocoWebhookConfiguration}`);
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      expect(cluster.now.statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
      await rename(`zz-${mocoWebhookConfiguration}`, mocoWebhookConfiguration);
    });
  });

  /** Lines of the log, of every replica. */
  function said(text: string): readonly string[] {
    return controller.log.split('\n').filter((line) => line.includes(text));
  }

  /** MySQLClusters have been asked for so often more, in vain. */
  async function requestedByUser(times: number): Promise<void> {
    const asked = async (): Promise<number> =>
      (await controlPlane.audit()).filter(
        ({ requestURI, responseStatus }) =>
          requestURI.startsWith('/apis/moco.cybozu.com/v1beta2/mysqlclusters') && responseStatus?.code === 404,
      ).length;
    const before = await asked();
    const enough = async (): Promise<boolean> => (await asked()) >= before + times;
    await until('MySQLClusters are asked for', enough, { got: () => controller.log });
  }

  /** First under the new name, then no longer under the old one. */
  async function rename(before: string, after: string): Promise<void> {
    const kind = 'mutatingwebhookconfiguration';
    const object = JSON.parse(await controlPlane.kubectl('get', kind, before, '-o', 'json')) as object;
    const file = await controlPlane.fileOf({ ...object, metadata: { name: after } });
    await controlPlane.kubectl('apply', '--server-side', '-f', file);
    await controlPlane.kubectl('delete', kind, before);
  }
});

/** Of the Deployment as it is installed. */
const replicas = 2;
