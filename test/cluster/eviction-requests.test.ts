import { expect } from 'chai';
import { evictionKind, responderName } from '../../src/evictions/eviction.ts';
import { clusteringStoppedAnnotation, demoteAnnotation } from '../../src/moco/names.ts';
import { kubernetesVersion } from '../support/control-plane/build.ts';
import { until } from '../support/control-plane/until.ts';
import {
  type Eviction,
  EvictionControllers,
  type EvictionRequest,
  evictionRequestKind,
} from '../support/evictions/eviction-controllers.ts';
import { accessWith } from '../support/object-client.ts';
import { installComponent } from '../support/stage/component.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

/** `KUBERNETES=1.37` runs this on 1.37, which serves the API: `make test-newer`. */
const isServed = Number((await kubernetesVersion()).split('.')[1]) >= 37;
const gates = '--feature-gates=UpdateStrategyOnDelete=true,NodeMaintenance=true,EvictionRequests=true';
const limitSeconds = 20;
const requester = 'drain.example.com/node';

const scene = ownScene({}, [gates, `--eviction-request-timeout=${limitSeconds}s`], (cluster) => cluster.isTaken(), {
  // The controller starts before the component is installed that grants it the right to watch Evictions.
  countsRefusals: false,
  featureGates: { EvictionRequestAPI: true },
  runtimeConfig: { 'lifecycle.k8s.io/v1alpha1': true },
});

const uidOf = ({ now }: RolloutCluster, ordinal: number): string | undefined =>
  now.pods.find(({ metadata }) => metadata.name.endsWith(`-${ordinal}`))?.metadata.uid;
