import { milliseconds } from '../../base/json.ts';
import { explainStep } from '../../core/sentences.ts';
import { isDisruptive, ruleOf } from '../../core/step.ts';
import { nameOf } from '../../kube/store.ts';
import { type Acted, isRefusedByBudget, sparesSwitchover } from '../pass/end.ts';
import type { Context, Pass } from '../pass/pass.ts';
import { rememberPublished, rememberReturned } from '../pass/remember.ts';
import type { Changes } from './changes.ts';
import { type EventSubject, endedEvent, mysqldRestartedEvent, outOfBandEvent, stepEvent } from './events.ts';
import type { PassReport } from './pass-report.ts';

// Emits Events, metrics and log lines, before the status is written.

/** Sets the metrics of the cluster, and emits the Event and the log line that are due. */
export function emit(report: PassReport, { memory, context: { metrics, recorder, log } }: Pass): void {
  const { observation, values, returned, event, log: line } = report;
  const { namespace, name } = observation.objects.cluster;
  metrics.setCluster([namespace, name], values);
  for (const { seconds } of returned) metrics.memberUpdateDurationSeconds.observe(seconds);
  if (event !== null) recorder.record(event);
  if (line.key !== observation.memory.published.logged) log[line.level](line.fields, line.sentence);
  const { hold } = observation.decision;
  const reported = event === null ? observation.memory.published.reported : (hold?.rule ?? null);
  rememberPublished(memory, { reported: hold === null ? null : reported, logged: line.key });
  rememberReturned(
    memory,
    returned.map(({ ordinal }) => ordinal),
  );
}

export function emitStep(acted: Acted, { metrics, recorder, log }: Context): void {
  const { step, observation } = acted;
  if (step.kind === 'none') return;
  const { cluster } = observation.objects;
  const rule = isDisruptive(step) ? ruleOf(step) : step.kind;
  const fields = { cluster: nameOf(cluster), step: step.kind, rule, result: acted.result };
  const isByBudget = isRefusedByBudget(step, acted);
  if (isByBudget) metrics.evictionsRefused.inc();
  if (acted.done.length === 0) {
    const isRefused = acted.result === 'refused' && !isByBudget;
    const level = acted.result === 'conflict' ? 'debug' : isRefused ? 'warn' : 'info';
    log[level]({ ...fields, answer: acted.message }, `Step failed: ${explainStep(step)}`);
    return;
  }
  log.info({ ...fields, member: acted.done.map((target) => target.name).join() }, explainStep(step));
  if (step.kind === 'delete' || step.kind === 'evict') {
    metrics.countDisruptions([cluster.namespace, cluster.name], step.kind, rule, acted.done.length);
  }
  if (step.kind === 'updateInPlace') metrics.updatesInPlace.inc({ rule }, acted.done.length);
  if (sparesSwitchover(step, observation.objects)) metrics.switchoversAvoided.inc();
  if (step.kind === 'resizeInPlace') metrics.resizesInPlace.inc({ rule }, acted.done.length);
  const event = stepEvent(acted);
  if (event !== null) recorder.record(event);
}

/**
 * Reports what has ended, after the status that shows it was written. `reported` is `null` if the objects are unknown.
 */
export function emitChanges(
  { finished, switchover, outOfBand, mysqldRestarted, ended }: Changes,
  reported: EventSubject | null,
  { metrics, recorder, log }: Context,
): void {
  if (finished !== null) {
    metrics.finished.inc({ outcome: finished.outcome });
    const { startedAt, finishedAt } = finished;
    const seconds = ((milliseconds(finishedAt) ?? 0) - (milliseconds(startedAt) ?? 0)) / 1000;
    metrics.rolloutDurationSeconds.observe(Math.max(0, seconds));
  }
  if (switchover !== null) {
    const { namespace = '', name } = reported?.rollout?.metadata ?? {};
    metrics.countSwitchover(name === undefined ? null : [namespace, name], switchover.outcome);
    if (switchover.outcome === 'done') metrics.switchoverDurationSeconds.observe(switchover.seconds);
  }
  if (outOfBand.length > 0) metrics.unplannedUpdates.inc(outOfBand.length);
  if (mysqldRestarted.length > 0) metrics.mysqldRestarts.inc(mysqldRestarted.length);
  if (reported === null) return;
  const { objects } = reported;
  for (const one of ended) {
    const event = endedEvent(reported, one);
    log.info({ cluster: nameOf(objects.cluster) }, event.note);
    recorder.record(event);
  }
  const revision = objects.statefulSet?.updateRevision ?? '';
  for (const [ordinal, event] of [
    ...outOfBand.map((one) => [one, outOfBandEvent(reported, one)] as const),
    ...mysqldRestarted.map((one) => [one, mysqldRestartedEvent(reported, one)] as const),
  ]) {
    log.info(
      { cluster: nameOf(objects.cluster), member: event.related?.name ?? String(ordinal), revision },
      event.note,
    );
    recorder.record(event);
  }
}
