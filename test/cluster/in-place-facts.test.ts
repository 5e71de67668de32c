import { expect } from 'chai';
import { type Json, object } from '../../src/base/json.ts';
import { labelSetAt } from '../../src/moco/managed-fields.ts';
import { clusterNameLabel, revisionHashLabel } from '../../src/moco/names.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import type { LiveContainer } from '../../src/moco/records.ts';
import { kubernetesVersion } from '../support/control-plane/build.ts';
import { useOwnControlPlane } from './control-plane-fixture.ts';

/** `KUBERNETES=1.35` runs this on 1.35. */
const isBefore136 = (await kubernetesVersion()).startsWith('v1.35.');
const namespace = 'in-place-facts';
const labels = { app: 'facts' };
const image = (tag: string): string => `example/one:${tag}`;
const strategic = '--type=strategic';

interface Read {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly containers: readonly { readonly image: string; readonly resources: object }[] };
  readonly status: { readonly updatedReplicas?: number; readonly updateRevision?: string };
}

const container = (tag: string, more: object = {}): object => ({ name: 'one', image: image(tag), ...more });
const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'facts', namespace },
  spec: {
    replicas: 1,
    serviceName: 'facts',
    selector: { matchLabels: labels },
    updateStrategy: { type: 'OnDelete' },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        initContainers: [{ name: 'first', image: image('1') }],
        containers: [container('1', { resources: { limits: { cpu: '1' } } })],
      },
    },
  },
};

