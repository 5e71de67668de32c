import { Ability } from './ability.ts';
import type { Disruption } from './disruption.ts';
import type { WitnessedKind, WitnessedObject } from './objects.ts';
import { Witness } from './witness.ts';

/** Its cluster. */
export const cluster = 'default/test';

export interface PodOptions {
  readonly node?: string;
  readonly revision?: string;
  /** Of mysqld; each revision has its own if none is given. */
  readonly image?: string;
  readonly role?: 'primary' | 'replica' | null;
  readonly mysqld?: 'ready' | 'running' | 'CrashLoopBackOff';
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly phase?: string;
  /** The message of the scheduler, which finds no node for the pod. */
  readonly noNode?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly uid?: string;
  /** Of mysqld: in the spec, and as the kubelet reports it. */
  readonly cpu?: readonly [wanted: string, given: string];
  /** Of slow-log. */
  readonly restarts?: number;
}

/** A cluster of three whose member 0 is primary, all of it stale, as a store would have told of it. */
export class Scene {
  /** Nobody leads, until a test says so. */
  readonly ability = new Ability();
  readonly witness = new Witness(null, { ability: this.ability });
  #revision = 0;
  #now = 0;

  constructor(replicas = 3) {
    this.cluster({}, replicas);
    this.put('StatefulSet', 'moco-test', { spec: { replicas }, status: { updateRevision: 'new' } });
    for (let ordinal = 0; ordinal < replicas; ordinal++) this.pod(ordinal);
  }

  cluster(status: object = {}, replicas = 3, metadata: object = {}, mysqld: object = {}): this {
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'new', ...mysqld }] } };
    return this.put(
      'MySQLCluster',
      'test',
      { spec: { replicas, podTemplate }, status: { currentPrimaryIndex: 0, ...status } },
      { generation: 2, ...metadata },
    );
  }

  /** The StatefulSet controller makes members below the partition from the current revision. */
  inPartitionMode(currentRevision: string): this {
    const spec = { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } };
    return this.put('StatefulSet', 'moco-test', { spec, status: { currentRevision, updateRevision: 'new' } });
  }

  /** At OnDelete with the program's label, or with new pods at the current revision. */
  adopted({ keeps = false, updateRevision = 'new', replicas = 3 } = {}): this {
    const rolling = { type: 'RollingUpdate', rollingUpdate: { partition: replicas } };
    const spec = { replicas, updateStrategy: keeps ? rolling : { type: 'OnDelete' } };
    const newPods = keeps ? { 'moco-rollout.io/new-pods': 'CurrentRevision' } : {};
    const labels = { 'moco-rollout.io/strategy': 'OnDelete', ...newPods };
    const status = { currentRevision: 'old', updateRevision, observedGeneration: 1 };
    return this.put('StatefulSet', 'moco-test', { spec, status }, { generation: 1, labels });
  }

  settings(spec: object = {}, status: object = {}): this {
    return this.put('MySQLRollout', 'test', { spec, status });
  }

  pod(ordinal: number, options: PodOptions = {}): this {
    const { revision = 'old', role = ordinal === 0 ? 'primary' : 'replica', mysqld = 'ready', annotations } = options;
    const {
      image = revision,
      terminating = false,
      ready = mysqld === 'ready',
      uid = `moco-test-${ordinal}-uid`,
    } = options;
    const runs = mysqld !== 'CrashLoopBackOff';
    const [wanted, given] = (options.cpu ?? []).map((cpu) => ({ limits: { cpu }, requests: {} }));
    const labels = { 'controller-revision-hash': revision, ...(role !== null && { 'moco.cybozu.com/role': role }) };
    return this.put(
      'Pod',
      `moco-test-${ordinal}`,
      {
        spec: {
          ...(options.node !== undefined && { nodeName: options.node }),
          containers: [{ name: 'mysqld', image, ...(wanted && { resources: wanted }) }],
        },
        status: {
          phase: options.phase ?? 'Running',
          conditions: [
            { type: 'Ready', status: ready ? 'True' : 'False' },
            ...(options.noNode === undefined
              ? []
              : [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: options.noNode }]),
          ],
          containerStatuses: [
            {
              name: 'mysqld',
              ready: mysqld === 'ready',
              started: runs,
              restartCount: 0,
              ...(given && { resources: given }),
              state: runs ? { running: {} } : { waiting: { reason: mysqld } },
            },
            { name: 'slow-log', ready: true, restartCount: options.restarts ?? 0, state: { running: {} } },
          ],
        },
      },
      {
        uid,
        labels,
        ...(annotations && { annotations }),
        ...(terminating && { deletionTimestamp: '2026-07-01T12:00:00Z' }),
      },
    );
  }

  put(kind: WitnessedKind, name: string, object: object, metadata: Readonly<Record<string, unknown>> = {}): this {
    this.#revision += 1;
    const labels = {
      'app.kubernetes.io/instance': 'test',
      'app.kubernetes.io/name': 'mysql',
      ...(metadata['labels'] as object | undefined),
    };
    const identity = {
      ...object,
      metadata: { namespace: 'default', name, uid: `${name}-uid`, resourceVersion: '1', ...metadata, labels },
    } as WitnessedObject;
    this.witness.observe({ revision: this.#revision, atMilliseconds: this.#now, kind, object: identity, identity });
    return this;
  }

  /** The pod is deleted for good. */
  gone(ordinal: number, uid = `moco-test-${ordinal}-uid`): this {
    this.#revision += 1;
    const labels = {
      'app.kubernetes.io/instance': 'test',
      'app.kubernetes.io/name': 'mysql',
      'controller-revision-hash': 'old',
    };
    const metadata = { namespace: 'default', name: `moco-test-${ordinal}`, uid, resourceVersion: '1', labels };
    this.witness.observe({
      revision: this.#revision,
      atMilliseconds: this.#now,
      kind: 'Pod',
      object: null,
      identity: { metadata },
    });
    return this;
  }

  wait(milliseconds: number): this {
    this.#now += milliseconds;
    return this;
  }

  /** The revision that a confirmation may have begun at. */
  get now(): { readonly revision: number; readonly atMilliseconds: number } {
    return { revision: this.#revision, atMilliseconds: this.#now };
  }

  restartInPlace(ordinal: number, ...containers: readonly string[]): this {
    return this.take('restartInPlace', ordinal, this.now, 'one', containers);
  }

  take(
    verb: Disruption['verb'],
    ordinal: number,
    confirmingSince = this.now,
    actor = 'one',
    containers: readonly string[] = [],
  ): this {
    this.witness.disrupted({
      verb,
      containers,
      actor,
      cluster,
      uid: `moco-test-${ordinal}-uid`,
      ordinal,
      confirmingSince,
      before: this.#revision,
      atMilliseconds: this.#now,
    });
    return this;
  }

  get found(): readonly string[] {
    return this.witness.findings.map(({ kind, law }) => `${kind} ${law}`);
  }
}
