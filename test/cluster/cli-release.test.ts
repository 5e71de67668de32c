import { expect } from 'chai';
import { rolloutCompleteCondition } from '../../src/moco/names.ts';
import { releasePermissions } from '../../src/objects/permissions.ts';
import { releaseRoleName } from '../config/rights.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import type { StatefulSet } from '../support/moco/objects.ts';
import { cli, cliOfImage } from './cli-program.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf, type Moment } from './rollout-history.ts';

const label = 'moco-rollout.io/strategy';

function isLabelled({ statefulSet }: Moment): boolean {
  return statefulSet?.metadata.labels?.[label] !== undefined;
}

function strategyOf({ statefulSet }: Moment): StatefulSet['spec']['updateStrategy'] | undefined {
  return statefulSet?.spec.updateStrategy;
}

describe('release on a real control plane', () => {
  const { scenario, stage } = useRollouts();

  const asAdmin = (): string => stage().controlPlane.adminKubeconfig;
  /** As a Job in the installation's namespace runs. */
  const asController = (): Promise<string> =>
    stage().controlPlane.kubeconfigFor({ namespace: 'moco-rollout-system', name: 'moco-rollout' });

  async function isBack(cluster: RolloutCluster): Promise<void> {
    const moment = await cluster.until('the StatefulSet is released', (seen) => !isLabelled(seen) && seen);
    expect(strategyOf(moment)?.type).to.equal('RollingUpdate');
    expect(strategyOf(moment)?.rollingUpdate?.partition).to.be.a('number');
  }

  scenario(
    'releases an idle cluster, which a controller with the gate on leaves alone from then on',
    { replicas: 1 },
    async (cluster) => {
      const { status, out, err } = await cli(asAdmin(), ['release', 'x', '-n', cluster.namespace]);
      expect(status, err).to.equal(0);
      expect(out).to.contain(`${cluster.namespace}/x: is back at RollingUpdate`).and.to.contain('1 of 1 released');
      await isBack(cluster);
      await cluster.holds('Released');
      await cluster.until(
        'the condition is gone',
        ({ cluster: one }) => conditionOf(one, rolloutCompleteCondition) === undefined,
      );
      await cluster.setImage('mysql:8.4.9');
      // MOCO's own partition controller takes it from here, at its own intervals.
      const waited = await cli(asAdmin(), ['wait', 'x', '-n', cluster.namespace, '--timeout=10m']);
      expect(waited).to.include({ status: 0, out: `${cluster.namespace}/x: complete\n` });
      expect(conditionOf(cluster.now.cluster, rolloutCompleteCondition)).to.equal(undefined);
      expect((await cluster.steps()).filter((step) => /evict|delete|demote|setStrategy/.test(step))).to.deep.equal([]);
    },
  );

  scenario('in the middle of a rollout leaves stale members to partitions', {}, async (cluster) => {
    await cluster.setting({ partition: 2 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PartitionReached');
    const { status, err } = await cli(asAdmin(), ['release', '--all', '-n', cluster.namespace]);
    expect(status, err).to.equal(0);
    await isBack(cluster);
    const { currentRevision, updateRevision } = cluster.now.statefulSet?.status ?? {};
    expect(currentRevision).to.equal(updateRevision);
    await cluster.until('the promotion is over', ({ rollout }) => rollout?.status?.promotion === undefined);
  });

  scenario(
    'from a Job with the rights of the controller and those of the chart’s Job, and ended by a command',
    {},
    async (cluster) => {
      const kubeconfig = await asController();
      await mayRelease(stage().controlPlane);
      const { status, err } = await cliOfImage(kubeconfig, ['release', 'x', '-n', cluster.namespace]);
      expect(status, err).to.equal(0);
      await isBack(cluster);
      const again = await cliOfImage(kubeconfig, ['release', 'x', '-n', cluster.namespace]);
      expect(again.status, again.err).to.equal(0);
      const taken = await cliOfImage(kubeconfig, ['adopt', 'x', '-n', cluster.namespace]);
      expect(taken).to.deep.equal({ status: 0, out: `${cluster.namespace}/x: no longer released\n`, err: '' });
      await cluster.until('the StatefulSet is taken again', isLabelled);
    },
  );
});

/** Grants the controller's ServiceAccount what templates/release-role.yaml of the Helm chart grants. */
async function mayRelease(controlPlane: ControlPlane): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: releaseRoleName };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: releaseRoleName };
  const subjects = [{ kind: 'ServiceAccount', name: 'moco-rollout', namespace: 'moco-rollout-system' }];
  const rules = releasePermissions.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }));
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules };
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects };
  await controlPlane.apply(await controlPlane.fileOf(role, binding));
}
