import { join } from 'node:path';
import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import type { Json } from '../../src/base/json.ts';
import { nodes, path, pods, type ResourceKind, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { ClusterApi } from '../../src/objects/cluster-client.ts';
import { configDirectory } from '../config/manifests.ts';
import { until } from '../support/control-plane/until.ts';
import { accessWith, type Connected, type ObjectClient } from '../support/object-client.ts';
import { installAdmissionPolicy } from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { useOwnControlPlane } from './control-plane-fixture.ts';
import {
  clusterName,
  errant,
  foreignClaim,
  foreignEvent,
  foreignMember,
  foreignNamespace,
  made,
  madeByTheHook,
  newImage,
  notReady,
  type Place,
  ready,
  refused,
  refusedDespiteRights,
  rolling,
  statefulSetName,
  type Write,
} from './token-writes.ts';

// What the token of the controller's ServiceAccount can write, on a real control plane with the garbage collector and
// the StatefulSet controller. The controller itself does not run.

const namespaces = { plain: 'plain', extended: 'extended' } as const;
const members = [ready, notReady, errant];
const account = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const labelsOf = (name: string) => ({
  'app.kubernetes.io/created-by': 'moco',
  'app.kubernetes.io/name': 'mysql',
  'app.kubernetes.io/instance': name,
});

describe('with the token of the controller', () => {
  const controlPlane = useOwnControlPlane({
    countsRefusals: false,
    serviceAccountAdmission: true,
    // Off by default in 1.36. With it, a rolling update may take several members at once.
    featureGates: { MaxUnavailableStatefulSet: true },
  });
  const connections: Connected[] = [];
  let admin: ObjectClient;
  let token: ObjectClient;

  before(async () => {
    const kubectl = (...flags: string[]): Promise<string> => controlPlane().kubectl(...flags);
    admin = connect(controlPlane().adminKubeconfig);
    await kubectl('create', 'namespace', account.namespace);
    for (const directory of ['rbac', 'users']) await controlPlane().apply(join(configDirectory, directory));
    await installAdmissionPolicy(admin);
    token = connect(await controlPlane().kubeconfigFor(account));
    for (const namespace of [...Object.values(namespaces), foreignNamespace])
      await kubectl('create', 'namespace', namespace);
    await kubectl('apply', '-k', join(configDirectory, 'preflight'), '--namespace', namespaces.extended);
    await controlPlane().apply(await controlPlane().fileOf(...inPlaceHere()));
    const objects = Object.values(namespaces).flatMap((namespace) => clusterIn(namespace));
    await controlPlane().apply(await controlPlane().fileOf(...objects, ...foreign(), ...shared(), node));
    const capacity = { cpu: '8', memory: '8Ti', pods: '100' };
    await admin.merge(
      nodes,
      { name: 'node-1', subresource: 'status' },
      { status: { capacity, allocatable: capacity } },
    );
    for (const namespace of Object.values(namespaces)) await settle(namespace);
    await until('StatefulSets are kept at OnDelete', () => isKeptOnDelete(admin));
    await until('the policies are in force', async () =>
      (await refusalOf(token.remove(pods, { namespace: namespaces.plain, name: ready }))).includes('is Ready'),
    );
    await until('it may create pods of preflights', async () =>
      (
        await kubectl(
          'auth',
          'can-i',
          'create',
          'mysqlrollouts/preflight',
          '-n',
          namespaces.extended,
          `--as=system:serviceaccount:${account.namespace}:${account.name}`,
        ).catch(String)
      ).startsWith('yes'),
    );
  });

  after(() => {
    for (const { connection } of connections) void connection.close();
  });

  function connect(kubeconfig: string): ObjectClient {
    const access = accessWith(kubeconfig);
    connections.push(access);
    return access.client;
  }

  function placeOf({ in: where = 'plain' }: Pick<Write, 'in'>, client = token): Place {
    const namespace = namespaces[where];
    return {
      namespace,
      client,
      api: new ClusterApi(client, new AbortController().signal),
      read: (kind, name, elsewhere = namespace) =>
        admin.get<Json>(kind, { name, ...(kind.namespaced && { namespace: elsewhere }) }),
    };
  }

  describe('each write of the code is accepted:', () => {
    for (const write of made) {
      it(`it ${write.what}`, async () => {
        await write.send(placeOf(write));
      });
    }
  });

  describe('every other write is refused with a message:', () => {
    before(() => Promise.all(Object.values(namespaces).map(settle)));

    for (const write of refused) {
      it(`${write.what}${write.in === 'extended' ? ', with all features' : ''}`, async () => {
        const told = await refusalOf(write.send(placeOf(write)));
        const isExpected = told.includes(write.says) || (write.or !== undefined && told.includes(write.or));
        expect(isExpected && told !== '', told).to.equal(true);
      });
    }
  });

  it('nothing is gone, whatever was tried', async () => {
    for (const namespace of Object.values(namespaces)) {
      const { items } = await admin.list<{ items: Json[] }>(pods, { namespace });
      const names = items.map(({ metadata }) => (metadata as { name: string }).name);
      expect(names).to.include.members(members);
      const kept: readonly (readonly [ResourceKind, string])[] = [
        [statefulSets, statefulSetName],
        [rolloutKind, clusterName],
        [clusterKind, clusterName],
      ];
      for (const [kind, name] of kept) {
        const { metadata } = await admin.get<{ metadata: Json }>(kind, { namespace, name });
        expect(metadata['deletionTimestamp'], `${kind.kind} ${name}`).to.equal(undefined);
      }
    }
  });

  describe('and all rights of RBAC, given by mistake,', () => {
    before(async () => {
      const subject = `${account.namespace}:${account.name}`;
      await controlPlane().kubectl(
        'create',
        'clusterrolebinding',
        'mistake',
        '--clusterrole=cluster-admin',
        `--serviceaccount=${subject}`,
      );
      await until(
        'the authorizer knows',
        async () =>
          (await refusalOf(
            token.list({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }, {}),
          )) === '',
      );
    });

    for (const write of refusedDespiteRights) {
      it(`${write.what} is refused`, async () => {
        const told = await refusalOf(write.send(placeOf(write)));
        expect(told.includes(write.says) && told !== '', told).to.equal(true);
      });
    }

    it(`it ${madeByTheHook.what}`, async () => {
      await madeByTheHook.send(placeOf(madeByTheHook));
    });
  });

  /** Pods with nodes and readiness, as the test says; no kubelet runs. */
  async function settle(namespace: string): Promise<void> {
    for (const name of members) {
      await until(`pod ${name} exists`, async () => (await refusalOf(admin.get(pods, { namespace, name }))) === '');
      const { spec } = await admin.get<{ spec: { nodeName?: string } }>(pods, { namespace, name });
      if (spec.nodeName === undefined) {
        const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
        await admin.create(pods, { namespace, name, subresource: 'binding' }, { metadata: { name }, target });
      }
      const status = name === notReady ? 'False' : 'True';
      const conditions = [{ type: 'Ready', status, lastTransitionTime: '2026-11-28T00:00:00Z' }];
      await admin.merge(pods, { namespace, name, subresource: 'status' }, { status: { phase: 'Running', conditions } });
    }
    await admin.call({
      method: 'PATCH',
      path: path(clusterKind, { namespace, name: clusterName, subresource: 'status' }),
      contentType: 'application/merge-patch+json',
      body: { status: { currentPrimaryIndex: 0, syncedReplicas: 2, errantReplicaList: [2], conditions: [] } },
    });
    const owner = await admin.get<{ metadata: { uid: string } }>(clusterKind, { namespace, name: clusterName });
    const { uid } = owner.metadata;
    const strategy = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } };
    await admin.merge(statefulSets, { namespace, name: rolling }, { spec: strategy });
    await admin.merge(
      statefulSets,
      { namespace, name: statefulSetName },
      {
        metadata: {
          ownerReferences: [
            { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', name: clusterName, uid, controller: true },
          ],
        },
      },
    );
    // The template is newer than the pods: what changes in place becomes what it has.
    const { spec } = await admin.get<{
      spec: { template: { spec: { containers: { name: string; image: string }[] } } };
    }>(statefulSets, { namespace, name: statefulSetName });
    if (spec.template.spec.containers.some(({ image }) => image === newImage)) return;
    await admin.merge(
      statefulSets,
      { namespace, name: statefulSetName },
      { spec: { template: template(clusterName, '2', newImage, '200m') } },
    );
    await until('there is an update revision', async () => {
      const { status, metadata } = await admin.get<{
        status: Record<string, unknown>;
        metadata: Record<string, unknown>;
      }>(statefulSets, { namespace, name: statefulSetName });
      return (
        status['observedGeneration'] === metadata['generation'] &&
        status['updateRevision'] !== status['currentRevision']
      );
    });
  }
});

