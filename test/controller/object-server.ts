import { mutatePartition } from '../../src/admission/partition-mutation.ts';
import type { AdmittedStatefulSet } from '../../src/admission/stateful-set.ts';
import { mutateStatefulSet } from '../../src/admission/statefulset-mutation.ts';
import {
  apiVersion,
  nodes,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  type ResourcePlace,
} from '../../src/kube/resource.ts';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../src/kube/world.ts';
import { projectBudget } from '../../src/moco/projections.ts';
import { selects } from '../../src/moco/selects.ts';
import { claimsOf } from '../../src/moco/successor.ts';
import { applyPatch } from '../admission/apply-patch.ts';
import { answer, reset, status } from '../kube/fake-world.ts';
import { jsonPatch, type Operation, PatchTestFailed } from '../support/json-patch.ts';
import { withRevisionOwner } from '../support/label-owner.ts';
import { mergePatch } from '../support/merge-patch.ts';
import type { StatefulSet } from '../support/moco/objects.ts';
import { mutateStatefulSet as mutateByMoco } from '../support/moco/stateful-set-webhook.ts';
import { resizedPod } from '../support/resized-pod.ts';
import { strategicMergePatch } from '../support/strategic-merge-patch.ts';
import { strategyByPolicy } from '../support/strategy-policy.ts';

/** An object as JSON, free to change. */
export interface Raw {
  metadata: {
    namespace: string;
    name: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** A write as it came, and what it was answered. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: Raw;
  readonly status: number;
}

export type Patch = { readonly [field: string]: unknown };

interface Script {
  readonly method: string;
  readonly path: RegExp;
  readonly act: (
    request: ExchangeRequest,
    carryOut: () => ExchangeResponse,
  ) => ExchangeResponse | Promise<ExchangeResponse>;
}

/**
 * As much of an API server as one cluster's reconciliation speaks to, in memory: reads, selectors, uids and
 * resourceVersions as preconditions, merge patches, evictions against budgets in two writes. What is deleted stays and
 * is terminating until `remove`, as there is no kubelet.
 */
export class ObjectServer {
  readonly writes: Write[] = [];
  readonly reads: string[] = [];
  readonly #objects = new Map<string, Raw>();
  readonly #scripts: Script[] = [];
  #standing: readonly Script[] = [];
  readonly #wall: () => number;
  #version = 1000;
  #uids = 0;

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  readonly exchange: Exchange = async (request) => {
    const [target = ''] = request.path.split('?');
    const isFor = (script: Script): boolean => script.method === request.method && script.path.test(target);
    const index = this.#scripts.findIndex(isFor);
    const script = index < 0 ? this.#standing.find(isFor) : this.#scripts.splice(index, 1)[0];
    const carryOut = (): ExchangeResponse => this.#answer(request);
    const response = script ? await script.act(request, carryOut) : carryOut();
    // A dry run that creates a pod is a question.
    const isQuestion = request.method === 'POST' && target.endsWith('/pods') && request.path.includes('dryRun=All');
    if (request.method === 'GET' || isQuestion) this.reads.push(target);
    else {
      const body = JSON.parse(request.body ?? '{}') as Raw;
      const tried = request.path.includes('dryRun=All') ? `${target}?dryRun` : target;
      this.writes.push({ method: request.method, path: tried, body, status: response.status });
    }
    return response;
  };

  /** What others' webhooks make of a write. */
  admit: (after: Raw, before: Raw) => Raw = (after) => after;
  /** What the policy makes of it before them, and after them again: it keeps the strategy of labelled StatefulSets. */
  keep: (after: Raw, before: Raw) => Raw = keptByPolicy;

  /** The next request of that kind is answered by the script instead, which may still have it carried out. */
  script(method: string, target: RegExp, act: Script['act']): void {
    this.#scripts.push({ method, path: target, act });
  }

  /** Every request of that kind is answered by the script, until `calm`. */
  always(method: string, target: RegExp, act: Script['act']): void {
    this.#standing = [...this.#standing, { method, path: target, act }];
  }

  calm(): void {
    this.#standing = [];
  }

  /** The next request of that kind is carried out, and its answer never arrives. */
  loseAnswer(method: string, target: RegExp): void {
    this.script(method, target, (_, carryOut) => {
      carryOut();
      return reset();
    });
  }

  /** Just before the next request of that kind. */
  before(method: string, target: RegExp, happens: () => void): void {
    this.script(method, target, (_, carryOut) => {
      happens();
      return carryOut();
    });
  }

