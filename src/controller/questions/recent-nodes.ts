import { type Json, object } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { freshRecreatableSeconds } from '../../core/on-demand-facts.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resource.ts';
import { type LeavingSigns, leavingReason, usualSigns } from '../../moco/node-maintenance.ts';
import { schedulingFields } from '../../moco/nodes.ts';
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

/** Reads of the same node within this time are shared. */
const sharedMilliseconds = 10_000;
/**
 * A read is remembered for this long. An answer to `recreatable` may be based on a shared read, and is used as long as
 * it is fresh. Meanwhile, this program has to know which members leave their nodes.
 */
const keptMilliseconds = freshRecreatableSeconds * 1000 + sharedMilliseconds;

interface RecentNode {
  /** Only the fields that matter for scheduling: a Node may list hundreds of images and annotations. */
  readonly node: NodeRead;
  readonly leaving: string | null;
  readonly atMilliseconds: number;
}

/** Nodes that were read recently, for members of any cluster: many members share a node. */
export class RecentNodes implements KnownNodes {
  readonly #world: Pick<World, 'monotonic'>;
  /** The last read of each node, by name. */
  readonly #read = new Map<string, RecentNode>();

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

  /** How many nodes are remembered. */
  get size(): number {
    return this.#read.size;
  }

  /** Why the node is being taken out of service, according to a recent read of the node; `null` if it is not. */
  leaving(name: string): string | null {
    const read = this.#read.get(name);
    return read !== undefined && this.#isWithin(read, keptMilliseconds) ? read.leaving : null;
  }

  requested(): null {
    return null;
  }

  nodesLeaving(): null {
    return null;
  }

  /** Reads the node of a pod, unless a recent read can be shared. Rejects with `ApiError`. */
  async read(context: NodeContext, { node: name }: Pick<PodRecord, 'node'>): Promise<NodeRead> {
    if (name === null) return null;
    const atMilliseconds = this.#world.monotonic();
    const recent = this.#read.get(name);
    if (recent !== undefined && this.#isWithin(recent, sharedMilliseconds)) return recent.node;
    const found = await readNode(context, { node: name });
    const whole = name === this.#assumedCordoned ? cordoned(found) : found;
    const isReadable = whole !== null && whole !== 'unreadable';
    const node = isReadable ? schedulingFields(whole) : whole;
    const leaving = isReadable ? leavingReason(whole, this.signs) : null;
    for (const [other, read] of this.#read) if (!this.#isWithin(read, keptMilliseconds)) this.#read.delete(other);
    this.#read.set(name, { node, leaving, atMilliseconds });
    return node;
  }

  #isWithin({ atMilliseconds }: RecentNode, milliseconds: number): boolean {
    return this.#world.monotonic() - atMilliseconds < milliseconds;
  }
}

function cordoned(node: NodeRead): NodeRead {
  if (node === null || node === 'unreadable') return node;
  return { ...node, spec: { ...object(node['spec']), unschedulable: true } };
}
