import type { MemberFacts, NodesLeaving } from '../../core/snapshot.ts';
import { nodes as nodeKind } from '../../kube/resource.ts';
import { type LeavingSigns, leavingReason } from '../../moco/node-maintenance.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { KnownNodes } from '../facts/known-nodes.ts';
import type { Row } from './asking.ts';

/** Why each node is being taken out of service, or `null` if it is not, by the name of the node. */
type ReadNodes = ReadonlyMap<string, string | null>;

/** Whether nodes are being taken out of service. */
export const nodes: Row<
  'nodes',
  ReadNodes | null,
  { readonly nodesLeaving: NodesLeaving | null },
  Pick<MemberFacts, 'leaving'>
> = {
  asks: 'the API server: the nodes of the members, with `NodeMaintenance` and a setting that depends on them',
  lasts: 'as long as the cache delivers them; in a confirmation they are read again',
  silence: 'no step',
  initial: null,
  facts: (_, { policy, sources }) => ({
    nodesLeaving: policy.rolloutsDuringMaintenance === 'Proceed' ? null : sources.knownNodes.nodesLeaving(),
  }),
  memberFacts:
    (read, { sources: { knownNodes } }) =>
    (pod) => {
      const { node } = pod;
      if (node === null) return { leaving: null };
      return { leaving: leavingOf(node, read, knownNodes) ?? knownNodes.requested(pod) };
    },
  confirm: {
    order: 'withObjects',
    plan: ({ members }, { observed: { objects }, sources: { knownNodes } }) => {
      const ofMembers = objects.pods.filter(({ ordinal, node }) => members.includes(ordinal) && node !== null);
      const names = [...new Set(ofMembers.map(({ node }) => node ?? ''))];
      return { requests: names.length, ask: (api) => readNodes(names, knownNodes.signs, api) };
    },
    isForgotten: true,
  },
  status: {
    whileOutstanding: 'its hold',
    shows: '`members[].leaving`',
    memberFields: (_, { snapshot, policy }, ordinal) => {
      const facts = snapshot.members.find((member) => member.ordinal === ordinal);
      const matters = policy.nodeMaintenance !== 'Ignore' || policy.rolloutsDuringMaintenance === 'Wait';
      const isLeaving = matters && facts !== undefined && facts.leaving !== null;
      return { leaving: isLeaving ? `node ${facts.node} ${facts.leaving}` : undefined };
    },
  },
};

/** A fresh read has precedence, even if it shows that the node is no longer being taken out of service. */
function leavingOf(node: string, read: ReadNodes | null, known: KnownNodes): string | null {
  const now = read?.get(node);
  return now === undefined ? known.leaving(node) : now;
}

async function readNodes(names: readonly string[], signs: LeavingSigns, api: ClusterReader): Promise<ReadNodes> {
  const read = await Promise.all(names.map((name) => api.read(nodeKind, { name })));
  return new Map(names.map((name, at) => [name, leavingReason(read[at] ?? null, signs)]));
}
