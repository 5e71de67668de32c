import { pods } from '../../../src/kube/resource.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Disruption } from '../witness/disruption.ts';
import { participates } from '../witness/member.ts';
import { clusterName, type Simulation } from './simulation.ts';

/** The program may go by what it has read of nodes and volumes for so long. */
const knownMilliseconds = 75_000;

type PlacedPod = Pick<StoredObject, 'metadata'>;

/**
 * Where members may be: on a node that takes pods and, if the user keeps members apart, has no other one. Objects if the
 * program takes a member that works although its next pod has had no place for so long that the program has to know.
 */
export class Places {
  readonly #simulation: Simulation;
  readonly #isApart: boolean;
  /** By ordinal: since when the next pod of the member has had no place. */
  readonly #noneSince = new Map<number, number>();

  constructor(simulation: Simulation, isApart: boolean) {
    this.#simulation = simulation;
    this.#isApart = isApart;
  }

  /** The nodes that do not take the pod. */
  closedTo({ metadata }: PlacedPod): ReadonlySet<string> {
    const { nodeImages, server, namespace } = this.#simulation;
    const closed = new Set(nodeImages.closed);
    if (!this.#isApart) return closed;
    for (const other of server.store.all(pods)) {
      const { nodeName } = record(other['spec']);
      const isSibling = other.metadata.namespace === namespace && other.metadata.name !== metadata.name;
      const isMember = isSibling && other.metadata.name.startsWith(`moco-${clusterName}-`);
      if (isMember && typeof nodeName === 'string') closed.add(nodeName);
    }
    return closed;
  }

  /** A node or a pod has changed. */
  look(): void {
    const { members, clock, kubelets, nodeImages, namespace } = this.#simulation;
    for (const member of members) {
      const ordinal = Number(member.metadata.name.slice(member.metadata.name.lastIndexOf('-') + 1));
      const closed = this.closedTo(member);
      const hasNone = nodeImages.names.every((name) => closed.has(name));
      if (!hasNone) this.#noneSince.delete(ordinal);
      else if (!this.#noneSince.has(ordinal)) this.#noneSince.set(ordinal, clock.nowMilliseconds);
    }
    // What was Pending may have a place now.
    if (members.some(({ spec }) => record(spec)['nodeName'] === undefined)) kubelets.checkAll(namespace);
  }

  disrupted({ verb, ordinal, uid, confirmingSince }: Disruption): void {
    const since = this.#noneSince.get(ordinal);
    if (since === undefined || confirmingSince.atMilliseconds - since < knownMilliseconds) return;
    if (!['evict', 'delete', 'demote'].includes(verb)) return;
    const { witness, clock, moment } = this.#simulation;
    const member = moment.members.find(({ pod }) => pod.metadata.uid === uid);
    if (member === undefined) return;
    const { deletionTimestamp: _, ...metadata } = member.pod.metadata;
    if (!participates(moment, { ...member, pod: { ...member.pod, metadata } })) return;
    const seconds = ((clock.nowMilliseconds - since) / 1000).toFixed(0);
    witness.object(
      'place',
      `took member ${ordinal}, whose next pod has had no node for ${seconds} s`,
      clock.nowMilliseconds,
    );
  }
}
