import { object, whole } from '../moco/json.ts';
import { projectCluster } from '../moco/projections.ts';
import { observeLive } from './pass/observe.ts';
import type { Pass } from './pass/pass.ts';
import { rememberSeen } from './pass/remember.ts';
import { completionOf, differs, isDue, withCondition } from './status/complete-condition.ts';
import type { Report } from './status/pass-report.ts';
import { mostTries, type StatusClient } from './status/status-client.ts';

/**
 * Maintains condition `moco-rollout.io/RolloutComplete` of the MySQLCluster, for `kubectl wait` and GitOps tools. It is
 * written only when its status or its reason changes, since every write makes MOCO reconcile. The reason of False names
 * the hold that needs attention, if there is one.
 *
 * True is confirmed like a step, and never written from the cache. The MySQLCluster is read first, so a StatefulSet
 * that is read after it contains what MOCO had applied for that generation. Its resourceVersion is the precondition.
 * False needs no fresh read: the next reconciliation corrects a wrong one. A True of an older generation has no meaning
 * any more, so it is not removed at once: while MOCO and Kubernetes process a change, another write would conflict with
 * theirs and delay the first member.
 *
 * If MOCO keeps writing in between, the reconciliation after its writes continues.
 *
 * A cluster that a person has released has no such condition: nobody would keep it correct once this program is
 * uninstalled.
 */
export async function complete({ completion, observation }: Report, pass: Pass<StatusClient>): Promise<void> {
  const { objects: known, now } = observation;
  const { api } = pass;
  if (known.cluster.released) {
    await api.removeCompletion(known.cluster);
    return;
  }
  if (!isDue(known.cluster, completion)) return;
  await api.changeConditions(known.cluster, completion.complete ? mostTries : 1, async (raw, conditions) => {
    if (object(raw['metadata'])['deletionTimestamp'] !== undefined) return null;
    const live = completion.complete ? await api.readAll(known) : null;
    if (completion.complete && live === null) return null;
    const judged = live === null ? completion : completionOf(rememberSeen(pass.memory, observeLive(pass, live)));
    const cluster = live?.objects.cluster ?? projectCluster(raw);
    if (cluster === null || cluster.released || !differs(cluster, judged)) return null;
    return withCondition(conditions, judged, whole(object(raw['metadata'])['generation'], 0), now);
  });
}
