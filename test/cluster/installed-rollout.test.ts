import { join } from 'node:path';
import { expect } from 'chai';
import { configDirectory, isHook, type Manifest, nameOf } from '../config/manifests.ts';
import { commandsUnder } from '../docs/markdown.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { Stage } from '../support/stage/stage.ts';
import { foreignKinds } from './foreign-kinds.ts';
import { Helm, set, withPolicies } from './helm-program.ts';
import { InstalledController } from './installed-controller.ts';
import { RolloutCluster } from './rollout-cluster.ts';
import { judged } from './rollout-fixture.ts';
import { conditionOf, History } from './rollout-history.ts';
import { wholeRollout } from './rollout-story.ts';

const system = 'moco-rollout-system';
const gateOn = 'featureGates.UpdateStrategyOnDelete=true';
const flags = ['settings.minReadySeconds=0', 'flags.log-format=json'];

interface Binding {
  readonly kind: string;
  readonly metadata: Manifest['metadata'];
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** Nothing is there but MOCO, nodes, and what an installation brings: its rights too are what it has brought. */
describe('an installation', () => {
  let controlPlane: ControlPlane;
  let stage: Stage;
  let history: History;
  let helm: Helm;
  let controller: InstalledController;
  let manifests: readonly Manifest[] = [];

  before(async () => {
    helm = await Helm.open();
    controlPlane = await startControlPlane();
    stage = await Stage.open(controlPlane, { admission: 'none' });
    await controlPlane.apply(await controlPlane.fileOf(...foreignKinds));
    history = await History.start(stage.client);
    // The stage brings the rights of config/rbac. Here the installation has to, and admission as well.
    await controlPlane.kubectl('delete', '-f', join(configDirectory, 'rbac'));
  });

  beforeEach(async () => {
    controller = await InstalledController.in(controlPlane, join(controlPlane.directory, 'installed'));
    expect(await grants()).to.deep.equal([]);
  });

  afterEach(async () => {
    await remove();
    await controller.close();
  });

  after(async () => {
    await history?.stop();
    await stage?.close();
    await controlPlane?.stop();
    await helm?.close();
  });

  it('by Helm adopts a cluster, and is uninstalled by values only', async () => {
    await install(await helm.render(system, ...withPolicies, ...set(gateOn, ...flags)));
    await controller.start();
    await controller.isReady();
    const cluster = new RolloutCluster(stage, history, 'shop');
    await cluster.create({ replicas: 1 });
    await cluster.isTaken();
    expect(await controller.metric('moco_rollout_ondelete_statefulsets')).to.deep.equal([1, 1]);
    await controller.stop();
    await install(await helm.render(system, ...withPolicies, ...set(...flags)));
    await controller.start();
    await controller.isReady();
    const [question = ''] = await commandsUnder('With Argo CD or Flux', 'uninstalling.md');
    const isBack = async (): Promise<boolean> =>
      (await controller.metric('moco_rollout_ondelete_statefulsets')).every((value) => value === 0);
    await until('nothing stays at OnDelete', isBack, { got: () => controller.log });
    expect(await controlPlane.kubectl(...question.trim().split(' ').slice(1))).to.equal('');
    await cluster.isByPartitions();
    await remove();
    await controlPlane.kubectl('annotate', 'statefulset', 'moco-x', '-n', 'shop', 'some=thing');
    await controlPlane.kubectl('delete', 'namespace', 'shop', '--wait=false');
  });

  it('by Helm for some namespaces rolls out in these only, also if its Roles are created late', async () => {
    const cluster = new RolloutCluster(stage, history, 'billing');
    const other = new RolloutCluster(stage, history, 'elsewhere');
    await Promise.all([cluster.create({}), other.create({ replicas: 1 })]);
    const all = await helm.render(system, ...withPolicies, ...set(gateOn, ...flags, 'namespaces={billing}'));
    const isRight = ({ kind, metadata }: Manifest): boolean => kind.startsWith('Role') && metadata.namespace !== system;
    expect(all.filter((manifest) => isRight(manifest) && !isHook(manifest)).map(({ kind }) => kind)).to.have.members([
      'Role',
      'RoleBinding',
    ]);
    await install(all.filter((manifest) => !isRight(manifest)));
    await controller.start();
    const refused = (): boolean => controller.log.includes('mysqlclusters.moco.cybozu.com is forbidden');
    await until('the controller is refused', refused, { got: () => controller.log });
    await install(all);
    await controller.isReady();
    await rollsOut(cluster);
    expect(other.now.statefulSet?.spec.updateStrategy?.type).to.equal('RollingUpdate');
    expect(other.now.rollout).to.equal(null);
    expect((await grants()).filter((name) => name.startsWith('ClusterRoleBinding'))).to.deep.equal([]);
    await controlPlane.kubectl('delete', 'namespace', 'billing', 'elsewhere', '--wait=false');
  });

  async function install(rendered: readonly Manifest[]): Promise<void> {
    manifests = rendered;
    await controller.apply(rendered);
    const bindings = rendered.filter((manifest) => manifest.kind.endsWith('RoleBinding') && !isHook(manifest));
    expect(await grants()).to.have.members(bindings.map(nameOf));
  }

  async function rollsOut(cluster: RolloutCluster): Promise<void> {
    try {
      await judged(cluster, async () => {
        await cluster.isTaken();
        await cluster.begin();
        await cluster.setImage('mysql:8.4.9');
        await cluster.completes();
        expect(await cluster.steps()).to.deep.equal(wholeRollout);
        expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
        expect(conditionOf(cluster.now.cluster, 'StatefulSetReady')?.status).to.equal('True');
      });
    } catch (error) {
      throw new Error(`${String(error)}\n${controller.log}`, { cause: error });
    }
  }

  /** Ends its processes, then takes away all but the CRDs and the namespace. */
  async function remove(): Promise<void> {
    await controller.stop();
    const removed = manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition' && kind !== 'Namespace');
    if (removed.length === 0) return;
    await controlPlane.kubectl('delete', '--ignore-not-found', '-f', await controlPlane.fileOf(...removed));
  }

  /** Every binding of whatever right to the controller's ServiceAccount, wherever it comes from. */
  async function grants(): Promise<readonly string[]> {
    const kinds = 'rolebindings,clusterrolebindings';
    const { items } = JSON.parse(await controlPlane.kubectl('get', kinds, '--all-namespaces', '-o', 'json')) as {
      items: readonly Binding[];
    };
    const isOurs = ({ subjects = [] }: Binding): boolean =>
      subjects.some(({ name, namespace }) => name === 'moco-rollout' && namespace === system);
    return items.filter(isOurs).map(nameOf);
  }
});