  refuse(method: string, target: RegExp, code: number, reason: string, more: object = {}): void {
    this.script(method, target, () => answer(code, status(code, reason, more)));
  }

  /** Does the first of the two writes of an eviction. Returns the second, which gives the answer, at any time. */
  beginEviction(
    name: string,
    preconditions: Preconditions,
    namespace = 'default',
  ): ExchangeResponse | (() => ExchangeResponse) {
    return this.#beginEviction(placeOf(pods, name, namespace), preconditions);
  }

  /** Makes an object, with a uid and a resourceVersion of its own. */
  create(kind: ResourceKind, object: object): Raw {
    const given = structuredClone(object) as Partial<Raw>;
    this.#uids += 1;
    const raw: Raw = {
      apiVersion: apiVersion(kind),
      kind: kind.kind,
      ...given,
      metadata: {
        namespace: 'default',
        name: '',
        generation: 1,
        ...given.metadata,
        uid: `uid-${this.#uids}`,
        resourceVersion: this.#nextVersion(),
      },
    };
    this.#objects.set(pathOf(kind, raw), raw);
    if (kind === pods) this.#createSurroundings(raw);
    return raw;
  }

  /** Its claims, which the StatefulSet controller creates before it, and its node. */
  #createSurroundings(pod: Raw): void {
    const { namespace } = pod.metadata;
    const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
    const around: readonly (readonly [ResourceKind, string, ResourcePlace])[] = [
      ...claimsOf(pod).map((name) => [persistentVolumeClaims, name, { namespace, name }] as const),
      ...(nodeName === undefined ? [] : [[nodes, nodeName, { name: nodeName }] as const]),
    ];
    for (const [kind, name, place] of around) {
      const metadata = { namespace, name, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1 };
      const key = path(kind, place);
      if (!this.#objects.has(key)) this.#objects.set(key, { kind: kind.kind, metadata });
    }
  }

  /** As a merge patch by somebody else. */
  change(kind: ResourceKind, name: string, patch: Patch, namespace = 'default'): Raw {
    const key = placeOf(kind, name, namespace);
    const after = this.#merged(this.#get(key), patch);
    this.#objects.set(key, after);
    return after;
  }

  remove(kind: ResourceKind, name: string, namespace = 'default'): void {
    this.#objects.delete(placeOf(kind, name, namespace));
  }

  get(kind: ResourceKind, name: string, namespace = 'default'): Raw {
    return this.#get(placeOf(kind, name, namespace));
  }

  find(kind: ResourceKind, name: string, namespace = 'default'): Raw | undefined {
    return this.#objects.get(placeOf(kind, name, namespace));
  }

  all(kind: ResourceKind): readonly Raw[] {
    const list = path(kind, { namespace: 'default' });
    return [...this.#objects].filter(([key]) => key.startsWith(`${list}/`)).map(([, raw]) => raw);
  }

  #get(key: string): Raw {
    const raw = this.#objects.get(key);
    if (!raw) throw new Error(`expected an object at ${key}, got none`);
    return raw;
  }

