import * as c from './cells.ts';
import type { Exploration } from './explore.ts';
import * as facts from './facts.ts';
import { comesBack, isHeld, isLost, isUpdatedGone } from './new-pods.ts';
import { beginnings, type World } from './world.ts';

type OfMember = (cells: c.Cells, ordinal: number) => boolean;
type Situation = (cells: c.Cells, world: World) => boolean;

const { Health } = c;

const some =
  (holds: OfMember): Situation =>
  (cells, { replicas }) => {
    for (let ordinal = 0; ordinal < replicas; ordinal++) if (holds(cells, ordinal)) return true;
    return false;
  };

const isStale: OfMember = (cells, ordinal) => !facts.isUpdated(cells, ordinal);
const isPrimary: OfMember = (cells, ordinal) => ordinal === cells[c.INDEX];
const isOnLeavingNode: OfMember = (cells, ordinal) => facts.has(cells[c.LEAVING], ordinal);
const health =
  (...wanted: readonly number[]): OfMember =>
  (cells, ordinal) =>
    wanted.includes(facts.healthOf(cells, ordinal));
const both =
  (...all: readonly OfMember[]): OfMember =>
  (cells, ordinal) =>
    all.every((holds) => holds(cells, ordinal));
const not =
  (holds: OfMember): OfMember =>
  (cells, ordinal) =>
    !holds(cells, ordinal);

const isFailover: Situation = (cells) => cells[c.PHASE] === c.Phase.Failover;
const isAhead: OfMember = (cells, ordinal) => facts.holdsTopRelayLog(cells, ordinal) && facts.answers(cells, ordinal);
const isResizedJustNow: OfMember = (cells, ordinal) => cells[c.RESIZE + ordinal] === c.Resize.Fresh;
const lacksItsLabel: OfMember = (cells, ordinal) =>
  facts.participates(cells, ordinal) && cells[c.SETTLED + ordinal] === 0;

/** What a state has to be like, so that it proves something about a rule. A situation in no state proves nothing. */
export const situations: Readonly<Record<string, Situation>> = {
  'a stale replica runs that acknowledges nothing': some(
    both(health(Health.Up, Health.Severed), not(isPrimary), isStale),
  ),
  'a stale member recovers and its startup probe has not passed': some(
    both(health(Health.Recovering, Health.Hanging), isStale),
  ),
  'a replica carries prevent-delete': some(both(facts.isProtected, not(isPrimary))),
  'the template changes while a member is demoted': (cells, world) =>
    cells[c.STAGE] !== c.Stage.Settled && some((at, one) => at[c.DEMOTE + one] === c.Demote.Ours)(cells, world),
  'an updated member has not run for more than a minute': some(both(health(Health.Idle), facts.isUpdated)),
  'a primary has our demote for its node, which is being taken out of service': some(
    both(isPrimary, isOnLeavingNode, (cells, ordinal) => cells[c.DEMOTE + ordinal] === c.Demote.OursForNode),
  ),
  'a switchover for a node has left our mark alone': some(
    (cells, ordinal) => cells[c.DEMOTE + ordinal] === c.Demote.MarkForNode,
  ),
  'the node of an updated replica is being taken out of service': some(
    both(isOnLeavingNode, facts.isUpdated, not(isPrimary)),
  ),
  'the nodes of the primary and of a replica are being taken out of service': (cells, world) =>
    some(both(isOnLeavingNode, isPrimary))(cells, world) && some(both(isOnLeavingNode, not(isPrimary)))(cells, world),
  'a member is missing': some(facts.isMissing),
  'a written step may still arrive': (cells) => cells[c.INTENT] !== 0,
  'a failover waits for the applier of a replica that runs': (cells, world) =>
    isFailover(cells, world) && some(isAhead)(cells, world),
  'a stale replica is not ready while the failover needs its relay log': some(
    both(isAhead, isStale, not(facts.participates)),
  ),
  'a replica has restarted in a failover that needs its relay log': (cells) => cells[c.HALTED] === 1,
  'the node of the primary never comes back': some(both(facts.isGone, isPrimary)),
  'every member runs without an agent': (cells, { replicas }) => cells[c.AGENTLESS] === c.bit(replicas) - 1,
  'the primary alone runs without an agent': (cells) => cells[c.AGENTLESS] === c.bit(cells[c.INDEX] as number),
  'a sidecar of a stale primary fails': some(both(health(Health.Impaired), isPrimary, isStale)),
  'a sidecar of a stale primary fails while replicas are behind': (cells, world) =>
    cells[c.DELAYED] === 1 && some(both(health(Health.Impaired), isPrimary, isStale))(cells, world),
  'a sidecar of a stale primary fails before the primary is approved': (cells, world) =>
    world.families.has('user') &&
    cells[c.APPROVED] === 0 &&
    some(both(health(Health.Impaired), isPrimary, isStale))(cells, world),
  'a container in the pod of the primary restarts in place': some(both(facts.restarts, isPrimary)),
  'a member has its resources for less than minReadySeconds': some(isResizedJustNow),
  'a replica that MOCO fails to configure keeps its label from a member that works': (cells, world) =>
    facts.unconfigurable(cells, world.replicas) !== null && some(lacksItsLabel)(cells, world),
  'a replica that MOCO fails to configure keeps the primary closed': (cells, world) =>
    facts.unconfigurable(cells, world.replicas) !== null &&
    cells[c.LEAD] !== c.Lead.Open &&
    facts.answers(cells, cells[c.INDEX] as number),
};

