import { keepsRevisions as isKept } from '../../core/adoption.ts';
import { ApiError } from '../../kube/api-error.ts';
import {
  admissionProbeAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  probeSeenByWebhook,
  probeSent,
  strategyLabel,
  strategyOnDelete,
} from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import type { StrategyKeeper } from '../facts/admission.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-client.ts';
import { describe, dryRun, notInForce, whicheverVersion } from './patch-stateful-set.ts';

const label = { [newPodsLabel]: newPodsAtCurrentRevision };
const keep: StatefulSetPatch = { labels: label };
const takeBack: StatefulSetPatch = { labels: { [newPodsLabel]: null } };
/**
 * It requests OnDelete, which changes nothing where the StatefulSet is at OnDelete: RollingUpdate in the result is then
 * admission's doing, whatever the StatefulSet is at.
 */
const probe: StatefulSetPatch = {
  labels: { [strategyLabel]: strategyOnDelete, ...label },
  annotations: { [admissionProbeAnnotation]: probeSent },
  spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
};

export interface Kept {
  /** Who keeps the strategy, as the dry run has shown. */
  readonly keeper: StrategyKeeper;
  /** `null` if nothing was written. */
  readonly after: StatefulSetRecord | null;
}

/**
 * Adds the label by which admission keeps the StatefulSet at RollingUpdate with partition = replicas: who is created
 * then comes up at the current revision, and nobody is replaced. A dry run comes first. It also shows who keeps the
 * strategy: a webhook may be unavailable, and MOCO's partition controller would then update members of a rollout that
 * is held, so a StatefulSet does not rest in that state with one.
 *
 * Rejects with the reason `AdmissionNotInForce` if either result is another one. The label is then removed again.
 */
export async function keepRevisions(
  statefulSet: StatefulSetRecord,
  lasts: 'whileHeld' | 'untilCreated',
  api: ClusterApi,
): Promise<Kept> {
  const keeper = await proveRevisionsKept(statefulSet, api);
  if (keeper === 'webhook' && lasts === 'whileHeld') return { keeper, after: null };
  const after = await whicheverVersion(statefulSet, keep, api, false);
  if (isKept(after)) return { keeper, after };
  await ignoringRefusals(whicheverVersion(statefulSet, takeBack, api, false));
  throw notInForce(`new pods were to come up at the current revision, but the StatefulSet is ${describe(after)}`);
}

/**
 * Resolves to who keeps the strategy, as a dry run shows. Rejects with the reason `AdmissionNotInForce` if nobody does.
 */
export async function proveRevisionsKept(statefulSet: StatefulSetRecord, api: ClusterApi): Promise<StrategyKeeper> {
  const what = 'a dry run that lets new pods come up at the current revision';
  const tried = await dryRun(() => whicheverVersion(statefulSet, probe, api, true), what);
  if (!isKept(tried)) throw notInForce(`${what} left it ${describe(tried)}`);
  return tried?.probe === probeSeenByWebhook ? 'webhook' : 'policy';
}

/** A label that stays shows on the object: the next step removes it. */
async function ignoringRefusals(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
