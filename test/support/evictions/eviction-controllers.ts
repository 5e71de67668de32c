import { isDeepStrictEqual } from 'node:util';
import { evictionKind } from '../../../src/evictions/eviction.ts';
import { isConflict, isNotFound } from '../../../src/kube/api-error.ts';
import { apiVersion, path, pods, type ResourceKind } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';

// A stand-in for two controllers that Kubernetes 1.37 does not have yet although it serves their API: the
// evictionrequest-controller and the responder imperative-eviction.k8s.io/evictor. It does what those of 1.38.0-beta.0 do
// (pkg/controller/evictionrequest, pkg/controller/imperativeevictionresponder), as far as one target with one request shows
// it. The API server holds it to the contract: its validation refuses a transition that they may not make.

export const evictionRequestKind: ResourceKind = {
  group: 'lifecycle.k8s.io',
  version: 'v1alpha1',
  plural: 'evictionrequests',
  kind: 'EvictionRequest',
  namespaced: true,
};

const evictor = 'imperative-eviction.k8s.io/evictor';
const passMilliseconds = 250;
const completionDelayMilliseconds = 5000;
const heartbeatDeadlineMilliseconds = 20 * 60_000;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

interface Meta {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface EvictionRequest {
  readonly metadata: Meta;
  readonly spec: {
    readonly target: { readonly pod: { readonly name: string; readonly uid: string } };
    readonly requester: string;
    readonly intent: string;
  };
}

interface Responder {
  readonly name: string;
  readonly startTime?: string;
  readonly heartbeatTime?: string;
  readonly expectedCompletionTime?: string;
  readonly completionTime?: string;
  readonly message?: string;
}

interface TargetResponder {
  readonly name: string;
  readonly priority: number;
  readonly state: string;
}

export interface Eviction {
  readonly metadata: Meta;
  readonly spec: { readonly target: EvictionRequest['spec']['target'] };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly requesters?: readonly { readonly name: string; readonly intent: string }[];
    readonly targetResponders?: readonly TargetResponder[];
    readonly responders?: readonly Responder[];
  };
}

interface TargetPod {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly evictionResponders?: readonly { readonly name: string; readonly priority: number }[] };
}

