import * as c from './cells.ts';
import * as facts from './facts.ts';
import type { World } from './world.ts';

export type EffectKind = 'stops' | 'leavesService' | 'losesRelayLog' | 'movesPrimary' | 'brings';

/** What a step does to a member, whatever the step is called. */
export interface Effect {
  readonly kind: EffectKind;
  readonly member: number;
}

/**
 * What a step has done, from the states right before and after it. A pod that is terminating, or that the StatefulSet
 * controller takes because of a lower partition, counts as gone, a demotion as done: nothing stops them any more.
 */
export function observed(before: c.Cells, after: c.Cells, world: World): readonly Effect[] {
  const effects: Effect[] = [];
  for (let member = 0; member < facts.replicasOf(before, world); member++) {
    const add = (kind: EffectKind): void => void effects.push({ kind, member });
    const leads = member === before[c.INDEX];
    const goes = isGoing(after, member) ? !isGoing(before, member) : isLetGo(before, after, member, world);
    const serves = leads && facts.participates(before, member) && before[c.LEAD] === c.Lead.Open;
    if (goes && hasProcess(before, member)) add('stops');
    if (facts.hasEndpoint(before, member) && (goes || !facts.hasEndpoint(after, member))) add('leavesService');
    if (goes && !leads && replicates(before, member)) add('losesRelayLog');
    if (serves && (goes || (facts.isDemoted(after, member) && !facts.isDemoted(before, member)))) add('movesPrimary');
    if (goes ? !facts.isUpdated(before, member) : startsRevision(before, after, member)) add('brings');
  }
  return effects;
}

/** Effects of a step that it was not declared to have. */
export const undeclared = (seen: readonly Effect[], declared: readonly Effect[]): readonly Effect[] =>
  seen.filter(({ kind, member }) => !declared.some((effect) => effect.kind === kind && effect.member === member));

const isGoing = (cells: c.Cells, member: number): boolean =>
  facts.isMissing(cells, member) || facts.isTerminating(cells, member);

/** The StatefulSet controller takes it, now that the partition is lower. */
function isLetGo(before: c.Cells, after: c.Cells, member: number, world: World): boolean {
  const isFreed = member >= (after[c.PARTITION] as number) && member < (before[c.PARTITION] as number);
  return isFreed && world.policy.mode === 'Partition' && !isGoing(before, member) && !facts.isUpdated(before, member);
}

/** A process of mysqld ends with its pod, be it one that nobody reaches. */
function hasProcess(cells: c.Cells, member: number): boolean {
  const health = facts.healthOf(cells, member);
  const runs = health === c.Health.Up || health === c.Health.Retrying;
  return runs || facts.recovers(cells, member) || facts.runsThreads(cells, member);
}

/** Its threads run, and their relay log is more than nothing. */
const replicates = (cells: c.Cells, member: number): boolean =>
  facts.runsThreads(cells, member) && facts.healthOf(cells, member) !== c.Health.Unreachable;

/** A container of the new revision, or with its resources, runs in the pod from now on. A label alone starts nothing. */
function startsRevision(before: c.Cells, after: c.Cells, member: number): boolean {
  const resizes = facts.isResizing(after, member) && !facts.isResizing(before, member);
  return resizes || (facts.restarts(after, member) && !facts.restarts(before, member));
}
