import { rolloutKind } from '../../src/api/rollout.ts';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import type { Json } from '../../src/base/json.ts';
import type { ContentType } from '../../src/kube/api-client.ts';
import { heldBy } from '../../src/kube/lease.ts';
import {
  events,
  leases,
  path,
  persistentVolumeClaims,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../src/kube/resource.ts';
import {
  clusterKind,
  createdByLabel,
  dataAnnotation,
  demoteAnnotation,
  demotedForAnnotation,
  invalidatedIntentAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  preventDeleteAnnotation,
  releasedAnnotation,
  restartInPlaceAnnotation,
  roleLabel,
  rolloutCompleteCondition,
  strategyLabel,
} from '../../src/moco/names.ts';
import { preflightPod } from '../../src/moco/preflight-pod.ts';
import { successorOf } from '../../src/moco/successor.ts';
import type { ClusterApi } from '../../src/objects/cluster-client.ts';
import { adoptStatefulSet, releaseStatefulSet } from '../../src/objects/strategy.ts';
import type { ObjectClient } from '../support/object-client.ts';

// Every write that test/cluster/token.test.ts tries with the controller's token. A new right needs its own write in
// `made`, and what else the right would allow in `refused`, each with a part of the message.

/** Where a write is tried, and what is there. */
export interface Place {
  /** Has the rights that every installation grants, or those of config/in-place and config/preflight as well. */
  readonly namespace: string;
  /** With the controller's token. */
  readonly client: ObjectClient;
  readonly api: ClusterApi;
  /** As it is now, read by an administrator. */
  readonly read: (kind: ResourceKind, name: string, namespace?: string) => Promise<Json>;
}

export interface Write {
  readonly what: string;
  readonly send: (place: Place) => Promise<unknown>;
  /** Default: `plain`. */
  readonly in?: 'plain' | 'extended';
}

export interface Refused extends Write {
  /** A part of the message. */
  readonly says: string;
  /** The same of another policy that refuses it as well: the API server reports one of them, in no certain order. */
  readonly or?: string;
}

/** Set up by the test. */
export const clusterName = 'test';
export const statefulSetName = 'moco-test';
/** Another one, whose partitions are lowered. */
export const rolling = 'moco-second';
/** In a namespace without clusters: a StatefulSet `web` and its pods, a pod with the name of a member, and an Event. */
export const foreignNamespace = 'foreign';
export const foreignMember = 'moco-payments-0';
export const foreignEvent = 'of-the-kubelet';
export const foreignClaim = 'data-web-0';
/** Of the member that is Ready. */
export const claim = 'mysql-data-moco-test-0';
/** Which member is what in the test: Ready, not Ready, and errant though Ready. */
export const ready = 'moco-test-0';
export const notReady = 'moco-test-1';
export const errant = 'moco-test-2';
export const newImage = 'example/agent:2';

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}
const metadataOf = (object: Json): Metadata => object['metadata'] as Metadata;

const target = async ({ read }: Place, name: string) => {
  const { uid, resourceVersion } = metadataOf(await read(pods, name));
  return { ordinal: Number(name.slice(name.lastIndexOf('-') + 1)), name, uid, resourceVersion };
};

const dryRun = { dryRun: 'All' };

/** A merge patch of an object in the place. */
const merges =
  (
    kind: ResourceKind,
    name: string,
    body: object,
    where: { subresource?: string; query?: object; namespace?: string } = {},
  ) =>
  ({ client, namespace: own }: Place): Promise<unknown> =>
    client.call({
      method: 'PATCH',
      path: path(kind, {
        ...(kind.namespaced && { namespace: where.namespace ?? own }),
        name,
        ...(where.subresource !== undefined && { subresource: where.subresource }),
      }),
      contentType: 'application/merge-patch+json' satisfies ContentType,
      body,
      ...(where.query && { query: where.query as Record<string, string> }),
    });

const strategic =
  (name: string, spec: object, subresource?: string, metadata: object = {}) =>
  ({ client, namespace }: Place): Promise<unknown> =>
    client.call({
      method: 'PATCH',
      path: path(pods, { namespace, name, ...(subresource !== undefined && { subresource }) }),
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata, spec },
    });

/** The whole object with changes, as a PUT of its status. */
const putsStatus =
  (kind: ResourceKind, name: string, change: (status: Record<string, unknown>) => object, namespaced = true) =>
  async ({ client, read, namespace }: Place): Promise<unknown> => {
    const found = await read(kind, name);
    return client.replace(
      kind,
      { ...(namespaced && { namespace }), name, subresource: 'status' },
      { ...found, status: change((found['status'] ?? {}) as Record<string, unknown>) },
    );
  };

const ofRollout = { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout' };
const toNothing = [
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'never-was', uid: '11111111-2222-3333-4444-555555555555' },
];
const finalizers = ['example.com/never'];

interface PreflightPod extends Json {
  readonly metadata: Record<string, unknown>;
  readonly spec: Record<string, unknown> & {
    readonly containers: Record<string, unknown>[];
    readonly volumes: object[];
  };
}

/** As the controller makes it for the node of a member. */
async function preflight({ read, namespace }: Place, about: 'images' | 'configuration'): Promise<PreflightPod> {
  const { uid } = metadataOf(await read(rolloutKind, clusterName));
  const { template } = (await read(statefulSets, statefulSetName))['spec'] as { template: Json };
  return preflightPod({
    namespace,
    clusterName,
    rollout: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', name: clusterName, uid },
    node: 'node-1',
    revision: 'x',
    template,
    templateBefore: template,
    about,
    asksVersion: about === 'images',
    timeoutSeconds: 300,
  }) as PreflightPod;
}

/** What is tried, how the pod differs, and what the policies say. */
type PreflightCase = readonly [what: string, change: (pod: PreflightPod) => unknown, says: string, or?: string];

const createsPreflight =
  (change: (pod: PreflightPod) => unknown) =>
  async (place: Place): Promise<unknown> => {
    const pod = structuredClone(await preflight(place, 'configuration'));
    change(pod);
    return place.client.create(pods, { namespace: place.namespace }, pod);
  };

const inContainer =
  (fields: object) =>
  ({ spec }: PreflightPod): unknown =>
    Object.assign(spec.containers[0] ?? {}, fields);
const numbered = (count: number, one: (name: string) => object): readonly object[] =>
  Array.from({ length: count }, (_, index) => one(`n${index}`));
