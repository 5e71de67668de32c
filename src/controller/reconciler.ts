import { kindsOf } from '../core/effects.ts';
import { isDisruptive, stepIdentity } from '../core/step.ts';
import type { ApiError } from '../kube/api-error.ts';
import { splitKey } from '../kube/store.ts';
import { adjust } from './disrupt/adjust.ts';
import { type Context, type Ended, type Requeue, requeueNow } from './disrupt/context.ts';
import { disrupt } from './disrupt/disrupt.ts';
import { prepare, readWhole } from './disrupt/prepare.ts';
import { tryInPlace } from './disrupt/try-in-place.ts';
import { ClusterState } from './memory/cluster-memory.ts';
import { type Observation, observeCached } from './pass/observe.ts';
import { remember } from './pass/remember.ts';
import { isApiServerFailure, refusedBy } from './pass/result.ts';
import { refreshComebacks } from './reads/read-comebacks.ts';
import { refreshDelays } from './reads/read-delays.ts';
import { readDetails } from './reads/read-details.ts';
import { refreshInPlace } from './reads/read-in-place.ts';
import { emitStep } from './status/emit.ts';
import { report } from './status/pass-report.ts';
import { write } from './status/write.ts';

/**
 * Reconciles one cluster at a time in a fixed order: observe, decide, at most one step, remember its result, report,
 * write. SPEC.md explains each phase.
 */
export class Reconciler {
  readonly #context: Context;
  readonly #states = new Map<string, ClusterState>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Rejects if the API server does not respond or refuses; the work queue retries with backoff. */
  async reconcile(key: string, signal: AbortSignal): Promise<Requeue> {
    const { cache, world } = this.#context;
    if (!this.#context.isLeading()) return {};
    if (cache.objects(key) === null) {
      this.#forget(key);
      return {};
    }
    if (!(await readWhole(key, this.#context, signal))) return {};
    const state = this.#stateOf(key);
    const { requeue, report: seen, result, error } = await this.#act(key, state, signal);
    if (result !== null) remember(state, result, world);
    if (result?.kind === 'acted') {
      // What new pods come up at takes no member: the answers to checks still count for the step that does.
      if (result.step.kind !== 'setStrategy') this.#context.checks.forget(key);
      emitStep(result, this.#context);
    }
    const observed = seen === 'cached' ? observeCached(key, state, this.#context) : seen;
    const next = observed && (await write(report(observed), state, this.#context, signal));
    if (error !== undefined) throw error;
    return sooner(requeue, next);
  }

  /** Performs at most one step. */
  async #act(key: string, state: ClusterState, signal: AbortSignal): Promise<Ended & { readonly error?: ApiError }> {
    const unprepared = await this.#prepare(key, state, signal);
    if (unprepared !== null) return unprepared;
    remember(state, { kind: 'prepared' }, this.#context.world);
    const read = await this.#observe(key, state, signal).then((known) =>
      this.#readComebacks(known, key, state, signal),
    );
    if (read === null) return { requeue: {}, report: null, result: null };
    if ('report' in read) return read;
    const observed = read;
    const { step, effects, hold, asksChecks } = observed.decision;
    this.#context.fleet.evictions.setWaiting(key, hold?.rule === 'DisruptionControllerBehind');
    if (asksChecks) this.#context.checks.ask(key, observed.settings.checks);
    // Another reconciliation follows the answer.
    if (hold?.rule === 'CheckPending' && step.kind === 'none') return { requeue: {}, report: null, result: null };
    if (step.kind === 'none') return { requeue: {}, report: observed, result: null };
    const identity = stepIdentity(step, observed.objects.statefulSet?.updateRevision ?? '');
    try {
      const isInPlace = step.kind === 'updateInPlace' || step.kind === 'resizeInPlace';
      const tried = isInPlace ? await tryInPlace(observed, step, this.#context.api, signal) : null;
      if (tried !== null) return { requeue: requeueNow, report: null, result: tried };
      return isDisruptive(step)
        ? await disrupt(this.#context, key, step, kindsOf(effects), identity, state, signal)
        : await adjust(this.#context, observed, step, identity, state, signal);
    } catch (error) {
      if (!isApiServerFailure(error, this.#context, signal)) throw error;
      return { requeue: {}, report: 'cached', result: { kind: 'failed', step: identity, failure: refusedBy(error) } };
    }
  }

  /**
   * If the API server refuses a request, no step may be taken. The refusal is reported before the work queue retries.
   */
  async #prepare(
    key: string,
    state: ClusterState,
    signal: AbortSignal,
  ): Promise<(Ended & { readonly error?: ApiError }) | null> {
    const objects = this.#context.cache.objects(key);
    if (objects === null) return { requeue: {}, report: null, result: null };
    try {
      const unprepared = await prepare(this.#context, key, objects.cluster, state, signal);
      if (unprepared === null) await this.#readInPlace(key, state, signal);
      return unprepared;
    } catch (error) {
      if (!isApiServerFailure(error, this.#context, signal)) throw error;
      const result = { kind: 'failed', step: null, failure: refusedBy(error) } as const;
      return { requeue: {}, report: 'cached', result, error };
    }
  }

  /** What updates in place depend on. With the feature gate off, that of pods of which one was begun. */
  async #readInPlace(key: string, state: ClusterState, signal: AbortSignal): Promise<void> {
    const { api, world, cache } = this.#context;
    const depends = cache.objects(key)?.pods.some(({ live }) => live !== null);
    const observed = depends ? observeCached(key, state, this.#context) : null;
    if (observed !== null) await refreshInPlace(observed, state, { api, world, unreadNodes: 'lackImages' }, signal);
  }

  /**
   * The cached observation. If a switchover depends on replicas, they are asked first. While no step is due, details
   * for users are read first.
   */
  async #observe(key: string, state: ClusterState, signal: AbortSignal): Promise<Observation | null> {
    let observed = observeCached(key, state, this.#context);
    if (observed !== null && (await refreshDelays(observed, state, this.#context, signal))) {
      observed = observeCached(key, state, this.#context);
    }
    if (observed === null || !(await readDetails(observed, state, this.#context, signal))) return observed;
    return observeCached(key, state, this.#context);
  }

  /** Whether members can come back, if only that is left to know. What can't be read holds every step. */
  async #readComebacks(
    observed: Observation | null,
    key: string,
    state: ClusterState,
    signal: AbortSignal,
  ): Promise<Observation | (Ended & { readonly error: ApiError }) | null> {
    if (observed === null) return null;
    try {
      const isRead = await refreshComebacks(observed, state, this.#context, signal);
      return isRead ? observeCached(key, state, this.#context) : observed;
    } catch (error) {
      if (!isApiServerFailure(error, this.#context, signal)) throw error;
      const result = { kind: 'failed', step: null, failure: refusedBy(error) } as const;
      return { requeue: {}, report: 'cached', result, error };
    }
  }

  #forget(key: string): void {
    this.#context.checks.forget(key);
    this.#context.fleet.evictions.setWaiting(key, false);
    if (this.#states.delete(key)) this.#context.metrics.forgetCluster(...splitKey(key));
  }

  #stateOf(key: string): ClusterState {
    const state = this.#states.get(key) ?? new ClusterState(this.#context.world);
    this.#states.set(key, state);
    return state;
  }
}

function sooner({ requeueAfterMilliseconds: requeue }: Requeue, next: number | null): Requeue {
  const delays = [requeue, next].filter((delay) => delay !== undefined && delay !== null);
  return delays.length === 0 ? {} : { requeueAfterMilliseconds: Math.min(...delays) };
}
