import type { RolloutStatus } from '../../api/rollout-status.ts';
import { delay } from '../../base/delay.ts';
import type { Settings } from '../../controller/facts/settings-in-force.ts';
import { decide } from '../../core/decide.ts';
import type { Step } from '../../core/decision.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { explainStep } from '../../core/sentences.ts';
import { ApiError, isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import { path } from '../../kube/resource.ts';
import {
  clusterKind,
  ownWebhookSuffix,
  releasedAnnotation,
  rolloutCompleteCondition,
  statefulSetName,
} from '../../moco/names.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';
import { execute } from '../../objects/execute.ts';
import { releaseUnsafe } from '../../objects/strategy.ts';
import { CommandError, sentenceOf } from '../command-error.ts';
import { observeIfExists } from './cluster-snapshot.ts';
import type { Session } from './session.ts';

// Releases a cluster step by step, by the controller's rules but with the user's rights.

interface ReleasedOutcome {
  readonly kind: 'back' | 'left';
  readonly reason: string;
}

/** The delay between two reads while a release waits. It doubles up to the longest delay. */
const shortestPauseMilliseconds = 50;
const longestPauseMilliseconds = 1000;

/**
 * Releases one cluster, until nothing is left to do. Releases a paused cluster only if `includePaused` is set. First it
 * annotates the MySQLCluster, so that the cluster stays released. Then it repeatedly reads the cluster, decides by the
 * controller's rules, and performs the next step of the release. A conflicting write of another client does not end the
 * release. `waits` is called once for each new reason to wait.
 */
export async function releaseOne(
  session: Session,
  cluster: ClusterRecord,
  includePaused: boolean,
  deadline: AbortSignal,
  waits: (reason: string) => void,
): Promise<ReleasedOutcome> {
  const inMemory: { promotion: RolloutStatus['promotion'] } = { promotion: undefined };
  let waitsFor = '';
  let reported = '';
  let pauseMilliseconds = shortestPauseMilliseconds;
  while (!deadline.aborted) {
    const { kind, reason } = await releaseStep(session, cluster, includePaused, inMemory).catch(afterFailure);
    if (kind === 'back' || kind === 'left') return { kind, reason };
    if (reason !== waitsFor) pauseMilliseconds = shortestPauseMilliseconds;
    waitsFor = reason;
    if (kind === 'stepped') continue;
    pauseMilliseconds = Math.min(pauseMilliseconds * 2, longestPauseMilliseconds);
    // A very short wait is not reported.
    if (pauseMilliseconds === longestPauseMilliseconds && reported !== reason) {
      reported = reason;
      waits(reason);
    }
    await delay(session.world, pauseMilliseconds, deadline);
  }
  return { kind: 'left', reason: `timed out${waitsFor === '' ? '' : `: ${waitsFor}`}` };
}

/** Whether a release ends or waits after a failed read or write. */
function afterFailure(error: unknown): StepOutcome {
  // The kind may have been deleted in the meantime.
  if (error instanceof CommandError) return { kind: 'left', reason: error.message };
  if (!(error instanceof ApiError)) throw error;
  if (isForbidden(error) || isUnauthorized(error)) return { kind: 'left', reason: sentenceOf(error) };
  return { kind: 'waits', reason: remedyOf(sentenceOf(error)) };
}

type StepOutcome = ReleasedOutcome | { readonly kind: 'stepped' | 'waits'; readonly reason: string };

async function releaseStep(
  session: Session,
  known: ClusterRecord,
  includePaused: boolean,
  inMemory: { promotion: RolloutStatus['promotion'] },
): Promise<StepOutcome> {
  const { api, world } = session;
  const observation = await observeIfExists(session, known);
  if (observation === null) return { kind: 'back', reason: 'is gone' };
  const facts = observation.observe();
  const { objects, snapshot, settings } = facts;
  const { cluster, statefulSet } = objects;
  if (cluster.deleting) return { kind: 'back', reason: 'is being deleted' };
  if (cluster.uid !== known.uid) return { kind: 'back', reason: 'was deleted and created again' };
  const isPaused = settings.policy.paused && !includePaused;
  if (isPaused && statefulSet?.labelled) return { kind: 'left', reason: whyPaused(settings) };
  await setReleased(session, cluster, true);
  const none = { kind: 'back', reason: 'has no StatefulSet' } as const;
  if (statefulSet === null) return withoutCompletion(session, cluster, none);
  const promotion = snapshot.promotion ?? inMemory.promotion ?? null;
  const policy = { ...settings.policy, mode: 'OnDelete', paused: false } as const;
  const { step, hold } = decide({ ...snapshot, released: true, promotion }, policy);
  if (!isOfRelease(step)) {
    if (statefulSet.labelled || !statefulSet.observed || statefulSet.updateRevision === '') {
      const member = (ordinal: number): string => `${statefulSetName(cluster.name)}-${ordinal}`;
      const reason = hold ? explainHold(hold, member) : 'Kubernetes has not observed the StatefulSet yet';
      return { kind: 'waits', reason };
    }
    return withoutCompletion(session, cluster, ended(statefulSet));
  }
  if (step.kind === 'promoteRevision' && statefulSet.labelled) {
    inMemory.promotion = { from: statefulSet.currentRevision, to: step.revision };
  }
  return acted(await execute(step, facts, api, world), step);
}

/**
 * The reason why a paused cluster is not released: MOCO would then roll the cluster out, which the pause is meant to
 * prevent.
 */
function whyPaused({ problem, sources }: Settings): string {
  const cause = problem === null ? `it is paused by ${sources['paused']?.source}` : `it may be paused: ${problem}`;
  return `${cause}; end the pause first, or release it with --include-paused, which lets MOCO replace its pods`;
}

type OfRelease = Extract<Step, { kind: 'undemote' | 'promoteRevision' | 'release' }>;

/** The only steps that the command performs. */
const isOfRelease = (step: Step): step is OfRelease =>
  step.kind === 'undemote' || step.kind === 'promoteRevision' || step.kind === 'release';

function acted({ result, message, failure }: Awaited<ReturnType<typeof execute>>, step: OfRelease): StepOutcome {
  if (result === 'done' || result === 'conflict') return { kind: 'stepped', reason: '' };
  const sentence = failure === null ? (message ?? 'no reason given') : sentenceOf(failure);
  const reason = `${failure?.reason === releaseUnsafe ? releaseUnsafe : explainStep(step)}: ${sentence}`;
  const remedied = remedyOf(reason);
  return result === 'refused' && remedied === reason ? { kind: 'left', reason } : { kind: 'waits', reason: remedied };
}

/**
 * Removes our condition as well. If the user lacks the right to do so, the command reports that, and a running
 * controller removes the condition later.
 */
async function withoutCompletion(
  { api }: Session,
  cluster: ClusterRecord,
  outcome: ReleasedOutcome,
): Promise<StepOutcome> {
  if (outcome.kind !== 'back') return outcome;
  try {
    if (await api.removeCompletion(cluster)) return outcome;
    return { kind: 'waits', reason: `MOCO keeps writing the status of ${cluster.name}` };
  } catch (error) {
    if (!(error instanceof ApiError && isForbidden(error))) throw error;
    const left = `its condition ${rolloutCompleteCondition} stays`;
    return { ...outcome, reason: `${outcome.reason}; ${left}: ${sentenceOf(error)}` };
  }
}

/**
 * The outcome of a complete release. The StatefulSet no longer has a label of this program, and Kubernetes has observed
 * that, so no earlier sync can still change the StatefulSet.
 */
function ended({ strategy, currentRevision }: StatefulSetRecord): ReleasedOutcome {
  return strategy === 'RollingUpdate'
    ? { kind: 'back', reason: `is back at RollingUpdate, current revision ${currentRevision}` }
    : { kind: 'left', reason: `the StatefulSet is at ${strategy} without our label: another client set that` };
}

/** Adds a remedy to a message about an unreachable webhook. Other messages are returned unchanged. */
function remedyOf(sentence: string): string {
  const webhook = /failed calling webhook \\?"([^"\\]+)\\?"/.exec(sentence)?.[1];
  if (webhook === undefined) return sentence;
  if (!webhook.endsWith(ownWebhookSuffix)) {
    return `${sentence}; webhook ${webhook} has to be reachable again first: is moco-controller running?`;
  }
  // The name that `config/` uses.
  const configuration = `moco-rollout-${webhook.startsWith('partition.') ? 'partition' : 'mutating'}-webhook-configuration`;
  return `${sentence}; start the controller, which serves this webhook, or delete the webhook: kubectl delete mutatingwebhookconfiguration ${configuration}`;
}

/**
 * Sets or removes the annotation that releases the cluster, with the rights of the user. Resolves to whether anything
 * changed. Rejects with `ApiError`; its status is 409 if a different MySQLCluster has that name now.
 */
export async function setReleased(
  { client }: Session,
  { namespace, name, uid, released }: ClusterRecord,
  wanted: boolean,
): Promise<boolean> {
  if (released === wanted) return false;
  await client.call({
    method: 'PATCH',
    path: path(clusterKind, { namespace, name }),
    query: { fieldManager: 'moco-rollout-cli-release' },
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid, annotations: { [releasedAnnotation]: wanted ? 'true' : null } } },
    priority: 'status',
  });
  return true;
}
