import type { Decision, Step } from '../core/decision.ts';
import { stepIdentity } from '../core/step-failing.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../kube/api-error.ts';
import { isAtLeast } from '../kube/resource-version.ts';
import type { ClusterObjects, ClusterRecord } from '../moco/records.ts';
import { timestampOf } from '../moco/timestamp.ts';
import { act } from './act.ts';
import { noteAdmission, noteAdoption } from './admission-memory.ts';
import { admissionNotInForce } from './adopt.ts';
import { splitKey } from './cache.ts';
import { ClusterState } from './cluster-state.ts';
import { keepCompletion, unsettledMilliseconds } from './completion.ts';
import type { Context, Requeue } from './context.ts';
import { refreshCreateFailure } from './create-failure.ts';
import { disrupt, type Ended, settleIntent } from './disrupt.ts';
import { handBackUnsafe } from './give-back.ts';
import { promotionToRemember } from './handed-back.ts';
import { isDisruptive } from './intent.ts';
import { type Observation, observe } from './observe.ts';
import { unseenMilliseconds } from './own-writes.ts';
import { publish } from './publish.ts';
import { wholeRecord } from './rollout-record.ts';
import { isOwnOf, type MySQLRollout } from './rollout-resource.ts';
import { announcedAfterSeconds, shownAfterSeconds } from './status.ts';
import { isItsDoing, noteFailure, refusedBy } from './step-failure.ts';
import { lookAgainMilliseconds, lookAtNotKept, writeStatus } from './write-status.ts';

const atOnce: Requeue = { requeueAfterMilliseconds: 0 };

