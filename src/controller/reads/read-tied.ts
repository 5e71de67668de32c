import type { TiedToNode } from '../../core/on-demand-facts.ts';
import { persistentVolumes } from '../../kube/resource.ts';
import { type Json, object, objects, text } from '../../moco/json.ts';
import { conditionTaintPrefix, matches, refusalsOf, type Tie, tieOfVolume, tiesOf } from '../../moco/nodes.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { NodeContext, NodeRead } from '../fleet/recent-nodes.ts';

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