const volumesOf = (count: number, configMap: string): readonly object[] => [
  { name: 'mysql-conf', configMap: { name: configMap } },
  { name: 'mysql-data', emptyDir: {} },
  ...numbered(count - 2, (name) => ({ name, configMap: { name: configMap } })),
];
/** It fetches images, and the new mysqld is to say its version, but for what differs. */
const withVersion =
  (fields: object) =>
  ({ spec: { containers } }: PreflightPod): unknown => {
    const args = ['--no-defaults', '--initialize', '--datadir=/dev/null/none'];
    Object.assign(containers[0] ?? {}, { args: ['--version'] });
    return containers.push({ ...containers[0], name: 'version', args, ...fields });
  };
const inSpec =
  (fields: object) =>
  ({ spec }: PreflightPod): unknown =>
    Object.assign(spec, fields);
const inMetadata =
  (fields: object) =>
  ({ metadata }: PreflightPod): unknown =>
    Object.assign(metadata, fields);
const inSecurity =
  (fields: object) =>
  ({ spec }: PreflightPod): unknown => {
    const [container = {}] = spec.containers;
    return Object.assign(container, { securityContext: { ...(container['securityContext'] as object), ...fields } });
  };

/** The pod that a dry run creates for a member. */
const successor = async ({ read }: Place, name: string): Promise<Json> => {
  const whole = await read(statefulSets, statefulSetName);
  return successorOf(whole, 'x', 0, name);
};

const event = (namespace: string, more: object = {}) => ({
  metadata: { name: `test.${Math.floor(Math.random() * 1e12).toString(16)}`, namespace },
  eventTime: '2026-11-28T00:00:00.000000Z',
  reportingController: 'moco-rollout',
  reportingInstance: 'x',
  action: 'Roll',
  reason: 'Rolled',
  type: 'Normal',
  regarding: { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', namespace, name: clusterName },
  note: 'x',
  ...more,
});

const evictionOf = (name: string, namespace: string, deleteOptions?: object) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace },
  ...(deleteOptions && { deleteOptions }),
});

const evicts =
  (name: string, deleteOptions?: object, where?: string) =>
  ({ client, namespace: own }: Place): Promise<unknown> => {
    const namespace = where ?? own;
    return client.create(
      pods,
      { namespace, name, subresource: 'eviction' },
      evictionOf(name, namespace, deleteOptions),
    );
  };

const record = async ({ read, namespace }: Place, name = statefulSetName) => {
  const found = await read(statefulSets, name);
  const { uid, resourceVersion } = metadataOf(found);
  const { replicas, updateStrategy } = found['spec'] as Record<string, Json>;
  const { currentRevision, updateRevision } = found['status'] as Record<string, string>;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    replicas: Number(replicas),
    strategy: updateStrategy?.['type'],
    currentRevision,
    updateRevision,
    forcedRollingUpdate: false,
  } as unknown as Parameters<typeof adoptStatefulSet>[0] & { readonly updateRevision: string };
};

/** The StatefulSet controller writes its status meanwhile. */
const anyVersion = async (place: Place, name?: string) => {
  const { resourceVersion: _, ...found } = await record(place, name);
  return found;
};

const makes = (what: string, send: Write['send']): Write => ({ what, send });
const madeIfExtended = (what: string, send: Write['send']): Write => ({ what, send, in: 'extended' });

