import { apiVersion, pods, type ResourceKind, statefulSets } from '../../../src/kube/resource.ts';
import { jsonPatch, type Operation, PatchTestFailed } from '../json-patch.ts';
import { withRevisionOwner } from '../label-owner.ts';
import { mergePatch, strategicMergePatch } from '../merge-patch.ts';
import { same } from '../moco/same.ts';
import { timestamp } from '../moment.ts';
import { resizedPod } from '../resized-pod.ts';
import { type Admitted, admitStatefulSet, deletionRefused, everybodyServes } from './admission.ts';
import { type ApiAnswer, type ApiRequest, answer, isDryRun, refusal } from './api-answer.ts';
import { beginEviction } from './eviction.ts';
import { Lists } from './lists.ts';
import { ObjectStore } from './object-store.ts';
import { apply } from './patches.ts';
import { type ResourcePath, resourceAt } from './resource-path.ts';
import { type Json, type Metadata, record, type StoredObject } from './stored-object.ts';

/** Kinds whose objects have no status of their own; all others have it as a subresource. */
const withoutStatus: ReadonlySet<string> = new Set(['leases', 'events', 'serviceaccounts', 'storageclasses']);
const withoutGeneration: ReadonlySet<string> = new Set([...withoutStatus, 'persistentvolumeclaims', 'services']);
const defaultGraceSeconds = 30;

/** Admission of a StatefulSet; `before` is `null` for a new one. */
export type Admit = (wanted: StoredObject, before: StoredObject | null) => Admitted;

/**
 * An API server in memory: reads, writes with preconditions, the patches that are sent to it, admission, graceful
 * deletion with finalizers, and evictions. It answers as Kubernetes 1.35 does and at once; whoever stands between it
 * and its clients lets that take time and go wrong.
 */
export class ApiServer {
  readonly store = new ObjectStore();
  readonly lists: Lists;
  /** The status code that refuses evictions and new pods; `null` if they are allowed. Whether reviews of access say no. */
  readonly refusals: { evictions: number | null; pods: number | null; reviews: boolean } = {
    evictions: null,
    pods: null,
    reviews: false,
  };
  readonly #wall: () => number;
  readonly #listeners: ((request: ApiRequest, answer: ApiAnswer, revisionBefore: number) => void)[] = [];
  readonly #admit: Admit;
  /** Has something done a moment later. */
  readonly #afterwards: (act: () => void) => void;
  #uids = 0;

  constructor(
    wall: () => number,
    admit: Admit = (wanted, before) => admitStatefulSet(wanted, before, everybodyServes),
    afterwards: (act: () => void) => void = (act) => act(),
  ) {
    this.#afterwards = afterwards;
    this.#wall = wall;
    this.#admit = admit;
    this.lists = new Lists(this.store);
  }

  /** Answers a request, watches aside. */
  handle(request: ApiRequest): ApiAnswer {
    const begun = this.begin(request);
    return typeof begun === 'function' ? begun() : begun;
  }

