import * as c from './cells.ts';
import * as facts from './facts.ts';
import type { World } from './world.ts';

const { Health, Lead, Phase } = c;

/**
 * The state that stands for this one: whatever can happen here can happen there, and whatever may be done here may be
 * done there, judged in the same way. docs/model-checking.md says why for each line; test/explorer/folding.test.ts
 * looks whether every state that is reached without folding is covered by one that is reached with it.
 */
export function fold(cells: c.Cells, world: World): void {
  for (let ordinal = 0; ordinal < c.mostMembers; ordinal++) {
    const health = facts.healthOf(cells, ordinal);
    // Waiting out minReadySeconds only forbids.
    if (health === Health.Young) cells[c.HEALTH + ordinal] = Health.Serving;
  }
  // The parts of a configuration that MOCO has begun: each can come at any time (`anyTime` in moco-moves.ts).
  if ((cells[c.PHASE] as number) >= Phase.Repointing) cells[c.PHASE] = Phase.Watching;
  // Failed switchovers only forbid the next one.
  cells[c.TRIES] = 0;
  cells[c.WAITED] = 0;
  if (world.badRevision) return;
  // A revision that is not yet proven only forbids, and what was taken while it was down only allows what it allows.
  cells[c.PROVEN] = 1;
  cells[c.TAKEN] = 0;
  cells[c.STUCK] = 0;
}

/** Nobody is left whose label still shows the role that it had before the index moved. */
export function rolesLabelled(cells: c.Cells): boolean {
  const lead = cells[c.LEAD];
  return lead !== Lead.Moved && (lead !== Lead.Repointed || cells[c.SETTLED + (cells[c.INDEX] as number)] === 1);
}
