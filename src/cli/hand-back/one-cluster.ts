import { act } from '../../controller/act.ts';
import { ClusterState } from '../../controller/cluster-state.ts';
import { gather } from '../../controller/gather.ts';
import { handBackUnsafe } from '../../controller/give-back.ts';
import type { MySQLRollout, RolloutStatus } from '../../controller/rollout-resource.ts';
import { decide } from '../../core/decide.ts';
import type { Step } from '../../core/decision.ts';
import { explainHold, explainStep } from '../../core/explain.ts';
import { ApiError, isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import { delay } from '../../kube/delay.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';
import { CommandError, sentenceOf } from '../failure.ts';
import { nothingKnown, surroundingsOf } from '../live-look.ts';
import type { Session } from '../session.ts';
import { forgetPromotion, mark } from './marker.ts';
import { remedyOf } from './remedy.ts';

/** What became of one cluster. */
export type HandedBackOutcome =
  | { readonly kind: 'back'; readonly sentence: string }
  | { readonly kind: 'left'; readonly reason: string };

/** Between two looks while there is nothing to do but to wait; doubles up to the longest. */
const shortestPauseMilliseconds = 50;
const longestPauseMilliseconds = 1000;

/** What the marker says of a cluster is true whatever its flags are: this is the only thing looked at here. */
const strategies = { onDeleteEnabled: true, partitionDriver: 'moco' } as const;

/**
 * Hands one cluster back and sees to it that it stays so: looks, decides by the same rules as the controller, does the
 * one step of a hand-back that is next, and begins anew, until there is none. Somebody else's write in between is a
 * conflict and no more. `waits` is told once for each new reason why nothing goes on.
 */
export async function handBackOne(
  session: Session,
  cluster: ClusterRecord,
  hasRollouts: boolean,
  deadline: AbortSignal,
  waits: (reason: string) => void,
): Promise<HandedBackOutcome> {
  const progress = new Progress(waits);
  const inMemory: { promotion: RolloutStatus['promotion'] } = { promotion: undefined };
  while (!deadline.aborted) {
    try {
      const looked = await lookAndStep(session, cluster, hasRollouts, inMemory);
      if (looked.kind === 'back' || looked.kind === 'left') return looked;
      if (looked.kind === 'stepped') {
        progress.moved();
        continue;
      }
      progress.waitsFor(looked.reason);
    } catch (error) {
      // The kind may have gone meanwhile.
      if (error instanceof CommandError) return { kind: 'left', reason: error.message };
      if (!(error instanceof ApiError)) throw error;
      if (isForbidden(error) || isUnauthorized(error)) return { kind: 'left', reason: sentenceOf(error) };
      progress.waitsFor(remedyOf(sentenceOf(error)));
    }
    await delay(session.world, progress.pauseMilliseconds, deadline);
  }
  return { kind: 'left', reason: `timed out${progress.reason === '' ? '' : `: ${progress.reason}`}` };
}

class Progress {
  reason = '';
  pauseMilliseconds = shortestPauseMilliseconds;
  readonly #waits: (reason: string) => void;
  #told = '';

  constructor(waits: (reason: string) => void) {
    this.#waits = waits;
  }

  moved(): void {
    this.reason = '';
    this.pauseMilliseconds = shortestPauseMilliseconds;
  }

  waitsFor(reason: string): void {
    if (reason !== this.reason) this.pauseMilliseconds = shortestPauseMilliseconds;
    this.reason = reason;
    this.pauseMilliseconds = Math.min(this.pauseMilliseconds * 2, longestPauseMilliseconds);
    // What passes by itself in a moment is nothing to tell.
    if (this.pauseMilliseconds < longestPauseMilliseconds || this.#told === reason) return;
    this.#told = reason;
    this.#waits(reason);
  }
}

type Looked = HandedBackOutcome | { readonly kind: 'stepped' } | { readonly kind: 'waits'; readonly reason: string };

async function lookAndStep(
  session: Session,
  known: ClusterRecord,
  hasRollouts: boolean,
  inMemory: { promotion: RolloutStatus['promotion'] },
): Promise<Looked> {
  const { api, world, signal } = session;
  const live = await api.readAll(nothingKnown(known), signal);
  if (live === null || live.objects.cluster.deleting) return { kind: 'back', sentence: 'is gone or being deleted' };
  const { cluster, statefulSet } = live.objects;
  if (cluster.uid !== known.uid) return { kind: 'back', sentence: 'was deleted, and another one made' };
  let { rollout } = live;
  if (hasRollouts) {
    rollout = await mark(session, cluster, statefulSet);
    if (rollout === null)
      return { kind: 'waits', reason: 'the MySQLRollout of an earlier cluster of that name is still there' };
  }
  if (statefulSet === null) return { kind: 'back', sentence: 'has no StatefulSet' };
  const promotion = rollout?.status?.promotion ?? inMemory.promotion ?? null;
  const { snapshot, policy } = gather(
    live.objects,
    rollout,
    new ClusterState(world),
    surroundingsOf(world, { strategies }),
    'live',
  );
  const decision = decide({ ...snapshot, handedBack: true, promotion }, { ...policy, mode: 'OnDelete' });
  const { step, hold } = decision;
  if (!isOfHandBack(step)) {
    if (statefulSet.labelled || !statefulSet.observed || statefulSet.updateRevision === '') {
      const reason = hold ? explainHold(hold, memberName(cluster)) : 'Kubernetes has not yet looked at the StatefulSet';
      return { kind: 'waits', reason };
    }
    return ended(session, cluster, statefulSet, rollout);
  }
  if (step.kind === 'promoteRevision' && statefulSet.labelled) {
    inMemory.promotion = { from: statefulSet.currentRevision, to: step.revision };
  }
  return acted(await act(step, live.objects, api, world, signal), step);
}

type OfHandBack = Extract<Step, { kind: 'undemote' | 'promoteRevision' | 'handBack' }>;

/** Nothing else is ever done from here. */
function isOfHandBack(step: Step): step is OfHandBack {
  return step.kind === 'undemote' || step.kind === 'promoteRevision' || step.kind === 'handBack';
}

function acted({ result, message, failure }: Awaited<ReturnType<typeof act>>, step: OfHandBack): Looked {
  if (result === 'done' || result === 'conflict') return { kind: 'stepped' };
  const sentence = failure === null ? (message ?? 'no reason given') : sentenceOf(failure);
  const reason =
    failure?.reason === handBackUnsafe ? `${handBackUnsafe}: ${sentence}` : `${explainStep(step)}: ${sentence}`;
  const remedied = remedyOf(reason);
  const isFinal = result === 'refused' && remedied === reason;
  return isFinal ? { kind: 'left', reason } : { kind: 'waits', reason: remedied };
}

/** Without our label, and Kubernetes has looked at it as it is: nothing of before is written any more. */
async function ended(
  session: Session,
  cluster: ClusterRecord,
  { strategy, currentRevision }: StatefulSetRecord,
  rollout: MySQLRollout | null,
): Promise<HandedBackOutcome> {
  if (strategy !== 'RollingUpdate') {
    return { kind: 'left', reason: `the StatefulSet is at ${strategy} without our label: somebody else has set it so` };
  }
  if (rollout?.status?.promotion) await forgetPromotion(session, cluster);
  return { kind: 'back', sentence: `is back at RollingUpdate, current revision ${currentRevision}` };
}

function memberName({ name }: ClusterRecord): (ordinal: number) => string {
  return (ordinal) => `${statefulSetName(name)}-${ordinal}`;
}