/** Runs until it is stopped. A pass that the API server refuses is reported by `stop`. */
export class EvictionControllers {
  readonly #client: ObjectClient;
  readonly #namespace: string;
  readonly #refusals: string[] = [];
  /** By the uid of the Eviction, when its pod was first seen to be gone. */
  readonly #goneSince = new Map<string, number>();
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(client: ObjectClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves to what the API server has refused of these controllers. */
  async stop(): Promise<readonly string[]> {
    this.#stopped = true;
    await this.#running;
    return this.#refusals;
  }

  async evictions(): Promise<readonly Eviction[]> {
    return this.#items<Eviction>(evictionKind);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#pass();
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) this.#refusals.push(String(error));
      }
      await new Promise((resolve) => setTimeout(resolve, passMilliseconds));
    }
  }

  async #items<T>(kind: ResourceKind): Promise<readonly T[]> {
    return (await this.#client.list<{ items: readonly T[] }>(kind, { namespace: this.#namespace })).items;
  }

  async #pass(): Promise<void> {
    const requests = await this.#items<EvictionRequest>(evictionRequestKind);
    const evictions = await this.#items<Eviction>(evictionKind);
    for (const request of requests.filter(wants)) {
      if (!evictions.some((eviction) => isOf(eviction, request) && !hasEnded(eviction))) await this.#create(request);
    }
    for (const eviction of evictions.filter((one) => !hasEnded(one))) {
      const pod = await this.#pod(eviction);
      const own = requests.filter((request) => isOf(eviction, request));
      await this.#label(eviction, pod, own);
      await this.#coordinate(eviction, pod, own);
      await this.#evict(eviction, pod);
    }
  }

  async #pod({ spec }: Eviction): Promise<TargetPod | null> {
    const { name, uid } = spec.target.pod;
    try {
      const pod = await this.#client.get<TargetPod>(pods, { namespace: this.#namespace, name });
      return pod.metadata.uid === uid ? pod : null;
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  async #create({ metadata, spec }: EvictionRequest): Promise<void> {
    const owner = { apiVersion: apiVersion(evictionRequestKind), kind: 'EvictionRequest' };
    await this.#apply(`pod-1-${spec.target.pod.name}`, undefined, 'evictionrequest-controller', {
      metadata: {
        labels: { [spec.requester]: 'requester' },
        ownerReferences: [{ ...owner, name: metadata.name, uid: metadata.uid }],
      },
      spec: { target: spec.target },
    });
  }

  /** By its own name a responder finds the Evictions that concern it. */
  async #label(
    { metadata, spec }: Eviction,
    pod: TargetPod | null,
    requests: readonly EvictionRequest[],
  ): Promise<void> {
    if (pod === null) return;
    const responders = [...(pod.spec.evictionResponders ?? []), { name: evictor }];
    const labels = Object.fromEntries([
      ...requests.map((request) => [request.spec.requester, 'requester']),
      ...responders.map(({ name }) => [name, 'responder']),
    ]) as Record<string, string>;
    if (isDeepStrictEqual({ ...metadata.labels }, labels)) return;
    await this.#apply(metadata.name, undefined, 'evictionrequest-controller', {
      metadata: { labels },
      spec: { target: spec.target },
    });
  }

  /** `computeEvictionStatus`: responders in turn, requesters, conditions. */
  async #coordinate(eviction: Eviction, pod: TargetPod | null, requests: readonly EvictionRequest[]): Promise<void> {
    const now = timeNow();
    const { targetResponders: before = [], responders = [] } = eviction.status ?? {};
    const isCanceled = !requests.some(wants);
    const initial = [...(pod?.spec.evictionResponders ?? []), { name: evictor, priority: 100 }]
      .toSorted((one, other) => other.priority - one.priority)
      .map(({ name, priority }) => ({ name, priority, state: 'Inactive' }));
    const isGone = pod === null && this.#goneForMilliseconds(eviction) >= completionDelayMilliseconds;
    const targets = progressed(before.length === 0 ? initial : before, responders, isGone, isCanceled);
    const condition = (type: string, isTrue: boolean, reason: string): object => ({
      type,
      status: isTrue ? 'True' : 'False',
      reason,
      message: '',
      lastTransitionTime: now,
    });
    const isActive = targets.some(({ state }) => state === 'Active');
    const isEvicted = pod === null && !isActive;
    const failed = !isEvicted && isCanceled && !isActive;
    const status = {
      observedGeneration: eviction.metadata.generation,
      requesters: requests.map(({ spec }) => ({ name: spec.requester, intent: spec.intent })),
      targetResponders: targets,
      responders: targets.map(({ name, state }) => {
        const startTime =
          responders.find((one) => one.name === name)?.startTime ?? (state === 'Active' ? now : undefined);
        return { name, ...(startTime !== undefined && { startTime }) };
      }),
      conditions: [
        condition(
          'TargetEvicted',
          isEvicted,
          isEvicted ? 'PodDeleted' : failed ? 'EvictionFailed' : 'AwaitingEviction',
        ),
        condition(
          'Failed',
          failed,
          isEvicted ? 'Succeeded' : failed ? 'CanceledDueToNoRequesters' : 'AwaitingEviction',
        ),
      ],
    };
    if (isSame(eviction, status)) return;
    await this.#apply(eviction.metadata.name, 'status', 'evictionrequest-controller', { status });
  }

  /** A responder has some time to report its completion after the pod is gone (`GracefulCompletionDelay`). */
  #goneForMilliseconds({ metadata: { uid } }: Eviction): number {
    const since = this.#goneSince.get(uid) ?? Date.now();
    this.#goneSince.set(uid, since);
    return Date.now() - since;
  }

  /** The responder of Kubernetes, which goes last. */
  async #evict({ metadata, status, spec }: Eviction, pod: TargetPod | null): Promise<void> {
    const isActive =
      status?.targetResponders?.some(({ name, state }) => name === evictor && state === 'Active') === true;
    const own = status?.responders?.find(({ name }) => name === evictor);
    if (!isActive || own?.startTime === undefined || own.completionTime !== undefined) return;
    const { name, uid } = spec.target.pod;
    if (pod !== null && pod.metadata.deletionTimestamp === undefined) {
      const body = { metadata: { namespace: this.#namespace, name }, deleteOptions: { preconditions: { uid } } };
      await this.#client
        .call({
          method: 'POST',
          path: path(pods, { namespace: this.#namespace, name, subresource: 'eviction' }),
          body,
          retries: 0,
        })
        .catch(() => undefined);
    }
    const now = timeNow();
    const entry = {
      name: evictor,
      heartbeatTime: now,
      message: pod === null ? 'pod has been deleted' : 'pod is evicted',
      ...(pod === null && { completionTime: now }),
    };
    if (own.message === entry.message) return;
    await this.#apply(metadata.name, 'status', 'imperative-eviction-responder-controller', {
      status: { responders: [entry] },
    });
  }

  async #apply(name: string, subresource: string | undefined, fieldManager: string, body: object): Promise<void> {
    const { metadata = {} } = body as { metadata?: object };
    await this.#client.patch(
      evictionKind,
      { namespace: this.#namespace, name, ...(subresource !== undefined && { subresource }) },
      'application/apply-patch+yaml',
      {
        ...body,
        apiVersion: apiVersion(evictionKind),
        kind: evictionKind.kind,
        metadata: { ...metadata, namespace: this.#namespace, name },
      },
      { query: { fieldManager, force: true } },
    );
  }
}

