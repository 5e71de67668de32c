import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-members.ts';
import { controllerUser } from './rollout-story.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 300, available: 3000 };

const withTheGateOff = ownScene({ partition: soon }, ['--feature-gates=UpdateStrategyOnDelete=false'], (cluster) =>
  cluster.isByPartitions(),
);

/** What is this program's own, and the one condition on the MySQLCluster. */
const ownWrites = [
  'create mysqlrollouts',
  'update mysqlrollouts status',
  'update mysqlclusters status',
  'create events',
  'patch events',
];

describe('MOCO’s own partition controller, with the gate off', () => {
  const { scenario, stage } = useRollouts(withTheGateOff);

  scenario('is reported step by step, and this program writes no object of MOCO', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.pod(2, 'is updated', (pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
    // MOCO goes by the clock time that the pod names, this program by its own.
    await cluster.backdateReady(2, -3600);
    await cluster.holds('AwaitingMoco');
    const { hold, members = [], strategy } = cluster.now.rollout?.status ?? {};
    expect(strategy).to.equal('MOCO');
    expect(hold?.message).to.equal(
      "waiting for MOCO's partition controller to lower the partition to 1, so that moco-x-1 is updated",
    );
    expect([0, 1, 2].map((ordinal) => members[ordinal]?.verdict)).to.deep.equal(['Waiting', 'Next', 'Updated']);
    await cluster.event('AwaitingMoco');
    await cluster.backdateReady(2, 3600);
    await cluster.completes();
    await cluster.isByPartitions();
    const reported = cluster
      .versions(rolloutKind)
      .map(([, object]) => (object as { status?: RolloutStatus }).status?.hold);
    expect(reported.map((one) => one?.rule)).to.include('UpdatedMemberNotParticipating');
    const { rollout, cluster: completed } = cluster.now;
    expect(rollout?.status).to.include({ phase: 'UpToDate', strategy: 'MOCO', updatedReplicas: 3 });
    expect(rollout?.status?.history?.at(-1)).to.include({ outcome: 'Complete', disruptions: 0 });
    expect(completed?.status?.conditions?.map(({ type }) => type)).to.include('moco-rollout.io/RolloutComplete');
    expect(await cluster.steps()).to.deep.equal([]);
    const audit = await stage().controlPlane.audit();
    const written = audit
      .filter(({ user, verb }) => user.username === controllerUser && !['get', 'list', 'watch'].includes(verb))
      .filter(({ objectRef }) => objectRef?.resource !== 'leases')
      .map(({ verb, objectRef }) => [verb, objectRef?.resource, objectRef?.subresource].filter(Boolean).join(' '));
    expect(ownWrites).to.include.members(written);
    expect(written).to.include.members(['update mysqlrollouts status', 'update mysqlclusters status']);
    expect(await cluster.askedOf('statefulset.moco-rollout.io')).to.deep.equal([]);
    for (const kind of ['statefulset', 'pods', 'poddisruptionbudget']) {
      expect((await managers(cluster, kind)).join(), kind).to.not.contain('moco-rollout');
    }
    expect(await managers(cluster, 'mysqlrollout')).to.include('moco-rollout of status');
  });
});

/** Who has written objects of a cluster, as `manager` or `manager of subresource`. */
async function managers(cluster: RolloutCluster, kind: string): Promise<readonly string[]> {
  interface Listed {
    readonly items: readonly {
      readonly metadata: {
        readonly managedFields: readonly { readonly manager: string; readonly subresource?: string }[];
      };
    }[];
  }
  const { items } = JSON.parse(await cluster.kubectl('get', kind, '-o', 'json', '--show-managed-fields')) as Listed;
  expect(items, kind).to.not.deep.equal([]);
  return items.flatMap(({ metadata }) =>
    metadata.managedFields.map(({ manager, subresource }) =>
      subresource === undefined ? manager : `${manager} of ${subresource}`,
    ),
  );
}
