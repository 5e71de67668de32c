import * as c from './cells.ts';
import * as facts from './facts.ts';
import type { World } from './world.ts';

const { Health, Lead, Phase } = c;

/**
 * The state that stands for this one: whatever can happen here can happen there, and whatever may be done here may be
 * done there, judged in the same way. test/verification/explorer/README.md says why for each line; test/verification/explorer/folding.test.ts
 * looks whether every state that is reached without folding is covered by one that is reached with it.
 */
export function fold(cells: c.Cells, world: World): void {
  const labelled = rolesLabelled(cells);
  // An updated member stays one, unless the template changes back; and its label says nothing else than its state.
  const { families } = world;
  const finished = !unfinished.some((family) => families.has(family));
  for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
    if (finished && facts.isUpdated(cells, ordinal)) foldUpdated(cells, ordinal, labelled);
    else if (foldsReplication(world)) foldBehind(cells, ordinal);
    if (families.has('new-pods') && labelled && facts.isUpdated(cells, ordinal) && facts.participates(cells, ordinal))
      cells[c.SETTLED + ordinal] = 1;
    const health = facts.healthOf(cells, ordinal);
    // Waiting until minReadySeconds have passed only forbids steps, except for a revision that no member has verified.
    const verifies = families.has('new-pods') && cells[c.VERIFIED] === 0;
    if (health === Health.Young && !verifies) cells[c.HEALTH + ordinal] = Health.Serving;
  }
  // The parts of a configuration that MOCO has begun: each can come at any time (`anyTime` in moco-moves.ts).
  if ((cells[c.PHASE] as number) >= Phase.Repointing) cells[c.PHASE] = Phase.Watching;
  // Failed switchovers only forbid the next one. A primary on a leaving node is different: the rollout goes on beside it.
  if (!families.has('leaving-nodes')) {
    cells[c.TRIES] = 0;
    cells[c.WAITED] = 0;
  }
  if (world.badRevision || families.has('new-pods')) return;
  // A revision that is not yet verified only forbids, and what was taken while it was down only allows what it allows.
  cells[c.VERIFIED] = 1;
  cells[c.TAKEN] = 0;
  if (!families.has('unconfigurable')) cells[c.STUCK] = 0;
}

/** Where an updated member may be stale again, or what it does before it participates makes a difference. */
const unfinished = ['template', 'upstream', 'unconfigurable', 'new-pods'] as const;

/**
 * An updated member is never taken, and counts for others only while it participates: whether it acknowledges before makes
 * no difference, nor does a label that is not there yet, but for those of the two members that have changed roles.
 */
function foldUpdated(cells: c.Cells, ordinal: number, labelled: boolean): void {
  foldBehind(cells, ordinal);
  const health = facts.healthOf(cells, ordinal);
  const lives = health !== Health.Missing && !facts.isTerminating(cells, ordinal);
  if (labelled && lives) cells[c.SETTLED + ordinal] = 1;
}

/**
 * With more than three members those that are behind are all alike. One that only lags can do whatever the others can, and
 * the judge takes the worst for granted: the one that is taken acknowledges, and no other one does.
 */
export const foldsReplication = ({ folded, replicas, families }: World): boolean =>
  folded && replicas > 3 && !families.has('unconfigurable');

function foldBehind(cells: c.Cells, ordinal: number): void {
  const health = facts.healthOf(cells, ordinal);
  if (health === Health.Up || health === Health.Severed) cells[c.HEALTH + ordinal] = Health.Lagging;
}

/** Nobody is left whose label still shows the role that it had before the index moved. */
export function rolesLabelled(cells: c.Cells): boolean {
  const lead = cells[c.LEAD];
  return lead !== Lead.Moved && (lead !== Lead.Repointed || cells[c.SETTLED + (cells[c.INDEX] as number)] === 1);
}