async function refusalOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
    return '';
  } catch (error) {
    return String(error);
  }
}

function template(name: string, version: string, agent: string, cpu: string): object {
  return {
    metadata: {
      labels: { ...labelsOf(name), 'app.kubernetes.io/version': version },
      annotations: { 'example.com/described': version === '1' ? 'once' : 'newly' },
    },
    spec: {
      serviceAccountName: `moco-${name}`,
      initContainers: [
        { name: 'copy-moco-init', image: agent },
        { name: 'moco-init', image: 'example/mysql:1' },
      ],
      containers: [
        {
          name: 'mysqld',
          image: 'example/mysql:1',
          securityContext: { runAsUser: 10_000, runAsGroup: 10_000 },
          resources: { limits: { cpu: '2', memory: '4Gi' } },
          volumeMounts: [
            { name: 'mysql-conf', mountPath: '/etc/mysql-conf' },
            { name: 'mysql-data', mountPath: '/var/lib/mysql' },
          ],
        },
        { name: 'agent', image: agent, resources: { limits: { cpu } } },
      ],
      // The more volumes a template has, the more it costs a policy to compare a pod with it.
      volumes: [
        ...Array.from({ length: 60 }, (_, index) => ({ name: `more-${index}`, configMap: { name: `more-${index}` } })),
        { name: 'mysql-conf', configMap: { name: 'moco-test.1' } },
      ],
    },
  };
}