  #answer(request: ExchangeRequest): ExchangeResponse {
    const url = new URL(request.path, 'http://server');
    const body = request.body === undefined ? {} : (JSON.parse(request.body) as Patch);
    const parts = url.pathname.split('/');
    const subresource = ['status', 'eviction', 'resize'].find((name) => parts.at(-1) === name);
    const key = subresource ? parts.slice(0, -1).join('/') : url.pathname;
    const object = this.#objects.get(key);
    const isDryRun = url.searchParams.get('dryRun') === 'All';
    switch (request.method) {
      case 'GET':
        if (object) return answer(200, object);
        return isList(key) ? answer(200, { items: this.#list(key, url) }) : notFound(key);
      case 'POST':
        if (subresource === 'eviction') return object ? this.#evict(key, body) : notFound(key);
        return isDryRun ? this.#tryPost(key, body) : this.#post(key, body);
      case 'PUT':
        return object
          ? this.#write(key, object, body, subresource, (before) => ({ ...before, ...body }), isDryRun)
          : notFound(key);
      case 'PATCH':
        return object
          ? this.#write(
              key,
              object,
              body,
              subresource,
              (before) => {
                const after = patched(before, body, request) as Raw;
                if (subresource !== 'resize') return after;
                const manager = url.searchParams.get('fieldManager');
                const { spec, managedFields } = resizedPod(before, after, manager, this.#wall());
                const { metadata } = before;
                return {
                  ...before,
                  metadata: { ...metadata, generation: metadata.generation + 1, managedFields },
                  spec,
                };
              },
              isDryRun,
            )
          : notFound(key);
      case 'DELETE':
        return object ? this.#delete(key, object, body) : notFound(key);
    }
  }

  /** Admission comes before names. */
  #tryPost(key: string, body: Patch): ExchangeResponse {
    const { name } = body['metadata'] as Raw['metadata'];
    if (this.#objects.has(`${key}/${name}`)) return answer(409, status(409, 'AlreadyExists'));
    return answer(201, body);
  }

  #list(key: string, url: URL): readonly Raw[] {
    const wanted = (url.searchParams.get('labelSelector') ?? '').split(',').filter((term) => term !== '');
    return [...this.#objects]
      .filter(([place]) => place.startsWith(`${key}/`))
      .map(([, raw]) => raw)
      .filter(({ metadata }) =>
        wanted.every((term) => {
          const [label = '', value] = term.split('=');
          return metadata.labels?.[label] === value;
        }),
      );
  }

  #post(key: string, body: Patch): ExchangeResponse {
    const { name } = body['metadata'] as Raw['metadata'];
    const place = `${key}/${name}`;
    if (this.#objects.has(place)) return answer(409, status(409, 'AlreadyExists'));
    this.#uids += 1;
    const metadata = {
      ...(body['metadata'] as Raw['metadata']),
      generation: 1,
      uid: `uid-${this.#uids}`,
      resourceVersion: this.#nextVersion(),
    };
    const raw: Raw = { ...body, metadata };
    this.#objects.set(place, raw);
    return answer(201, raw);
  }

  #write(
    key: string,
    before: Raw,
    body: Patch,
    subresource: string | undefined,
    change: (before: Raw) => Raw,
    isDryRun = false,
  ): ExchangeResponse {
    const { uid, resourceVersion } = (body['metadata'] ?? {}) as Partial<Raw['metadata']>;
    if (conflicts(before, { uid, resourceVersion })) return answer(409, status(409, 'Conflict'));
    const changed = unlessTestFailed(() => change(before));
    if (changed === null) {
      const message = 'the server rejected our request due to an error in our request';
      return answer(422, status(422, 'Invalid', { message }));
    }
    const after =
      subresource === 'status' ? { ...before, status: changed['status'] } : { ...changed, status: before['status'] };
    const managedFields = withRevisionOwner(before, after, 'moco-rollout', this.#wall());
    const owned = managedFields === undefined ? after : { ...after, metadata: { ...after.metadata, managedFields } };
    const written = this.#merged(before, {}, this.#admitted(owned, before));
    if (!isDryRun) this.#objects.set(key, written);
    return answer(200, written);
  }

  #admitted(after: Raw, before: Raw): Raw {
    return this.keep(this.admit(this.keep(after, before), before), before);
  }

