import type { HoldRule } from '../../../src/core/decision.ts';
import * as c from './cells.ts';
import { changesStatefulSet, perform } from './controller.ts';
import type { Verdict } from './decisions.ts';
import { environmentMoves } from './environment.ts';
import { type Exploration, notes } from './explore.ts';
import * as facts from './facts.ts';
import { benign, late, Successors } from './successors.ts';

/** Holds that a person, or time alone, can end: a rollout may rest there. */
const restingPlaces: ReadonlySet<HoldRule> = new Set([
  'UpdateRevisionFailing', // the template is corrected
  'SwitchoverFailing', // approved
  'PartitionReached', // the partition is lowered, the member let go
  'Paused',
  'AwaitingApproval',
  'PrimaryWaitsForPinned',
  'ClaimTerminating', // the member is given up
]);

/** Waits for members to come up, which those at a revision that never starts do once the template is corrected. */
const waitsForMembers: ReadonlySet<HoldRule> = new Set([
  'UpdatedMemberNotParticipating',
  'AwaitingFailover',
  'FailoverUnfinished',
  'RolesNotSettled',
]);

export interface Progress {
  /** States whose benign future was followed. */
  readonly states: number;
  /** A way round that leads back to where it began, or `null`. */
  readonly cycle: readonly c.Cells[] | null;
  /** A state from which nothing benign leads on, and which is neither the goal nor a hold that a person can end. */
  readonly stuck: { readonly path: readonly c.Cells[]; readonly hold: HoldRule | null } | null;
  /** How many sinks there are, by what holds there; `goal` where nothing does. */
  readonly sinks: ReadonlyMap<string, number>;
}

const isImpaired = (cells: c.Cells, ordinal: number): boolean => facts.healthOf(cells, ordinal) === c.Health.Impaired;

const unseen = 0;
const open = 1;
const done = 2;

/**
 * The graph of this program's steps and the moves of a world that goes well: it has no cycle, and every sink is the
 * goal or a hold that a person or time can end. Long times pass only where nothing else happens any more.
 */
