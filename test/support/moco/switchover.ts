import { demoteAnnotation } from '../../../src/moco/names.ts';
import { primaryIndex, type Snapshot } from './cluster-state.ts';
import { replaceStatus } from './cluster-status.ts';
import type { Write } from './write.ts';

/**
 * How a switchover and a failover end for MOCO: the index moves, with `Healthy` as it was, and the old primary loses
 * `demote`. Replicas, labels and writes are the business of the next pass.
 */
export function moveIndex({ cluster, members }: Snapshot, to: number): Write[] {
  const moved = replaceStatus(cluster, { ...cluster.status, currentPrimaryIndex: to });
  const old = members[primaryIndex(cluster)];
  const asked = old?.metadata.annotations?.[demoteAnnotation] !== undefined;
  return [...(moved === null ? [] : [moved]), ...(old === undefined || !asked ? [] : [withoutDemote(old.metadata)])];
}

function withoutDemote({ name, namespace, uid }: { name: string; namespace: string; uid: string }): Write {
  const body = { metadata: { annotations: { [demoteAnnotation]: null } } };
  return { verb: 'patch', kind: 'Pod', namespace, name, uid, body };
}
