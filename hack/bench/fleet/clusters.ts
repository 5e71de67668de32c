import PQueue from 'p-queue';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import { identityOf, type Json, object, text, whole } from '../../../src/base/json.ts';
import { namespaces, statefulSets } from '../../../src/kube/resource.ts';
import { nameOf, Store, type Stored } from '../../../src/kube/store.ts';
import {
  clusterKind,
  memberSelector,
  mysqldContainer,
  statefulSetName,
  strategyLabel,
} from '../../../src/moco/names.ts';
import { projectCluster } from '../../../src/moco/projections.ts';
import type { ClusterRecord } from '../../../src/moco/records.ts';
import { sampleCluster } from '../../../test/support/moco/sample.ts';
import type { Access } from '../../../test/support/object-client.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { Watching } from '../../../test/support/watching.ts';

// The clusters of the fleet benchmark: creates, changes and watches them.

export const members = 3;
const namespaceCount = 10;
const requestsAtOnce = 16;
const overrideMilliseconds = 24 * 3_600_000;
/**
 * How long to wait for a change before giving up. A PodDisruptionBudget may allow no disruption for two minutes, and on
 * two cores a thousand clusters finish in batches.
 */
const patienceMilliseconds = 300_000;
const lookMilliseconds = 1000;

export interface FleetCluster {
  readonly namespace: string;
  readonly name: string;
}

/** What a StatefulSet shows about the rollout. */
interface StatefulSetSight extends Stored {
  readonly updateRevision: string;
  /** Every pod is at the update revision, and ready. */
  readonly isRolledOut: boolean;
  /** The StatefulSet has this program's label, or its update strategy is OnDelete. */
  readonly isAdopted: boolean;
}

const fleetNamespace = (index: number): string => `fleet-${index % namespaceCount}`;

/** The cluster with this number, counted from 0. */
const fleetCluster = (_: unknown, index: number): FleetCluster => ({
  namespace: fleetNamespace(index),
  name: `db-${String(index).padStart(4, '0')}`,
});

/** The clusters of the fleet, as the benchmark process watches them. */
export class Clusters {
  readonly #access: Access;
  readonly #watching: Watching;
  readonly #clusters = new Store<ClusterRecord>({});
  readonly #statefulSets = new Store<StatefulSetSight>({});
  readonly #changes = new Set<(cluster: FleetCluster) => void>();
  readonly #policies: number;
  #count = 0;
  #revision = 0;

