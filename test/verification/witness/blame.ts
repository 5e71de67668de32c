import { type Change, ordinalOf } from './moment.ts';
import type { WitnessedPod, WitnessedSettings } from './objects.ts';

/** Why kubelets end pods, or do not start them, for their node's sake. */
const reasonsOfNodes: readonly string[] = ['Terminated', 'NodeShutdown', 'Preempting', 'NodeAffinity'];

/**
 * Whether a revision is blamed for what a node does: the status says that the pod of a member has failed at it,
 * and the last pod of that member that failed was ended by its node.
 */
export class Blame {
  /** By ordinal: the reason that its last failed pod gives. */
  readonly #endedByNode = new Map<number, string>();
  #blamed: string | null = null;

  observe({ kind, object, identity }: Change): readonly string[] {
    if (kind === 'Pod' && object !== null) this.#pod(object as WitnessedPod);
    if (kind !== 'MySQLRollout') return [];
    const settings: WitnessedSettings | null = object;
    const failing = settings?.status?.rollout?.failing;
    const reason = failing === undefined ? undefined : this.#endedByNode.get(failing.ordinal);
    if (failing === undefined || reason === undefined || !failing.message.startsWith('the pod has failed')) {
      this.#blamed = null;
      return [];
    }
    if (this.#blamed === failing.message) return [];
    this.#blamed = failing.message;
    return [
      `${identity.metadata.name}: member ${failing.ordinal} was ended by its node, and the status says "${failing.message}"`,
    ];
  }

  #pod({ metadata, status }: WitnessedPod): void {
    const { phase, reason } = status ?? {};
    if (phase !== 'Failed') return;
    if (reason !== undefined && reasonsOfNodes.includes(reason))
      this.#endedByNode.set(ordinalOf(metadata.name), reason);
    else this.#endedByNode.delete(ordinalOf(metadata.name));
  }
}
