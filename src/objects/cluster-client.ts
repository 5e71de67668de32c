import { rolloutKind } from '../api/rollout.ts';
import { identityOf, type Json, object, objects, text } from '../base/json.ts';
import type { Target } from '../core/decision.ts';
import type { ContainerResources, InPlaceChange } from '../core/in-place-changes.ts';
import type { DataRecord } from '../core/snapshot.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ApiError, isInvalid, isNotFound } from '../kube/api-error.ts';
import { path, persistentVolumeClaims, pods, type ResourceKind, statefulSets } from '../kube/resource.ts';
import type { Reservation } from '../kube/token-bucket.ts';
import { dataRecordText } from '../moco/data-record.ts';
import { admissionProbeAnnotation, dataAnnotation, preflightLabel, resizeManager } from '../moco/names.ts';
import { isPreflightOf } from '../moco/preflight-pod.ts';
import { projectStatefulSet } from '../moco/projections.ts';
import type { ClaimRecord, ClusterObjects, StatefulSetRecord } from '../moco/records.ts';
import { mostListed, mostReads, type OnceCall } from './cluster-reader.ts';
import { StatusClient } from './status-client.ts';

// Every write that a pass may send about one cluster, with its preconditions.

const intentWrites = 1;
/** A preflight has a pod on each node of up to 25 members, and one pod for the configuration. */
const mostPreflightPods = 100;

export interface StatefulSetPatch {
  readonly labels?: Json;
  readonly annotations?: Json;
  readonly spec?: Json;
}

/**
 * A StatefulSet after a patch. If the patch was a dry run, `probe` shows whether admission changed the probe
 * annotation.
 */
export interface PatchedStatefulSet extends StatefulSetRecord {
  readonly probe: string | null;
}

/** The preconditions of a patch. If a resourceVersion is given, the object must not have changed since it was read. */
export type PatchedAs = Pick<StatefulSetRecord, 'namespace' | 'name' | 'uid'> & { readonly resourceVersion?: string };

/** The changes that a pod still needs after its resize. */
export type InPlacePatch = Omit<InPlaceChange, 'resources'>;

const mergePatchType = 'application/merge-patch+json';
const jsonPatchType = 'application/json-patch+json';
/** For this patch type the API server matches containers by their names. */
const strategicMergePatchType = 'application/strategic-merge-patch+json';

/**
 * All reads and writes of one reconciliation. A release, and every write that may disrupt a member, contains uid and
 * resourceVersion: it applies to exactly the object that was read, or fails with 409. The strategy and the current
 * revision are written no matter what else has changed, because MOCO or a pod that comes back may change the
 * StatefulSet at any time. Writes to pods and to the StatefulSet are sent only once, because the confirmation would be
 * too old for a retry. Rejects with `ApiError`.
 */
export class ClusterApi extends StatusClient {
  readonly #isStillWanted: () => boolean;

  constructor(
    client: ApiClient,
    signal: AbortSignal,
    isStillWanted: () => boolean = () => true,
    reservation?: Reservation,
  ) {
    super(client, signal, reservation);
    this.#isStillWanted = isStillWanted;
  }

  /**
   * Returns a client that sends writes to pods and to the StatefulSet only while `isStillWanted` returns true. The
   * client calls `isStillWanted` after the write has waited for the rate limit.
   */
  sendingWhile(isStillWanted: () => boolean): ClusterApi {
    return new ClusterApi(this.client, this.signal, isStillWanted, this.reservation);
  }

