import { ApiError, isNotFound } from '../../src/kube/api-error.ts';
import { pods, statefulSets } from '../../src/kube/resource.ts';
import {
  annotationOn,
  clusterKind,
  clusterNameLabel,
  reconciliationStoppedAnnotation,
  revisionHashLabel,
} from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import { mergePatch } from '../support/merge-patch.ts';
import { prefixedName } from '../support/moco/names.ts';
import type { MySQLCluster, Pod, StatefulSet } from '../support/moco/objects.ts';
import { perform } from '../support/moco/perform.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { defaultSettings } from '../support/moco/settings.ts';
import { statefulSetBody } from '../support/moco/stateful-set.ts';
import type { Nodes } from '../support/nodes/driver.ts';
import type { ObjectClient } from '../support/object-client.ts';

type Strategy = StatefulSet['spec']['updateStrategy'];

const namespace = 'default';

/** Of all that share a control plane. */
let made = 0;

/** A moco-controller that runs leaves these clusters alone. */
const annotations = { [reconciliationStoppedAnnotation]: annotationOn };

/** Clusters whose StatefulSets are applied as MOCO applies them, each by a call. No other program acts on them. */
export class AppliedClusters {
  readonly #client: ObjectClient;
  readonly #nodes: Pick<Nodes, 'neverSchedule'> | null;
  readonly #clusters = new Map<string, MySQLCluster>();

  /** @param nodes those of the control plane, which get no pod of these clusters */
  constructor(client: ObjectClient, nodes: Pick<Nodes, 'neverSchedule'> | null = null) {
    this.#client = client;
    this.#nodes = nodes;
  }

  /** A new one of three replicas; resolves to its name. */
  async make(): Promise<string> {
    const name = `applied-${made++}`;
    for (const ordinal of [0, 1, 2]) this.#nodes?.neverSchedule(namespace, `${prefixedName(name)}-${ordinal}`);
    const body = sampleCluster({ name, namespace, annotations });
    this.#clusters.set(name, await this.#client.create<MySQLCluster>(clusterKind, { namespace }, body));
    await this.apply(name);
    return name;
  }

  /** One whose StatefulSet is patched so, one after the other. */
  async makeWith(...bodies: readonly object[]): Promise<string> {
    const name = await this.make();
    for (const body of bodies) await this.patch(name, body);
    return name;
  }

  /** The first apply makes MOCO the owner of what a patch owned; from then on nothing is new. */
  async makeApplied(...bodies: readonly object[]): Promise<string> {
    const name = await this.makeWith(...bodies);
    await this.apply(name);
    return name;
  }

  /** Applies the StatefulSet as MOCO does for a MySQLCluster that is changed so. */
  async apply(name: string, change: object = {}): Promise<void> {
    const cluster = mergePatch(this.#clusters.get(name), change) as MySQLCluster;
    await perform(this.#client, {
      verb: 'apply',
      kind: 'StatefulSet',
      ...placeOf(name),
      body: statefulSetBody(cluster, defaultSettings),
    });
  }

  /** Deletes the StatefulSet and leaves its pods, as MOCO does before it applies another volume template. */
  async orphan(name: string): Promise<void> {
    await this.#client.remove(statefulSets, placeOf(name), { propagationPolicy: 'Orphan' });
    await until('the StatefulSet is gone', () =>
      this.read(name).then(
        () => false,
        (error: unknown) => {
          if (isNotFound(error)) return true;
          throw error;
        },
      ),
    );
  }

  read(name: string): Promise<StatefulSet> {
    return this.#client.get<StatefulSet>(statefulSets, placeOf(name), { priority: 'read' });
  }

  /** Once the StatefulSet controller has written all that it has to about it. */
  async settled(name: string): Promise<StatefulSet> {
    let found = await this.read(name);
    await until('the StatefulSet controller has looked at it', async () => {
      found = await this.read(name);
      const { metadata, status } = found;
      return status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
    });
    return found;
  }

  async strategy(name: string): Promise<Strategy> {
    return (await this.read(name)).spec.updateStrategy;
  }

  /** Its pods, by their names. */
  async pods(name: string): Promise<readonly { readonly uid: string; readonly revision: string | undefined }[]> {
    const { items } = await this.#client.list<{ items: readonly Pod[] }>(
      pods,
      { namespace },
      { query: { labelSelector: `${clusterNameLabel}=${name}` }, priority: 'read' },
    );
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
      .map(({ metadata }) => ({ uid: metadata.uid ?? '', revision: metadata.labels?.[revisionHashLabel] }));
  }

  /** Somebody deletes the pod; resolves once another one has its name. */
  async takePod(name: string, ordinal: number): Promise<void> {
    const before = await this.pods(name);
    const place = { namespace, name: `${prefixedName(name)}-${ordinal}` };
    await this.#client.remove(pods, place, { gracePeriodSeconds: 0 });
    await until('the pod has a successor', async () => {
      const now = await this.pods(name);
      return now.length === before.length && now[ordinal]?.uid !== before[ordinal]?.uid;
    });
  }

  /** What `patch` would come to. */
  dryRun(name: string, body: object): Promise<StatefulSet> {
    return this.#client.merge<StatefulSet>(statefulSets, placeOf(name), body, {
      query: { dryRun: 'All' },
      priority: 'read',
    });
  }

  /** A merge patch of the StatefulSet by an unnamed client. */
  patch(name: string, body: object): Promise<StatefulSet> {
    return this.#client.merge<StatefulSet>(statefulSets, placeOf(name), body, { query: { fieldManager: 'somebody' } });
  }
}

const placeOf = (name: string) => ({ namespace, name: prefixedName(name) });

/** `done`, or the API server's refusal as `<code> <message>`. */
export async function outcome(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return 'done';
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
}
