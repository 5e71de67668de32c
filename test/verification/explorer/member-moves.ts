import * as c from './cells.ts';
import * as facts from './facts.ts';
import { foldsReplication } from './fold.ts';
import { benign, late, type Successors } from './successors.ts';
import type { World } from './world.ts';

const { Health, Lead, Phase } = c;

/** What can happen to one member's pod and its mysqld. `fails` counts a fault, and says whether there may be one more. */
export function memberMoves(
  cells: c.Cells,
  ordinal: number,
  world: World,
  out: Successors,
  fails: (state: c.Cells) => boolean,
): void {
  const become = (health: number, kind: number): c.Cells => {
    const next = out.add(cells, kind);
    next[c.HEALTH + ordinal] = health;
    return next;
  };
  /** A revision that never starts breaks its members by itself. */
  const bad = facts.isBad(cells, ordinal);
  const fault = (health: number): void => {
    if (onlyTaken && !isTakenAway(health)) return;
    const next = become(health, 0);
    if (!fails(next)) out.drop();
  };
  const crash = (): void => void (bad ? become(Health.Crashed, benign) : fault(Health.Crashed));
  const fine = world.detail === 'fine';
  /** Its process runs again; where those that are behind are all alike, between two attempts is no moment either. */
  const again = !fine && foldsReplication(world) ? Health.Up : Health.Retrying;
  const kept = facts.isProtected(cells, ordinal);
  const newPods = world.families.has('new-pods');
  /** Where pods are taken away by others, in coarse detail nothing else goes wrong. */
  const onlyTaken = newPods && !fine;
  const restartsAgent = facts.restarts(cells, ordinal) && !world.families.has('slow-log');
  const drained = (): void => fault(facts.answers(cells, ordinal) ? Health.Terminating : Health.Ending);
  if (newPods) takenAway();
  if (facts.restarts(cells, ordinal)) restartMoves();
  if (facts.isResizing(cells, ordinal)) resizeMoves();
  if (cells[c.RESIZE + ordinal] === c.Resize.Fresh) out.add(cells, benign)[c.RESIZE + ordinal] = c.Resize.Done;
  switch (facts.healthOf(cells, ordinal)) {
    case Health.Missing: {
      if (newPods) return created();
      const next = become(fine ? Health.Starting : Health.Up, benign);
      const below = world.families.has('partition-mode') && ordinal < (cells[c.PARTITION] as number);
      // Below the partition the StatefulSet controller makes pods from the current revision.
      const kept = below && cells[c.PROMOTED] === 0;
      next[c.REVISION + ordinal] = kept ? 0 : (cells[c.TARGET] as number);
      return;
    }
    case Health.Starting:
      become(Health.Up, bad ? 0 : benign);
      if (fine) become(Health.Idle, late);
      if (newPods) pullFails();
      crash();
      if (fine) drained();
      return;
    case Health.Idle:
      become(Health.Up, bad ? 0 : benign);
      if (bad) crash();
      drained();
      return;
    case Health.Up:
      if (world.folded) configured();
      crash();
      if (fine) drained();
      return;
    case Health.Lagging:
      if (!bad && mayServe(cells, ordinal) && !restartsAgent && !facts.isAgentless(cells, ordinal))
        become(participating(cells, ordinal), benign);
      crash();
      if (fine) drained();
      return;
    case Health.Severed:
      // MOCO starts replication anew, which may work; that it does is counted on only after an update.
      if (
        facts.answers(cells, cells[c.INDEX] as number) &&
        cells[c.LEAD] !== Lead.Moved &&
        isReached(cells, ordinal, world)
      ) {
        become(Health.Lagging, !bad && isRepaired(cells, ordinal, world) ? benign : 0);
      }
      crash();
      if (fine) drained();
      return;
    case Health.Young:
      if (cells[c.SETTLED + ordinal] === 1) become(Health.Serving, benign);
      servingFails();
      return;
    case Health.Serving:
      servingFails();
      return;
    case Health.Crashed:
      if (fine) become(Health.Retrying, bad ? 0 : benign);
      else if (!bad) become(again, benign);
      if (fine) drained();
      return;
    case Health.Retrying:
      if (world.folded && !bad) become(isReached(cells, ordinal, world) ? Health.Lagging : Health.Up, benign);
      become(Health.Crashed, bad ? benign : 0);
      drained();
      return;
    case Health.Recovering:
    case Health.Hanging:
      become(Health.Retrying, benign);
      if (cells[c.HEALTH + ordinal] === Health.Recovering) become(Health.Hanging, late);
      crash();
      return;
    case Health.Unreachable:
      if (facts.isGone(cells, ordinal)) {
        become(Health.Ending, 0);
        return;
      }
      if (!bad) become(participating(cells, ordinal), benign);
      // Its process has been replaced meanwhile, or follows one that is primary no more.
      become(again, bad ? benign : 0);
      if (ordinal !== cells[c.INDEX]) become(Health.Severed, 0);
      // The toleration is over.
      if (!kept) become(fine ? Health.Ending : Health.Missing, 0);
      return;
    case Health.Terminating:
      become(fine || kept ? Health.Ending : Health.Missing, benign);
      return;
    case Health.Ending:
      if (!kept && !facts.isGone(cells, ordinal)) become(Health.Missing, benign);
      return;
    case Health.Failed:
      // The StatefulSet controller deletes it, and nothing of it runs.
      become(Health.Missing, benign);
      return;
    case Health.Unpulled:
      // Nobody can pull the image of a revision that never starts.
      if (!bad) become(Health.Up, benign);
      return;
    case Health.Impaired:
      become(participating(cells, ordinal), 0);
      if (connectionLost(cells, ordinal) === true) become(Health.Lagging, benign);
      crash();
      return;
  }

  /** Somebody deletes the pod, by force or not, or drains its node, or the kubelet evicts it. */
  function takenAway(): void {
    const health = facts.healthOf(cells, ordinal);
    if (health === Health.Missing) return;
    fault(Health.Missing);
    if (facts.isTerminating(cells, ordinal)) return;
    const isDrained = health === Health.Young || health === Health.Serving;
    if (!isDrained && facts.answers(cells, ordinal)) fault(Health.Terminating);
    else if (!isDrained && fine) fault(Health.Ending);
    if (health === Health.Failed || health === Health.Unreachable) return;
    fault(Health.Failed);
    if (!isDrained && facts.answers(cells, ordinal)) fault(Health.Unreachable);
  }

  /** At the revision that the StatefulSet controller has observed, and the image can be pulled or not. */
  function created(): void {
    const revision = facts.revisionOfNewPods(cells);
    const next = become(fine ? Health.Starting : Health.Up, benign);
    next[c.REVISION + ordinal] = revision;
    if (fine) return;
    const unpulled = become(Health.Unpulled, 0);
    unpulled[c.REVISION + ordinal] = revision;
    if (!facts.isBadRevision(cells, revision) && !fails(unpulled)) out.drop();
  }

  function pullFails(): void {
    if (bad) become(Health.Unpulled, 0);
    else fault(Health.Unpulled);
  }

  /** A clone may take forever at a revision that has to be replaced. */
  function configured(): void {
    const index = cells[c.INDEX] as number;
    const leads = ordinal === index;
    if (!isReached(cells, ordinal, world)) return;
    if (!leads && (!facts.answers(cells, index) || cells[c.LEAD] === Lead.Moved)) return;
    become(Health.Lagging, !bad && (leads || isRepaired(cells, ordinal, world)) ? benign : 0);
  }

  /**
   * The kubelet restarts the container. While the agent is away mysqld turns not ready, and in the end the kubelet restarts
   * it too.
   */
  function restartMoves(): void {
    const health = facts.healthOf(cells, ordinal);
    const back = out.add(cells, benign);
    back[c.RESTARTING] = (cells[c.RESTARTING] as number) & ~(1 << ordinal);
    if (world.families.has('slow-log')) return;
    if (facts.participates(cells, ordinal)) become(Health.Lagging, 0);
    else if (health === Health.Lagging) become(again, 0);
  }

  /** The kubelet resizes the pod, defers that for long, or does not do it at all. */
  function resizeMoves(): void {
    const moves: readonly (readonly [resize: number, kind: number])[] = [
      [c.Resize.Fresh, 0],
      [c.Resize.Refused, 0],
      ...(cells[c.RESIZE + ordinal] === c.Resize.Pending ? ([[c.Resize.Overdue, late]] as const) : []),
    ];
    for (const [resize, kind] of moves) out.add(cells, kind)[c.RESIZE + ordinal] = resize;
  }

  function nodeIsLost(): void {
    const next = become(Health.Unreachable, 0);
    next[c.GONE] = (cells[c.GONE] as number) | (1 << ordinal);
    if (!fails(next)) out.drop();
  }

  /** Its mysqld has restarted without what MOCO needs to make it follow. */
  function breaks(): void {
    if (facts.isUpdated(cells, ordinal)) return;
    const next = become(Health.Up, 0);
    next[c.BROKEN] = (cells[c.BROKEN] as number) | (1 << ordinal);
    if (!fails(next)) out.drop();
  }

  function servingFails(): void {
    const cut = connectionLost(cells, ordinal);
    if (cut === null) {
      fault(Health.Lagging);
      if (ordinal !== cells[c.INDEX]) fault(Health.Severed);
    } else {
      become(Health.Lagging, cut ? benign : 0);
    }
    crash();
    fault(Health.Unreachable);
    if (world.families.has('relay-log') && ordinal === cells[c.INDEX] && cells[c.GONE] === 0) nodeIsLost();
    if (world.families.has('unconfigurable') && ordinal !== cells[c.INDEX]) breaks();
    drained();
    if (world.families.has('impaired')) fault(Health.Impaired);
    if (world.families.has('recovery')) fault(Health.Recovering);
  }
}

