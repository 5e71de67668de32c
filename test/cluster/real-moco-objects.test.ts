import { expect } from 'chai';
import { path } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import { budgetBody } from '../support/moco/companions.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { KubernetesObject, MySQLCluster, StatefulSet } from '../support/moco/objects.ts';
import { isRecord, same } from '../support/moco/same.ts';
import { defaultSettings } from '../support/moco/settings.ts';
import { statefulSetBody } from '../support/moco/stateful-set.ts';
import type { WrittenKind } from '../support/moco/write.ts';
import { removeAdmissionPolicy } from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { withPolicy } from './real-moco-admission.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, useRollouts } from './rollout-fixture.ts';

/** MOCO's own default. */
const agentImage = 'ghcr.io/cybozu-go/moco-agent:0.16.0';
const newImage = 'mysql:8.4.9';

describe('objects of moco-controller 0.36', () => {
  const { stage, newCluster } = useRollouts(realMocoScene);

  it('equal those of the stand-in, field by field', async () => {
    const cluster = await adopted({});
    const definition = await stage().client.get<MySQLCluster>(
      clusterKind,
      { namespace: cluster.namespace, name: cluster.name },
      { priority: 'read' },
    );
    const statefulSet = statefulSetBody(definition, { ...defaultSettings, agentImage });
    const [real, standIn] = await realAndStandIn<StatefulSet>(cluster, 'StatefulSet', statefulSet);
    expect(differences(withoutStrategy(real), withoutStrategy(standIn))).to.deep.equal([]);
    const budget = budgetBody(definition, false);
    const [realBudget, standInBudget] = await realAndStandIn(cluster, 'PodDisruptionBudget', budget);
    expect(differences(realBudget, standInBudget)).to.deep.equal([]);
  });

  it('get a partition without our admission, in the middle of a rollout, and are adopted again with the policy', async () => {
    const { client } = stage();
    const cluster = await adopted({});
    await judged(cluster, async () => {
      await cluster.setting({ partition: 2 });
      await cluster.setImage(newImage);
      await cluster.holds('PartitionReached');
      try {
        await removeAdmissionPolicy(client);
        await until('the policy is no longer in force', async () => !(await isKeptOnDelete(client)));
        await cluster.annotate('example.com/look', 'again');
        // On a slow machine MOCO has lowered the partition before anybody has looked.
        await cluster.until('MOCO applies it', () => strategy(cluster)?.type === 'RollingUpdate');
        await cluster.holds('AdmissionNotInForce');
        expect(cluster.now.rollout?.status?.hold?.message).to.match(/a dry run .* was refused: .*only allowed for/);
      } finally {
        await withPolicy(client);
      }
      await cluster.until('it is at OnDelete again', () => strategy(cluster)?.type === 'OnDelete');
      await cluster.setting({ partition: null });
      await cluster.completes();
      expect(cluster.fewestInPlace()).to.equal(2);
      expect((await cluster.steps())[0]).to.equal('evict 2');
    });
  });

  async function adopted(options: Parameters<RolloutCluster['create']>[0]): Promise<RolloutCluster> {
    const cluster = newCluster();
    await cluster.create(options);
    await cluster.isTaken();
    await cluster.begin();
    return cluster;
  }

  /** An object as it is, and as it would be had the stand-in applied it. */
  async function realAndStandIn<O extends KubernetesObject>(
    cluster: RolloutCluster,
    kind: WrittenKind,
    body: unknown,
  ): Promise<readonly [Comparable<O>, Comparable<O>]> {
    const place = { namespace: cluster.namespace, name: `moco-${cluster.name}` };
    const real = await stage().client.get<O>(writtenKinds[kind], place, { priority: 'read' });
    const standIn = await stage().client.call<O>({
      method: 'PATCH',
      path: path(writtenKinds[kind], place),
      query: { dryRun: 'All', fieldManager: 'moco-controller', force: true },
      contentType: 'application/apply-patch+yaml',
      body,
      priority: 'read',
    });
    return [comparable(real), comparable(standIn)];
  }
});

type Comparable<O extends KubernetesObject> = Pick<O['metadata'], 'labels' | 'annotations' | 'ownerReferences'> & {
  readonly spec: unknown;
};

/** What somebody wants of it, and not what came of that. */
function comparable<O extends KubernetesObject>(object: O): Comparable<O> {
  const { labels, annotations, ownerReferences } = object.metadata;
  return { labels, annotations, ownerReferences, spec: (object as { spec?: unknown }).spec } as Comparable<O>;
}

/** Field by field, as `path: real, of the stand-in`. */
function differences(real: unknown, standIn: unknown, at = ''): readonly string[] {
  if (isRecord(real) && isRecord(standIn)) {
    const fields = [...new Set([...Object.keys(real), ...Object.keys(standIn)])];
    return fields.flatMap((field) => differences(real[field], standIn[field], `${at}.${field}`));
  }
  if (Array.isArray(real) && Array.isArray(standIn) && real.length === standIn.length) {
    return real.flatMap((item, index) => differences(item, standIn[index], `${at}[${index}]`));
  }
  return same(real, standIn) ? [] : [`${at}: ${JSON.stringify(real)}, ${JSON.stringify(standIn)}`];
}

function withoutStrategy<O extends KubernetesObject>({ spec, ...metadata }: Comparable<O>): object {
  const { updateStrategy: _, ...rest } = spec as { updateStrategy?: unknown };
  return { ...metadata, spec: rest };
}

const strategy = (cluster: RolloutCluster): StatefulSet['spec']['updateStrategy'] =>
  cluster.now.statefulSet?.spec.updateStrategy;