  /** Answers a request, or does the first of its two writes: then it returns the second, which gives the answer. */
  begin(request: ApiRequest): ApiAnswer | (() => ApiAnswer) {
    const given = (answer: ApiAnswer, revisionBefore: number): ApiAnswer => {
      for (const listener of this.#listeners) listener(request, answer, revisionBefore);
      return answer;
    };
    const { revision } = this.store;
    const begun = this.#answer(request);
    if (typeof begun !== 'function') return given(begun, revision);
    return () => {
      const { revision: between } = this.store;
      return given(begun(), between);
    };
  }

  /** Told of every request once it has been answered, with the revision of the store before it. */
  onRequest(listener: (request: ApiRequest, answer: ApiAnswer, revisionBefore: number) => void): void {
    this.#listeners.push(listener);
  }

  #answer(request: ApiRequest): ApiAnswer | (() => ApiAnswer) {
    const target = resourceAt(request.path);
    if (target === null) return refusal(404, 'NotFound', 'the server could not find the requested resource');
    const { kind, namespace, name, subresource } = target;
    const refused = request.method === 'POST' && kind === pods ? this.#refusal(name, subresource) : null;
    if (refused !== null)
      return refusal(refused, refused === 403 ? 'Forbidden' : 'Invalid', 'admission denied the request');
    if (kind.plural === 'selfsubjectaccessreviews') {
      return answer(201, { ...request.body, status: { allowed: !this.refusals.reviews } });
    }
    if (name === null) {
      if (request.method === 'POST' && request.query?.get('dryRun') === 'All')
        return this.#tryToCreate(kind, namespace, request.body ?? {});
      return request.method === 'POST'
        ? this.#create(kind, namespace, request.body ?? {}, request.actor)
        : this.lists.answer(target, request.query ?? new URLSearchParams());
    }
    const found = this.store.get(kind, namespace, name);
    if (request.method === 'PATCH' && request.contentType === 'application/apply-patch+yaml') {
      return this.#apply(target, found, request);
    }
    if (found === null) return notFound(target);
    switch (request.method) {
      case 'GET':
        return answer(200, found);
      case 'POST':
        return subresource === 'eviction'
          ? beginEviction(this.store, found, record(request.body), this.#wall(), (options) => {
              const live = this.store.get(kind, namespace, name);
              return live === null ? notFound(target) : this.#delete(kind, live, options);
            })
          : this.#bind(kind, found, record(request.body));
      case 'PUT':
        return this.#update(target, found, request, () => request.body as unknown as StoredObject);
      case 'PATCH':
        return unlessTestFailed(() => this.#update(target, found, request, (before) => patched(before, request)));
      case 'DELETE': {
        const refused = kind === pods ? deletionRefused(found) : null;
        return refused === null ? this.#delete(kind, found, record(request.body)) : refusal(422, 'Invalid', refused);
      }
    }
  }

