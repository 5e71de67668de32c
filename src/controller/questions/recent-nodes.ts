import { type Json, object } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resource.ts';
import { type LeavingSigns, leavingReason, usualSigns } from '../../moco/node-maintenance.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { KnownNodes } from '../facts/known-nodes.ts';

// Nodes that were read for the question `recreatable`.

export interface NodeContext {
  readonly api: ClusterReader;
  /**
   * Whether the controller is limited to some namespaces. It may then lack the right to read nodes and
   * PersistentVolumes, which have no namespace.
   */
  readonly mayLackNodes: boolean;
}

/** `null` if the node does not exist. `unreadable` if the controller may not read the node and does not need to. */
export type NodeRead = Json | null | 'unreadable';

/** Reads the node of a pod. Resolves to `null` if the pod is not on a node yet. Rejects with `ApiError`. */
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
export class RecentNodes implements KnownNodes {
  readonly #world: Pick<World, 'monotonic'>;
  readonly #read = new Map<string, { readonly node: NodeRead; readonly atMilliseconds: number }>();

  readonly signs: LeavingSigns;
  readonly watched = false;

  readonly #assumedCordoned: string | null;

  /** @param assumedCordoned the name of a node that counts as cordoned even if it is not */
  constructor(
    world: Pick<World, 'monotonic'>,
    signs: LeavingSigns = usualSigns,
    assumedCordoned: string | null = null,
  ) {
    this.#world = world;
    this.signs = signs;
    this.#assumedCordoned = assumedCordoned;
  }

  /** Why the node is being taken out of service, according to the last read of the node; `null` if it is not. */
  leaving(name: string): string | null {
    const node = this.#read.get(name)?.node ?? null;
    return node === 'unreadable' ? null : leavingReason(node, this.signs);
  }

  requested(): null {
    return null;
  }

  nodesLeaving(): null {
    return null;
  }

  /** Reads the node of a pod, unless it was read recently. Rejects with `ApiError`. */
  async read(context: NodeContext, { node: name }: Pick<PodRecord, 'node'>): Promise<NodeRead> {
    if (name === null) return null;
    const now = this.#world.monotonic();
    const recent = this.#read.get(name);
    if (recent !== undefined && now - recent.atMilliseconds < keptMilliseconds) return recent.node;
    const found = await readNode(context, { node: name });
    const node = name === this.#assumedCordoned ? cordoned(found) : found;
    this.#read.set(name, { node, atMilliseconds: now });
    return node;
  }
}

function cordoned(node: NodeRead): NodeRead {
  if (node === null || node === 'unreadable') return node;
  return { ...node, spec: { ...object(node['spec']), unschedulable: true } };
}
