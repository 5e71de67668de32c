import PQueue from 'p-queue';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { namespaces, type ResourceKind, statefulSets } from '../../../src/kube/resource.ts';
import { Store, type Stored } from '../../../src/kube/store.ts';
import type { World } from '../../../src/kube/world.ts';
import { type Json, object, text, whole } from '../../../src/moco/json.ts';
import { clusterKind, mysqldContainer, strategyLabel } from '../../../src/moco/names.ts';
import { memberSelector, projectCluster, statefulSetName } from '../../../src/moco/projections.ts';
import type { ClusterRecord } from '../../../src/moco/records.ts';
import { sampleCluster } from '../../../test/support/moco/sample.ts';
import type { ObjectClient } from '../../../test/support/object-client.ts';

export const members = 3;
/** Clusters whose writes are recorded with their bodies; enough that each is rolled out only a few times. */
export const watchedNamespace = 'fleet-watched';
const watchedClusters = 10;
const otherNamespaces = 9;
const requestsAtOnce = 16;
const overrideMilliseconds = 24 * 3_600_000;

export interface FleetCluster {
  readonly namespace: string;
  readonly name: string;
}

/** Whether the rollout is over, according to the StatefulSet. */
interface StatefulSetSight extends Stored {
  readonly updateRevision: string;
  /** Every pod is at the update revision, and ready. */
  readonly isRolledOut: boolean;
  /** It has our label, or is at OnDelete. */
  readonly isAdopted: boolean;
}

/** The first ones are those that are looked at closely. */
export function fleetCluster(index: number): FleetCluster {
  const namespace = index < watchedClusters ? watchedNamespace : `fleet-${index % otherNamespaces}`;
  return { namespace, name: `db-${String(index).padStart(4, '0')}` };
}

/** The clusters of the fleet, as the measuring process watches them. */
export class Clusters {
  readonly #client: ObjectClient;
  readonly #world: World;
  readonly #clusters = new Store<ClusterRecord>({});
  readonly #statefulSets = new Store<StatefulSetSight>({});
  readonly #changes = new Set<(cluster: FleetCluster) => void>();
  readonly #policies: number;
  #count = 0;
  #revision = 0;

