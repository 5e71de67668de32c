import { rolloutKind } from '../../../src/api/rollout.ts';
import { path, pods, statefulSets } from '../../../src/kube/resource.ts';
import { mysqldContainer, preflightLabel } from '../../../src/moco/names.ts';
import { preflightName } from '../../../src/moco/preflight-pod.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { withContainerFault } from '../../support/nodes/fault-script.ts';
import type { PodFaults } from '../../support/nodes/faults.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import { runsOnce } from '../../support/nodes/run-once.ts';
import type { Lasting } from './act.ts';
import { clusterName, type Simulation } from './simulation.ts';

/** What every pod that fetches images meets with for a while. */
export interface FetchTrouble extends Lasting {
  readonly how: 'imagePull' | 'hangs' | 'neverScheduled' | 'evicted' | 'deleted';
}

const neverScheduled = (faults: PodFaults): PodFaults => ({ ...faults, neverScheduled: true });
const nodeLost =
  (isLost: boolean) =>
  (faults: PodFaults): PodFaults => ({ ...faults, nodeLost: isLost });
/** A moment after it was made. */
const [soonestMilliseconds, latestMilliseconds] = [200, 4_000];

/** The pods that fetch images for the program, and those of others that look like them. */
export class Fetchers {
  readonly #simulation: Simulation;
  readonly #chance: Simulation['chance'];
  #trouble: { readonly how: FetchTrouble['how']; readonly strikes: (struck: boolean) => void } | null = null;
  /** Of each member whose node is lost. */
  #lost: readonly string[] = [];
  #isSquatted = false;
  /** Of the MySQLRollouts that there have been. */
  readonly #rollouts = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#chance = simulation.chance.fork('fetchers');
  }

  changed({ kind, object, type }: StoreChange): void {
    if (kind === rolloutKind) this.#rollouts.add(object.metadata.uid);
    if (kind === statefulSets && this.#isSquatted) this.#simulation.clock.after(0, () => this.#squat());
    if (kind !== pods || type === 'DELETED' || !isFetcher(object)) return;
    if (type === 'ADDED') this.#meets(object);
    if (this.#lost.includes(nodeOf(object))) this.#fault(object, nodeLost(true));
  }

  /** Made by the program: its containers run once, and a MySQLRollout owns it. */
  isOfProgram(pod: StoredObject): boolean {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return runsOnce(pod as unknown as Pod) && this.#rollouts.has(owner?.uid ?? '');
  }

  /** For a while each of them meets with that. */
  failFor({ how, forMilliseconds }: FetchTrouble, strikes: (struck: boolean) => void): void {
    const trouble = { how, strikes };
    this.#trouble = trouble;
    for (const pod of this.#all) this.#meets(pod);
    this.#simulation.clock.after(forMilliseconds, () => {
      if (this.#trouble !== trouble) return;
      this.#trouble = null;
      for (const { metadata } of this.#all) this.#simulation.kubelets.heal(this.#simulation.namespace, metadata.name);
    });
  }

  /** With the node of a member they are lost as well, and the node controller says so of the node. */
  loseNode(node: string, silenceMilliseconds: number): () => void {
    const { clock, nodeImages } = this.#simulation;
    this.#lost = [...this.#lost, node];
    for (const pod of this.#all) if (nodeOf(pod) === node) this.#fault(pod, nodeLost(true));
    clock.after(silenceMilliseconds, () => {
      if (this.#lost.includes(node)) nodeImages.setReady(node, false);
    });
    return () => {
      this.#lost = this.#lost.toSpliced(this.#lost.indexOf(node), 1);
      if (this.#lost.includes(node)) return;
      nodeImages.setReady(node, true);
      for (const pod of this.#all) if (nodeOf(pod) === node) this.#fault(pod, nodeLost(false));
    };
  }

  /** Somebody's pods with the label of a preflight, and some with the names that it would give its own. */
  imitateFor(forMilliseconds: number): boolean {
    const { clock } = this.#simulation;
    const began = this.#imitate('moco-rollout-preflight-of-another-client', { [preflightLabel]: clusterName });
    this.#isSquatted = true;
    this.#squat();
    clock.after(forMilliseconds, () => {
      this.#isSquatted = false;
      const { namespace, server } = this.#simulation;
      const all = server.store.all(pods).filter(({ metadata }) => metadata.namespace === namespace);
      for (const { metadata } of all.filter(isImitation)) {
        this.#asked({ method: 'DELETE', path: this.#podPath(metadata.name), body: {} });
      }
    });
    return began;
  }

  #squat(): void {
    const { namespace, nodeImages, server } = this.#simulation;
    const { store } = server;
    const revision = record(store.get(statefulSets, namespace, `moco-${clusterName}`)?.['status'])['updateRevision'];
    const uid = store.get(rolloutKind, namespace, clusterName)?.metadata.uid;
    if (typeof revision !== 'string' || uid === undefined) return;
    for (const node of nodeImages.names.slice(1)) {
      const name = preflightName(uid, revision, node, 'images');
      if (store.get(pods, namespace, name) === null) this.#imitate(name, {});
    }
  }

  #imitate(name: string, labels: Readonly<Record<string, string>>): boolean {
    const metadata = { name, labels: { ...labels, [imitates]: 'yes' } };
    const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example/other:0' }] };
    const { namespace } = this.#simulation;
    return this.#asked({ method: 'POST', path: path(pods, { namespace }), body: { metadata, spec } });
  }

  get #all(): readonly StoredObject[] {
    const { namespace, server } = this.#simulation;
    return server.store.all(pods).filter((pod) => pod.metadata.namespace === namespace && isFetcher(pod));
  }

  #meets(pod: StoredObject): void {
    if (this.#trouble === null) return;
    const { how, strikes } = this.#trouble;
    switch (how) {
      case 'imagePull':
      case 'hangs':
        strikes(true);
        return this.#fault(pod, withContainerFault(mysqldContainer, how));
      case 'neverScheduled':
        strikes(true);
        return this.#fault(pod, neverScheduled);
      case 'evicted':
      case 'deleted':
        this.#simulation.clock.after(this.#chance.between(soonestMilliseconds, latestMilliseconds), () =>
          strikes(this.#ends(pod, how)),
        );
    }
  }

  #ends({ metadata: { name, uid } }: StoredObject, how: 'evicted' | 'deleted'): boolean {
    if (how === 'deleted') {
      return this.#asked({ method: 'DELETE', path: this.#podPath(name), body: { preconditions: { uid } } });
    }
    const status = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' };
    const body = { metadata: { uid }, status };
    return this.#asked({ method: 'PATCH', path: `${this.#podPath(name)}/status`, body });
  }

  #podPath(name: string): string {
    return path(pods, { namespace: this.#simulation.namespace, name });
  }

  #asked(request: Parameters<Simulation['request']>[0]): boolean {
    return this.#simulation.request(request).code < 300;
  }

  #fault({ metadata }: StoredObject, change: (faults: PodFaults) => PodFaults): void {
    this.#simulation.kubelets.fault(this.#simulation.namespace, metadata.name, change);
  }
}

/** A label that the program knows nothing of. */
const imitates = 'example.com/imitates';
const isImitation = ({ metadata }: StoredObject): boolean => metadata.labels?.[imitates] !== undefined;
const isFetcher = (pod: StoredObject): boolean => runsOnce(pod as unknown as Pod) && !isImitation(pod);
const nodeOf = (pod: StoredObject): string => String(record(pod['spec'])['nodeName']);
