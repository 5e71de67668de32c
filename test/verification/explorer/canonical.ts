import * as c from './cells.ts';
import * as facts from './facts.ts';
import { fold } from './fold.ts';
import type { World } from './world.ts';

const { Health } = c;

/** What follows from a move by itself, and what no longer means anything and so has one value. */
export function canonical(before: c.Cells, after: c.Cells, world: World): void {
  const n = facts.replicasOf(after, world);
  const index = after[c.INDEX] as number;
  const moved = index !== before[c.INDEX];
  const remembersPods = world.families.has('new-pods');
  if (remembersPods) rememberPods(after, n);
  if (remembersPods && world.families.has('scaling')) rememberClaims(after, world);
  let demoted = false;
  for (let ordinal = 0; ordinal < n; ordinal++) {
    const health = after[c.HEALTH + ordinal];
    if (health === Health.Missing || health === Health.Terminating || health === Health.Ending) {
      if (!remembersPods) after[c.REVISION + ordinal] = 0;
      after[c.SETTLED + ordinal] = 0;
      after[c.DEMOTE + ordinal] = c.Demote.None;
      after[c.RESTARTING] = (after[c.RESTARTING] as number) & ~(1 << ordinal);
      after[c.RESIZE + ordinal] = c.Resize.None;
      after[c.AGENTLESS] = (after[c.AGENTLESS] as number) & ~(1 << ordinal);
      if (health === Health.Missing) after[c.PREVENT] = (after[c.PREVENT] as number) & ~(1 << ordinal);
      // Its next pod is on a node that stays.
      if (health === Health.Missing) after[c.LEAVING] = (after[c.LEAVING] as number) & ~(1 << ordinal);
      if (health === Health.Missing) after[c.BROKEN] = (after[c.BROKEN] as number) & ~(1 << ordinal);
      continue;
    }
    if (moved && (ordinal === index || ordinal === before[c.INDEX])) after[c.SETTLED + ordinal] = 0;
    const updated = after[c.REVISION + ordinal] === after[c.TARGET];
    if (world.detail === 'coarse' && !world.folded && facts.participates(after, ordinal))
      after[c.TAKEN] = (after[c.TAKEN] as number) & ~(1 << ordinal);
    if (health === Health.Young && !updated) after[c.HEALTH + ordinal] = Health.Serving;
    if (health === Health.Serving && updated && after[c.SETTLED + ordinal] === 0)
      after[c.HEALTH + ordinal] = Health.Young;
    // A primary follows no member.
    if (health === Health.Severed && ordinal === index) after[c.HEALTH + ordinal] = Health.Lagging;
    const behind = facts.isBehind(after, ordinal);
    if (behind && !facts.isBehind(before, ordinal)) after[c.GRACE] = 0;
    if (facts.isDemoted(after, ordinal)) demoted = true;
  }
  const serves = facts.participates(after, index);
  if (moved || serves !== facts.participates(before, index)) after[c.GRACE] = 0;
  if (!facts.graceRuns(after, world)) after[c.GRACE] = 0;
  if (!demoted) after[c.TIMEOUT] = 0;
  if (after[c.TOP] !== 0) keepRelayLog(after);
  const process = after[c.HEALTH + index];
  // A fresh process takes no writes; one behind a lost kubelet may still.
  const closed = process === Health.Up || process === Health.Retrying || !facts.answers(after, index);
  if (after[c.LEAD] === c.Lead.Open && closed && process !== Health.Unreachable) {
    after[c.LEAD] = c.Lead.Closed;
  }
  // MOCO's connection to it is broken: what it was about to configure it looks at anew.
  if ((after[c.PHASE] as number) >= c.Phase.Repointing && !facts.answers(after, index)) {
    after[c.PHASE] = c.Phase.Watching;
  }
  if (after[c.PHASE] !== c.Phase.Switchover) after[c.TO] = 0;
  if (after[c.VERIFIED] !== 0) after[c.TAKEN] = 0;
  if (after[c.STUCK] !== 0) {
    const quorum = facts.count(after, n, facts.participates) >= facts.majorityOf(n);
    const failing = facts.count(after, n, (at, one) => facts.isUpdated(at, one) && facts.isBroken(at, one)) > 0;
    const failsForGood = failing && !quorum && after[c.VERIFIED] === 0;
    if (!failsForGood && facts.unconfigurable(after, n) === null) after[c.STUCK] = 0;
  }
  if (!world.families.has('budget')) after[c.OPEN] = facts.budgetAllows(after, n) ? 1 : 0;
  if (after[c.INTENT] !== 0 && world.preconditions) forgetTouched(before, after, n);
  if (world.folded) fold(after, world);
}