function clusterIn(namespace: string): readonly object[] {
  const claims = [
    {
      metadata: { name: 'mysql-data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  const cluster = (name: string): object => ({
    apiVersion: 'moco.cybozu.com/v1beta2',
    kind: 'MySQLCluster',
    metadata: { name, namespace },
    spec: {
      replicas: 3,
      podTemplate: { spec: { containers: [{ name: 'mysqld', image: 'example/mysql:1' }] } },
      volumeClaimTemplates: claims,
    },
  });
  return [
    cluster(clusterName),
    cluster('second'),
    ...[statefulSetName, rolling].map((name) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
    })),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app-config', namespace }, data: { password: 'x' } },
    ...[clusterName, 'second'].map((name) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: `moco-${name}`, namespace, labels: labelsOf(name) },
      spec: {
        replicas: 3,
        serviceName: `moco-${name}`,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
        selector: { matchLabels: labelsOf(name) },
        template: template(name, '1', 'example/agent:1', '100m'),
        volumeClaimTemplates: claims,
      },
    })),
    {
      apiVersion: 'moco-rollout.io/v1alpha1',
      kind: 'MySQLRollout',
      metadata: { name: clusterName, namespace },
      spec: {
        paused: true,
        pinnedMembers: [{ ordinal: 0, reason: 'x' }],
        overrides: [{ rule: 'BackupRunning', until: '2026-01-01T00:00:00Z', reason: 'x' }],
      },
    },
  ];
}

const foreign = (): readonly object[] => [
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: foreignNamespace },
    spec: {
      replicas: 1,
      serviceName: 'web',
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: foreignClaim, namespace: foreignNamespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: foreignMember, namespace: foreignNamespace },
    spec: { containers: [{ name: 'x', image: 'x' }] },
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: foreignEvent, namespace: foreignNamespace },
    eventTime: '2026-11-28T00:00:00.000000Z',
    reportingController: 'kubelet',
    reportingInstance: 'x',
    action: 'x',
    reason: 'x',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: foreignNamespace, name: foreignMember },
    note: 'x',
  },
];

/** The kubelet is not there, and its node has room for what pods are resized to. */
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1' },
};

const shared = (): readonly object[] => [
  {
    apiVersion: 'moco-rollout.io/v1alpha1',
    kind: 'MySQLRolloutPolicy',
    metadata: { name: 'test' },
    spec: { priority: 1 },
  },
  {
    apiVersion: 'moco-rollout.io/v1alpha1',
    kind: 'MySQLRolloutSequence',
    metadata: { name: 'test' },
    spec: { stages: [{ name: 'all' }] },
  },
];

/** What config/in-place grants in the whole cluster, in one namespace. */
function inPlaceHere(): readonly object[] {
  const [name, namespace] = ['in-place', namespaces.extended];
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace },
      rules: [{ apiGroups: [''], resources: ['pods/resize'], verbs: ['patch'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
}
