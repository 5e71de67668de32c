import { canonical, isTouched } from './canonical.ts';
import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import type { World } from './world.ts';

/** Steps that are confirmed and written down, and carry the pod's uid and resourceVersion. */
export const isDisruptive = ({ kind, demoted }: Verdict): boolean =>
  kind === 'delete' ||
  kind === 'evict' ||
  kind === 'updateInPlace' ||
  kind === 'resizeInPlace' ||
  kind === 'demote' ||
  kind === 'setPartition' ||
  (kind === 'undemote' && demoted);

/** Every pod that the step is about is still as it was read. */
export function untouched(read: c.Cells, now: c.Cells, { targets }: Verdict): boolean {
  for (let ordinal = 0; targets >> ordinal !== 0; ordinal++) {
    if ((targets & (1 << ordinal)) !== 0 && isTouched(read, now, ordinal)) return false;
  }
  return true;
}

/** Does the step to `now`, which becomes the state after it. `taken` were participating all the time until then. */
export function perform(verdict: Verdict, now: c.Cells, after: c.Cells, world: World, taken: number): void {
  after.set(now);
  const needsPod = ['delete', 'evict', 'updateInPlace', 'resizeInPlace'].includes(verdict.kind);
  const targets = needsPod ? liveTargets(verdict, now) : verdict.targets;
  for (let ordinal = 0; targets >> ordinal !== 0; ordinal++) {
    if ((targets & (1 << ordinal)) === 0) continue;
    switch (verdict.kind) {
      case 'delete':
      case 'evict':
        if (verdict.kind === 'delete' && facts.isProtected(now, ordinal)) break;
        after[c.HEALTH + ordinal] = facts.answers(now, ordinal)
          ? c.Health.Terminating
          : world.detail === 'fine' || facts.isProtected(now, ordinal) || facts.isGone(now, ordinal)
            ? c.Health.Ending
            : c.Health.Missing;
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
        after[c.DEMOTE + ordinal] = c.Demote.Ours;
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
  if (verdict.rule === 'MemberDown') after[c.TAKEN] = (after[c.TAKEN] as number) | targets;
  if (verdict.reason === 'TimedOut') {
    after[c.TRIES] = Math.min(2, (after[c.TRIES] as number) + 1);
    after[c.WAITED] = 0;
  }
  if (verdict.verified) after[c.VERIFIED] = 1;
  after[c.STUCK] = 0;
  if (after[c.BAD] !== 0) after[c.LOST] = Math.min(3, (after[c.LOST] as number) + taken);
  canonical(now, after, world);
}

/** A pod that is terminating already only goes on terminating. */
function liveTargets({ targets }: Verdict, now: c.Cells): number {
  let live = targets;
  for (let ordinal = 0; live >> ordinal !== 0; ordinal++) {
    if (facts.isTerminating(now, ordinal) || facts.isMissing(now, ordinal)) live &= ~(1 << ordinal);
  }
  return live;
}