const isTakenAway = (health: number): boolean =>
  health === Health.Missing ||
  health === Health.Terminating ||
  health === Health.Ending ||
  health === Health.Unreachable ||
  health === Health.Failed ||
  health === Health.Unpulled;

/** Stale members have served for long, or it doesn't matter since when. */
function participating(cells: c.Cells, ordinal: number): number {
  return facts.isUpdated(cells, ordinal) ? Health.Young : Health.Serving;
}

/** Replication that does not work is counted on to work in the end where no update of the member is still to come. */
function isRepaired(cells: c.Cells, ordinal: number, { policy }: World): boolean {
  return facts.isUpdated(cells, ordinal) || ordinal < policy.partition || policy.mode !== 'OnDelete';
}

/** MOCO configures the primary, and then the replicas in ascending order, up to the first that it fails to configure. */
export function isReached(cells: c.Cells, ordinal: number, { replicas }: World): boolean {
  if (cells[c.BROKEN] === 0) return true;
  const index = cells[c.INDEX] as number;
  const first = facts.unconfigurable(cells, replicas);
  return ordinal === index || (!facts.isUnconfigurable(cells, ordinal) && (first === null || ordinal < first));
}

/** A source that takes writes, or a replica whose source answers. */
function mayServe(cells: c.Cells, ordinal: number): boolean {
  const index = cells[c.INDEX] as number;
  if (ordinal === index) return cells[c.LEAD] === Lead.Open && cells[c.UPSTREAM] !== c.Upstream.Away;
  return cells[c.LEAD] !== Lead.Moved && facts.answers(cells, index) && !facts.isErrant(cells, ordinal);
}

/** It turns not ready without any fault of its own: for certain, perhaps, or (`null`) not. */
function connectionLost(cells: c.Cells, ordinal: number): boolean | null {
  const index = cells[c.INDEX] as number;
  const lead = cells[c.LEAD];
  if (ordinal === index) {
    // The agent says not ready of a source that doesn't follow its own.
    if (cells[c.UPSTREAM] === c.Upstream.Away) return true;
    return lead === Lead.Open || cells[c.PHASE] === Phase.Switchover ? null : false;
  }
  if (!facts.answers(cells, index) && lead !== Lead.Moved) return true;
  return lead === Lead.Moved ? false : null;
}
