import * as c from './cells.ts';
import type { Exploration } from './explore.ts';
import { isUpdated } from './facts.ts';
import { beginnings } from './world.ts';

/** What a state has to be like, so that it proves something about a rule. A situation in no state proves nothing. */
const situations: readonly (readonly [sentence: string, holds: (cells: c.Cells, replicas: number) => boolean])[] = [
  ['a stale replica runs that acknowledges nothing', (cells, replicas) => some(cells, replicas, isUseless)],
  [
    'a stale member recovers and its startup probe has not passed',
    (cells, replicas) => some(cells, replicas, recovers),
  ],
  ['a replica carries prevent-delete', protectsReplica],
  ['the template changes while a member is demoted', changesInDemotion],
  ['an updated member has not run for more than a minute', (cells, replicas) => some(cells, replicas, isSlow)],
  ['a member is missing', (cells, replicas) => some(cells, replicas, isMissing)],
  ['a written step may still arrive', (cells) => cells[c.INTENT] !== 0],
];

type OfMember = (cells: c.Cells, ordinal: number) => boolean;

const healthOf = (cells: c.Cells, ordinal: number): number | undefined => cells[c.HEALTH + ordinal];
const isMissing: OfMember = (cells, ordinal) => healthOf(cells, ordinal) === c.Health.Missing;
const isSlow: OfMember = (cells, ordinal) => healthOf(cells, ordinal) === c.Health.Idle && isUpdated(cells, ordinal);
const recovers: OfMember = (cells, ordinal) =>
  healthOf(cells, ordinal) === c.Health.Recovering && !isUpdated(cells, ordinal);
const isUseless: OfMember = (cells, ordinal) =>
  ordinal !== cells[c.INDEX] &&
  (healthOf(cells, ordinal) === c.Health.Up || healthOf(cells, ordinal) === c.Health.Severed) &&
  !isUpdated(cells, ordinal);

function some(cells: c.Cells, replicas: number, holds: OfMember): boolean {
  return Array.from({ length: replicas }, (_, ordinal) => ordinal).some((ordinal) => holds(cells, ordinal));
}

function protectsReplica(cells: c.Cells): boolean {
  return ((cells[c.PREVENT] ?? 0) & ~c.bit(cells[c.INDEX] ?? 0)) !== 0;
}

function changesInDemotion(cells: c.Cells, replicas: number): boolean {
  const isDemoted: OfMember = (all, ordinal) => all[c.DEMOTE + ordinal] === c.Demote.Ours;
  return cells[c.STAGE] !== c.Stage.Settled && some(cells, replicas, isDemoted);
}

/** In how many of the states that were reached each situation holds. */
export function situationLines(exploration: Exploration): readonly string[] {
  const { table, world } = exploration;
  const counts = situations.map(() => 0);
  // What never varies in this world, such as the update revision, is that of its beginning.
  const [begin] = beginnings(world);
  const cells = begin?.slice() ?? new Uint16Array(c.cellCount);
  for (let number = 0; number < table.count; number++) {
    exploration.state(number, cells);
    situations.forEach(([, holds], index) => {
      if (holds(cells, world.replicas)) counts[index] = (counts[index] ?? 0) + 1;
    });
  }
  return situations.map(([sentence], index) => `${(counts[index] ?? 0).toLocaleString('en').padStart(12)} ${sentence}`);
}
