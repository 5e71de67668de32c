import { isDisruptive } from '../core/step.ts';
import { splitKey } from '../kube/store.ts';
import type { RunResult } from '../kube/work-queue.ts';
import { ClusterApi } from '../objects/cluster-client.ts';
import { askNodes } from './disrupt/ask-nodes.ts';
import { adjust, disrupt } from './disrupt/disrupt.ts';
import { prepare, readWhole } from './disrupt/prepare.ts';
import { type Memory, newMemory } from './facts/memory.ts';
import type { Readings } from './facts/readings.ts';
import { isAsking } from './fleet/fleet-standing.ts';
import { type End, failedBy, identityOfStep, nothingToReport } from './pass/end.ts';
import { type Observation, observeCached } from './pass/observe.ts';
import type { Context, Pass } from './pass/pass.ts';
import { remember, rememberPrepared, rememberRead, rememberSeen } from './pass/remember.ts';
import { readDelaysAwaited } from './reads/read-delays.ts';
import { readDetails } from './reads/read-details.ts';
import { readInPlaceAwaited } from './reads/read-in-place.ts';
import { readMysqlAwaited } from './reads/read-mysql.ts';
import { readRecreatableAwaited } from './reads/read-recreatable.ts';
import { writeCompletion } from './status/complete-condition.ts';
import { emit, emitStep } from './status/emit.ts';
import { removeEndedOverrides } from './status/ended-overrides.ts';
import { report } from './status/pass-report.ts';
import { nextIn, writeWhenDue } from './status/write.ts';

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

  /** Rejects if the API server does not respond or refuses; the work queue retries with backoff. */
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
      // What new pods come up at takes no member: the answers to checks still count for the step that does.
      if (end.step.kind !== 'setStrategy') context.checks.forget(key);
      emitStep(end, context);
    }
    const observed = end.report === 'cached' ? look(pass) : end.report;
    const next = observed && (await tell(observed, pass));
    if (end.kind === 'failed' && end.error !== undefined) throw end.error;
    return sooner(end, next);
  }

  #forget(key: string): void {
    this.#context.checks.forget(key);
    this.#context.fleet.evictions.setWaiting(key, false);
    this.#context.fleet.setAsking(key, false);
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
    observed = await lookClosely(pass);
  } catch (error) {
    // No step may be taken.
    return failedBy(error, pass, null);
  }
  if (observed === null) return nothingToReport;
  const { step, hold, asksChecks } = observed.decision;
  context.fleet.evictions.setWaiting(key, hold?.rule === 'DisruptionControllerBehind');
  if (step.kind === 'none') context.fleet.setAsking(key, isAsking(hold?.rule));
  if (asksChecks) context.checks.ask(key, observed.settings.checks);
  // Another reconciliation follows the answer.
  if (hold?.rule === 'CheckPending' && step.kind === 'none') return nothingToReport;
  if (step.kind === 'none') return { kind: 'nothing', report: observed };
  try {
    return isDisruptive(step) ? await disrupt(pass, observed, step) : await adjust(pass, observed, step);
  } catch (error) {
    return failedBy(error, pass, identityOfStep(step, observed));
  }
}

/** Observes the cached objects. `null` if there is no such cluster. */
function look(pass: Pass): Observation | null {
  const observed = observeCached(pass);
  return observed && rememberSeen(pass.memory, observed);
}

/**
 * Observes, and again with what it needs to know: what updates in place depend on; how far replicas are behind, if a
 * step depends on them; details for users, while no step is due; what nodes find out about the update revision, and
 * whether members can come back, if only that is left.
 */
async function lookClosely(pass: Pass<ClusterApi>): Promise<Observation | null> {
  let observed = look(pass);
  for (const read of [
    readInPlaceAwaited,
    readDelaysAwaited,
    readMysqlAwaited,
    readDetails,
    askNodesInTurn,
    readRecreatableAwaited,
  ]) {
    const found: Partial<Readings> | null = observed && (await read(observed, pass));
    if (found === null) continue;
    rememberRead(pass.memory, found);
    observed = look(pass);
  }
  return observed;
}

async function askNodesInTurn(before: Observation, pass: Pass<ClusterApi>): Promise<Partial<Readings> | null> {
  // Other clusters may have decided since: two never take the same slot.
  const observed = isAsking(before.decision.hold?.rule) ? look(pass) : before;
  if (isAsking(observed?.decision.hold?.rule)) pass.context.fleet.setAsking(pass.key, true);
  return observed && askNodes(observed, pass);
}

/** Tells users. Resolves to the milliseconds until more must be written, or `null` if only a change requires that. */
async function tell(observed: Observation, pass: Pass<ClusterApi>): Promise<number | null> {
  const told = report(observed);
  emit(told, pass);
  await removeEndedOverrides(observed, pass);
  let statusIn: number | null = null;
  try {
    statusIn = await writeWhenDue(told, pass);
  } finally {
    // The condition of the MySQLCluster is kept correct even if the MySQLRollout cannot be written.
    await writeCompletion(told, pass);
  }
  return nextIn(told, statusIn, pass.memory);
}

function sooner({ requeueAfterMilliseconds: requeue }: RunResult, next: number | null): RunResult {
  const delays = [requeue, next].filter((delay) => delay !== undefined && delay !== null);
  return delays.length === 0 ? {} : { requeueAfterMilliseconds: Math.min(...delays) };
}
