import { decide } from '../../../src/core/decide.ts';
import type { Decision, Step } from '../../../src/core/decision.ts';
import { violations } from '../invariants.ts';
import { budgetOf } from './moves.ts';
import { viewOf } from './view.ts';
import { podAt, serves, type World, withPod } from './world.ts';

export interface Turn {
  readonly decision: Decision;
  readonly violations: readonly string[];
  readonly to: World;
}

/** One pass over the world: look, decide, act, and write down what has to be remembered. */
export function turn(world: World): Turn {
  const snapshot = viewOf(world);
  const decision = decide(snapshot, world.policy);
  const acted = act({ ...world, verified: world.verified || decision.verified }, decision.step);
  return { decision, violations: violations(snapshot, world.policy, decision), to: acted };
}

function act(world: World, step: Step): World {
  switch (step.kind) {
    case 'none':
    case 'setStrategy':
    case 'release':
    case 'setPartition': // of a mode that this world does not know
      return world;
    case 'promoteRevision':
      return { ...world, currentRevision: world.template };
    case 'delete': {
      const ordinals = step.targets.map(({ ordinal }) => ordinal);
      const takenDown = step.rule === 'MemberDown' ? [...new Set([...world.takenDown, ...ordinals])] : world.takenDown;
      return ordinals.reduce(takeAway, { ...world, takenDown, progressLong: false });
    }
    case 'evict': {
      const refused = world.pods.length >= 3 && budgetOf(world) < 1;
      return refused ? world : takeAway({ ...world, progressLong: false }, step.targets[0].ordinal);
    }
    case 'demote':
      return withPod(world, step.targets[0].ordinal, { demote: 'ours', mark: world.template, demotedLong: false });
    case 'undemote': {
      const { ordinal } = step.targets[0];
      const failed = step.reason === 'TimedOut';
      const tried = { tries: world.tries + 1, triedLong: false };
      return withPod({ ...world, ...(failed ? tried : {}) }, ordinal, { demote: null, mark: null, demotedLong: false });
    }
  }
}

function takeAway(world: World, ordinal: number): World {
  const { template, brokenRevisions, spent } = world;
  const costs = brokenRevisions.includes(template) && serves(world, ordinal);
  const counted = costs ? { ...world, spent: { ...spent, [template]: (spent[template] ?? 0) + 1 } } : world;
  return podAt(world, ordinal) === null
    ? counted
    : withPod(counted, ordinal, { terminating: true, participatesLong: false });
}