/** What pods were that are gone, and whose doing it is that they go. */
function rememberPods(after: c.Cells, replicas: number): void {
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const bit = 1 << ordinal;
    const exists = !facts.isMissing(after, ordinal) && !facts.isTerminating(after, ordinal);
    const updated = facts.isUpdated(after, ordinal);
    if (exists) {
      after[c.TOOK] = (after[c.TOOK] as number) & ~bit;
      after[c.BACK] = (after[c.BACK] as number) & ~bit;
    }
    if (updated && facts.hasRun(after, ordinal)) after[c.RAN] = (after[c.RAN] as number) | bit;
    if (!updated) after[c.RAN] = (after[c.RAN] as number) & ~bit;
    if (!updated && facts.participates(after, ordinal)) after[c.LOST] = (after[c.LOST] as number) & ~bit;
  }
}

/** The StatefulSet controller creates a claim with the first pod, and the claim is never deleted. */
function rememberClaims(after: c.Cells, { replicas }: World): void {
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    if (!facts.isMissing(after, ordinal)) after[c.BORN] = (after[c.BORN] as number) | (1 << ordinal);
  }
}

/** Once there is a primary again, the member requests again what was not applied. */
function keepRelayLog(after: c.Cells): void {
  const top = (after[c.TOP] as number) - 1;
  const index = after[c.INDEX] as number;
  if (facts.answers(after, index)) {
    after[c.TOP] = 0;
    after[c.HALTED] = 0;
    if (after[c.PHASE] === c.Phase.Failover) after[c.PHASE] = c.Phase.Watching;
  } else if (!facts.runsThreads(after, top)) {
    after[c.HALTED] = 1;
  }
}

/** A pod that has changed in any way has another resourceVersion: a write that expects the one before is refused. */
function forgetTouched(before: c.Cells, after: c.Cells, replicas: number): void {
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    if (isTouched(before, after, ordinal)) after[c.INTENDED] = (after[c.INTENDED] as number) & ~(1 << ordinal);
  }
}

export function isTouched(before: c.Cells, after: c.Cells, ordinal: number): boolean {
  // Neither minReadySeconds passing nor what an I/O thread does is shown by a pod.
  const [was, is] = [before[c.HEALTH + ordinal], after[c.HEALTH + ordinal]];
  const onlyAged = was === Health.Young && is === Health.Serving;
  const onlyReplicates = runsBehind(was) && runsBehind(is);
  const onlyHangs = was === Health.Recovering && is === Health.Hanging;
  const onlyIdle = was === Health.Starting && is === Health.Idle;
  return (
    (was !== is && !onlyAged && !onlyIdle && !onlyReplicates && !onlyHangs) ||
    before[c.REVISION + ordinal] !== after[c.REVISION + ordinal] ||
    before[c.SETTLED + ordinal] !== after[c.SETTLED + ordinal] ||
    before[c.DEMOTE + ordinal] !== after[c.DEMOTE + ordinal] ||
    facts.isProtected(before, ordinal) !== facts.isProtected(after, ordinal) ||
    facts.restarts(before, ordinal) !== facts.restarts(after, ordinal) ||
    isResizeShown(before, after, ordinal)
  );
}

/** That time passes, or that the template changes, is shown by no pod. */
const isResizeShown = (before: c.Cells, after: c.Cells, ordinal: number): boolean =>
  !facts.isHalfResized(after, ordinal) && resizeShown(before, ordinal) !== resizeShown(after, ordinal);

function resizeShown(cells: c.Cells, ordinal: number): number {
  if (facts.isResizing(cells, ordinal)) return c.Resize.Pending;
  return cells[c.RESIZE + ordinal] === c.Resize.Fresh ? c.Resize.Done : (cells[c.RESIZE + ordinal] as number);
}

const runsBehind = (health: number | undefined): boolean =>
  health === Health.Up || health === Health.Lagging || health === Health.Severed;