/** What the code writes, by the functions that write it. In this order; each is accepted. */
export const made: readonly Write[] = [
  makes('adopts a StatefulSet: two dry runs, then OnDelete and its label', async (place) =>
    adoptStatefulSet(await record(place), place.api),
  ),
  // It takes MOCO's webhook to make a partition of it.
  makes('lets new pods come up at the current revision', async (place) =>
    place.api.patchStatefulSet(await anyVersion(place), { labels: { [newPodsLabel]: newPodsAtCurrentRevision } }),
  ),
  makes('lets new pods come up at the update revision again', async (place) =>
    adoptStatefulSet(await record(place), place.api),
  ),
  makes('releases a StatefulSet to rolling updates with a partition of all replicas', async (place) =>
    releaseStatefulSet(await record(place), place.api),
  ),
  ...[2, 1, 0].map((partition) => ({
    what: `lowers the partition by one, to ${partition}`,
    send: async (place: Place) =>
      place.api.patchStatefulSet(await anyVersion(place, rolling), {
        spec: { updateStrategy: { rollingUpdate: { partition } } },
      }),
  })),
  makes('notes an invalidated step at a StatefulSet', async (place) =>
    place.api.annotate(statefulSets, place.namespace, await record(place), { [invalidatedIntentAnnotation]: 'x' }),
  ),
  makes('promotes the update revision in the status of a StatefulSet', async (place) => {
    const found = await record(place);
    return place.api.promoteRevision(found, { revision: found.updateRevision, replicas: 2 });
  }),
  makes('tries the next pod of a member as a dry run', async (place) =>
    place.api.tryToCreatePod(await successor(place, ready), place.namespace).catch((error: unknown) => {
      if (!String(error).includes('already exists')) throw error;
    }),
  ),
  makes('sets demote and its mark on a member', async (place) =>
    place.api.annotate(pods, place.namespace, await target(place, ready), {
      [demoteAnnotation]: 'true',
      [demotedForAnnotation]: 'x',
    }),
  ),
  makes('takes demote back, and notes which containers restart and an invalidated step', async (place) =>
    place.api.annotate(pods, place.namespace, await target(place, ready), {
      [demoteAnnotation]: null,
      [demotedForAnnotation]: null,
      [restartInPlaceAnnotation]: '{}',
      [invalidatedIntentAnnotation]: 'x',
    }),
  ),
  makes('evicts a member that is Ready', async (place) =>
    place.client.create(
      pods,
      { namespace: place.namespace, name: ready, subresource: 'eviction' },
      evictionOf(ready, place.namespace, { dryRun: ['All'] }),
    ),
  ),
  makes('deletes a member that is not Ready', async (place) =>
    place.api.deletePod(place.namespace, await target(place, notReady)),
  ),
  makes('deletes a member that is errant', async ({ client, namespace, ...place }) => {
    const { uid, resourceVersion } = await target({ client, namespace, ...place }, errant);
    return client.remove(
      pods,
      { namespace, name: errant },
      { preconditions: { uid, resourceVersion }, dryRun: ['All'] },
    );
  }),
  makes("notes which mysqld has started on a member's data", async (place) => {
    const { uid, resourceVersion } = metadataOf(await place.read(persistentVolumeClaims, claim));
    const { namespace } = place;
    const noted = { revision: 'moco-test-1', image: 'example/mysql:1', version: '8.4.8' };
    return place.api.noteData(
      { namespace, name: claim, uid, resourceVersion, createdAt: '', unbound: true, data: null },
      noted,
    );
  }),
  makes(
    'sets its condition of a MySQLCluster',
    putsStatus(clusterKind, clusterName, (status) => ({
      ...status,
      conditions: [
        ...((status['conditions'] ?? []) as object[]),
        {
          type: rolloutCompleteCondition,
          status: 'True',
          reason: 'Complete',
          message: '',
          lastTransitionTime: '2026-11-28T00:00:00Z',
        },
      ],
    })),
  ),
  makes(
    'removes its condition of a MySQLCluster',
    putsStatus(clusterKind, clusterName, (status) => ({
      ...status,
      conditions: (status['conditions'] as { type: string }[]).filter(({ type }) => type !== rolloutCompleteCondition),
    })),
  ),
  makes('creates a MySQLRollout that is missing', async ({ api, read, namespace }) => {
    const { uid } = metadataOf(await read(clusterKind, 'second'));
    return api.createRollout({ namespace, name: 'second', uid } as Parameters<ClusterApi['createRollout']>[0]);
  }),
  makes('removes an override that has ended', merges(rolloutKind, clusterName, { spec: { overrides: null } })),
  makes(
    'writes the status of a MySQLRollout',
    putsStatus(rolloutKind, clusterName, () => ({ phase: 'UpToDate' })),
  ),
  makes('writes the status of a MySQLRolloutPolicy', async ({ api, read }) =>
    api.replaceStatus(policyKind, metadataOf(await read(policyKind, 'test')), {
      spec: (await read(policyKind, 'test'))['spec'],
      status: { clusters: 0 },
    }),
  ),
  makes(
    'writes the status of a MySQLRolloutSequence',
    putsStatus(sequenceKind, 'test', () => ({}), false),
  ),
  makes('reports an Event', ({ client, namespace }) =>
    client.create(events, { namespace }, event(namespace, { metadata: { name: 'test.1', namespace } })),
  ),
  makes(
    'counts one more of an Event',
    merges(events, 'test.1', { series: { count: 2, lastObservedTime: '2026-11-28T00:01:00.000000Z' } }),
  ),
  makes('creates its lease', ({ client }) =>
    client.create(leases, { namespace: 'moco-rollout-system' }, lease('moco-rollout')),
  ),
  makes('renews its lease', async ({ client, read }) =>
    client.replace(
      leases,
      { namespace: 'moco-rollout-system', name: 'moco-rollout' },
      heldBy('x', (await read(leases, 'moco-rollout', 'moco-rollout-system')) as never, 15_000, 0, {
        'moco-rollout.io/flags': '{}',
      }),
    ),
  ),
  madeIfExtended('creates the pod of a preflight that fetches images', async (place) =>
    place.api.createPreflightPod(await preflight(place, 'images'), place.namespace),
  ),
  madeIfExtended('creates the pod of a preflight that checks the configuration', async (place) =>
    place.api.createPreflightPod(await preflight(place, 'configuration'), place.namespace),
  ),
  madeIfExtended('deletes the pod of a preflight', async (place) => {
    const { name } = (await preflight(place, 'images')).metadata as { name: string };
    return place.api.deletePreflightPod(await place.read(pods, name));
  }),
  madeIfExtended('resizes a container of a running pod to what the template has', async (place) =>
    place.api.resizePod(place.namespace, await target(place, ready), [
      { name: 'agent', limits: { cpu: '200m' }, requests: { cpu: '200m' }, restarts: false },
    ]),
  ),
  madeIfExtended('updates a running pod in place to what the template has', async (place) =>
    place.api.updateInPlace(place.namespace, await target(place, ready), {
      labels: { 'controller-revision-hash': (await record(place)).updateRevision, 'app.kubernetes.io/version': '2' },
      annotations: { [restartInPlaceAnnotation]: '{}', 'example.com/described': 'newly' },
      containers: [{ name: 'agent', image: newImage }],
      initContainers: [{ name: 'copy-moco-init', image: newImage }],
      resized: [],
    }),
  ),
];

const lease = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'moco-rollout-system', ...more },
  spec: { holderIdentity: 'x' },
});

const own = 'moco-rollout changes only what MOCO has made';
const free = 'changes no owner and no finalizer';
const label = 'changes no label but its own';
const annotation = 'changes no annotation but its own';
const spec = 'changes nothing in the spec of a StatefulSet';
const partitions = 'sets OnDelete, or a partition of all replicas, or lowers the partition by one';
const status = 'changes the current revision in the status';
const condition = 'changes one condition of a MySQLCluster';
const reports = 'reports Events in its own name';
const needless = 'has no field that it does not need';
const oneMysqld = 'is one mysqld that ends at once';
const secondContainer = 'the second container of a preflight is a mysqld without a data directory';
const noRoot = 'is not root, has no capability';

const plain = (what: string, send: Write['send'], says: string, or?: string): Refused => ({
  what,
  send,
  says,
  ...(or !== undefined && { or }),
});
const extended = (...refusal: Parameters<typeof plain>): Refused => ({ ...plain(...refusal), in: 'extended' });
type Where = Parameters<typeof merges>[3];
const ofSet = (body: object, where?: Where) => merges(statefulSets, statefulSetName, body, where);
const ofPartition = (rollingUpdate: object, query: object = {}) =>
  merges(statefulSets, rolling, { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } }, { query });
const ofForeignSet = (body: object, where: Where) => merges(statefulSets, 'web', body, where);
const ofMember = (body: object, where?: Where) => merges(pods, ready, body, where);
const ofClaim = (body: object) => merges(persistentVolumeClaims, claim, body);
const ofSettings = (body: object) => merges(rolloutKind, clusterName, body);
const removes =
  (kind: ResourceKind, name: string, options?: object) =>
  ({ client, namespace }: Place): Promise<unknown> =>
    client.remove(kind, { namespace, name }, options);

