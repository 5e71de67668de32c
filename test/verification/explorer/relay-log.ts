import * as c from './cells.ts';
import * as facts from './facts.ts';
import { benign, type Successors } from './successors.ts';

// What replicas have received when their source dies, and have not applied. MOCO's failover stops what receives (STOP
// REPLICA IO_THREAD), elects the replica that has received the most, and waits until it has applied all of it (MOCO 0.36,
// clustering/operations.go, failover). Whoever restarts its mysqld in that wait ends the wait for good: mysqld starts with
// skip_replica_start, and MOCO starts no threads in a cluster that it calls Failed.

const { Health, Lead } = c;

/** Adds to each move that ends the primary's mysqld those that find one replica with a backlog. */
export function backlogs(cells: c.Cells, out: Successors): void {
  const index = cells[c.INDEX] as number;
  if (!facts.answers(cells, index) || cells[c.LEAD] === Lead.Moved) return;
  for (let number = 0, moves = out.count; number < moves; number++) {
    const state = out.states[number] as c.Cells;
    if (state[c.INDEX] !== index || facts.answers(state, index)) continue;
    for (let ordinal = 0; ordinal < c.mostMembers; ordinal++) {
      if (ordinal === index || !mayBeAhead(state, ordinal)) continue;
      // In a world without faults no member is behind.
      out.add(state, (out.kinds[number] as number) & ~benign)[c.TOP] = ordinal + 1;
    }
  }
}

/**
 * It follows. One whose pod is terminating already is left out: whoever took it did so while the primary served, and no
 * order of two such events would be safe.
 */
function mayBeAhead(cells: c.Cells, ordinal: number): boolean {
  const health = facts.healthOf(cells, ordinal);
  const follows = health === Health.Lagging || facts.participates(cells, ordinal);
  return follows && !facts.isErrant(cells, ordinal);
}

/** Its applier comes to the end of its relay log. */
export function applies(cells: c.Cells, out: Successors): void {
  const top = (cells[c.TOP] as number) - 1;
  if (top < 0 || !facts.holdsTopRelayLog(cells, top) || !facts.answers(cells, top)) return;
  out.add(cells, benign)[c.TOP] = 0;
}