  /**
   * Reserves room in the client's rate limit for all requests of one disruption, and then runs `work`. The requests of
   * `work` no longer wait. So the rate limit also bounds how many disruptions are confirmed at the same time. Resolves
   * to `null` if the signal is aborted before `work` starts.
   */
  async withTokens<T>(
    known: ClusterObjects,
    targets: number,
    work: (api: ClusterApi) => Promise<T>,
  ): Promise<T | null> {
    const calls = mostReads(known) + intentWrites + targets;
    const reservation = await this.client.reserve('disrupt', calls, known.cluster.namespace, this.signal);
    if (reservation === null) return null;
    try {
      return await work(new ClusterApi(this.client, this.signal, this.#isStillWanted, reservation));
    } finally {
      reservation.end();
    }
  }

  /** Deletes the pod with its own grace period, never with a shorter one. */
  deletePod(namespace: string, { name, uid, resourceVersion }: Target): Promise<unknown> {
    return this.#write({
      method: 'DELETE',
      path: path(pods, { namespace, name }),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } },
    });
  }

  /** Evicts the pod. Rejects with 429 if a PodDisruptionBudget refuses the eviction. */
  evictPod(namespace: string, { name, uid, resourceVersion }: Target): Promise<unknown> {
    return this.#write({
      method: 'POST',
      path: path(pods, { namespace, name, subresource: 'eviction' }),
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: { preconditions: { uid, resourceVersion } },
      },
    });
  }

  /** Records on the claim which mysqld has started on its data. Rejects with 409 if the claim has changed. */
  noteData({ namespace, name, uid, resourceVersion }: ClaimRecord, record: DataRecord): Promise<unknown> {
    return this.call({
      method: 'PATCH',
      path: path(persistentVolumeClaims, { namespace, name }),
      contentType: mergePatchType,
      body: { metadata: { uid, resourceVersion, annotations: { [dataAnnotation]: dataRecordText(record) } } },
      priority: 'status',
      retries: 0,
    });
  }

  /**
   * The preflight pods that this program has created for a cluster. Requests about preflight pods are sent only once,
   * because the rest of the pass does not depend on them. Also rejects with `ApiError` if more pods have the label than
   * any cluster needs, because a pod that is missing from an incomplete list would count as deleted.
   */
  async listPreflightPods(namespace: string, clusterName: string, rolloutUid: string): Promise<readonly Json[]> {
    const query = { labelSelector: `${preflightLabel}=${clusterName}`, limit: mostPreflightPods };
    const list = await this.ask<Json>({ method: 'GET', path: path(pods, { namespace }), query, ...mostListed });
    const { continue: next } = object(list['metadata']);
    if (typeof next === 'string' && next !== '') {
      const message = `expected at most ${mostPreflightPods} pods with the label ${preflightLabel}=${clusterName}, got more`;
      throw new ApiError({ status: 0, reason: 'UnreadableAnswer', message, cause: new RangeError(message) });
    }
    return objects(list['items']).filter((pod) => isPreflightOf(rolloutUid, pod));
  }

  /** Whether the installation allows this program to create preflight pods in the namespace (config/preflight). */
  async mayPreflight(namespace: string): Promise<boolean> {
    const resourceAttributes = {
      group: rolloutKind.group,
      resource: rolloutKind.plural,
      subresource: 'preflight',
      verb: 'create',
      namespace,
    };
    const { status } = await this.ask<{ status?: { allowed?: boolean } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
    });
    return status?.allowed === true;
  }

  /** Every attempt uses the same name for the pod, so the next pass finds the pod by its name. */
  async createPreflightPod(body: Json, namespace: string): Promise<void> {
    await this.ask({ method: 'POST', path: path(pods, { namespace }), body });
  }

  async deletePreflightPod(pod: Json): Promise<void> {
    const { namespace, name, uid } = identityOf(pod);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
    try {
      await this.ask({ method: 'DELETE', path: path(pods, { namespace, name }), body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Sets an annotation, or removes it if its value is `null`. Resolves to the new resourceVersion of the object. */
  annotate(
    kind: ResourceKind,
    namespace: string,
    { name, uid, resourceVersion }: Omit<Target, 'ordinal'>,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<string> {
    return this.#writeVersion({
      method: 'PATCH',
      path: path(kind, { namespace, name }),
      contentType: mergePatchType,
      body: { metadata: { uid, resourceVersion, annotations } },
    });
  }

  /**
   * Changes a running pod so that it equals a new pod of the revision. The patch includes the revision's label, because
   * without it the StatefulSet does not count the pod as updated. Resolves to the new resourceVersion. With `dryRun`
   * nothing is stored.
   */
  updateInPlace(
    namespace: string,
    { name, uid, resourceVersion }: Target,
    { labels, annotations, containers, initContainers }: InPlacePatch,
    dryRun = false,
  ): Promise<string> {
    return this.#writeVersion({
      method: 'PATCH',
      path: path(pods, { namespace, name }),
      ...(dryRun && { query: { dryRun: 'All' } }),
      contentType: strategicMergePatchType,
      body: { metadata: { uid, resourceVersion, labels, annotations }, spec: { containers, initContainers } },
    });
  }

  /**
   * Resizes containers of a running pod. The same request cannot change anything else, because the API server ignores
   * labels and images in it. Resolves to the new resourceVersion. With `dryRun` nothing is stored.
   */
  resizePod(
    namespace: string,
    { name, uid, resourceVersion }: Target,
    resources: readonly ContainerResources[],
    dryRun = false,
  ): Promise<string> {
    const containers = resources.map(({ name: container, limits, requests }) => ({
      name: container,
      resources: { limits, requests },
    }));
    return this.#writeVersion({
      method: 'PATCH',
      path: path(pods, { namespace, name, subresource: 'resize' }),
      query: { fieldManager: resizeManager, ...(dryRun && { dryRun: 'All' }) },
      contentType: strategicMergePatchType,
      body: { metadata: { uid, resourceVersion }, spec: { containers } },
    });
  }

  /**
   * Sets the current revision, and the number of members at that revision, if neither revision of the StatefulSet has
   * changed since it was read. Other changes do not matter: if another write comes in between, the API server itself
   * repeats the patch. Rejects with a 409 if a revision differs, or if the StatefulSet has a different uid.
   */
  async promoteRevision(
    { namespace, name, uid, currentRevision, updateRevision }: StatefulSetRecord,
    { revision, replicas }: { readonly revision: string; readonly replicas: number },
  ): Promise<StatefulSetRecord | null> {
    try {
      const raw = await this.#write<Json>({
        method: 'PATCH',
        path: path(statefulSets, { namespace, name, subresource: 'status' }),
        contentType: jsonPatchType,
        body: [
          { op: 'test', path: '/metadata/uid', value: uid },
          { op: 'test', path: '/status/currentRevision', value: currentRevision },
          { op: 'test', path: '/status/updateRevision', value: updateRevision },
          { op: 'add', path: '/status/currentRevision', value: revision },
          { op: 'add', path: '/status/currentReplicas', value: replicas },
        ],
      });
      return projectStatefulSet(raw);
    } catch (error) {
      if (!(error instanceof ApiError) || !isInvalid(error) || error.causes.length > 0) throw error;
      throw new ApiError({ status: 409, reason: 'Conflict', message: error.message, cause: error });
    }
  }

  /** Resolves to the StatefulSet after the patch and all webhooks. With `dryRun` nothing is stored. */
  async patchStatefulSet(
    { namespace, name, uid, resourceVersion }: PatchedAs,
    patch: StatefulSetPatch,
    dryRun = false,
  ): Promise<PatchedStatefulSet | null> {
    const { labels, annotations, spec } = patch;
    const raw = await this.#write<Json>({
      method: 'PATCH',
      path: path(statefulSets, { namespace, name }),
      ...(dryRun && { query: { dryRun: 'All' } }),
      contentType: mergePatchType,
      body: {
        metadata: { uid, resourceVersion, ...(labels && { labels }), ...(annotations && { annotations }) },
        ...(spec && { spec }),
      },
    });
    const after = projectStatefulSet(raw);
    const { annotations: found } = object(raw['metadata']);
    return after && { ...after, probe: text(object(found)[admissionProbeAnnotation]) };
  }

  async #writeVersion(call: OnceCall): Promise<string> {
    const after = await this.#write<{ metadata: { resourceVersion: string } }>(call);
    return after.metadata.resourceVersion;
  }

  /** Sends the write once, and only while `isStillWanted` returns true. */
  #write<T>(call: OnceCall): Promise<T> {
    return this.call<T>({ ...call, priority: 'disrupt', retries: 0, isStillWanted: this.#isStillWanted });
  }
}
