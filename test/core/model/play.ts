import { expect } from 'chai';
import type { Decision } from '../../../src/core/decision.ts';
import type { MaxUnavailable } from '../../../src/core/policy.ts';
import { turn } from './controller.ts';
import { type Move, type MoveKind, moves } from './moves.ts';
import type { World } from './world.ts';

/** One history of a world and the controller in it, which ends at the first thing that is wrong. */
export class Play {
  world: World;
  /** Steps that were taken, as `evict 2`. */
  readonly steps: string[] = [];
  readonly #history: string[] = [];

  constructor(world: World) {
    this.world = world;
  }

  happens(move: Move): void {
    this.#history.push(move.name);
    this.world = move.to;
  }

  controller(): Decision {
    const { decision, violations, to } = turn(this.world);
    const { step } = decision;
    if (step.kind !== 'none') {
      const ordinals = 'targets' in step ? step.targets.map(({ ordinal }) => ordinal).join() : '';
      this.steps.push(`${step.kind} ${ordinals}`.trim());
      this.#history.push(
        `  ${step.kind} ${ordinals} ${'rule' in step ? step.rule : 'reason' in step ? step.reason : ''}`,
      );
    }
    if (violations.length > 0) this.fail(violations.join('; '));
    this.world = to;
    const most = mostUnavailable(to.policy.maxUnavailable, to.pods.length);
    for (const [revision, members] of Object.entries(to.spent)) {
      if (members > most) this.fail(`I7: ${members} members were given the broken revision ${revision}, not ${most}`);
    }
    return decision;
  }

  /** Lets everything happen that comes by itself or is repaired until nothing is left to happen. */
  calmDown(choices: () => number, kinds: readonly MoveKind[]): Decision {
    for (let count = 0; count < 400 * (this.world.pods.length + 2); count++) {
      const decision = this.controller();
      if (decision.step.kind !== 'none') continue;
      const next = this.#nextOf(kinds, choices());
      if (next === null) return decision;
      this.happens(next);
    }
    return this.fail('no end in sight');
  }

  /** Lets everything happen that comes by itself before the controller looks again, so that each step is seen alone. */
  stepByStep(): Decision {
    for (let count = 0; count < 400 * (this.world.pods.length + 2); count++) {
      const decision = this.controller();
      if (decision.step.kind === 'none') {
        const next = this.#nextOf(['benign'], 0);
        if (next === null) return decision;
        this.happens(next);
      }
      for (let next = this.#soon(); next !== null; next = this.#soon()) this.happens(next);
    }
    return this.fail('no end in sight');
  }

  expectDone(decision: Decision): void {
    const { pods, template, currentRevision } = this.world;
    if (decision.hold !== null) this.fail(`ends with ${JSON.stringify(decision.hold)}`);
    expect(pods.map((pod) => pod?.revision)).to.deep.equal(pods.map(() => template));
    expect(currentRevision).to.equal(template);
    expect(decision.complete).to.equal(true);
  }

  fail(why: string): never {
    throw new Error(`${why}\n${this.#history.join('\n')}\n${JSON.stringify(this.world)}`);
  }

  #soon(): Move | null {
    const possible = moves(this.world);
    return possible.find(({ kind }) => kind === 'benign') ?? possible.find(({ kind }) => kind === 'settle') ?? null;
  }

  /** What comes soon, chosen by a number, else time. */
  #nextOf(kinds: readonly MoveKind[], choice: number): Move | null {
    const possible = moves(this.world);
    const soon = possible.filter(({ kind }) => kinds.includes(kind));
    return (
      soon[choice % Math.max(1, soon.length)] ??
      possible.find(({ kind }) => kind === 'settle') ??
      possible.find(({ kind }) => kind === 'long wait') ??
      null
    );
  }
}

/** How many members a revision that fails may cost: what the user allows, and never so many that a quorum is lost. */
function mostUnavailable(maxUnavailable: MaxUnavailable, replicas: number): number {
  const wanted =
    typeof maxUnavailable === 'number'
      ? maxUnavailable
      : Math.floor((Number(maxUnavailable.slice(0, -1)) * replicas) / 100);
  return Math.max(1, Math.min(wanted, Math.floor(replicas / 2)));
}