  constructor(client: ObjectClient, world: World, policies: number) {
    this.#policies = policies;
    this.#client = client;
    this.#world = world;
    const tell = ({ namespace, name }: FleetCluster): void => {
      for (const change of this.#changes) change({ namespace, name });
    };
    // Nothing here is ever removed.
    this.#clusters.subscribe(({ after }) => after && tell(after));
    this.#statefulSets.subscribe(({ after }) => {
      if (after) tell({ namespace: after.namespace, name: after.name.slice(statefulSetName('').length) });
    });
  }

  /** Resolves once everything has been listed; ends when the signal does. */
  async watch(signal: AbortSignal): Promise<void> {
    const { warn } = console;
    const log = { debug: ignore, info: ignore, warn, error: warn };
    const reflector = <R extends Stored>(
      kind: ResourceKind,
      query: { readonly labelSelector?: string },
      project: (raw: Json) => R | null,
      store: Store<R>,
    ): Promise<void> => {
      const { client, world } = { client: this.#client, world: this.#world };
      const read = (raw: unknown): R | null => project(raw as Json);
      const one = new Reflector<R>({ client, world, log, kind, query, store, project: read });
      void one.run(signal);
      return one.synced;
    };
    await Promise.all([
      reflector(clusterKind, {}, projectCluster, this.#clusters),
      reflector(statefulSets, { labelSelector: memberSelector }, sightOf, this.#statefulSets),
    ]);
    for (const name of [watchedNamespace, ...Array.from({ length: otherNamespaces }, (_, one) => `fleet-${one}`)]) {
      await this.#client.create(namespaces, {}, { metadata: { name } });
    }
    for (let number = 0; number < this.#policies; number += 1) {
      await this.#client.create(policyKind, {}, policyOf(team(number)));
    }
  }

  get count(): number {
    return this.#count;
  }

  get all(): readonly FleetCluster[] {
    return Array.from({ length: this.#count }, (_, index) => fleetCluster(index));
  }

  /** Those that are looked at closely. */
  get watched(): readonly FleetCluster[] {
    return this.all.filter(({ namespace }) => namespace === watchedNamespace);
  }

  /** Makes as many as are missing; each begins at the image that the others have. */
  async grow(count: number): Promise<void> {
    const first = this.#count;
    this.#count = count;
    const more = this.all.slice(first).map((cluster, index) => ({ ...cluster, labels: this.#labels(first + index) }));
    await atOnce(more, async ({ namespace, name, labels }) => {
      await this.#client.create(rolloutKind, { namespace }, this.#rolloutOf(namespace, name));
      const cluster = sampleCluster({ name, namespace, replicas: members, image: this.#image, labels });
      await this.#client.create(clusterKind, { namespace }, cluster);
    });
  }

  /** A new template for each of them. Calls back for each that has been asked. */
  async change(clusters: readonly FleetCluster[], onChanged: (cluster: FleetCluster) => void): Promise<void> {
    this.#revision += 1;
    const containers = [{ name: mysqldContainer, image: this.#image }];
    const body = { spec: { podTemplate: { spec: { containers } } } };
    await atOnce(clusters, async (cluster) => {
      onChanged(cluster);
      await this.#client.merge(clusterKind, cluster, body);
    });
  }

  /** Told of every change of one of them, until the function that this returns is called. */
  onChange(callback: (cluster: FleetCluster) => void): () => void {
    this.#changes.add(callback);
    return () => this.#changes.delete(callback);
  }

  updateRevision({ namespace, name }: FleetCluster): string {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.updateRevision ?? '';
  }

  /** Every pod is at the StatefulSet's newest revision, and ready. */
  isRolledOut({ namespace, name }: FleetCluster): boolean {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.isRolledOut === true;
  }

  /** Nobody but MOCO decides about it. */
  isReleased({ namespace, name }: FleetCluster): boolean {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.isAdopted === false;
  }

  /** MOCO reports it as healthy in its current state. */
  isHealthy(cluster: FleetCluster): boolean {
    const seen = this.#clusters.get(cluster.namespace, cluster.name);
    return (
      seen !== undefined &&
      seen.healthy &&
      seen.syncedReplicas === members &&
      seen.reconciledGeneration === seen.generation &&
      this.isRolledOut(cluster)
    );
  }

  /** The controller reports it as complete in its current state. */
  isComplete(cluster: FleetCluster): boolean {
    const { rolloutComplete, generation } = this.#clusters.get(cluster.namespace, cluster.name) ?? {};
    return (
      this.isHealthy(cluster) && rolloutComplete?.status === true && rolloutComplete.observedGeneration === generation
    );
  }

  get #image(): string {
    return `mysql:8.4.${8 + this.#revision}`;
  }

  /** Every team has as many clusters as any other. */
  #labels(index: number): Readonly<Record<string, string>> {
    return this.#policies === 0 ? {} : { [teamLabel]: team(index % this.#policies) };
  }

  /** Revision after revision within minutes is what a benchmark wants, and what the controller holds otherwise. */
  #rolloutOf(namespace: string, name: string): object {
    const { group, version, kind } = rolloutKind;
    const until = new Date(this.#world.wall() + overrideMilliseconds).toISOString();
    const overrides = [{ rule: 'RevisionFlapping', until, reason: 'measured again and again' }];
    return { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name }, spec: { overrides } };
  }
}

/** Rejects as soon as one does. */
async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  await new PQueue({ concurrency: requestsAtOnce }).addAll(items.map((item) => () => work(item)));
}

const teamLabel = 'team';
const team = (number: number): string => `team-${number}`;

/** It wants what is the default: how many there are is what is measured. */
function policyOf(name: string): object {
  const { group, version, kind } = policyKind;
  const selector = { matchLabels: { [teamLabel]: name } };
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name },
    spec: { selector, settings: { progressDeadlineSeconds: 600 } },
  };
}

function ignore(): void {}

function sightOf(raw: Json): StatefulSetSight | null {
  const [metadata, spec, status] = [object(raw['metadata']), object(raw['spec']), object(raw['status'])];
  const field = (name: string): string => text(metadata[name]) ?? '';
  const count = (name: string): number => whole(status[name], 0);
  const replicas = whole(spec['replicas'], 0);
  return {
    namespace: field('namespace'),
    name: field('name'),
    uid: field('uid'),
    resourceVersion: field('resourceVersion'),
    updateRevision: text(status['updateRevision']) ?? '',
    isAdopted:
      object(metadata['labels'])[strategyLabel] !== undefined || object(spec['updateStrategy'])['type'] === 'OnDelete',
    isRolledOut:
      status['observedGeneration'] === metadata['generation'] &&
      [count('replicas'), count('updatedReplicas'), count('readyReplicas')].every((number) => number === replicas),
  };
}
