import type { Json } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resource.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

export interface NodeContext {
  readonly api: ClusterReader;
  /**
   * Nodes and PersistentVolumes have no namespace: a controller that is limited to some namespaces may lack the right
   * to read them.
   */
  readonly mayLackNodes: boolean;
}

/** A node that is gone is `null`; `unreadable` is one that the controller may not read and does not need. */
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

/** Nodes that were read in the last few seconds, for members of any cluster: many members share a node. */
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
