import { decide } from '../core/decide.ts';
import type { Decision, Step } from '../core/decision.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../kube/api-error.ts';
import { isAtLeast } from '../kube/resource-version.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { timestampOf } from '../moco/timestamp.ts';
import { act } from './act.ts';
import { noteAdmission, noteAdoption } from './admission-memory.ts';
import { admissionNotInForce } from './adopt.ts';
import { splitKey } from './cache.ts';
import { ClusterState } from './cluster-state.ts';
import { keepCompletion, unsettledMilliseconds } from './completion.ts';
import type { Context, Requeue } from './context.ts';
import { refreshCreateFailure } from './create-failure.ts';
import { disrupt, settleIntent } from './disrupt.ts';
import { type Gathered, gather } from './gather.ts';
import { handBackUnsafe } from './give-back.ts';
import { promotionToRemember } from './handed-back.ts';
import { isDisruptive } from './intent.ts';
import { unseenMilliseconds } from './own-writes.ts';
import { publish } from './publish.ts';
import { isOwnOf, type MySQLRollout } from './rollout-resource.ts';
import { announcedAfterSeconds, shownAfterSeconds } from './status.ts';
import { lookAgainMilliseconds, lookAtNotKept, writeStatus } from './write-status.ts';

/** What people see of a decision whose step the API server does not take. */
function heldUp(decision: Decision, { snapshot }: Gathered): Decision {
  if (decision.step.kind !== 'setStrategy') return decision;
  const labelled = snapshot.statefulSet?.labelled ?? false;
  return { ...decision, step: { kind: 'none' }, hold: { rule: 'StrategyNotOnDelete', labelled } };
}

