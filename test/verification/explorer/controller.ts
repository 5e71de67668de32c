import { canonical, isTouched } from './canonical.ts';
import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import { revisionNumber } from './view.ts';
import type { World } from './world.ts';

/** Steps that change the StatefulSet alone: they carry its uid and resourceVersion. */
export const changesStatefulSet = ({ kind }: Verdict): boolean => kind === 'setStrategy' || kind === 'promoteRevision';

const ofStatefulSet = [c.NEW_PODS, c.FOLLOWS, c.CURRENT, c.TARGET, c.STAGE, c.SCALE] as const;

/** What the step is about, its pods or the StatefulSet, is still as it was read. */
export function untouched(read: c.Cells, now: c.Cells, verdict: Verdict): boolean {
  const { targets } = verdict;
  if (changesStatefulSet(verdict) && ofStatefulSet.some((at) => read[at] !== now[at])) return false;
  for (let ordinal = 0; targets >> ordinal !== 0; ordinal++) {
    if ((targets & (1 << ordinal)) !== 0 && isTouched(read, now, ordinal)) return false;
  }
  return true;
}

/**
 * Does the step to `now`, which becomes the state after it. `taken`, as bits, were participating all the time until then. What is
 * written down of members is what was true at `read`.
 */
export function perform(
  verdict: Verdict,
  now: c.Cells,
  after: c.Cells,
  world: World,
  taken: number,
  read: c.Cells = now,
): void {
  after.set(now);
  if (world.families.has('new-pods')) remember(verdict, true, read, after, world);
  const needsPod = ['delete', 'evict', 'updateInPlace', 'resizeInPlace', 'restore'].includes(verdict.kind);
  const targets = needsPod ? liveTargets(verdict, now) : verdict.targets;
  for (let ordinal = 0; targets >> ordinal !== 0; ordinal++) {
    if ((targets & (1 << ordinal)) === 0) continue;
    switch (verdict.kind) {
      case 'delete':
      case 'evict':
      case 'restore':
        if (verdict.kind !== 'evict' && facts.isProtected(now, ordinal)) break;
        after[c.HEALTH + ordinal] = facts.answers(now, ordinal)
          ? c.Health.Terminating
          : world.detail === 'fine' || facts.isProtected(now, ordinal) || facts.isGone(now, ordinal)
            ? c.Health.Ending
            : c.Health.Missing;
        addBit(after, verdict.kind === 'restore' ? c.BACK : c.TOOK, ordinal);
        break;
      case 'updateInPlace':
        after[c.REVISION + ordinal] = after[c.TARGET] as number;
        after[c.RESIZE + ordinal] = c.Resize.None;
        if (world.families.has('in-place') || world.families.has('slow-log'))
          after[c.RESTARTING] = (after[c.RESTARTING] as number) | (1 << ordinal);
        break;
      case 'resizeInPlace':
        // One that goes back to the resources of its own revision has the label already.
        after[c.RESIZE + ordinal] = after[c.REVISION + ordinal] === after[c.TARGET] ? c.Resize.None : c.Resize.Pending;
        break;
      case 'demote':
        after[c.DEMOTE + ordinal] = verdict.rule === 'NodeLeaving' ? c.Demote.OursForNode : c.Demote.Ours;
        after[c.TIMEOUT] = 0;
        break;
      case 'undemote':
        after[c.DEMOTE + ordinal] = c.Demote.None;
        break;
      default:
    }
  }
  if (verdict.kind === 'setPartition') after[c.PARTITION] = verdict.partition;
  if (verdict.kind === 'promoteRevision') after[c.PROMOTED] = 1;
  if (verdict.promotes !== null) after[c.CURRENT] = revisionNumber(verdict.promotes);
  if (verdict.newPods !== null)
    after[c.NEW_PODS] = verdict.newPods === 'CurrentRevision' ? c.NewPods.Kept : c.NewPods.Updated;
  if (verdict.rule === 'MemberDown') after[c.TAKEN] = (after[c.TAKEN] as number) | targets;
  if (verdict.reason === 'TimedOut') {
    after[c.TRIES] = Math.min(2, (after[c.TRIES] as number) + 1);
    after[c.WAITED] = 0;
  }
  if (verdict.verified) after[c.VERIFIED] = 1;
  if (!changesStatefulSet(verdict)) after[c.STUCK] = 0;
  if (after[c.BAD] !== 0) after[c.LOST] = (after[c.LOST] as number) | taken;
  canonical(now, after, world);
}