/** By ordinals and the world alone. */
type OfHeld = (cells: c.Cells, ordinal: number, world: World) => boolean;
const someHeld =
  (...all: readonly OfHeld[]): Situation =>
  (cells, world) =>
    some((at, one) => all.every((holds) => holds(at, one, world)))(cells, world);

/** It is lost, and the StatefulSet controller is about to create it as what it was. */
const isKept: OfHeld = (cells, ordinal, world) =>
  isLost(cells, ordinal, world) && comesBack(cells, ordinal) && cells[c.FOLLOWS] === 1;
const isVerified: OfHeld = (cells, _, { replicas }) => facts.isVerified(cells, replicas);
const isPaused: OfHeld = (cells) => cells[c.PAUSED] === 1;
const isPinned: OfHeld = (cells, ordinal, { replicas }) => cells[c.HELD] === 1 && ordinal === replicas - 1;
const isBelowPartition: OfHeld = (_, ordinal, { policy }) => ordinal < policy.partition;
const revisionFails: OfHeld = (cells, _, world) =>
  some(both(facts.isUpdated, health(Health.Crashed, Health.Retrying, Health.Unpulled, Health.Failed)))(cells, world);
const hasNotBegun: OfHeld = (cells, _, { replicas }) => facts.count(cells, replicas, facts.isUpdated) === 0;
const isByOthers: OfHeld = (cells, ordinal) => facts.has(cells[c.CREATED], ordinal);
const isRestored: OfHeld = (cells, ordinal) => facts.has(cells[c.BACK], ordinal);
const works: OfHeld = (cells, ordinal) => facts.participates(cells, ordinal);

/** The same of members that are lost while they are held: the worlds of the family new-pods. */
export const situationsOfLostMembers: Readonly<Record<string, Situation>> = {
  'a member that is lost before the rollout has begun comes back as what it was': someHeld(
    isKept,
    isPaused,
    hasNotBegun,
  ),
  'a member that is lost while the cluster is scaled up and paused comes back at its old revision': (cells, world) =>
    someHeld(isKept, isPaused)(cells, world) && someHeld(facts.isUnborn)(cells, world),
  'a member that is lost while the revision fails comes back as what it was': someHeld(isKept, revisionFails),
  'a pinned member that is lost comes back as what it was': someHeld(isKept, isVerified, isPinned),
  'a member below the partition that is lost comes back as what it was': someHeld(isKept, isVerified, isBelowPartition),
  'two members that are lost at once come back as what they were': (cells, world) =>
    facts.count(cells, world.replicas, (at, one) => isKept(at, one, world)) > 1,
  'a held member that came back updated before the program could act is restored': someHeld(
    isRestored,
    isByOthers,
    isHeld,
  ),
  'a held member that came back updated before the program could act works, and is left': someHeld(
    isByOthers,
    isHeld,
    works,
  ),
  'a held member is lost while one goes that works updated': (cells, world) =>
    someHeld(isLost)(cells, world) && someHeld(isUpdatedGone)(cells, world),
};

/** In how many of the states that were reached each situation holds. */
export function situationCounts(exploration: Exploration): Readonly<Record<string, number>> {
  const { table, world } = exploration;
  const all = { ...situations, ...(world.families.has('new-pods') ? situationsOfLostMembers : {}) };
  const holds = Object.values(all);
  const counts = holds.map(() => 0);
  // What never varies in this world, such as the update revision, is that of its beginning.
  const [begin] = beginnings(world);
  const cells = begin?.slice() ?? new Uint16Array(c.cellCount);
  for (let number = 0; number < table.count; number++) {
    exploration.state(number, cells);
    for (let at = 0; at < holds.length; at++) if (holds[at]?.(cells, world)) counts[at] = (counts[at] ?? 0) + 1;
  }
  return Object.fromEntries(Object.keys(all).map((sentence, at) => [sentence, counts[at] ?? 0]));
}

/** The situations of the exploration that hold in some state. */
export function situationLines(exploration: Exploration): readonly string[] {
  return Object.entries(situationCounts(exploration))
    .filter(([, count]) => count > 0)
    .map(([sentence, count]) => `${count.toLocaleString('en').padStart(12)} ${sentence}`);
}
