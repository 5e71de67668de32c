import { expect } from 'chai';
import { path } from '../../src/kube/resource.ts';
import {
  annotationOn,
  clusterKind,
  forceRollingUpdateAnnotation,
  mysqldContainer,
  strategyLabel,
} from '../../src/moco/names.ts';
import { budgetBody } from '../support/moco/companions.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { KubernetesObject, MySQLCluster, StatefulSet } from '../support/moco/objects.ts';
import { isRecord, same } from '../support/moco/same.ts';
import { defaultSettings } from '../support/moco/settings.ts';
import { statefulSetBody } from '../support/moco/stateful-set.ts';
import type { WrittenKind } from '../support/moco/write.ts';
import { removeAdmissionPolicy } from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { testDeadlineMilliseconds, until } from './moco-fixture.ts';
import { withPolicy } from './real-moco-admission.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { outcome } from './webhook-clusters.ts';
import { OwnWebhook } from './webhook-fixture.ts';

const onDelete = { type: 'OnDelete' };
const reset = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
const rolling = { type: 'RollingUpdate', rollingUpdate: null };
const panics = /statefulset\.kb\.io.* denied the request: panic/;
const onlyForRollingUpdate = /422 .*only allowed for updateStrategy 'RollingUpdate'/;
/** MOCO's own default. */
const agentImage = 'ghcr.io/cybozu-go/moco-agent:0.16.0';
const newImage = 'mysql:8.4.9';

describe('objects of moco-controller 0.36', () => {
  const { stage, newCluster } = useRollouts(realMocoScene);

  it('equal those of the stand-in, field by field', async function compare() {
    this.timeout(testDeadlineMilliseconds);
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

  for (const way of ['policy', 'webhook'] as const) {
    it(`stay at OnDelete with our ${way} until they are released, whoever writes`, async function matrix() {
      this.timeout(testDeadlineMilliseconds);
      const { client, controlPlane } = stage();
      const cluster = await adopted({});
      const webhook = way === 'webhook' ? await OwnWebhook.start(controlPlane, client) : null;
      try {
        if (webhook !== null) {
          await removeAdmissionPolicy(client);
          await webhook.register('webhook');
        }
        await mocoApplies(cluster, { metadata: { annotations: { 'example.com/look': way } } });
        expect(strategy(cluster), "MOCO's re-apply").to.deep.equal(onDelete);
        await mocoApplies(cluster, withImage(newImage));
        expect(strategy(cluster), "MOCO's apply of a template").to.deep.equal(onDelete);
        await cluster.completes();

        const writes: readonly (readonly [string, object, object | RegExp])[] = [
          ['an annotation', { metadata: { annotations: { x: '1' } } }, onDelete],
          ['a finalizer', { metadata: { finalizers: ['example.com/keep'] } }, onDelete],
          ['no finalizer', { metadata: { finalizers: null } }, onDelete],
          ['RollingUpdate', { spec: { updateStrategy: rolling } }, onDelete],
          [
            'a partition',
            { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } },
            way === 'policy' ? onDelete : panics,
          ],
          ['a release', { metadata: { labels: { [strategyLabel]: null } }, spec: { updateStrategy: rolling } }, reset],
        ];
        for (const [what, body, expected] of writes) {
          const dry = await patched(cluster, body);
          if (expected instanceof RegExp) expect(dry, what).to.match(expected);
          else expect(dry, what).to.deep.equal(expected);
        }

        await cluster.annotate(forceRollingUpdateAnnotation, annotationOn);
        await cluster.until('MOCO forces a rolling update', ({ statefulSet }) => {
          const { type, rollingUpdate } = statefulSet?.spec.updateStrategy ?? {};
          return type === 'RollingUpdate' && rollingUpdate?.partition === undefined;
        });
        await cluster.annotate(forceRollingUpdateAnnotation, null);
        await cluster.until('it is at OnDelete again', () => strategy(cluster)?.type === 'OnDelete');
      } finally {
        await webhook?.unregister('webhook');
        await withPolicy(client);
        await webhook?.stop();
      }
    });
  }

  it('get a partition without our admission, which is reported, and are adopted again with the policy', async function nothing() {
    this.timeout(testDeadlineMilliseconds);
    const { client } = stage();
    const cluster = await adopted({});
    try {
      await removeAdmissionPolicy(client);
      await until('the policy is no longer in force', async () => !(await isKeptOnDelete(client)));
      expect(await patched(cluster, { metadata: { annotations: { x: '1' } } })).to.match(onlyForRollingUpdate);
      await cluster.annotate('example.com/look', 'again');
      await cluster.until('MOCO applies it', () => strategy(cluster)?.rollingUpdate?.partition === 3);
      await cluster.holds('AdmissionNotInForce');
    } finally {
      await withPolicy(client);
    }
    await cluster.isTaken();
  });

  async function adopted(options: Parameters<RolloutCluster['create']>[0]): Promise<RolloutCluster> {
    const cluster = newCluster();
    cluster.patientFor(120_000);
    await cluster.create(options);
    await cluster.isTaken();
    await cluster.begin();
    return cluster;
  }

  /** A change of the MySQLCluster, and moco-controller's write of the StatefulSet that follows. */
  async function mocoApplies(cluster: RolloutCluster, change: object): Promise<void> {
    const applied = async (): Promise<number> => {
      const audit = await stage().controlPlane.audit();
      return audit.filter(({ user, verb, objectRef, responseStatus }) => {
        const isApply = user.username === 'moco-controller' && verb === 'patch' && responseStatus?.code === 200;
        return isApply && objectRef?.resource === 'statefulsets' && objectRef.namespace === cluster.namespace;
      }).length;
    };
    const before = await applied();
    await cluster.patch(change);
    while ((await applied()) === before)
      await new Promise((resolve) => void stage().world.timer(100, () => resolve(null)));
  }

  /** What a patch of the StatefulSet makes of its strategy, as a dry run, or how it is refused. */
  async function patched(cluster: RolloutCluster, body: object): Promise<object | string | undefined> {
    let strategyOf: object | undefined;
    const ask = async (): Promise<void> => {
      const { spec } = await stage().client.call<StatefulSet>({
        method: 'PATCH',
        path: path(writtenKinds.StatefulSet, { namespace: cluster.namespace, name: `moco-${cluster.name}` }),
        query: { dryRun: 'All', fieldManager: 'somebody' },
        contentType: 'application/merge-patch+json',
        body,
        priority: 'read',
      });
      strategyOf = spec.updateStrategy;
    };
    const reported = await outcome(ask());
    return reported === 'done' ? strategyOf : reported;
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

const withImage = (image: string): object => ({
  spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } },
});
