import type { AdmittedStatefulSet } from '../../src/admission/mutations.ts';
import { mutateStatefulSet } from '../../src/admission/mutations.ts';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../src/base/world.ts';
import {
  apiVersion,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  type ResourcePlace,
  statefulSets,
} from '../../src/kube/resource.ts';
import { claimsOf } from '../../src/moco/successor.ts';
import { answer, reset, status } from '../kube/fake-world.ts';
import {
  type Admitted,
  heldByMoco as admittedByMoco,
  heldByUs as admittedByUs,
  keptByPolicy,
} from '../support/api-server/admission.ts';
import type { ApiAnswer } from '../support/api-server/api-answer.ts';
import { ApiServer } from '../support/api-server/api-server.ts';
import { parse, responseOf } from '../support/api-server/exchange.ts';
import type { Json, Metadata, StoredObject } from '../support/api-server/stored-object.ts';
import { jsonPatch } from '../support/json-patch.ts';
import { mergePatch } from '../support/merge-patch.ts';
import { same } from '../support/moco/same.ts';

/** A version of an object. */
export interface Raw extends StoredObject {
  readonly metadata: Metadata & { readonly namespace: string };
}

/** A write as it came, and what it was answered. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: Raw;
  readonly status: number;
}

export type Patch = Json;

interface Script {
  readonly method: string;
  readonly path: RegExp;
  readonly act: (
    request: ExchangeRequest,
    carryOut: () => ExchangeResponse,
  ) => ExchangeResponse | Promise<ExchangeResponse>;
}

/** Who sends what comes through `exchange`. */
const actor = 'moco-rollout';

/**
 * The API server in memory, whose answers a test can script, and whose objects it can set. What is deleted stays and is
 * terminating until `remove`, as there is no kubelet; the controllers of Kubernetes keep up with every write.
 */
export class ObjectServer {
  readonly writes: Write[] = [];
  readonly reads: string[] = [];
  readonly #server: ApiServer;
  readonly #scripts: Script[] = [];
  #standing: readonly Script[] = [];
  #uids = 0;

  constructor(wall: () => number) {
    const admit = (after: StoredObject, before: StoredObject | null): Admitted => ({
      outcome: 'admitted',
      object: before === null ? after : this.#admitted(after as Raw, before as Raw),
    });
    this.#server = new ApiServer(wall, admit, () => undefined);
    const { store } = this.#server;
    store.subscribe(({ kind, object, before }) => {
      const { disruptedPods } = (object['status'] ?? {}) as Patch;
      // The disruption controller allows the next one at once.
      if (kind === podDisruptionBudgets && disruptedPods && before) store.put(kind, before);
    });
  }

  readonly exchange: Exchange = async (request) => {
    const [target = ''] = request.path.split('?');
    const isFor = (script: Script): boolean => script.method === request.method && script.path.test(target);
    const index = this.#scripts.findIndex(isFor);
    const script = index < 0 ? this.#standing.find(isFor) : this.#scripts.splice(index, 1)[0];
    const carryOut = (): ExchangeResponse => responseOf(this.#server.handle(parse(request, actor)));
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

  /** What others' webhooks make of a write to a StatefulSet. */
  admit: (after: Raw, before: Raw) => Raw = (after) => after;
  /** What the policy makes of it before them, and after them again: it keeps the strategy of labelled StatefulSets. */
  keep: (after: Raw, before: Raw) => Raw = (after, before) => keptByPolicy(after, before) as Raw;

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
  beginEviction(name: string, preconditions: Preconditions): ApiAnswer | (() => ApiAnswer) {
    const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
    return this.#server.begin({ method: 'POST', path, body: { deleteOptions: { preconditions } }, actor });
  }

  /** Makes an object, with a uid and a resourceVersion of its own. */
  create(kind: ResourceKind, object: object): Raw {
    const given = object as Partial<Raw>;
    this.#uids += 1;
    const metadata = { namespace: 'default', name: '', generation: 1, ...given.metadata, uid: `uid-${this.#uids}` };
    const status = { conditions: [{ type: 'Ready', status: 'True' }], ...(given['status'] as Patch | undefined) };
    const healthy = kind === nodes ? { status } : {};
    const raw = this.#put(kind, { apiVersion: apiVersion(kind), kind: kind.kind, ...given, ...healthy, metadata });
    if (kind === pods) this.#createSurroundings(raw);
    if (kind === pods || kind === statefulSets) this.#adopt(metadata.namespace);
    return this.get(kind, metadata.name, metadata.namespace);
  }

  /** The StatefulSet controller controls the pods that name it, whatever its uid was before. */
  #adopt(namespace: string): void {
    for (const pod of this.#server.store.all(pods)) {
      if (pod.metadata.namespace !== namespace) continue;
      const owners = pod.metadata.ownerReferences ?? [];
      const ownerReferences = owners.map((owner) => ({
        ...owner,
        uid:
          (owner.kind === 'StatefulSet' && this.find(statefulSets, owner.name, namespace)?.metadata.uid) || owner.uid,
      }));
      if (!same(ownerReferences, owners)) this.#put(pods, { ...pod, metadata: { ...pod.metadata, ownerReferences } });
    }
  }

  #put(kind: ResourceKind, object: object): Raw {
    return this.#server.store.put(kind, object as StoredObject) as Raw;
  }