  #refusal(name: string | null, subresource: string | null): number | null {
    if (subresource === 'eviction') return this.refusals.evictions;
    return name === null ? this.refusals.pods : null;
  }

  /** Admission has nothing against it. Nothing is stored. */
  #tryToCreate(kind: ResourceKind, namespace: string, body: Json): ApiAnswer {
    const name = String(record(body['metadata'])['name']);
    return this.store.get(kind, namespace, name) === null
      ? answer(201, body)
      : refusal(409, 'AlreadyExists', `${kind.plural} "${name}" already exists`);
  }

  #create(kind: ResourceKind, namespace: string, body: Json, actor: string): ApiAnswer {
    const given = record(body['metadata']);
    const name = String(given['name']);
    if (this.store.get(kind, namespace, name) !== null) {
      return refusal(409, 'AlreadyExists', `${kind.plural} "${name}" already exists`);
    }
    this.#uids += 1;
    const { status: _, ...rest } = body;
    const object: StoredObject = {
      ...(withoutStatus.has(kind.plural) ? body : rest),
      apiVersion: apiVersion(kind),
      kind: kind.kind,
      metadata: {
        ...given,
        name,
        ...(kind.namespaced ? { namespace } : {}),
        uid: `uid-${this.#uids}`,
        resourceVersion: '',
        generation: 1,
        creationTimestamp: timestamp(this.#wall()),
      },
    };
    const admitted = kind === statefulSets ? this.#admit(object, null) : ({ outcome: 'admitted', object } as const);
    if (admitted.outcome === 'refused') return refusal(admitted.code, admitted.reason, admitted.message);
    return answer(
      201,
      this.store.put(kind, kind === pods ? this.#owned(null, admitted.object, actor) : admitted.object),
    );
  }

  #owned(before: StoredObject | null, after: StoredObject, actor: string): StoredObject {
    const managedFields = withRevisionOwner(before, after, actor, this.#wall());
    return managedFields === undefined ? after : { ...after, metadata: { ...after.metadata, managedFields } };
  }

  #apply(target: ResourcePath, found: StoredObject | null, request: ApiRequest): ApiAnswer {
    const { body = {}, query } = request;
    const wanted = apply(found, body, query?.get('fieldManager') ?? 'unknown');
    if (found === null) return this.#create(target.kind, target.namespace, wanted, request.actor);
    return this.#update(target, found, { ...request, body: {} }, () => wanted);
  }

  #update(
    { kind, subresource }: ResourcePath,
    before: StoredObject,
    request: ApiRequest,
    change: (before: StoredObject) => StoredObject,
  ): ApiAnswer {
    if (!isMeant(record(record(request.body)['metadata']), before.metadata)) return conflict(kind, before);
    const changed = change(before);
    const hasStatus = !withoutStatus.has(kind.plural);
    const wanted: StoredObject =
      subresource === 'status'
        ? { ...before, status: changed['status'] }
        : subresource === 'resize'
          ? resized(before, changed, request.query?.get('fieldManager') ?? null, this.#wall())
          : { ...changed, ...(hasStatus && { status: before['status'] }), metadata: keptIdentity(changed, before) };
    const admitted =
      kind === statefulSets && subresource === null
        ? this.#admit(wanted, before)
        : ({ outcome: 'admitted', object: wanted } as const);
    if (admitted.outcome === 'refused') return refusal(admitted.code, admitted.reason, admitted.message);
    const observed = this.#withGeneration(kind, admitted.object, before);
    const after = kind === pods && subresource === null ? this.#owned(before, observed, request.actor) : observed;
    if (same(after, before)) return answer(200, before);
    if (isDryRun(request)) return answer(200, after);
    const ends = after.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers?.length ?? 0) === 0;
    if (ends && kind !== pods) {
      this.store.remove(kind, after);
      return answer(200, after);
    }
    return answer(200, this.store.put(kind, after));
  }

  #withGeneration({ plural }: ResourceKind, after: StoredObject, before: StoredObject): StoredObject {
    if (withoutGeneration.has(plural) || same(after['spec'], before['spec'])) return after;
    return { ...after, metadata: { ...after.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
  }

  #bind(kind: ResourceKind, pod: StoredObject, { metadata, target }: Json): ApiAnswer {
    if (!isMeant(record(metadata), pod.metadata)) return conflict(kind, pod);
    const spec = { ...record(pod['spec']), nodeName: record(target)['name'] };
    this.store.put(kind, { ...pod, spec });
    return answer(201, { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 });
  }

  #delete(kind: ResourceKind, object: StoredObject, options: Json): ApiAnswer {
    if (!isMeant(record(options['preconditions']), object.metadata)) return conflict(kind, object);
    if (options['propagationPolicy'] === 'Orphan') return this.#leave(kind, object, 0, ['orphan']);
    if (kind === pods) return this.#deletePod(object, options);
    if ((object.metadata.finalizers?.length ?? 0) > 0) return this.#leave(kind, object, 0, []);
    this.store.remove(kind, object);
    return answer(200, object);
  }

  /**
   * In two steps, as `BeforeDelete` and `Store.Delete` do it (k8s.io/apiserver/pkg/registry): first it is written down,
   * and once the grace period is 0 the object goes, a moment later. At once where no kubelet has anything to end; else
   * the kubelet's last word shortens the period to 0. Who shortens it moves the deletionTimestamp back, to the first
   * request plus the new period, but never into the past: with the last word it becomes the present moment.
   */
  #deletePod(pod: StoredObject, { gracePeriodSeconds }: Json): ApiAnswer {
    const { deletionTimestamp, deletionGracePeriodSeconds: pending = 0 } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      if (pending === 0) return this.#carryOut(pod);
      const shorter = Number(gracePeriodSeconds ?? pending);
      if (shorter >= pending) return answer(200, pod);
      const endsAt = Date.parse(deletionTimestamp) - (pending - shorter) * 1000;
      if (endsAt >= this.#wall()) return this.#terminate(pod, shorter, endsAt);
      return this.#terminate(pod, Math.min(shorter, 1), this.#wall());
    }
    const spec = record(pod['spec']);
    const phase = record(pod['status'])['phase'];
    const own = Number(spec['terminationGracePeriodSeconds'] ?? defaultGraceSeconds);
    const nobodyThere = spec['nodeName'] === undefined || phase === 'Succeeded' || phase === 'Failed';
    const grace = nobodyThere ? 0 : Number(gracePeriodSeconds ?? own);
    return this.#terminate(pod, grace, this.#wall() + grace * 1000);
  }

  #terminate(pod: StoredObject, graceSeconds: number, endsAt: number): ApiAnswer {
    const given = this.#leave(pods, pod, graceSeconds, [], endsAt);
    if (graceSeconds === 0) this.#afterwards(() => void this.#carryOut(pod));
    return given;
  }

  #carryOut(pod: StoredObject): ApiAnswer {
    const { namespace = '', name, uid } = pod.metadata;
    const live = this.store.get(pods, namespace, name);
    if (live?.metadata.uid === uid) this.store.remove(pods, live);
    return answer(200, live ?? pod);
  }

  #leave(
    kind: ResourceKind,
    object: StoredObject,
    graceSeconds: number,
    finalizers: readonly string[],
    endsAt = this.#wall() + graceSeconds * 1000,
  ): ApiAnswer {
    const { metadata } = object;
    const terminating: Metadata = {
      ...metadata,
      deletionTimestamp: timestamp(endsAt),
      deletionGracePeriodSeconds: graceSeconds,
      ...(finalizers.length > 0 && { finalizers: [...(metadata.finalizers ?? []), ...finalizers] }),
    };
    return answer(200, this.store.put(kind, { ...object, metadata: terminating }));
  }
}

