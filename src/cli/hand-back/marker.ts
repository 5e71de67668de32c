import { isHandedBack } from '../../controller/handed-back.ts';
import { isOwnOf, type MySQLRollout, type RolloutStatus } from '../../controller/rollout-resource.ts';
import { isConflict } from '../../kube/api-error.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';
import { timestampOf } from '../../moco/timestamp.ts';
import { findOrMakeRollout } from '../rollouts.ts';
import type { Session } from '../session.ts';

const author = 'moco-rollout hand-back';

/**
 * Writes down that a person has taken the cluster back, which a controller that still runs with the gate on obeys, and
 * in the same write the current revision that is about to be replaced. Resolves to the MySQLRollout that says so;
 * to `null` while an earlier cluster's of the same name is still being collected. Rejects with `ApiError`.
 */
export async function mark(
  session: Session,
  cluster: ClusterRecord,
  statefulSet: StatefulSetRecord | null,
): Promise<MySQLRollout | null> {
  return change(session, cluster, (rollout) => {
    const { status = {} } = rollout;
    const promotion = promotionOf(status, statefulSet);
    const handedBack = isHandedBack(rollout) ? status.handedBack : markerOf(session, rollout, statefulSet);
    const unchanged = handedBack === status.handedBack && promotion === status.promotion;
    return unchanged ? null : { ...status, ...(handedBack && { handedBack }), ...(promotion && { promotion }) };
  });
}

/** Forgets the replaced current revision, once it has been seen to stay. */
export async function forgetPromotion(session: Session, cluster: ClusterRecord): Promise<void> {
  await change(session, cluster, ({ status = {} }) => {
    const { promotion, ...others } = status;
    return promotion === undefined ? null : others;
  });
}

/** Takes the marker away. Resolves to whether there was one. */
export async function unmark(session: Session, cluster: ClusterRecord): Promise<boolean> {
  let wasThere = false;
  await change(session, cluster, ({ status = {} }) => {
    const { handedBack, ...others } = status;
    if (handedBack === undefined) return null;
    wasThere = true;
    return others;
  });
  return wasThere;
}

/** Changes the status of the one that is read here, again after each conflict; makes a missing one. */
async function change(
  session: Session,
  cluster: ClusterRecord,
  after: (rollout: MySQLRollout) => RolloutStatus | null,
): Promise<MySQLRollout | null> {
  const { api, signal } = session;
  for (;;) {
    const rollout = await findOrMakeRollout(session, cluster);
    if (!isOwnOf(cluster, rollout)) return null;
    const status = after(rollout);
    if (status === null) return rollout;
    try {
      return await api.replaceRolloutStatus(rollout, status, 'status', signal);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

function markerOf(
  { world }: Session,
  { metadata }: MySQLRollout,
  statefulSet: StatefulSetRecord | null,
): NonNullable<RolloutStatus['handedBack']> {
  const revision = statefulSet?.updateRevision ?? '';
  return {
    generation: metadata.generation ?? 0,
    at: timestampOf(world.wall()),
    from: author,
    ...(revision !== '' && { revision }),
  };
}

/** One that an earlier try has written down stays: what it replaced is gone from everywhere else. */
function promotionOf({ promotion }: RolloutStatus, statefulSet: StatefulSetRecord | null): RolloutStatus['promotion'] {
  if (statefulSet === null || !statefulSet.labelled || !statefulSet.observed) return promotion;
  const { currentRevision: from, updateRevision: to } = statefulSet;
  if (to === '' || from === to) return promotion;
  return promotion?.from === from && promotion.to === to ? promotion : { from, to };
}