  /** Its claims, which the StatefulSet controller creates before it, and its node. */
  #createSurroundings(pod: Raw): void {
    const { namespace } = pod.metadata;
    const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
    const around: readonly (readonly [ResourceKind, string])[] = [
      ...claimsOf(pod).map((name) => [persistentVolumeClaims, name] as const),
      ...(nodeName === undefined ? [] : [[nodes, nodeName] as const]),
    ];
    for (const [kind, name] of around) {
      if (this.find(kind, name, namespace) !== undefined) continue;
      const metadata = { ...placeOf(kind, name, namespace), uid: `uid-of-${name}`, generation: 1 };
      const isClaim = kind === persistentVolumeClaims;
      const volumeName = `volume-of-${name}`;
      const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      const bound = { spec: { volumeName }, status: { phase: 'Bound' } };
      this.#put(kind, { kind: kind.kind, metadata, ...(isClaim ? bound : ready) });
      if (isClaim)
        this.#put(persistentVolumes, { kind: 'PersistentVolume', metadata: { name: volumeName, uid: name } });
    }
  }

  /** As a merge patch by another client. */
  change(kind: ResourceKind, name: string, patch: Patch, namespace = 'default'): Raw {
    const before = this.get(kind, name, namespace);
    const after = mergePatch(before, patch);
    return same(after, before) ? before : this.#put(kind, after as object);
  }

  remove(kind: ResourceKind, name: string, namespace = 'default'): void {
    const raw = this.find(kind, name, namespace);
    if (raw !== undefined) this.#server.store.remove(kind, raw);
  }

  get(kind: ResourceKind, name: string, namespace = 'default'): Raw {
    const raw = this.find(kind, name, namespace);
    if (!raw) throw new Error(`expected ${kind.kind} ${namespace}/${name}, found none`);
    return raw;
  }

  find(kind: ResourceKind, name: string, namespace = 'default'): Raw | undefined {
    const place = placeOf(kind, name, namespace);
    return (this.#server.store.get(kind, place.namespace ?? '', name) ?? undefined) as Raw | undefined;
  }

  all(kind: ResourceKind): readonly Raw[] {
    const inScope = this.#server.store
      .all(kind)
      .filter(({ metadata }) => !kind.namespaced || metadata.namespace === 'default');
    return inScope as readonly Raw[];
  }

  /** The StatefulSet controller sees each write at once. */
  #admitted(wanted: Raw, before: Raw): Raw {
    const after = this.keep(this.admit(this.keep(wanted, before), before), before);
    if (same(after['spec'], before['spec'])) return after;
    const observedGeneration = (before.metadata.generation ?? 0) + 1;
    return { ...after, status: { ...(after['status'] as Patch), observedGeneration } };
  }
}

interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
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

const placeOf = (kind: ResourceKind, name: string, namespace: string): ResourcePlace =>
  kind.namespaced ? { namespace, name } : { name };

const objectOf = (admitted: Admitted): Raw => {
  if (admitted.outcome === 'refused') throw new Error(admitted.message);
  return admitted.object as Raw;
};

/** What MOCO's webhook makes of a write. It throws where that panics. */
export const heldByMoco = (after: Raw, before: Raw): Raw => objectOf(admittedByMoco(after, before));

/** What the webhook of the own partition driver makes of a write. */
export const heldBack = (after: Raw, before: Raw): Raw => objectOf(admittedByUs(after, before));

/** Our webhook in the place of the policy, as before Kubernetes 1.36: it runs after MOCO's, and once. */
export function keepByWebhook({ server }: { readonly server: ObjectServer }): void {
  server.keep = (after) => after;
  server.admit = (after, before) => {
    const held = heldByMoco(after, before) as unknown as AdmittedStatefulSet;
    return jsonPatch(held, mutateStatefulSet(held).patch) as Raw;
  };
}