/** What updates in place rest on. Whoever makes a model of it changes this first. */
describe('Kubernetes, of a pod under OnDelete', () => {
  const controlPlane = useOwnControlPlane();
  const kubectl = (...flags: readonly string[]): Promise<string> => controlPlane().kubectl('-n', namespace, ...flags);
  const read = async (what: string): Promise<Read> => JSON.parse(await kubectl('get', what, '-o', 'json')) as Read;
  const patch = (what: string, type: string, body: object, ...flags: readonly string[]): Promise<string> =>
    kubectl('patch', what, type, '-p', JSON.stringify(body), ...flags);
  const settled = (condition: string): Promise<string> =>
    kubectl('wait', 'statefulset/facts', `--for=jsonpath=${condition}`, '--timeout=60s');

  before(async () => {
    await controlPlane().kubectl('create', 'namespace', namespace);
    await kubectl('create', '-f', await controlPlane().fileOf(statefulSet));
    await settled('{.status.currentReplicas}=1');
    await patch('statefulset/facts', strategic, { spec: { template: { spec: { containers: [container('2')] } } } });
    await settled('{.status.observedGeneration}=2');
  });

  it('refuses a patch with a resourceVersion that is too old', async () => {
    const refused = await refusal(
      patch('pod/facts-0', strategic, { metadata: { resourceVersion: '1', labels: { a: 'b' } } }),
    );
    expect(refused).to.contain('Conflict');
  });

  const needAnotherPod: Readonly<Record<string, object>> = {
    arguments: container('1', { args: ['--new'] }),
    'environment variables': container('1', { env: [{ name: 'A', value: 'b' }] }),
    resources: container('1', { resources: { requests: { cpu: '500m' } } }),
    probes: container('1', { readinessProbe: { exec: { command: ['true'] } } }),
  };
  for (const [what, changed] of Object.entries(needAnotherPod)) {
    it(`refuses to change ${what}`, async () => {
      const refused = await refusal(patch('pod/facts-0', strategic, { spec: { containers: [changed] } }));
      expect(refused).to.contain('pod updates may not change fields other than');
    });
  }

  it('requests of a pod what its template only limits', async () => {
    const [{ resources } = { resources: {} }] = (await read('pod/facts-0')).spec.containers;
    expect(resources).to.deep.equal({ limits: { cpu: '1' }, requests: { cpu: '1' } });
    const template = await kubectl('get', 'statefulset', 'facts', '-o', 'jsonpath={.spec.template.spec.containers[0]}');
    expect((JSON.parse(template) as { resources: object }).resources).to.deep.equal({ limits: { cpu: '1' } });
  });

  it('shows in managedFields who has set the label of its revision last, and since when', async () => {
    const fields = async (): Promise<{ readonly managers: readonly unknown[]; readonly at: string | null }> => {
      const pod = JSON.parse(await kubectl('get', 'pod/facts-0', '-o', 'json', '--show-managed-fields')) as Json;
      const { managedFields } = object(pod['metadata']);
      const owners = (managedFields as readonly Json[]).filter((one) =>
        JSON.stringify(one).includes(revisionHashLabel),
      );
      return { managers: owners.map(({ manager }) => manager), at: labelSetAt(managedFields, revisionHashLabel) };
    };
    const created = await kubectl('get', 'pod/facts-0', '-o', 'jsonpath={.metadata.creationTimestamp}');
    const { [revisionHashLabel]: revision } = (await read('pod/facts-0')).metadata.labels;
    await patch('pod/facts-0', strategic, { metadata: { annotations: { another: 'field' } } });
    const { managers, at } = await fields();
    expect(managers).to.deep.equal(['kube-controller-manager']);
    // Both are whole seconds, and the API server takes the time of one after the other.
    expect(Date.parse(at ?? '')).to.be.closeTo(Date.parse(created), 1000);
    const setTo = (value: string): Promise<string> =>
      patch('pod/facts-0', strategic, { metadata: { labels: { [revisionHashLabel]: value } } }, '--field-manager=me');
    await setTo('another');
    expect((await fields()).managers).to.deep.equal(['me']);
    await setTo(revision ?? '');
  });

  it('counts it as updated by its label alone, which one patch changes together with images', async () => {
    const { metadata, spec } = await read('pod/facts-0');
    const { status } = await read('statefulset/facts');
    expect(status.updatedReplicas ?? 0).to.equal(0);
    const body = {
      metadata: {
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        labels: { [revisionHashLabel]: status.updateRevision },
      },
      spec: { containers: [container('2')], initContainers: [{ name: 'first', image: image('2') }] },
    };
    await patch('pod/facts-0', strategic, body, '--dry-run=server');
    expect((await read('pod/facts-0')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
    await patch('pod/facts-0', strategic, body);
    await settled('{.status.updatedReplicas}=1');
    const after = await read('pod/facts-0');
    expect(after.metadata.uid).to.equal(metadata.uid);
    expect(after.metadata.generation).to.equal((metadata.generation ?? 0) + 1);
    expect([spec, after.spec].map(({ containers }) => containers[0]?.image)).to.deep.equal([image('1'), image('2')]);
  });

  it('leaves the generation as it is when only metadata changes', async () => {
    const before = await read('pod/facts-0');
    await patch('pod/facts-0', strategic, { metadata: { labels: { team: 'a' } } });
    const after = await read('pod/facts-0');
    expect(after.metadata.generation).to.equal(before.metadata.generation);
    expect(after.metadata.labels['team']).to.equal('a');
  });

  describe('that is resized', () => {
    const kept = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } };
    const resized = (resources: object, more: object = {}) => ({
      ...more,
      spec: { containers: [{ name: 'one', resources }] },
    });
    const resize = (body: object, ...flags: readonly string[]): Promise<string> =>
      patch('pod/resized', strategic, body, '--subresource=resize', ...flags);

    before(async () => {
      const objects = [
        {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'facts' },
          status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
        },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'resized', namespace },
          spec: {
            nodeName: 'facts',
            initContainers: [{ name: 'first', image: image('1'), resources: { limits: { cpu: '1', memory: '1Gi' } } }],
            containers: [{ name: 'one', image: image('1'), resources: kept }],
          },
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: 'facts' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'patches-pods' }],
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'facts' },
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'facts' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] }],
        },
      ];
      await kubectl('create', '-f', await controlPlane().fileOf(...objects));
    });

    after(async () => {
      await kubectl('delete', 'pod/resized', '--grace-period=0', '--force');
      await controlPlane().kubectl('delete', 'node/facts', 'clusterrole/facts', 'clusterrolebinding/facts');
    });

    it('gets other CPU and memory, and neither labels nor images of the same request', async () => {
      const { metadata } = await read('pod/resized');
      const { uid, resourceVersion } = metadata;
      const body = {
        metadata: { uid, resourceVersion, labels: { a: 'b' }, annotations: { a: 'b' } },
        spec: { containers: [{ name: 'one', image: image('2'), resources: { limits: { cpu: '2' } } }] },
      };
      await resize(body, '--dry-run=server', '--field-manager=moco-rollout');
      expect((await read('pod/resized')).metadata.resourceVersion).to.equal(resourceVersion);
      await resize(body, '--field-manager=moco-rollout');
      const after = await read('pod/resized');
      expect(after.spec.containers[0]).to.deep.include({
        image: image('1'),
        resources: { ...kept, limits: { ...kept.limits, cpu: '2' } },
      });
      expect(after.metadata).to.deep.include({ uid, generation: (metadata.generation ?? 0) + 1 });
      expect(after.metadata.labels).to.equal(undefined);
    });

    it('says in managedFields who has resized it, also after a later patch, until another client does', async () => {
      const live = async () =>
        projectedContainer(await kubectl('get', 'pod/resized', '-o', 'json', '--show-managed-fields'));
      await patch('pod/resized', strategic, { metadata: { labels: { later: 'yes' } } }, '--field-manager=moco-rollout');
      expect((await live()).resized).to.deep.equal([{ list: 'limits', resource: 'cpu' }]);
      await resize(resized({ limits: { cpu: '1' } }), '--field-manager=vpa-updater');
      expect((await live()).resized).to.deep.equal([]);
    });

    it('has a resourceVersion that a resize may name', async () => {
      const stale = resized({ limits: { cpu: '3' } }, { metadata: { resourceVersion: '1' } });
      expect(await refusal(resize(stale))).to.contain('Conflict');
    });

    it('is resized with a right of its own', async () => {
      const refused = await refusal(resize(resized({ limits: { cpu: '3' } }), '--as=patches-pods'));
      expect(refused).to.contain('"pods/resize"');
      await patch('pod/resized', strategic, { metadata: { labels: { may: 'patch' } } }, '--as=patches-pods');
    });

    const tooMuch = resized({ limits: { cpu: '6' }, requests: { cpu: '5' } });
    const refusals: Readonly<Record<string, readonly [object, string]>> = {
      'another QoS class': [
        resized({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }),
        'Pod QOS Class may not change as a result of resizing',
      ],
      'a limit that is removed': [resized({ limits: { cpu: null } }), 'resource limits cannot be removed'],
      'other resources of an init container, unless the node declares that it can (from 1.36 on)': [
        { spec: { initContainers: [{ name: 'first', resources: { limits: { cpu: '2' } } }] } },
        isBefore136
          ? 'resources for non-sidecar init containers are immutable'
          : 'InPlacePodVerticalScalingInitContainers',
      ],
      ...(isBefore136 ? {} : { 'more than the node has': [tooMuch, "node didn't have enough allocatable resources"] }),
    };
    if (isBefore136) {
      it('is resized to more than the node has, and the kubelet has to refuse that', async () => {
        await resize(tooMuch, '--dry-run=server');
      });
    }
    for (const [what, [body, words]] of Object.entries(refusals)) {
      it(`refuses ${what}`, async () => {
        const refused = await refusal(resize(body));
        expect(refused).to.contain(words);
      });
    }

    it('cannot be resized while its kubelet reports no resources of a running container', async () => {
      const running = {
        name: 'one',
        image: image('1'),
        imageID: '',
        ready: true,
        restartCount: 0,
        state: { running: {} },
      };
      const said = (resources: object) =>
        patch(
          'pod/resized',
          '--type=merge',
          { status: { containerStatuses: [{ ...running, ...resources }] } },
          '--subresource=status',
        );
      await said({});
      expect(await refusal(resize(resized({ limits: { cpu: '3' } })))).to.contain('without support for resize');
      await said({ resources: {} });
      await resize(resized({ limits: { cpu: '3' } }));
    });
  });

  it('makes the next pod from the update revision, whatever was changed before', async () => {
    const before = await read('pod/facts-0');
    await kubectl('delete', 'pod', 'facts-0', '--grace-period=0', '--force');
    await settled('{.status.updatedReplicas}=1');
    const after = await read('pod/facts-0');
    expect(after.metadata.uid).not.to.equal(before.metadata.uid);
    expect(after.spec.containers[0]?.image).to.equal(image('2'));
    expect(after.metadata.labels['team']).to.equal(undefined);
  });
});

/** The container as the controller sees it. */
function projectedContainer(pod: string): LiveContainer {
  const raw = JSON.parse(pod) as Json;
  const metadata = { ...object(raw['metadata']), name: 'moco-x-0', labels: { [clusterNameLabel]: 'x' } };
  const [container] = projectPod({ ...raw, metadata })?.live?.containers ?? [];
  if (container === undefined) throw new Error('expected a container, got none');
  return container;
}

async function refusal(attempt: Promise<string>): Promise<string> {
  return attempt.then(
    () => expect.fail('expected a refusal, got none'),
    (error: unknown) => String(error),
  );
}
