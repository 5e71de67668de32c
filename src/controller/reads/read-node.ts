import type { TiedToNode } from '../../core/on-demand-facts.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { nodes, persistentVolumes } from '../../kube/resource.ts';
import type { World } from '../../kube/world.ts';
import { type Json, object, objects, text } from '../../moco/json.ts';
import { conditionTaintPrefix, matches, refusalsOf, type Tie, tieOfVolume, tiesOf } from '../../moco/nodes.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

export interface NodeContext {
  readonly api: ClusterReader;
  /**
   * Nodes and PersistentVolumes have no namespace: whoever works in some namespaces alone may lack the right to them.
   */
  readonly mayLackNodes: boolean;
}

/** A node that is gone is `null`; `unreadable` is one that may not be read, and need not be. */
export type NodeRead = Json | null | 'unreadable';

/** The node of a pod; `null` if it has none yet. Rejects with `ApiError`. */
export async function readNode(
  { api, mayLackNodes }: NodeContext,
  { node }: Pick<PodRecord, 'node'>,
): Promise<NodeRead> {
  try {
    return node === null ? null : await api.read(nodes, { name: node });
  } catch (error) {
    if (mayLackNodes && isForbidden(error)) return 'unreadable';
    throw error;
  }
}

const keptMilliseconds = 10_000;

/** Nodes as they were read for a member of whichever cluster, for a few seconds: many members share a node. */
export class RecentNodes {
  readonly #world: Pick<World, 'monotonic'>;
  readonly #read = new Map<string, { readonly node: NodeRead; readonly atMilliseconds: number }>();

  constructor(world: Pick<World, 'monotonic'>) {
    this.#world = world;
  }

  /** Reads the node of a pod if it was not read recently. Rejects with `ApiError`. */
  async read(context: NodeContext, { node: name }: Pick<PodRecord, 'node'>): Promise<NodeRead> {
    if (name === null) return null;
    const now = this.#world.monotonic();
    const recent = this.#read.get(name);
    if (recent !== undefined && now - recent.atMilliseconds < keptMilliseconds) return recent.node;
    const node = await readNode(context, { node: name });
    this.#read.set(name, { node, atMilliseconds: now });
    return node;
  }
}

export interface Placement {
  readonly pod: PodRecord;
  readonly tolerations: readonly Json[];
  readonly claims: readonly Json[];
  readonly revision: string;
}

/**
 * Whether the pod is tied to a node that takes none; `null` if not. The other nodes, the volumes and the template are
 * read only where its own node takes no pods. Rejects with `ApiError`.
 */
export async function readTied(
  { pod, tolerations, claims, revision }: Placement,
  node: NodeRead,
  { api }: Pick<NodeContext, 'api'>,
): Promise<TiedToNode | null> {
  if (pod.node === null || node === 'unreadable' || refusalsOf(node, tolerations).length === 0) return null;
  const template = (await api.readTemplate(pod.namespace, revision)) ?? {};
  const tolerated = [...objects(object(template['spec'])['tolerations']), ...tolerations.filter(isOfKubernetes)];
  const refusals = refusalsOf(node, tolerated);
  if (refusals.length === 0) return null;
  const volumes = claims.map((claim) => text(object(claim['spec'])['volumeName'])).filter((name) => name !== null);
  const read = await Promise.all(volumes.map((name) => api.read(persistentVolumes, { name })));
  const ofVolumes = read.flatMap((volume) => (volume === null ? [] : [tieOfVolume(volume)]));
  const ties = [...ofVolumes.filter((tie) => tie !== null), ...tiesOf(template)];
  if (ties.length === 0) return null;
  const others = (await api.listNodes()).filter(
    (other) => object(other['metadata'])['name'] !== pod.node && refusalsOf(other, tolerated).length === 0,
  );
  if (others.some((other) => ties.every((tie) => matches(tie, other)))) return null;
  const excludes = (tie: Tie): boolean => others.some((other) => !matches(tie, other));
  return { nodeName: pod.node, refusals, ties: ties.filter(excludes).map(({ what }) => what) };
}

/** Admission adds them to pods, such as those of nodes that are not ready. */
const isOfKubernetes = ({ key }: Json): boolean => (text(key) ?? '').startsWith(conditionTaintPrefix);