const wants = ({ spec }: EvictionRequest): boolean => spec.intent === 'Eviction';

const isOf = ({ spec }: Eviction, request: EvictionRequest): boolean =>
  spec.target.pod.uid === request.spec.target.pod.uid;

const hasEnded = ({ status }: Eviction): boolean =>
  status?.conditions?.some((one) => one.status === 'True' && ['TargetEvicted', 'Failed'].includes(one.type)) === true;

/** `computeResponderProgression`: one responder is active, and the next one follows once it has ended. */
function progressed(
  targets: readonly TargetResponder[],
  responders: readonly Responder[],
  isGone: boolean,
  isCanceled: boolean,
): readonly TargetResponder[] {
  const isLast = targets.at(-1)?.state ?? 'Inactive';
  if (['Interrupted', 'Canceled', 'Completed'].includes(isLast)) return targets;
  const active = targets.findIndex(({ state }) => state === 'Active');
  const become = (at: number, state: string): readonly TargetResponder[] =>
    targets.map((one, index) => (index === at ? { ...one, state } : one));
  const own = responders.find(({ name }) => name === targets[active]?.name);
  if (isGone || isCanceled) {
    if (active === -1) return targets;
    if (isGone) return become(active, own?.completionTime === undefined ? 'Interrupted' : 'Completed');
    return become(active, 'Canceled');
  }
  if (active === -1)
    return become(
      targets.findIndex(({ state }) => state === 'Inactive'),
      'Active',
    );
  const last = Date.parse(own?.heartbeatTime ?? own?.startTime ?? timeNow());
  const isOverdue = Date.now() - last >= heartbeatDeadlineMilliseconds;
  if (own?.completionTime === undefined && !isOverdue) return targets;
  return become(active, own?.completionTime === undefined ? 'Interrupted' : 'Completed').map((one, index) =>
    index === active + 1 ? { ...one, state: 'Active' } : one,
  );
}

/** Whether a status shows all of this already. Times of conditions that have not changed do not count. */
function isSame({ status = {} }: Eviction, due: object): boolean {
  const shown = {
    requesters: status.requesters ?? [],
    targetResponders: [...(status.targetResponders ?? [])],
    starts: (status.responders ?? []).map(({ name, startTime }) => [name, startTime]),
    conditions: shownConditions(status.conditions ?? []),
  };
  const { requesters, targetResponders, responders, conditions } = due as Required<NonNullable<Eviction['status']>>;
  return isDeepStrictEqual(shown, {
    requesters,
    targetResponders,
    starts: responders.map(({ name, startTime }) => [name, startTime]),
    conditions: shownConditions(conditions),
  });
}

const shownConditions = (conditions: readonly Condition[]): readonly string[] =>
  conditions.map(({ type, status }) => `${type}=${status}`).toSorted((one, other) => one.localeCompare(other));

const timeNow = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