const addBit = (cells: c.Cells, at: number, ordinal: number): void => {
  cells[at] = (cells[at] as number) | (1 << ordinal);
};

/**
 * What the status then says of members, as src/controller/status/member-progress.ts has it: written with the intent of a
 * step that is done, or after a pass.
 */
export function remember(verdict: Verdict, isDone: boolean, read: c.Cells, after: c.Cells, world: World): void {
  const n = facts.replicasOf(read, world);
  let [stale, going, back, updated, started, awaited] = [0, 0, 0, 0, 0, read[c.RESTORING] as number];
  for (let ordinal = 0; ordinal < n; ordinal++) {
    if (facts.isMissing(read, ordinal)) {
      if (isLostBefore(read, ordinal)) going |= 1 << ordinal;
      continue;
    }
    if (!facts.has(read[c.BACK], ordinal)) awaited &= ~(1 << ordinal);
    if (facts.isUpdated(read, ordinal)) {
      updated |= 1 << ordinal;
      if (facts.healthOf(read, ordinal) !== c.Health.Unpulled) started |= 1 << ordinal;
    } else if (!facts.isTerminating(read, ordinal)) stale |= 1 << ordinal;
    else {
      if (isLostBefore(read, ordinal)) going |= 1 << ordinal;
      if (isBack(read, ordinal)) back |= 1 << ordinal;
    }
  }
  const isNoted = read[c.NOTED] === 1;
  // Nothing begins if no member is stale.
  if (!isNoted && facts.count(read, n, isStale) === 0) {
    after[c.WAITING] = c.bit(n) - 1;
    return;
  }
  const isKept = read[c.NEW_PODS] !== c.NewPods.Updated;
  const takes = isDone && ['delete', 'evict', 'updateInPlace', 'setPartition', 'restore'].includes(verdict.kind);
  const waited = isNoted ? (read[c.WAITING] as number) : stale | going;
  after[c.NOTED] = 1;
  after[c.WAITING] = (waited | (isKept ? stale : 0) | (isNoted ? back : 0)) & ~updated & ~(takes ? verdict.targets : 0);
  const created = ((read[c.CREATED] as number) & ~stale) | (isNoted ? waited & updated & verdict.created : 0);
  after[c.CREATED] = created;
  after[c.STARTED] = created & ((read[c.STARTED] as number) | started);
  after[c.RESTORING] = awaited | (isDone && verdict.kind === 'restore' ? verdict.targets : 0);
}

/** In another pod than the one that a step has taken. */
const isBack = (cells: c.Cells, ordinal: number): boolean =>
  !facts.has(cells[c.TOOK], ordinal) && !facts.has(cells[c.BACK], ordinal);

const isStale = (cells: c.Cells, ordinal: number): boolean =>
  !facts.isMissing(cells, ordinal) && !facts.isUpdated(cells, ordinal);

/** As the rollout begins: no step of the one before has taken its pod, or that one has updated it. */
function isLostBefore(cells: c.Cells, ordinal: number): boolean {
  const wasUpdated = !facts.isMissing(cells, ordinal) && cells[c.REVISION + ordinal] === cells[c.EARLIER];
  return facts.has(cells[c.WAITING], ordinal) || wasUpdated;
}

/** A pod that is terminating already only goes on terminating. */
function liveTargets({ targets }: Verdict, now: c.Cells): number {
  let live = targets;
  for (let ordinal = 0; live >> ordinal !== 0; ordinal++) {
    if (facts.isTerminating(now, ordinal) || facts.isMissing(now, ordinal)) live &= ~(1 << ordinal);
  }
  return live;
}