  #delete(key: string, object: Raw, body: Patch): ExchangeResponse {
    if (conflicts(object, body['preconditions'] ?? {})) return answer(409, status(409, 'Conflict'));
    const spec = object['spec'] as { terminationGracePeriodSeconds?: number } | undefined;
    const grace = spec?.terminationGracePeriodSeconds ?? 30;
    const after = this.#merged(object, {
      metadata: {
        deletionTimestamp: new Date(this.#wall() + grace * 1000).toISOString(),
        deletionGracePeriodSeconds: grace,
      },
    });
    this.#objects.set(key, after);
    return answer(200, after);
  }

  #evict(key: string, body: Patch): ExchangeResponse {
    const { preconditions = {} } = (body['deleteOptions'] ?? {}) as { preconditions?: Preconditions };
    const begun = this.#beginEviction(key, preconditions);
    return typeof begun === 'function' ? begun() : begun;
  }

  /**
   * As Kubernetes 1.36.3 does it (pkg/registry/core/pod/storage/eviction.go): the condition DisruptionTarget, then a
   * deletion with the uid of the request and the resourceVersion after that write.
   */
  #beginEviction(key: string, preconditions: Preconditions): ExchangeResponse | (() => ExchangeResponse) {
    const object = this.#get(key);
    for (const raw of this.all(podDisruptionBudgets)) {
      const budget = projectBudget(raw);
      if (!budget || !selects(budget.selector, object.metadata.labels ?? {})) continue;
      if (budget.disruptionsAllowed < 1) return answer(429, refusalBy(budget.name));
    }
    if (conflicts(object, preconditions)) return answer(409, status(409, 'Conflict'));
    const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly { type: string }[] };
    const others = conditions.filter(({ type }) => type !== disruptionTarget.type);
    const marked = this.#merged(object, { status: { conditions: [...others, disruptionTarget] } });
    this.#objects.set(key, marked);
    const { uid, resourceVersion } = preconditions;
    const changed = resourceVersion === undefined ? undefined : marked.metadata.resourceVersion;
    return () => {
      const live = this.#objects.get(key);
      return live ? this.#delete(key, live, { preconditions: { uid, resourceVersion: changed } }) : notFound(key);
    };
  }

  /** A write that changes nothing gets no new resourceVersion. */
  #merged(before: Raw, patch: Patch, after: Raw = mergePatch(before, patch) as Raw): Raw {
    const same = { ...after, metadata: { ...after.metadata, resourceVersion: before.metadata.resourceVersion } };
    if (JSON.stringify(same) === JSON.stringify(before)) return before;
    return { ...after, metadata: { ...after.metadata, resourceVersion: this.#nextVersion() } };
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

function conflicts({ metadata }: Raw, { uid, resourceVersion }: Preconditions): boolean {
  return (
    (uid !== undefined && uid !== metadata.uid) ||
    (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
  );
}

/** As Kubernetes 1.35 says it. */
export function refusalBy(budget: string): object {
  return status(429, 'TooManyRequests', {
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${budget} needs 2 healthy pods and has 2 currently`,
        },
      ],
    },
  });
}

function patched(before: Raw, body: Patch, { headers }: ExchangeRequest): unknown {
  const type = headers['content-type'] ?? '';
  if (type.includes('json-patch')) return jsonPatch(before, body as unknown as readonly Operation[]);
  return type.includes('strategic') ? strategicMergePatch(before, body) : mergePatch(before, body);
}

function unlessTestFailed(change: () => Raw): Raw | null {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof PatchTestFailed)) throw error;
    return null;
  }
}

const placeOf = (kind: ResourceKind, name: string, namespace: string): string =>
  path(kind, kind.namespaced ? { namespace, name } : { name });

const pathOf = (kind: ResourceKind, { metadata }: Raw): string => placeOf(kind, metadata.name, metadata.namespace);

/** Lists end on the plural of their kind, which has an even number of parts before it. */
const isList = (key: string): boolean =>
  key === path(nodes) ||
  [pods, persistentVolumeClaims].some((kind) => key === path(kind, { namespace: 'default' })) ||
  /^\/apis\/[^/]+\/[^/]+\/namespaces\/[^/]+\/[^/]+$/.test(key);

const notFound = (key: string): ExchangeResponse => answer(404, status(404, 'NotFound', { message: key }));

function keptByPolicy(after: Raw, before: Raw): Raw {
  if (after.kind !== 'StatefulSet') return after;
  const [one, other] = [after, before] as unknown as readonly [AdmittedStatefulSet, AdmittedStatefulSet];
  const updateStrategy = strategyByPolicy(one, other);
  return updateStrategy === null ? after : withStrategy(after, updateStrategy);
}

const withStrategy = (raw: Raw, updateStrategy: unknown): Raw => ({
  ...raw,
  spec: { ...(raw['spec'] as Patch), updateStrategy },
});

/** What MOCO's webhook makes of a write. It throws where that panics. */
export function heldByMoco(after: Raw, before: Raw): Raw {
  if (after.kind !== 'StatefulSet') return after;
  const mutation = mutateByMoco(after as unknown as StatefulSet, before as unknown as StatefulSet);
  if (mutation.outcome === 'panic') throw new Error(mutation.message);
  if (mutation.outcome === 'unchanged') return after;
  const { rollingUpdate: _, ...strategy } = (after['spec'] as { updateStrategy: Patch }).updateStrategy;
  return withStrategy(after, { ...strategy, ...(mutation.rollingUpdate && { rollingUpdate: mutation.rollingUpdate }) });
}

/** Our webhook in the place of the policy, as before Kubernetes 1.36: it runs after MOCO's, and once. */
export function keepByWebhook({ server }: { readonly server: ObjectServer }): void {
  server.keep = (after) => after;
  server.admit = (after, before) => {
    const held = heldByMoco(after, before);
    if (held.kind !== 'StatefulSet') return held;
    const statefulSet = held as unknown as AdmittedStatefulSet;
    return applyPatch(statefulSet, mutateStatefulSet(statefulSet).patch) as unknown as Raw;
  };
}

/** What the webhook of the own partition driver makes of a write. */
export function heldBack(after: Raw, before: Raw): Raw {
  const [one, other] = [after, before] as unknown as readonly [AdmittedStatefulSet, AdmittedStatefulSet];
  return after.kind === 'StatefulSet' ? (applyPatch(one, mutatePartition(one, other).patch) as unknown as Raw) : after;
}