export function progressOf(exploration: Exploration): Progress {
  const { table, world } = exploration;
  const newPods = world.families.has('new-pods');
  const marks = new Uint8Array(table.count);
  const stack: number[] = [];
  const futures: Int32Array[] = [];
  const positions: number[] = [];
  const sinks = new Map<string, number>();
  const moves = new Successors();
  const cells = exploration.pathTo(0)[0]?.slice() as c.Cells;
  const after = new Uint16Array(c.cellCount);
  for (let root = 0; root < table.count; root++) {
    if (marks[root] !== unseen) continue;
    enter(root);
    while (stack.length > 0) {
      const top = stack.length - 1;
      const future = futures[top] as Int32Array;
      const position = positions[top] as number;
      if (position === future.length) {
        marks[stack[top] as number] = done;
        stack.pop();
        futures.pop();
        positions.pop();
        continue;
      }
      positions[top] = position + 1;
      const next = future[position] as number;
      if (next < 0) continue;
      if (marks[next] === open) {
        const cycle = [...stack.slice(stack.indexOf(next)), next].map(read);
        return { states: table.count, cycle, stuck: null, sinks };
      }
      if (marks[next] === unseen) enter(next);
    }
  }
  const stuck = [...sinks.keys()].find((name) => name.startsWith('stuck '));
  if (stuck === undefined) return { states: table.count, cycle: null, stuck: null, sinks };
  const [, hold, number] = stuck.split(' ');
  const path = exploration.pathTo(Number(number));
  return {
    states: table.count,
    cycle: null,
    stuck: { path, hold: hold === 'null' ? null : (hold as HoldRule) },
    sinks,
  };

  function read(number: number): c.Cells {
    const copy = cells.slice();
    exploration.state(number, copy);
    return copy;
  }

  function enter(number: number): void {
    marks[number] = open;
    stack.push(number);
    positions.push(0);
    futures.push(futureOf(number));
  }

  function futureOf(number: number): Int32Array {
    exploration.state(number, cells);
    let verdict = exploration.decisions.of(cells, cells, cells);
    const found = new Set<number>();
    const writes = newPods && changesStatefulSet(verdict);
    const steps = verdict.confirmed || verdict.kind === 'undemote' || writes;
    if (steps && cells[c.INTENT] === 0) step(verdict, found);
    if (newPods) {
      notes(verdict, cells, after, world);
      found.add(exploration.numberOf(after));
    }
    environmentMoves(cells, world, moves);
    const follow = (kinds: number): void => {
      for (let move = 0; move < moves.count; move++) {
        if (((moves.kinds[move] as number) & kinds) !== 0)
          found.add(exploration.numberOf(moves.states[move] as c.Cells));
      }
      found.delete(number);
    };
    follow(benign);
    if (found.size === 0) follow(late);
    if (found.size === 0 && world.folded && facts.graceRuns(cells, world)) {
      cells[c.GRACE] = 1;
      verdict = exploration.decisions.of(cells, cells, cells);
      if (verdict.confirmed || (newPods && changesStatefulSet(verdict))) step(verdict, found);
      found.delete(number);
    }
    if (found.size === 0) {
      const rests =
        verdict.hold === null
          ? verdict.kind === 'none' && !facts.keepsRevisions(cells) && !isLeft()
          : restingPlaces.has(verdict.hold) ||
            brokenByRevision(verdict.hold) ||
            isBrokenBeside(verdict.hold) ||
            isOfNodes(verdict.hold) ||
            isLostNode();
      const name = rests ? (verdict.hold ?? 'goal') : `stuck ${verdict.hold} ${number}`;
      sinks.set(name, (sinks.get(name) ?? 0) + 1);
    }
    return Int32Array.from(found);
  }

  function step(verdict: Verdict, found: Set<number>): void {
    perform(verdict, cells, after, world, takenBy(verdict.targets));
    found.add(exploration.numberOf(after));
  }

  /**
   * A sidecar that fails although its member is updated, or kept back, is somebody's to repair. Until then the
   * updated member is not settled, MOCO doesn't call the cluster healthy, and a StatefulSet replaces no member below.
   */
  function isBesideImpaired(at: c.Cells, ordinal: number): boolean {
    const isKept = ordinal < world.policy.partition || (at[c.HELD] === 1 && ordinal === world.replicas - 1);
    const isDue = !facts.isUpdated(at, ordinal) && !isKept && world.policy.mode === 'OnDelete';
    return isImpaired(at, ordinal) && !isDue;
  }

  function isBrokenBeside(hold: HoldRule): boolean {
    const waits = hold === 'ClusterNotHealthy' || hold === 'UpdatedMemberNotParticipating';
    return waits && facts.count(cells, world.replicas, isBesideImpaired) > 0;
  }

  /**
   * A node that is gone is somebody's to remove, once another member leads. A failover that waits for ever is somebody's to
   * end where mysqld of the replica that it needs has crashed, which is a fault beside that of the node.
   */
  function isLostNode(): boolean {
    if (cells[c.GONE] === 0) return false;
    const isHalted = cells[c.HALTED] === 1 && world.faults !== 1;
    return isHalted || !facts.isGone(cells, cells[c.INDEX] as number);
  }

  /** A member stays on a node that is being taken out of service although it is to leave: only a hold may say why. */
  function isLeft(): boolean {
    const { mode, nodeMaintenance } = world.policy;
    if (mode !== 'OnDelete' || nodeMaintenance === 'Ignore' || world.replicas === 1) return false;
    const isToLeave = (at: c.Cells, ordinal: number): boolean =>
      facts.has(at[c.LEAVING], ordinal) &&
      facts.participates(at, ordinal) &&
      (ordinal === at[c.INDEX] || (nodeMaintenance === 'Evacuate' && facts.isUpdated(at, ordinal)));
    return facts.count(cells, world.replicas, isToLeave) > 0;
  }

  /** Whoever empties a node moves what stays there, or lets the node stay. */
  function isOfNodes(hold: HoldRule): boolean {
    if (cells[c.LEAVING] === 0) return false;
    const waits = hold === 'AwaitingNodeMaintenance';
    return waits || (hold === 'NoReplicaElsewhere' && world.policy.nodeMaintenance === 'Switchover');
  }

  /** A revision that never starts leaves what waits for its members to the one who corrects the template. */
  function brokenByRevision(hold: HoldRule): boolean {
    const bad = facts.count(cells, world.replicas, (at, one) => facts.isBad(at, one) && !facts.isMissing(at, one)) > 0;
    return bad && waitsForMembers.has(hold);
  }

  function takenBy(targets: number): number {
    let taken = 0;
    for (let one = 0; targets >> one !== 0; one++) {
      if (facts.has(targets, one) && facts.participates(cells, one)) taken |= c.bit(one);
    }
    return taken;
  }
}