/** One pass over one cluster at a time: observe, then at most one step, then the status. */
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
    if (!(await this.#readWhole(key, signal))) return {};
    const state = this.#stateOf(key);
    const rollout = this.#newestRollout(key, state);
    const prepared = await this.#prepare(key, objects, rollout, state, signal);
    if (prepared !== null) return prepared;
    let observed = observe(objects, rollout, state, this.#context, 'cached');
    if (await refreshCreateFailure(observed, observed.decision, state, api, world, signal)) {
      observed = observe(objects, rollout, state, this.#context, 'cached');
    }
    const { step } = observed.decision;
    if (step.kind === 'none') return this.#record(observed, state, signal);
    const identity = stepIdentity(step, objects.statefulSet?.updateRevision ?? '');
    const { requeue, record } = await this.#take(key, observed, step, identity, state, signal);
    if (record === null) return requeue;
    const recorded = record === 'cached' ? this.#observeAgain(key, state) : record;
    return recorded === null ? requeue : sooner(requeue, await this.#record(recorded, state, signal));
  }

  /**
   * There is a MySQLRollout, and no step of before may still happen. Resolves to when to go on, `null`: at once. Where the
   * API server refuses any of it, no step may be taken, and people are told so.
   */
  async #prepare(
    key: string,
    { cluster }: ClusterObjects,
    rollout: MySQLRollout | null,
    state: ClusterState,
    signal: AbortSignal,
  ): Promise<Requeue | null> {
    if (cluster.deleting) return null;
    try {
      if (rollout === null) {
        await this.#createRollout(cluster, signal);
        return {};
      }
      // One that is another cluster's is not touched: the decision is the hold that says so.
      if (isOwnOf(cluster, rollout)) {
        const unsettled = await settleIntent(this.#context, key, rollout, state, signal);
        if (unsettled !== null) return unsettled;
        await lookAtNotKept(this.#context, rollout, state, signal);
      }
    } catch (error) {
      if (isItsDoing(error, this.#context, signal)) {
        noteFailure(state, null, refusedBy(error), this.#context.world);
        const observed = this.#observeAgain(key, state);
        if (observed !== null) await this.#record(observed, state, signal);
      }
      throw error;
    }
    if (state.stepFailure?.step === null) state.stepFailure = null;
    return null;
  }

  /** What the API server does not carry out, or not in time, is remembered as the step's failure. */
  async #take(
    key: string,
    observed: Observation,
    step: Step,
    identity: string,
    state: ClusterState,
    signal: AbortSignal,
  ): Promise<Ended> {
    try {
      return isDisruptive(step)
        ? await disrupt(this.#context, key, step, identity, state, signal)
        : await this.#adjust(observed, step, identity, state, signal);
    } catch (error) {
      if (!isItsDoing(error, this.#context, signal)) throw error;
      noteFailure(state, identity, refusedBy(error), this.#context.world);
      return { requeue: {}, record: 'cached' };
    }
  }

  /** As the cache has it by now, with what this pass has come to know. */
  #observeAgain(key: string, state: ClusterState): Observation | null {
    const objects = this.#context.cache.objects(key);
    return objects && observe(objects, this.#newestRollout(key, state), state, this.#context, 'cached');
  }

  /** Its MySQLRollout may have come before the cluster. Resolves to whether all of it is known, or that there is none. */
  async #readWhole(key: string, signal: AbortSignal): Promise<boolean> {
    const { cache, api } = this.#context;
    const [namespace, name] = splitKey(key);
    const known = cache.rollouts.get(namespace, name);
    if (!known?.partial) return true;
    const rollout = await api.readRollout(namespace, name, signal);
    // What the watch has brought meanwhile is as new.
    if (rollout !== null && cache.rollouts.get(namespace, name) === known) cache.rollouts.put(wholeRecord(rollout));
    // Gone: the watch is about to say so.
    return rollout !== null;
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
   * Writes that take nobody away; uid and resourceVersion are all the fence they need. A conflict is no failure: it means
   * that a newer object is on its way to the cache.
   */
  async #adjust(
    observed: Observation,
    step: Step,
    identity: string,
    state: ClusterState,
    signal: AbortSignal,
  ): Promise<Ended> {
    const { api, world, announcer } = this.#context;
    const promotion = promotionToRemember(observed, step);
    if (promotion && observed.rollout) {
      const status = { ...observed.rollout.status, promotion };
      await writeStatus(this.#context, observed.rollout, status, state, 'disrupt', signal);
      return { requeue: atOnce, record: null };
    }
    const acted = await act(step, observed.objects, api, world, signal);
    const { failure } = acted;
    state.ownWrites = acted.ownWrites;
    const unsafe = failure?.reason === handBackUnsafe ? failure.message : null;
    state.handBackRefusal = unsafe === null ? null : { message: unsafe, atMilliseconds: world.monotonic() };
    if (failure !== null) noteAdmission(state, 'OnDelete', failure, world);
    noteAdoption(state, step, observed.objects.statefulSet?.uid ?? '', acted.result, world);
    announcer.stepEnded(observed, step, acted);
    if (failure === null) {
      state.stepFailure = null;
      return { requeue: {}, record: observed };
    }
    state.finished ??= {
      lastStep: {
        step: step.kind,
        rule: step.kind,
        pods: [],
        at: timestampOf(world.wall()),
        result: `${acted.result}: ${acted.message}`,
      },
      result: acted.result,
      revision: observed.snapshot.statefulSet?.updateRevision ?? '',
      disrupted: 0,
      demotion: null,
    };
    // What a dry run has shown is a fact of its own: the core says what it means, and when to try again.
    const isShown = unsafe !== null || failure.reason === admissionNotInForce;
    if (!isShown) noteFailure(state, identity, refusedBy(failure), world);
    return { requeue: {}, record: 'cached' };
  }

  /** Writes what people see, and says when to look again. */
  async #record(observed: Observation, state: ClusterState, signal: AbortSignal): Promise<Requeue> {
    const { announcer } = this.#context;
    const { decision } = observed;
    const heldForSeconds = this.#heldFor(decision, state);
    announcer.decided(observed, decision, state, heldForSeconds);
    let publishIn: number | null = null;
    let unsettledIn = 0;
    try {
      publishIn = await publish(observed, decision, state, heldForSeconds, this.#context, signal);
    } finally {
      // Whoever waits for the MySQLCluster is told the truth even where the MySQLRollout can't be written.
      unsettledIn = await this.#complete(observed, state, heldForSeconds, signal);
    }
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

  /** Resolves to the milliseconds for which the cluster may not be called complete yet. */
  async #complete(
    observed: Observation,
    state: ClusterState,
    heldForSeconds: number,
    signal: AbortSignal,
  ): Promise<number> {
    const { api, world } = this.#context;
    const unsettled = (look: Observation): number => unsettledMilliseconds(look, state, world.monotonic());
    const { decision } = observed;
    const unsettledIn = decision.complete ? unsettled(observed) : 0;
    await keepCompletion(
      observed.objects,
      unsettledIn > 0 ? { ...decision, complete: false } : decision,
      heldForSeconds,
      ({ objects, rollout }) => {
        const live = observe(objects, rollout, state, this.#context, 'live');
        return { ...live.decision, complete: live.decision.complete && unsettled(live) === 0 };
      },
      api,
      timestampOf(world.wall()),
      signal,
    );
    return unsettledIn;
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

function sooner(...requeues: readonly Requeue[]): Requeue {
  const delays = requeues.flatMap(({ requeueAfterMilliseconds: after }) => (after === undefined ? [] : [after]));
  return delays.length === 0 ? {} : { requeueAfterMilliseconds: Math.min(...delays) };
}
