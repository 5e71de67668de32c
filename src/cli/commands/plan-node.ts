import type { RolloutPolicy } from '../../core/policy.ts';
import { counted } from '../../core/sentences.ts';
import { UsageError } from '../../failure.ts';
import { nodes as nodeKind, pods as podKind } from '../../kube/resource.ts';
import { keyOf, nameOf } from '../../kube/store.ts';
import { memberSelector } from '../../moco/names.ts';
import { leavingReason, usualSigns } from '../../moco/node-maintenance.ts';
import { projectPod } from '../../moco/pod-projection.ts';
import { observeCluster } from '../cluster/cluster-snapshot.ts';
import { clustersIn, listEach } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import type { Values } from '../option.ts';
import { apart, type Line, line, piece } from '../terminal/lines.ts';
import { writeResult } from '../terminal/output.ts';
import { planLines, type ShownPlan, shownPlan } from './cluster-plan.ts';
import { formatOfPlan, type planOptions } from './plan-options.ts';

// The command `plan --node`.

type Given = Pick<Values<typeof planOptions>, 'filename' | 'fleet' | 'assumeStale' | 'assume' | 'output'>;

/**
 * Shows which members would leave the node, in which order, and what would keep members on the node. Writes nothing.
 */
export async function planNode(
  session: Session,
  node: string,
  names: readonly string[],
  { filename, fleet, assumeStale, assume: assumed = {}, output }: Given,
): Promise<number> {
  const { host, world } = session;
  const others = [names.length > 0 && 'a NAME', filename !== undefined && '--filename', fleet && '--fleet'];
  const second = [...others, assumeStale && '--assume-stale'].find((one) => one !== false);
  if (second !== undefined) throw new UsageError(`expected either --node or ${second}, got both`);
  const format = formatOfPlan(output);
  const object = await session.api.read(nodeKind, { name: node }, 'read');
  if (object === null) throw new CommandError(`there is no node ${node} on ${session.server}`);
  const query = { labelSelector: memberSelector, fieldSelector: `spec.nodeName=${node}` };
  const found = await listEach(session, podKind, null, query, projectPod);
  const pods = found.filter((pod) => pod !== null).filter((pod) => pod.node === node);
  const keys = new Set(pods.map(({ namespace, clusterName }) => keyOf(namespace, clusterName)));
  const clusters = (await clustersIn(session, null)).filter((cluster) => keys.has(nameOf(cluster)));
  const plans: NodePlan[] = [];
  for (const cluster of clusters) {
    const observation = await observeCluster(session, cluster, null, node);
    const { mode, nodeMaintenance } = observation.observe(assumed).policy;
    const ignores = nodeMaintenance === 'Ignore';
    const evacuates = { ...assumed, ...(ignores && { nodeMaintenance: 'Evacuate' as const }) };
    const shown = shownPlan(observation, evacuates, world.wall(), noteOn(mode, nodeMaintenance));
    const before = pods.filter(({ namespace, clusterName }) => keyOf(namespace, clusterName) === nameOf(cluster));
    const members = before.map(({ name }) => name);
    plans.push({ ...shown, members, left: members.filter((name) => shown.stay.includes(name)) });
  }
  const left = plans.flatMap(({ namespace, left: names }) => names.map((name) => `${namespace}/${name}`));
  const data = { node, leaving: leavingReason(object, usualSigns), members: pods.map(nameOf), left, plans };
  writeResult(host, format, data, () => nodeLines(data, session));
  return 0;
}

/** What the cluster's setting `nodeMaintenance` means for the plan. */
function noteOn(mode: RolloutPolicy['mode'], setting: RolloutPolicy['nodeMaintenance']): readonly string[] {
  if (mode !== 'OnDelete') return ['moco-rollout moves members only under OnDelete: the drain ends these pods'];
  switch (setting) {
    case 'Ignore':
      return ['nodeMaintenance is Ignore: the drain ends these pods, and the steps below are those of Evacuate'];
    case 'Switchover':
      return ['nodeMaintenance is Switchover: only the primary is moved, and the drain ends the other pods'];
    case 'Evacuate':
      return [];
  }
}

interface NodePlan extends ShownPlan {
  /** `members` are on the node now. `left` would still be on the node at the end. */
  readonly members: readonly string[];
  readonly left: readonly string[];
}

interface NodeData {
  readonly node: string;
  readonly leaving: string | null;
  readonly members: readonly string[];
  readonly left: readonly string[];
  readonly plans: readonly NodePlan[];
}

function nodeLines({ node, leaving, members, left, plans }: NodeData, session: Session): readonly Line[] {
  const state = leaving === null ? 'is not being taken out of service now' : leaving;
  const head: Line = [
    piece(node, 'bold'),
    piece(`   ${state}   ${counted(members.length, 'member')} of ${counted(plans.length, 'cluster')}`),
  ];
  const end =
    members.length === 0
      ? line(`no member is on node ${node}`)
      : left.length === 0
        ? line(`after these steps no member is left on node ${node}`)
        : line(`still on node ${node}, as explained above: ${left.join(', ')}`, 'yellow');
  return apart([[head], ...plans.map((shown) => planLines(shown, session)), [end]]);
}