  constructor(access: Access, policies: number) {
    this.#policies = policies;
    this.#access = access;
    const { warn } = console;
    this.#watching = new Watching(access, { ...silentLog, warn, error: warn });
    this.#watching.follow(this.#clusters, clusterKind, projectCluster);
    this.#watching.follow(this.#statefulSets, statefulSets, sightOf, { labelSelector: memberSelector });
    const tell = ({ namespace, name }: FleetCluster): void => {
      for (const change of this.#changes) change({ namespace, name });
    };
    // Objects are only added here, never removed.
    this.#clusters.subscribe(({ after }) => after && tell(after));
    this.#statefulSets.subscribe(({ after }) => {
      if (after) tell({ namespace: after.namespace, name: after.name.slice(statefulSetName('').length) });
    });
  }

  /** Resolves once everything has been listed and the objects that clusters need exist. */
  async start(): Promise<void> {
    const { client } = this.#access;
    await this.#watching.start();
    for (let index = 0; index < namespaceCount; index += 1) {
      await client.create(namespaces, {}, { metadata: { name: fleetNamespace(index) } });
    }
    for (let number = 0; number < this.#policies; number += 1) {
      await client.create(policyKind, {}, policyOf(team(number)));
    }
  }

  stop(): Promise<void> {
    return this.#watching.stop();
  }

  get count(): number {
    return this.#count;
  }

  get all(): readonly FleetCluster[] {
    return Array.from({ length: this.#count }, fleetCluster);
  }

  /** Creates the missing clusters, with the same image as the existing ones. */
  async grow(count: number): Promise<void> {
    const { client } = this.#access;
    const first = this.#count;
    this.#count = count;
    const more = this.all.slice(first).map((cluster, index) => ({ ...cluster, labels: this.#labels(first + index) }));
    await atOnce(more, async ({ namespace, name, labels }) => {
      await client.create(rolloutKind, { namespace }, this.#rolloutOf(namespace, name));
      const cluster = sampleCluster({ name, namespace, replicas: members, image: this.#image, labels });
      await client.create(clusterKind, { namespace }, cluster);
    });
  }

  /** Gives each cluster a new pod template. Calls back after each request. */
  async change(onChanged: (cluster: FleetCluster) => void): Promise<void> {
    this.#revision += 1;
    const containers = [{ name: mysqldContainer, image: this.#image }];
    const body = { spec: { podTemplate: { spec: { containers } } } };
    await atOnce(this.all, async (cluster) => {
      onChanged(cluster);
      await this.#access.client.merge(clusterKind, cluster, body);
    });
  }

  /**
   * Resolves once every cluster is in the expected state. Rejects when nothing has changed for too long; the error
   * contains the number of missing clusters.
   *
   * @param what the expected state, in words that can follow "expected"
   * @param onProgress called with the number of missing clusters each time that a cluster reaches the state
   */
  async untilEach(
    isSo: (cluster: FleetCluster) => boolean,
    what: string,
    onProgress: (cluster: FleetCluster, missing: number) => void = () => undefined,
  ): Promise<void> {
    const missing = new Set(this.all.filter((cluster) => !isSo(cluster)).map(nameOf));
    if (missing.size === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let lastChange = performance.now();
    const changed = (cluster: FleetCluster): void => {
      if (!missing.has(nameOf(cluster))) return;
      lastChange = performance.now();
      if (!isSo(cluster)) return;
      missing.delete(nameOf(cluster));
      onProgress(cluster, missing.size);
      if (missing.size === 0) resolve();
    };
    this.#changes.add(changed);
    const watchdog = setInterval(() => {
      if (performance.now() - lastChange < patienceMilliseconds) return;
      const [first = ''] = missing;
      const late = `${missing.size} of ${this.#count}, such as ${first}, are not`;
      reject(new Error(`Expected ${what}; ${late} after ${patienceMilliseconds / 1000} s`));
    }, lookMilliseconds);
    try {
      await promise;
    } finally {
      clearInterval(watchdog);
      this.#changes.delete(changed);
    }
  }

  updateRevision({ namespace, name }: FleetCluster): string {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.updateRevision ?? '';
  }

  /** Whether every pod is ready and at the StatefulSet's newest revision. */
  isRolledOut({ namespace, name }: FleetCluster): boolean {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.isRolledOut === true;
  }

  /** Whether the controller has released the cluster, so that only MOCO updates it. */
  isReleased({ namespace, name }: FleetCluster): boolean {
    return this.#statefulSets.get(namespace, statefulSetName(name))?.isAdopted === false;
  }

  /** Whether MOCO reports that it has reconciled the cluster's current generation and that the cluster is healthy. */
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

  /** Whether the controller reports the rollout of the cluster's current generation as complete. */
  isComplete(cluster: FleetCluster): boolean {
    const { rolloutComplete, generation } = this.#clusters.get(cluster.namespace, cluster.name) ?? {};
    return (
      this.isHealthy(cluster) && rolloutComplete?.status === true && rolloutComplete.observedGeneration === generation
    );
  }

  get #image(): string {
    return `mysql:8.4.${8 + this.#revision}`;
  }

  /** Every team has the same number of clusters. */
  #labels(index: number): Readonly<Record<string, string>> {
    return this.#policies === 0 ? {} : { [teamLabel]: team(index % this.#policies) };
  }

  /**
   * A benchmark creates many revisions within minutes. Without an override the controller would hold such a rollout.
   */
  #rolloutOf(namespace: string, name: string): object {
    const { group, version, kind } = rolloutKind;
    const until = new Date(this.#access.world.wall() + overrideMilliseconds).toISOString();
    const overrides = [{ rule: 'RevisionFlapping', until, reason: 'measured again and again' }];
    return { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name }, spec: { overrides } };
  }
}

/** Runs the work for all items in parallel. Rejects as soon as the work for one item rejects. */
async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  await new PQueue({ concurrency: requestsAtOnce }).addAll(items.map((item) => () => work(item)));
}

const teamLabel = 'team';
const team = (number: number): string => `team-${number}`;

/** The policy of a team. It only sets a default, because only the number of policies matters to the measurement. */
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

function sightOf(raw: Json): StatefulSetSight {
  const [metadata, spec, status] = [object(raw['metadata']), object(raw['spec']), object(raw['status'])];
  const count = (name: string): number => whole(status[name], 0);
  const replicas = whole(spec['replicas'], 0);
  return {
    ...identityOf(raw),
    updateRevision: text(status['updateRevision']) ?? '',
    isAdopted:
      object(metadata['labels'])[strategyLabel] !== undefined || object(spec['updateStrategy'])['type'] === 'OnDelete',
    isRolledOut:
      status['observedGeneration'] === metadata['generation'] &&
      [count('replicas'), count('updatedReplicas'), count('readyReplicas')].every((number) => number === replicas),
  };
}