const primaryOf = ({ now }: RolloutCluster): number => now.cluster?.status?.currentPrimaryIndex ?? -1;
const entryOf = ({ status }: Eviction) => status?.responders?.find(({ name }) => name === responderName);
const stateOf = ({ status }: Eviction) => status?.targetResponders?.find(({ name }) => name === responderName)?.state;
const isTrue = ({ status }: Eviction, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') === true;

// Where the API is not served nothing is missed: test/kube/reflector.test.ts (an optional kind).
describe('EvictionRequests on a real control plane', () => {
  if (!isServed) return;
  const { scenario, stage } = useRollouts(scene);

  before(() => installComponent(stage(), 'eviction-requests'));

  /** Requests the eviction of a member while Kubernetes' controllers work in its namespace. */
  async function requested(
    cluster: RolloutCluster,
    ordinal: number,
    play: (eviction: (sentence: string, is: (eviction: Eviction) => boolean) => Promise<Eviction>) => Promise<void>,
  ): Promise<void> {
    const { namespace } = cluster;
    const controllers = new EvictionControllers(stage().client, namespace);
    controllers.start();
    try {
      const pod = { name: cluster.podName(ordinal), uid: uidOf(cluster, ordinal) };
      const spec = { requester, intent: 'Eviction', target: { pod } };
      await cluster.make(evictionRequestKind, { metadata: { name: 'drain', namespace }, spec });
      await play(async (sentence, is) => {
        let last: readonly Eviction[] = [];
        const ask = async (): Promise<Eviction | undefined> => {
          last = await controllers.evictions();
          return last.find(is);
        };
        return until(sentence, ask, { got: () => JSON.stringify(last, null, 1) });
      });
    } finally {
      expect(await controllers.stop(), 'refusals of the stand-in for Kubernetes’ controllers').to.deep.equal([]);
    }
  }

  const withdraw = (cluster: RolloutCluster): Promise<EvictionRequest> =>
    stage().client.merge(
      evictionRequestKind,
      { namespace: cluster.namespace, name: 'drain' },
      { spec: { intent: 'Withdrawn' } },
    );

  scenario('move the primary first; then Kubernetes evicts the pod', {}, async (cluster) => {
    await cluster.setting({ nodeMaintenance: 'Switchover' });
    const primary = primaryOf(cluster);
    const uid = uidOf(cluster, primary);
    await requested(cluster, primary, async (eviction) => {
      const waiting = await eviction('there is a heartbeat', (one) => entryOf(one)?.heartbeatTime !== undefined);
      expect(entryOf(waiting)?.message).to.contain(cluster.podName(primary));
      const completed = await eviction(
        'the part of moco-rollout to be completed',
        (one) => stateOf(one) === 'Completed',
      );
      expect(primaryOf(cluster), 'the primary when the part is completed').not.to.equal(primary);
      expect(entryOf(completed)?.completionTime).to.be.a('string');
      await eviction('the pod is evicted', (one) => isTrue(one, 'TargetEvicted'));
      expect(uidOf(cluster, primary)).not.to.equal(uid);
    });
  });

  scenario('let a replica go at once, and every pod names moco-rollout as a responder', {}, async (cluster) => {
    await cluster.setting({ nodeMaintenance: 'Switchover' });
    const replica = (primaryOf(cluster) + 1) % 3;
    await requested(cluster, replica, async (eviction) => {
      await eviction('the pod is evicted', (one) => isTrue(one, 'TargetEvicted') && stateOf(one) === 'Completed');
    });
    const pods = await cluster.kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.evictionResponders[*].name}');
    expect(pods.split(' ')).to.include(responderName);
  });

  scenario('cancel what has not begun when they are withdrawn', {}, async (cluster) => {
    await cluster.setting({ nodeMaintenance: 'Switchover' });
    const primary = primaryOf(cluster);
    await cluster.annotate(clusteringStoppedAnnotation, 'true');
    await cluster.until('the hold', ({ rollout }) => rollout?.status?.hold !== undefined);
    await requested(cluster, primary, async (eviction) => {
      await eviction('there is a heartbeat', (one) => entryOf(one)?.heartbeatTime !== undefined);
      await withdraw(cluster);
      await eviction('the eviction is canceled', (one) => stateOf(one) === 'Canceled' && isTrue(one, 'Failed'));
    });
    await cluster.annotate(clusteringStoppedAnnotation, null);
    await cluster.until('no hold', ({ rollout }) => rollout?.status !== undefined && rollout.status.hold === undefined);
    expect(primaryOf(cluster)).to.equal(primary);
    const pod = cluster.now.pods.find(({ metadata }) => metadata.name === cluster.podName(primary));
    expect(pod?.metadata.annotations ?? {}).not.to.have.property(demoteAnnotation);
  });

  scenario('are not held up for longer than the limit, and say why', {}, async (cluster) => {
    await cluster.setting({ nodeMaintenance: 'Switchover' });
    const primary = primaryOf(cluster);
    await cluster.annotate(clusteringStoppedAnnotation, 'true');
    await cluster.until('the hold', ({ rollout }) => rollout?.status?.hold !== undefined);
    await requested(cluster, primary, async (eviction) => {
      const completed = await eviction('the part is completed', (one) => stateOf(one) === 'Completed');
      expect(entryOf(completed)?.message).to.match(new RegExp(`^gave up after ${limitSeconds} s: .*primary`));
      await cluster.annotate(clusteringStoppedAnnotation, null);
      await eviction('the pod is evicted', (one) => isTrue(one, 'TargetEvicted'));
    });
  });

  it('let the ServiceAccount change its own entry and nothing else of the status', async () => {
    const { client } = stage();
    const namespace = 'default';
    const target = { pod: { name: 'gone', uid: '11111111-1111-1111-1111-111111111111' } };
    await client.create(evictionKind, { namespace }, { metadata: { namespace, name: 'own' }, spec: { target } });
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const status = {
      requesters: [{ name: requester, intent: 'Eviction' }],
      targetResponders: [{ name: responderName, priority: 10_000, state: 'Active' }],
      responders: [{ name: responderName, startTime: now }],
    };
    await client.merge(evictionKind, { namespace, name: 'own', subresource: 'status' }, { status });
    const tries = {
      'its own entry': { responders: [{ ...status.responders[0], heartbeatTime: now, message: 'waits' }] },
      'the requesters': { requesters: [{ name: requester, intent: 'Withdrawn' }] },
      'the conditions': {
        conditions: [{ type: 'Other', status: 'True', reason: 'A', message: '', lastTransitionTime: now }],
      },
      'the observed generation': { observedGeneration: 1 },
    };
    const account = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
    const own = accessWith(await stage().controlPlane.kubeconfigFor(account));
    const outcomes: Record<string, string> = {};
    for (const [what, changed] of Object.entries(tries)) {
      outcomes[what] = await own.client
        .merge(evictionKind, { namespace, name: 'own', subresource: 'status' }, { status: changed })
        .then(
          () => 'allowed',
          (error: unknown) => (/moco-rollout changes its own entry/.test(String(error)) ? 'refused' : String(error)),
        );
    }
    await own.connection.close();
    await client.remove(evictionKind, { namespace, name: 'own' });
    expect(outcomes).to.deep.equal({
      'its own entry': 'allowed',
      'the requesters': 'refused',
      'the conditions': 'refused',
      'the observed generation': 'refused',
    });
  });
});