/** One pass over one cluster at a time: gather, decide, then at most one step, else the status. */
export class Reconciler {
  readonly #context: Context;
  readonly #states = new Map<string, ClusterState>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Rejects where the API server doesn't answer or refuses; the work queue comes back with backoff. */
  async reconcile(key: string, signal: AbortSignal): Promise<Requeue> {
    const { cache, api, world } = this.#context;
    if (!this.#context.isLeading()) return {};
    const objects = cache.objects(key);
    if (objects === null) {
      this.#forget(key);
      return {};
    }
    const state = this.#stateOf(key);
    const rollout = this.#newestRollout(key, state);
    if (rollout === null && !objects.cluster.deleting) {
      await this.#createRollout(objects.cluster, signal);
      return {};
    }
    if (rollout !== null && !objects.cluster.deleting && isOwnOf(objects.cluster, rollout)) {
      const unsettled = await settleIntent(this.#context, key, rollout, state, signal);
      if (unsettled !== null) return unsettled;
      await lookAtNotKept(this.#context, rollout, state, signal);
    }
    let gathered = gather(objects, rollout, state, this.#context, 'cached');
    let decision = decide(gathered.snapshot, gathered.policy);
    if (await refreshCreateFailure(gathered, decision, state, api, world, signal)) {
      gathered = gather(objects, rollout, state, this.#context, 'cached');
      decision = decide(gathered.snapshot, gathered.policy);
    }
    if (isDisruptive(decision.step)) return disrupt(this.#context, key, decision.step, state, signal);
    if (decision.step.kind === 'none') return this.#record(gathered, decision, state, signal);
    const promotion = promotionToRemember(gathered, decision.step);
    if (promotion && rollout) {
      await writeStatus(this.#context, rollout, { ...rollout.status, promotion }, state, 'disrupt', signal);
      return { requeueAfterMilliseconds: 0 };
    }
    const failure = await this.#adjust(gathered, decision.step, state, signal);
    if (failure?.reason === handBackUnsafe || failure?.reason === admissionNotInForce) {
      // What a dry run has shown is a fact by now: the core says what it means, and when to try again.
      gathered = gather(objects, rollout, state, this.#context, 'cached');
      return this.#record(gathered, decide(gathered.snapshot, gathered.policy), state, signal);
    }
    const requeue = await this.#record(gathered, failure ? heldUp(decision, gathered) : decision, state, signal);
    if (failure) throw failure;
    return requeue;
  }

  /** The watch brings it, and with it the next pass. */
  async #createRollout(cluster: ClusterRecord, signal: AbortSignal): Promise<void> {
    try {
      await this.#context.api.createRollout(cluster, signal);
    } catch (error) {
      // It exists already, or its namespace is going: either way a watch has something to say soon.
      const ending = error instanceof ApiError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
      if (!isAlreadyExists(error) && !isNotFound(error) && !ending) throw error;
    }
  }

  #forget(key: string): void {
    if (this.#states.delete(key)) this.#context.announcer.forget(...splitKey(key));
  }

  #stateOf(key: string): ClusterState {
    const state = this.#states.get(key) ?? new ClusterState(this.#context.world);
    this.#states.set(key, state);
    return state;
  }

  /** The cached one, unless a write of ours has brought a newer one. */
  #newestRollout(key: string, state: ClusterState): MySQLRollout | null {
    const cached = this.#context.cache.rollouts.get(...splitKey(key))?.object ?? null;
    const own = state.rollout;
    if (cached === null || own === null || own.metadata.uid !== cached.metadata.uid) return cached;
    if (!isAtLeast(cached.metadata.resourceVersion, own.metadata.resourceVersion)) return own;
    state.rollout = null;
    return cached;
  }

  /**
   * Writes that take nobody away; uid and resourceVersion are all the fence they need. Resolves to what the API server
   * had against it. A conflict is none: it means that a newer object is on its way to the cache.
   */
  async #adjust(gathered: Gathered, step: Step, state: ClusterState, signal: AbortSignal): Promise<ApiError | null> {
    const { api, world, announcer } = this.#context;
    const acted = await act(step, gathered.objects, api, world, signal);
    state.ownWrites = acted.ownWrites;
    const unsafe = acted.failure?.reason === handBackUnsafe ? acted.failure.message : null;
    state.handBackRefusal = unsafe === null ? null : { message: unsafe, atMilliseconds: world.monotonic() };
    if (acted.failure !== null) noteAdmission(state, 'OnDelete', acted.failure, world);
    noteAdoption(state, step, gathered.objects.statefulSet?.uid ?? '', acted.result, world);
    announcer.stepEnded(gathered, step, acted);
    if (acted.failure !== null) {
      state.finished ??= {
        lastStep: {
          step: step.kind,
          rule: step.kind,
          pods: [],
          at: timestampOf(world.wall()),
          result: `${acted.result}: ${acted.message}`,
        },
        result: acted.result,
        revision: gathered.snapshot.statefulSet?.updateRevision ?? '',
        disrupted: 0,
        demotion: null,
      };
    }
    return acted.failure;
  }

  /** Writes what people see, and says when to look again. */
  async #record(gathered: Gathered, decision: Decision, state: ClusterState, signal: AbortSignal): Promise<Requeue> {
    const { api, announcer, world } = this.#context;
    const heldForSeconds = this.#heldFor(decision, state);
    announcer.decided(gathered, decision, state, heldForSeconds);
    const now = timestampOf(world.wall());
    const publishIn = await publish(gathered, decision, state, heldForSeconds, this.#context, signal);
    const unsettled = (look: Gathered): number => unsettledMilliseconds(look, state, world.monotonic());
    const unsettledIn = decision.complete ? unsettled(gathered) : 0;
    await keepCompletion(
      gathered.objects,
      unsettledIn > 0 ? { ...decision, complete: false } : decision,
      heldForSeconds,
      ({ objects, rollout }) => {
        const look = gather(objects, rollout, state, this.#context, 'live');
        const judged = decide(look.snapshot, look.policy);
        return { ...judged, complete: judged.complete && unsettled(look) === 0 };
      },
      api,
      now,
      signal,
    );
    const delays = [
      publishIn,
      unsettledIn,
      ...(decision.hold === null
        ? []
        : [shownAfterSeconds, announcedAfterSeconds(decision.hold)].map((after) => (after - heldForSeconds) * 1000)),
      state.ownWrites.length > 0 ? unseenMilliseconds : null,
      state.notKept === null ? null : lookAgainMilliseconds,
      decision.lookAgainInSeconds === null ? null : decision.lookAgainInSeconds * 1000,
    ].filter((delay): delay is number => delay !== null && delay > 0);
    return delays.length === 0 ? {} : { requeueAfterMilliseconds: Math.min(...delays) };
  }

  #heldFor({ hold }: Decision, state: ClusterState): number {
    const { world } = this.#context;
    const now = world.monotonic();
    if (hold === null) state.holding = null;
    else if (state.holding?.rule !== hold.rule) {
      state.holding = { rule: hold.rule, sinceMilliseconds: now, since: timestampOf(world.wall()) };
    }
    return state.holding === null ? 0 : (now - state.holding.sinceMilliseconds) / 1000;
  }
}
