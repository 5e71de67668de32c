import { expect } from 'chai';
import { demoteAnnotation, strategyLabel, strategyOnDelete } from '../../src/moco/names.ts';
import { beginBackup } from '../support/moco/backup-job.ts';
import { type MocoStandIn, startMoco } from '../support/moco/driver.ts';
import type { KubernetesObject, MySQLCluster } from '../support/moco/objects.ts';
import { type Nodes, startNodes } from '../support/nodes/driver.ts';
import {
  createCluster,
  patch,
  read,
  startDeadlineMilliseconds,
  statefulSet,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';
import { admissionBy, type OnDeleteAdmission } from './on-delete-admission.ts';

const namespace = 'default';

interface PodDisruptionBudget extends KubernetesObject {
  readonly spec: { readonly maxUnavailable: number };
}

// moco-controller itself: real-moco-program-gone.test.ts. Switchovers and backups take it too long there.
describe('a moco-controller that restarts while only the admission policy of this program is installed', function () {
  this.timeout(testDeadlineMilliseconds);
  let environment: OnDeleteAdmission;
  let moco: MocoStandIn;
  let nodes: Nodes;

  before(async function startEverything() {
    this.timeout(startDeadlineMilliseconds);
    environment = await admissionBy('policy');
    const { client, world } = environment;
    moco = await startMoco({ client, world });
    nodes = await startNodes({ client, world, databases: moco });
  });

  after(async () => {
    await nodes?.stop();
    await moco?.stop();
    await environment?.stop();
  });

  const cluster = (name: string): Promise<MySQLCluster> => read(environment.client, 'MySQLCluster', name);
  const primaryOf = async (name: string): Promise<number | undefined> =>
    (await cluster(name)).status?.currentPrimaryIndex;
  const isTrue = async (name: string, condition: string): Promise<boolean> =>
    (await cluster(name)).status?.conditions?.some(({ type, status }) => type === condition && status === 'True') ??
    false;

  /** At OnDelete, and moco-controller restarted. */
  async function restartedBeside(name: string): Promise<void> {
    const { client } = environment;
    await createCluster(client, { name, replicas: 3, spec: { backupPolicyName: 'daily' } });
    await until(`${name} is healthy`, () => isTrue(name, 'Healthy'));
    await patch(client, 'StatefulSet', `moco-${name}`, {
      metadata: { labels: { [strategyLabel]: strategyOnDelete } },
      spec: { updateStrategy: { type: strategyOnDelete, rollingUpdate: null } },
    });
    await moco.pause();
    await moco.resume();
    await until(`${name} is reconciled`, () => isTrue(name, 'ReconcileSuccess'));
  }

  it('switches over', async () => {
    await restartedBeside('switching');
    const annotations = { [demoteAnnotation]: 'true' };
    await patch(environment.client, 'Pod', 'moco-switching-0', { metadata: { annotations } });
    await until('the index has moved', async () => (await primaryOf('switching')) === 1);
  });

  it('fails over', async () => {
    await restartedBeside('failing');
    nodes.killMysqld(namespace, 'moco-failing-0');
    await until('the index has moved', async () => (await primaryOf('failing')) === 1);
  });

  it('reconciles a new template, and the StatefulSet stays at OnDelete', async () => {
    await restartedBeside('changing');
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.9' }] } };
    const { metadata } = await patch<MySQLCluster>(environment.client, 'MySQLCluster', 'changing', {
      spec: { podTemplate },
    });
    await until('it is reconciled', async () => {
      const { status } = await cluster('changing');
      return (
        status?.reconcileInfo?.generation === metadata.generation && (await isTrue('changing', 'ReconcileSuccess'))
      );
    });
    const { spec } = await statefulSet(environment.client, 'changing');
    expect(spec.updateStrategy).to.deep.equal({ type: strategyOnDelete });
    expect(JSON.stringify(spec)).to.include('mysql:8.4.9');
  });

  it('closes the budget while a backup runs', async () => {
    await restartedBeside('backed-up');
    const end = await beginBackup(environment.client, namespace, 'backed-up');
    await until('nobody may go', async () => {
      const budget = await read<PodDisruptionBudget>(environment.client, 'PodDisruptionBudget', 'moco-backed-up');
      return budget.spec.maxUnavailable === 0;
    });
    await end();
  });
});