/** What RBAC would allow with the same token, or would not but for another client's grant. */
export const refused: readonly Refused[] = [
  // StatefulSets.
  plain('a template', ofSet({ spec: { template: { spec: { terminationGracePeriodSeconds: 1 } } } }), spec),
  plain('a number of replicas', ofSet({ spec: { replicas: 0 } }), spec),
  plain(
    'the end of claims with their StatefulSet',
    ofSet({ spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } } }),
    spec,
  ),
  plain('minReadySeconds', ofSet({ spec: { minReadySeconds: 86_400 } }), spec),
  plain('how many revisions are kept', ofSet({ spec: { revisionHistoryLimit: 0 } }), spec),
  plain(
    'RollingUpdate without a partition',
    merges(statefulSets, rolling, {
      metadata: { labels: { [strategyLabel]: null } },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
    }),
    partitions,
  ),
  plain('a partition of 0 at once', ofPartition({ partition: 0 }), partitions),
  plain('a partition of 0 at once, as a dry run', ofPartition({ partition: 0 }, dryRun), partitions),
  plain('a partition lower by two', ofPartition({ partition: 1 }), partitions),
  plain('more unavailable members of a rolling update', ofPartition({ partition: 3, maxUnavailable: 3 }), partitions),
  plain('an owner of a StatefulSet that does not exist', ofSet({ metadata: { ownerReferences: toNothing } }), free),
  plain('no owner of a StatefulSet', ofSet({ metadata: { ownerReferences: null } }), free),
  plain('a finalizer of a StatefulSet', ofSet({ metadata: { finalizers } }), free),
  plain(
    'no record of who has set fields of a StatefulSet',
    ofSet({ metadata: { managedFields: [{}] } }),
    'removes no record',
  ),
  plain("a StatefulSet without MOCO's label", ofSet({ metadata: { labels: { [createdByLabel]: null } } }), label),
  plain('any label of a StatefulSet', ofSet({ metadata: { labels: { team: 'x' } } }), label),
  plain(
    'another value of its own label',
    ofSet({ metadata: { labels: { [newPodsLabel]: 'Never' } } }),
    'sets its labels of a StatefulSet to OnDelete and CurrentRevision',
  ),
  plain(
    'an annotation of MOCO at a StatefulSet',
    ofSet({ metadata: { annotations: { 'moco.cybozu.com/force-rolling-update': 'true' } } }),
    annotation,
  ),
  plain(
    'the annotation of a dry run, for real',
    ofSet({ metadata: { annotations: { 'moco-rollout.io/admission-probe': 'true' } } }),
    annotation,
  ),
  plain(
    "a StatefulSet that is not MOCO's",
    ofForeignSet({ metadata: { labels: { [strategyLabel]: 'OnDelete' } } }, { namespace: foreignNamespace }),
    own,
  ),
  plain(
    'the deletion of a StatefulSet',
    removes(statefulSets, statefulSetName),
    'cannot delete resource "statefulsets"',
  ),
  // Their status.
  plain(
    "the status of a StatefulSet that is not MOCO's",
    ofForeignSet({ status: { currentRevision: 'web-x' } }, { subresource: 'status', namespace: foreignNamespace }),
    own,
  ),
  plain(
    'the update revision in a status',
    ofSet({ status: { updateRevision: 'moco-test-x' } }, { subresource: 'status' }),
    status,
  ),
  plain(
    'the number of members in a status',
    ofSet({ status: { availableReplicas: 0 } }, { subresource: 'status' }),
    status,
  ),
  plain(
    'a current revision of another StatefulSet',
    ofSet({ status: { currentRevision: 'web-x' } }, { subresource: 'status' }),
    status,
  ),
  plain(
    'more current members than there are',
    ofSet({ status: { currentReplicas: 4 } }, { subresource: 'status' }),
    '',
  ),
  plain(
    'an owner of a StatefulSet, by its status',
    ofSet({ metadata: { ownerReferences: toNothing } }, { subresource: 'status' }),
    free,
  ),
  plain(
    'a label of a StatefulSet, by its status',
    ofSet({ metadata: { labels: { [createdByLabel]: null } } }, { subresource: 'status' }),
    label,
  ),
  // Pods.
  plain(
    'the role of a member',
    ofMember({ metadata: { labels: { [roleLabel]: 'replica' } } }),
    label,
    'sets a label of a running pod to the value in the template',
  ),
  extended(
    'the role of a member, where pods are updated in place',
    ofMember({ metadata: { labels: { [roleLabel]: 'replica' } } }),
    label,
    'sets a label of a running pod to the value in the template',
  ),
  plain(
    'a member without the labels that select it',
    ofMember({ metadata: { labels: { 'app.kubernetes.io/name': null, 'app.kubernetes.io/instance': null } } }),
    label,
    'removes no label of a running pod that the template has',
  ),
  extended(
    'a member without the labels that select it, where pods are updated in place',
    ofMember({ metadata: { labels: { 'app.kubernetes.io/name': null } } }),
    label,
    'removes no label of a running pod that the template has',
  ),
  plain(
    'another revision of a member',
    ofMember({ metadata: { labels: { 'controller-revision-hash': 'x' } } }),
    label,
    'sets a label of a running pod to the value in the template',
  ),
  extended(
    'another revision of a member, where pods are updated in place',
    ofMember({ metadata: { labels: { 'controller-revision-hash': 'x' } } }),
    'its revision to the update revision',
  ),
  extended(
    'a label that the template does not have',
    ofMember({ metadata: { labels: { team: 'x' } } }),
    'sets a label of a running pod to the value in the template',
  ),
  extended(
    'another value of a label of the template',
    ofMember({ metadata: { labels: { 'app.kubernetes.io/version': '9' } } }),
    'sets a label of a running pod to the value in the template',
  ),
  extended(
    'an annotation that the template does not have',
    ofMember({ metadata: { annotations: { 'example.com/described': 'wrongly' } } }),
    'sets an annotation of a running pod to the value in the template',
  ),
  plain(
    'an annotation of MOCO at a member',
    ofMember({ metadata: { annotations: { [preventDeleteAnnotation]: 'true' } } }),
    annotation,
    'sets an annotation of a running pod to the value in the template',
  ),
  extended(
    'an annotation of MOCO, where pods are updated in place',
    ofMember({ metadata: { annotations: { [preventDeleteAnnotation]: 'true' } } }),
    annotation,
    'sets an annotation of a running pod to the value in the template',
  ),
  plain(
    'any other value of demote',
    ofMember({ metadata: { annotations: { [demoteAnnotation]: 'false' } } }),
    'sets demote to true or removes it',
  ),
  plain('a finalizer of a member', ofMember({ metadata: { finalizers } }), free),
  plain('an owner of a member that does not exist', ofMember({ metadata: { ownerReferences: toNothing } }), free),
  plain('no owner of a member', ofMember({ metadata: { ownerReferences: null } }), free),
  plain(
    'an image of mysqld',
    strategic(ready, { containers: [{ name: 'mysqld', image: 'example/evil' }] }),
    'changes nothing in the spec of a pod',
    'sets the image of a container to that in the template',
  ),
  extended(
    'an image of mysqld, where pods are updated in place',
    strategic(ready, { containers: [{ name: 'mysqld', image: newImage }] }),
    'images of containers beside mysqld',
    'sets the image of a container to that in the template',
  ),
  extended(
    'an image of a sidecar that the template does not have',
    strategic(ready, { containers: [{ name: 'agent', image: 'example/evil' }] }),
    'sets the image of a container to that in the template',
  ),
  extended(
    'an image of moco-init',
    strategic(ready, { initContainers: [{ name: 'moco-init', image: newImage }] }),
    'changes the image of an init container along with',
    'sets the image of a container to that in the template',
  ),
  extended(
    'a deadline of a member',
    ofMember({ spec: { activeDeadlineSeconds: 1 } }),
    'changes nothing in the spec of a pod but resources',
  ),
  plain(
    'a deadline of a member',
    ofMember({ spec: { activeDeadlineSeconds: 1 } }),
    'changes nothing in the spec of a pod',
  ),
  extended(
    'a toleration of a member',
    ({ client, namespace }) =>
      client.patch(pods, { namespace, name: ready }, 'application/json-patch+json', [
        { op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } },
      ]),
    'changes nothing in the spec of a pod but resources',
  ),
  plain(
    'a resize, without the right',
    strategic(ready, { containers: [{ name: 'mysqld', resources: { limits: { cpu: '1m' } } }] }, 'resize'),
    'cannot patch resource "pods/resize"',
  ),
  extended(
    'mysqld with hardly any CPU',
    strategic(
      ready,
      { containers: [{ name: 'mysqld', resources: { limits: { cpu: '1m' }, requests: { cpu: '1m' } } }] },
      'resize',
    ),
    'sets the resources of a container to those in the template',
  ),
  extended(
    'mysqld with less memory',
    strategic(
      ready,
      { containers: [{ name: 'mysqld', resources: { limits: { memory: '64Mi' }, requests: { memory: '64Mi' } } }] },
      'resize',
    ),
    'lowers no memory limit of mysqld',
    'sets the resources of a container to those in the template',
  ),
  extended(
    'mysqld with all the memory of a node',
    strategic(
      ready,
      { containers: [{ name: 'mysqld', resources: { limits: { memory: '4Ti' }, requests: { memory: '4Ti' } } }] },
      'resize',
    ),
    'sets the resources of a container to those in the template',
  ),
  plain(
    'the deletion of a member without its grace period',
    removes(pods, errant, { gracePeriodSeconds: 0 }),
    'deletes pods with their own grace period',
  ),
  plain(
    'the deletion of a member with a shorter grace period',
    removes(pods, errant, { gracePeriodSeconds: 5 }),
    'deletes pods with their own grace period',
  ),
  plain(
    'the deletion of a member with a longer grace period, which a mysqld that hangs would have for good',
    removes(pods, errant, { gracePeriodSeconds: 86_400 }),
    'deletes pods with their own grace period',
  ),
  plain(
    'the deletion of a member with a finalizer of the garbage collector',
    removes(pods, errant, { propagationPolicy: 'Foreground' }),
    'deletes pods in the background',
  ),
  plain('the deletion of a member that is Ready', removes(pods, ready), 'deletes no member that is Ready'),
  plain(
    "the deletion of a pod that is not MOCO's",
    ({ client }) => client.remove(pods, { namespace: foreignNamespace, name: foreignMember }),
    own,
  ),
  plain(
    'the deletion of all pods of a namespace',
    ({ client, namespace }) => client.call({ method: 'DELETE', path: path(pods, { namespace }) }),
    'cannot deletecollection resource "pods"',
  ),
  plain(
    'the status of a pod',
    ofMember({ status: { phase: 'Failed' } }, { subresource: 'status' }),
    'cannot patch resource "pods/status"',
  ),
  // Evictions.
  plain(
    "an eviction of a pod that is not MOCO's and has the name of a member",
    evicts(foreignMember, undefined, foreignNamespace),
    'evicts the members of MOCO',
  ),
  plain("an eviction of a pod that is not MOCO's", evicts('web-0', undefined, foreignNamespace), 'evicts'),
  plain(
    'an eviction without the grace period',
    evicts(ready, { gracePeriodSeconds: 0 }),
    'evicts members with their own grace period',
  ),
  // Pods that are created.
  plain(
    'a pod',
    ({ client, namespace }) =>
      client.create(
        pods,
        { namespace },
        { metadata: { name: 'x' }, spec: { containers: [{ name: 'x', image: 'x' }] } },
      ),
    own,
  ),
  plain(
    'the pod of a member for real',
    async (place) => place.client.create(pods, { namespace: place.namespace }, await successor(place, 'moco-test-9')),
    'creates pods of members as dry runs only',
  ),
  plain(
    'a dry run of a pod with the name of a member in kube-system',
    ({ client }) =>
      client.create(
        pods,
        { namespace: 'kube-system' },
        {
          metadata: { name: 'moco-x-1' },
          spec: { containers: [{ name: 'x', image: 'x', envFrom: [{ secretRef: { name: 's' } }] }] },
        },
        { query: dryRun },
      ),
    own,
  ),
  plain(
    'a dry run with the labels of a member in kube-system',
    async (place) =>
      place.client.create(
        pods,
        { namespace: 'kube-system' },
        {
          ...(await successor(place, ready)),
          metadata: { ...((await successor(place, ready))['metadata'] as object), namespace: 'kube-system' },
        },
        { query: dryRun },
      ),
    'serviceaccount',
  ),
  plain(
    'a dry run of a member with another ServiceAccount',
    async (place) => {
      const pod = await successor(place, ready);
      return place.client.create(
        pods,
        { namespace: place.namespace },
        { ...pod, spec: { ...(pod['spec'] as object), serviceAccountName: 'default' } },
        { query: dryRun },
      );
    },
    'has the ServiceAccount of its cluster',
    'is that of the StatefulSet which exists',
  ),
  plain(
    'a dry run of a member with 17 owners',
    async (place) => {
      const pod = await successor(place, ready);
      const metadata = pod['metadata'] as { ownerReferences: object[] };
      const owners = [...metadata.ownerReferences, ...numbered(16, (name) => ({ ...toNothing[0], name, uid: name }))];
      return place.client.create(
        pods,
        { namespace: place.namespace },
        { ...pod, metadata: { ...metadata, ownerReferences: owners } },
        { query: dryRun },
      );
    },
    'at most 16 owners',
  ),
  // Preflights.
  plain(
    'a preflight where none is allowed',
    createsPreflight(() => undefined),
    'where it may create mysqlrollouts/preflight',
  ),
  ...(
    [
      ['a preflight with another name', inMetadata({ name: 'preflight' }), own],
      ['a preflight without an owner', inMetadata({ ownerReferences: [] }), own],
      [
        'a preflight of an owner that is no MySQLRollout',
        inMetadata({ ownerReferences: [{ ...toNothing[0], controller: true }] }),
        own,
      ],
      [
        'a preflight with two owners',
        ({ metadata }: PreflightPod) =>
          Object.assign(metadata, { ownerReferences: [...(metadata['ownerReferences'] as object[]), ...toNothing] }),
        'has two labels, one owner',
      ],
      ['a preflight with a finalizer', inMetadata({ finalizers }), 'no finalizer'],
      [
        'a preflight with a network of a CNI plugin',
        inMetadata({ annotations: { 'k8s.v1.cni.cncf.io/networks': 'host-net' } }),
        'no annotation',
      ],
      [
        'a preflight that a Service selects',
        ({ metadata }: PreflightPod) =>
          Object.assign(metadata, { labels: { ...(metadata['labels'] as object), app: 'x' } }),
        'has two labels',
      ],
      ['a preflight as root', inSecurity({ runAsUser: 0, runAsNonRoot: false }), noRoot],
      ['a preflight as whatever its image says', inSecurity({ runAsNonRoot: false }), noRoot],
      ['a preflight in the group of root', inSecurity({ runAsGroup: 0 }), noRoot],
      ['a preflight of a pod as root', inSpec({ securityContext: { runAsUser: 0 } }), noRoot],
      ['a preflight with supplemental groups', inSpec({ securityContext: { supplementalGroups: [6] } }), noRoot],
      [
        'a preflight with sysctls',
        inSpec({ securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] } }),
        noRoot,
      ],
      ['a preflight without seccomp', inSecurity({ seccompProfile: { type: 'Unconfined' } }), noRoot],
      ['a preflight without AppArmor', inSecurity({ appArmorProfile: { type: 'Unconfined' } }), noRoot],
      ['a preflight of another SELinux type', inSecurity({ seLinuxOptions: { type: 'spc_t' } }), noRoot],
      [
        'a preflight of another SELinux type of its pod',
        inSpec({ securityContext: { seLinuxOptions: { type: 'spc_t' } } }),
        noRoot,
      ],
      ['a preflight with more privileges', inSecurity({ allowPrivilegeEscalation: true }), noRoot],
      ['a preflight with a capability', inSecurity({ capabilities: { drop: ['ALL'], add: ['NET_RAW'] } }), noRoot],
      ['a preflight with the capabilities of its runtime', inSecurity({ capabilities: {} }), noRoot],
      ['a privileged preflight', inSecurity({ privileged: true, allowPrivilegeEscalation: true }), 'privileged'],
      ['a preflight with all of /proc', inSecurity({ procMount: 'Unmasked' }), ''],
      ['a preflight in the network of its node', inSpec({ hostNetwork: true }), 'goes through the scheduler'],
      ['a preflight among the processes of its node', inSpec({ hostPID: true }), 'goes through the scheduler'],
      ['a preflight past the scheduler', inSpec({ nodeName: 'node-1' }), 'goes through the scheduler'],
      ['a preflight of another scheduler', inSpec({ schedulerName: 'mine' }), 'goes through the scheduler'],
      ['a preflight that restarts', inSpec({ restartPolicy: 'Always' }), 'ends by itself'],
      [
        'a preflight without a deadline',
        ({ spec: fields }: PreflightPod) => Reflect.deleteProperty(fields, 'activeDeadlineSeconds'),
        'ends by itself',
      ],
      ['a preflight with a long grace period', inSpec({ terminationGracePeriodSeconds: 86_400 }), 'ends by itself'],
      ['a preflight before all others', inSpec({ priorityClassName: 'system-node-critical' }), 'has no priority'],
      ['a preflight on any node', inSpec({ affinity: undefined }), 'names one node'],
      [
        'a preflight beside other pods',
        inSpec({
          affinity: {
            podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'x', labelSelector: {} }] },
          },
        }),
        'names one node',
      ],
      [
        'a preflight that tolerates everything',
        inSpec({ tolerations: [{ operator: 'Exists' }] }),
        'tolerates what its cluster',
      ],
      ['a preflight with the name of a member', inSpec({ hostname: 'moco-test-0', subdomain: 'moco-test' }), needless],
      ['a preflight with hosts of its own', inSpec({ hostAliases: [{ ip: '127.0.0.1', hostnames: ['x'] }] }), needless],
      ['a preflight whose containers see each other', inSpec({ shareProcessNamespace: true }), needless],
      ['a preflight with a device', inSpec({ resourceClaims: [{ name: 'x', resourceClaimName: 'x' }] }), needless],
      ['a preflight with another DNS', inSpec({ dnsPolicy: 'Default' }), 'goes through the scheduler'],
      ['a preflight with a token', inSpec({ automountServiceAccountToken: true }), 'and no token'],
      [
        'a preflight of another ServiceAccount',
        inSpec({ serviceAccountName: 'default' }),
        'and no token',
        'has the ServiceAccount, the runtime and ConfigMaps',
      ],
      [
        'a preflight that mounts a Secret',
        ({ spec: { volumes } }: PreflightPod) => volumes.push({ name: 'x', secret: { secretName: 'moco-test' } }),
        'has images, ConfigMaps and empty directories alone',
      ],
      [
        'a preflight that mounts a token',
        ({ spec: { volumes } }: PreflightPod) =>
          volumes.push({ name: 'x', projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }),
        'has images, ConfigMaps and empty directories alone',
      ],
      [
        'a preflight that mounts the data of a member',
        ({ spec: { volumes } }: PreflightPod) =>
          volumes.push({ name: 'x', persistentVolumeClaim: { claimName: 'mysql-data-moco-test-0' } }),
        'has images, ConfigMaps and empty directories alone',
      ],
      [
        'a preflight that mounts its node',
        ({ spec: { volumes } }: PreflightPod) => volumes.push({ name: 'x', hostPath: { path: '/' } }),
        'has images, ConfigMaps and empty directories alone',
      ],
      [
        'a preflight with files in memory',
        ({ spec: { volumes } }: PreflightPod) => volumes.push({ name: 'x', emptyDir: { medium: 'Memory' } }),
        'has images, ConfigMaps and empty directories alone',
      ],
      [
        'a preflight with a ConfigMap of others',
        ({ spec: { volumes } }: PreflightPod) => volumes.push({ name: 'x', configMap: { name: 'app-config' } }),
        'ConfigMaps of its cluster',
      ],
      // With this many, the policy that compares them with the template exceeds its cost limit, and the API server
      // admits the pod.
      [
        'a preflight with a ConfigMap of others behind 4,000 of its own',
        inSpec({
          volumes: [...volumesOf(4000, 'moco-test.1'), { name: 'x', configMap: { name: 'app-config' } }],
        }),
        'at most 64 volumes',
      ],
      ['a preflight with 65 volumes', inSpec({ volumes: volumesOf(65, 'moco-test.1') }), 'at most 64 volumes'],
      [
        'a preflight with 65 tolerations',
        inSpec({
          tolerations: Array.from({ length: 65 }, (_, tolerationSeconds) => ({
            key: 'node.kubernetes.io/unreachable',
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds,
          })),
        }),
        '64 tolerations',
      ],
      [
        'a preflight with 65 pull secrets',
        inSpec({ imagePullSecrets: numbered(65, (name) => ({ name })) }),
        '64 pull secrets',
      ],
      [
        'a preflight with 65 mounts',
        inContainer({ volumeMounts: numbered(65, (name) => ({ name: 'mysql-conf', mountPath: `/${name}` })) }),
        '64 mounts',
      ],
      [
        'a preflight that ends with the words of a file',
        inContainer({ terminationMessagePath: '/etc/mysql-conf/my.cnf' }),
        oneMysqld,
      ],
      [
        'a preflight with a Secret in its environment',
        inContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'moco-test', key: 'a' } } }] }),
        oneMysqld,
      ],
      ['a preflight with a port', inContainer({ ports: [{ containerPort: 3306 }] }), oneMysqld],
      ['a preflight with a probe', inContainer({ readinessProbe: { exec: { command: ['x'] } } }), oneMysqld],
      ['a preflight that stays at work', inContainer({ args: ['--init-file=/x'] }), oneMysqld],
      [
        'a preflight of two containers',
        ({ spec: { containers } }: PreflightPod) => containers.push({ name: 'x', image: 'x' }),
        secondContainer,
      ],
      [
        'a preflight of three containers',
        ({ spec: { containers } }: PreflightPod) =>
          containers.push({ ...containers[0], name: 'version' }, { ...containers[0], name: 'x' }),
        secondContainer,
      ],
      [
        'a preflight that initializes a data directory',
        withVersion({ args: ['--no-defaults', '--initialize', '--datadir=/var/lib/mysql'] }),
        secondContainer,
      ],
      ['a preflight whose second container is another one', withVersion({ name: 'x' }), secondContainer],
      ['a preflight whose second container has an environment', withVersion({ env: [{ name: 'A' }] }), oneMysqld],
      ['a preflight whose second container is not confined', withVersion({ securityContext: {} }), noRoot],
      ['a preflight whose second container has no limits', withVersion({ resources: {} }), 'has limits'],
      [
        'a preflight with an init container',
        inSpec({ initContainers: [{ name: 'x', image: 'x' }] }),
        'goes through the scheduler',
      ],
      [
        'a preflight as large as a node',
        inContainer({ resources: { limits: { cpu: '64', memory: '256Gi' } } }),
        'has limits of one CPU',
      ],
      ['a preflight without limits', inContainer({ resources: {} }), 'has limits of one CPU'],
      [
        'a preflight that may fill the disk of its node',
        inContainer({ resources: { limits: { cpu: '1', memory: '256Mi' } } }),
        'has limits of one CPU',
      ],
      [
        'a preflight with a large part of the disk of its node',
        inContainer({ resources: { limits: { cpu: '1', memory: '256Mi', 'ephemeral-storage': '1Ti' } } }),
        'has limits of one CPU',
      ],
    ] as readonly PreflightCase[]
  ).map(([what, change, ...says]) => extended(what, createsPreflight(change), ...says)),
  extended(
    'a preflight that is given another image later',
    async (place) =>
      strategic(((await preflight(place, 'configuration')).metadata as { name: string }).name, {
        containers: [{ name: 'mysqld', image: 'example/evil' }],
      })(place),
    own,
  ),
  // MySQLClusters.
  plain(
    'the primary of a cluster',
    putsStatus(clusterKind, clusterName, (before) => ({ ...before, currentPrimaryIndex: 2 })),
    condition,
  ),
  plain(
    'the health of a cluster',
    putsStatus(clusterKind, clusterName, (before) => ({
      ...before,
      conditions: [
        { type: 'Healthy', status: 'True', reason: 'x', message: '', lastTransitionTime: '2026-11-28T00:00:00Z' },
      ],
    })),
    condition,
  ),
  plain(
    'a cluster without its errant replicas',
    putsStatus(clusterKind, clusterName, ({ errantReplicaList: _, ...before }) => before),
    condition,
  ),
  plain(
    'how many replicas of a cluster are synced',
    putsStatus(clusterKind, clusterName, (before) => ({ ...before, syncedReplicas: 3 })),
    condition,
  ),
  plain(
    'its condition twice',
    putsStatus(clusterKind, clusterName, (before) => ({
      ...before,
      conditions: [
        ...(before['conditions'] as object[]),
        ...['True', 'False'].map((value) => ({
          type: rolloutCompleteCondition,
          status: value,
          reason: 'x',
          message: '',
          lastTransitionTime: '2026-11-28T00:00:00Z',
        })),
      ],
    })),
    'sets its condition once',
  ),
  plain(
    'a MySQLCluster',
    merges(clusterKind, clusterName, { spec: { replicas: 5 } }),
    'cannot patch resource "mysqlclusters"',
  ),
  // MySQLRollouts.
  plain('a setting', ofSettings({ spec: { paused: false } }), 'changes no setting'),
  plain('a setting that is removed', ofSettings({ spec: { pinnedMembers: null } }), 'changes no setting'),
  plain(
    'an override',
    ofSettings({ spec: { overrides: [{ rule: 'BackupRunning', until: '2099-01-01T00:00:00Z', reason: 'x' }] } }),
    '',
  ),
  plain(
    'an owner of a MySQLRollout that does not exist',
    ofSettings({ metadata: { ownerReferences: toNothing } }),
    free,
  ),
  plain('a finalizer of a MySQLRollout', ofSettings({ metadata: { finalizers } }), free),
  plain('a label of a MySQLRollout', ofSettings({ metadata: { labels: { team: 'x' } } }), label),
  plain('an annotation of a MySQLRollout', ofSettings({ metadata: { annotations: { x: 'y' } } }), annotation),
  plain(
    'a MySQLRollout with settings',
    ({ client, namespace }) =>
      client.create(
        rolloutKind,
        { namespace },
        { ...ofRollout, metadata: { name: 'new', namespace }, spec: { paused: false } },
      ),
    'creates MySQLRollouts without settings',
  ),
  plain(
    'a MySQLRollout of no cluster',
    ({ client, namespace }) =>
      client.create(rolloutKind, { namespace }, { ...ofRollout, metadata: { name: 'new', namespace } }),
    'for the MySQLCluster of their name',
  ),
  plain(
    'a MySQLRollout with a finalizer',
    ({ client, namespace }) =>
      client.create(
        rolloutKind,
        { namespace },
        {
          ...ofRollout,
          metadata: {
            name: 'new',
            namespace,
            finalizers,
            ownerReferences: [
              { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', name: 'new', uid: 'x', controller: true },
            ],
          },
        },
      ),
    'creates MySQLRollouts without settings',
  ),
  plain('the deletion of a MySQLRollout', removes(rolloutKind, clusterName), 'cannot delete resource "mysqlrollouts"'),
  plain(
    'a MySQLRolloutPolicy',
    merges(policyKind, 'test', { spec: { priority: 9 } }),
    'cannot patch resource "mysqlrolloutpolicies"',
  ),
  plain(
    'a MySQLRolloutSequence',
    merges(sequenceKind, 'test', { spec: { stages: [] } }),
    'cannot patch resource "mysqlrolloutsequences"',
  ),
  // Events.
  plain(
    'an Event in the name of the kubelet',
    ({ client, namespace }) =>
      client.create(events, { namespace }, event(namespace, { reportingController: 'kubelet' })),
    reports,
  ),
  plain(
    'an Event about a pod',
    ({ client }) =>
      client.create(
        events,
        { namespace: 'kube-system' },
        event('kube-system', { regarding: { kind: 'Pod', namespace: 'kube-system', name: 'x' } }),
      ),
    reports,
  ),
  plain(
    'an Event with a finalizer, which keeps its namespace',
    ({ client, namespace }) =>
      client.create(events, { namespace }, event(namespace, { metadata: { name: 'test.2', namespace, finalizers } })),
    'creates Events and its lease without',
  ),
  plain(
    'an Event of others',
    merges(
      events,
      foreignEvent,
      { series: { count: 2, lastObservedTime: '2026-11-28T00:01:00.000000Z' } },
      { namespace: foreignNamespace },
    ),
    reports,
  ),
  plain('a finalizer of its own Event', merges(events, 'test.1', { metadata: { finalizers } }), free),
  // Leases.
  plain(
    'another lease',
    ({ client }) => client.create(leases, { namespace: 'moco-rollout-system' }, lease('squat')),
    'has one lease, moco-rollout',
  ),
  plain(
    'a finalizer of its lease',
    async ({ client, read }) => {
      const found = await read(leases, 'moco-rollout', 'moco-rollout-system');
      return client.replace(
        leases,
        { namespace: 'moco-rollout-system', name: 'moco-rollout' },
        { ...found, metadata: { ...(found['metadata'] as object), finalizers } },
      );
    },
    free,
  ),
  plain(
    'an owner of its lease',
    async ({ client, read }) => {
      const found = await read(leases, 'moco-rollout', 'moco-rollout-system');
      return client.replace(
        leases,
        { namespace: 'moco-rollout-system', name: 'moco-rollout' },
        { ...found, metadata: { ...(found['metadata'] as object), ownerReferences: toNothing } },
      );
    },
    free,
  ),
  // Claims.
  plain('an annotation of a claim', ofClaim({ metadata: { annotations: { x: 'y' } } }), annotation),
  plain('a label of a claim', ofClaim({ metadata: { labels: { team: 'x' } } }), label),
  plain('an owner of a claim that does not exist', ofClaim({ metadata: { ownerReferences: toNothing } }), free),
  plain('no finalizer of a claim', ofClaim({ metadata: { finalizers: null } }), free),
  plain(
    'no note on a claim',
    ofClaim({ metadata: { annotations: { [dataAnnotation]: null } } }),
    'notes the revision of the data on the claim of a member',
  ),
  plain(
    'a size of a claim',
    ofClaim({
      metadata: { annotations: { [dataAnnotation]: '{"x":1}' } },
      spec: { resources: { requests: { storage: '9Gi' } } },
    }),
    '',
  ),
  plain(
    "a note on a claim that is not MOCO's",
    merges(
      persistentVolumeClaims,
      foreignClaim,
      { metadata: { annotations: { [dataAnnotation]: '{"x":1}' } } },
      { namespace: foreignNamespace },
    ),
    'notes the revision of the data on the claim of a member',
  ),
  plain(
    'the deletion of a claim',
    removes(persistentVolumeClaims, claim),
    'cannot delete resource "persistentvolumeclaims"',
  ),
];

/** With all rights, as the hook of the chart has more of them while the chart is uninstalled. */
export const refusedDespiteRights: readonly Refused[] = [
  plain('the spec of a MySQLCluster', merges(clusterKind, clusterName, { spec: { replicas: 5 } }), condition),
  plain(
    'an annotation of MOCO at a MySQLCluster',
    merges(clusterKind, clusterName, { metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': 'true' } } }),
    annotation,
  ),
];

/** What the hook of the chart does with the same ServiceAccount. */
export const madeByTheHook: Write = {
  what: 'annotates a MySQLCluster that it releases',
  send: merges(clusterKind, clusterName, { metadata: { annotations: { [releasedAnnotation]: 'true' } } }),
};
