import * as c from './cells.ts';
import type { Exploration } from './explore.ts';
import * as facts from './facts.ts';
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
  'the node of a stale member takes no pods': some(
    both((cells, ordinal) => facts.has(cells[c.CORDONED], ordinal), isStale),
  ),
  'the claim of a stale member is being deleted': some(
    both((cells, ordinal) => facts.has(cells[c.CLAIMS], ordinal), isStale),
  ),
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

/** In how many of the states that were reached each situation holds. */
export function situationCounts(exploration: Exploration): Readonly<Record<string, number>> {
  const { table, world } = exploration;
  const holds = Object.values(situations);
  const counts = holds.map(() => 0);
  // What never varies in this world, such as the update revision, is that of its beginning.
  const [begin] = beginnings(world);
  const cells = begin?.slice() ?? new Uint16Array(c.cellCount);
  for (let number = 0; number < table.count; number++) {
    exploration.state(number, cells);
    for (let at = 0; at < holds.length; at++) if (holds[at]?.(cells, world)) counts[at] = (counts[at] ?? 0) + 1;
  }
  return Object.fromEntries(Object.keys(situations).map((sentence, at) => [sentence, counts[at] ?? 0]));
}

/** The situations of the exploration that hold in some state. */
export function situationLines(exploration: Exploration): readonly string[] {
  return Object.entries(situationCounts(exploration))
    .filter(([, count]) => count > 0)
    .map(([sentence, count]) => `${count.toLocaleString('en').padStart(12)} ${sentence}`);
}