function resized(before: StoredObject, wanted: StoredObject, manager: string | null, wall: number): StoredObject {
  const { spec, managedFields } = resizedPod(before, wanted, manager, wall);
  return { ...before, metadata: { ...before.metadata, managedFields }, spec };
}

function unlessTestFailed(patch: () => ApiAnswer): ApiAnswer {
  try {
    return patch();
  } catch (error) {
    if (!(error instanceof PatchTestFailed)) throw error;
    return refusal(422, 'Invalid', 'the server rejected our request due to an error in our request');
  }
}

function patched(before: StoredObject, { body, contentType }: ApiRequest): StoredObject {
  if (contentType === 'application/json-patch+json') {
    return jsonPatch(before, body as unknown as readonly Operation[]) as StoredObject;
  }
  const merge = contentType === 'application/strategic-merge-patch+json' ? strategicMergePatch : mergePatch;
  return merge(before, body) as StoredObject;
}

/** Fields that no write can change. */
function keptIdentity({ metadata }: StoredObject, { metadata: before }: StoredObject): Metadata {
  const { deletionTimestamp, deletionGracePeriodSeconds, creationTimestamp, generation } = before;
  return {
    ...metadata,
    uid: before.uid,
    resourceVersion: before.resourceVersion,
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
}

/** Preconditions, or a body with its resourceVersion. */
function isMeant({ uid, resourceVersion }: Json, metadata: Metadata): boolean {
  return (
    (uid === undefined || uid === metadata.uid) &&
    (resourceVersion === undefined || resourceVersion === '' || resourceVersion === metadata.resourceVersion)
  );
}

function conflict({ plural }: ResourceKind, { metadata }: StoredObject): ApiAnswer {
  const message = `Operation cannot be fulfilled on ${plural} "${metadata.name}": the object has been modified; please apply your changes to the latest version and try again`;
  return refusal(409, 'Conflict', message);
}

function notFound({ kind, name }: ResourcePath): ApiAnswer {
  const details = { name, kind: kind.plural, ...(kind.group !== '' && { group: kind.group }) };
  return refusal(404, 'NotFound', `${kind.plural} "${name}" not found`, details);
}
