import { splitKey } from '../kube/store.ts';
import type { RunResult } from '../kube/work-queue.ts';
import { ClusterApi } from '../objects/cluster-client.ts';
import { perform } from './disrupt/disrupt.ts';
import { prepare, readWhole } from './disrupt/prepare.ts';
import { type End, failedBy, identityOfStep, nothingToReport } from './pass/end.ts';
import { look, lookAndAsk } from './pass/look.ts';
import { type Memory, newMemory } from './pass/memory.ts';
import type { Observation } from './pass/observe.ts';
import type { Context, Pass } from './pass/pass.ts';
import { remember, rememberPrepared } from './pass/remember.ts';
import { whileOutstanding } from './questions/questions.ts';
import { writeCompletion } from './status/complete-condition.ts';
import { emit, emitStep } from './status/emit.ts';
import { removeEndedOverrides } from './status/ended-overrides.ts';
import { standingsOf } from './status/eviction-standings.ts';
import { report } from './status/pass-report.ts';
import { nextIn, writeWhenDue } from './status/write.ts';

// One pass over one cluster, from its cached objects to at most one write.
//
//     prepare ---> look and ask ---> disrupt ---> remember ---> report ---> write
//     (settle      (observe, decide, (confirm,     (the only     (pure)      (what users
//      intents)     questions)        intend, act)  memory)                   see)

/**
 * Reconciles one cluster at a time in a fixed order: observe, decide, at most one step, remember its result, report,
 * write. SPEC.md explains each phase.
 */
export class Reconciler {
  readonly #context: Context;
  readonly #memories = new Map<string, Memory>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Rejects if the API server does not respond or refuses a request; the work queue then retries with backoff. */
  async reconcile(key: string, signal: AbortSignal): Promise<RunResult> {
    const context = this.#context;
    if (!context.isLeading()) return {};
    if (context.cache.objects(key) === null) {
      this.#forget(key);
      return {};
    }
    const api = new ClusterApi(context.client, signal);
    const pass = { key, memory: this.#memoryOf(key), signal, api, context };
    if (!(await readWhole(pass))) return {};
    const end = await act(pass);
    remember(pass.memory, end, context.world);
    if (end.kind === 'acted') {
      // A step that only changes at which revision new pods start replaces no member. So the answers to checks still
      // count for the next step.
      if (end.step.kind !== 'setStrategy') context.checks.forget(key);
      emitStep(end, context);
    }
    const observed = end.report === 'cached' ? look(pass) : end.report;
    if (observed !== null) context.standings.note(key, standingsOf(observed, context.cache));
    const next = observed && (await publish(observed, pass));
    if (end.kind === 'failed' && end.error !== undefined) throw end.error;
    return sooner(end, next);
  }

  #forget(key: string): void {
    this.#context.checks.forget(key);
    this.#context.fleet.evictions.setWaiting(key, false);
    this.#context.fleet.setAsking(key, false);
    this.#context.standings.note(key, new Map());
    if (this.#memories.delete(key)) this.#context.metrics.forget(splitKey(key));
  }

  #memoryOf(key: string): Memory {
    const memory = this.#memories.get(key) ?? newMemory(this.#context.world);
    this.#memories.set(key, memory);
    return memory;
  }
}

async function act(pass: Pass<ClusterApi>): Promise<End> {
  const { key, context } = pass;
  let observed: Observation | null;
  try {
    const unprepared = await prepare(pass);
    if (unprepared !== null) return unprepared;
    rememberPrepared(pass.memory);
    observed = await lookAndAsk(pass);
  } catch (error) {
    // If the cluster could not be observed, no step may be performed.
    return failedBy(error, pass, null);
  }
  if (observed === null) return nothingToReport;
  const { step, hold } = observed.decision;
  context.fleet.noteDecision(key, observed.decision);
  // The answer to the question that the rule waits for will start the next reconciliation.
  if (hold !== null && whileOutstanding(hold.rule) === 'nothing' && step.kind === 'none') return nothingToReport;
  if (step.kind === 'none') return { kind: 'nothing', report: observed };
  try {
    return await perform(pass, observed, step);
  } catch (error) {
    return failedBy(error, pass, identityOfStep(step, observed));
  }
}

/**
 * Publishes what users see. Resolves to the number of milliseconds until the next write is due, or to `null` if no
 * write becomes due without a change.
 */
async function publish(observed: Observation, pass: Pass<ClusterApi>): Promise<number | null> {
  const reported = report(observed);
  emit(reported, pass);
  await removeEndedOverrides(observed, pass);
  let statusIn: number | null = null;
  try {
    statusIn = await writeWhenDue(reported, pass);
  } finally {
    // The MySQLCluster's condition must be correct even if the MySQLRollout cannot be written.
    await writeCompletion(reported, pass);
  }
  return nextIn(reported, statusIn, pass.memory);
}

function sooner({ requeueAfterMilliseconds: requeue }: RunResult, next: number | null): RunResult {
  const delays = [requeue, next].filter((delay) => delay !== undefined && delay !== null);
  return delays.length === 0 ? {} : { requeueAfterMilliseconds: Math.min(...delays) };
}
