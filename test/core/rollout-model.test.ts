import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Decision } from '../../src/core/decision.ts';
import { turn } from './model/controller.ts';
import { type Move, type MoveKind, moves } from './model/moves.ts';
import { staleWorld, type World } from './model/world.ts';

// The rules in a closed loop with a small world: what they cause is what they see next.

/** More of them with PROPERTY_RUNS; a failure prints its seed and path, which SEED and REPLAY_PATH set. */
const { PROPERTY_RUNS, SEED, REPLAY_PATH } = process.env;
const parameters: fc.Parameters<unknown> = {
  numRuns: Number(PROPERTY_RUNS ?? 120),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
};

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 120_000;

class Play {
  world: World;
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
    for (const [revision, members] of Object.entries(to.spent)) {
      if (members > 1) this.fail(`I7: ${members} members were given the broken revision ${revision}`);
    }
    return decision;
  }

  /** Lets everything happen that comes by itself or is repaired until nothing is left to happen. */
  calmDown(choices: () => number, kinds: readonly MoveKind[]): Decision {
    for (let count = 0; count < 2000; count++) {
      const decision = this.controller();
      if (decision.step.kind !== 'none') continue;
      const possible = moves(this.world);
      const soon = possible.filter(({ kind }) => kinds.includes(kind));
      const next =
        soon[choices() % Math.max(1, soon.length)] ??
        possible.find(({ kind }) => kind === 'settle') ??
        possible.find(({ kind }) => kind === 'long wait');
      if (!next) return decision;
      this.happens(next);
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
}

/** Numbers without end from a few that can be shrunk. */
function endless(choices: readonly number[]): () => number {
  let at = 0;
  let state = 1;
  return () => {
    const given = choices[at++];
    if (given !== undefined) return given;
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
}

const choices = fc.array(fc.nat({ max: 9999 }), { maxLength: 160 });

for (const replicas of [1, 3, 5]) {
  describe(`a rollout of ${replicas} in a closed loop`, () => {
    it('without faults ends, replicas first in descending order, with one switchover at most', () => {
      fc.assert(
        fc.property(fc.nat({ max: replicas - 1 }), choices, (primary, given) => {
          const play = new Play(staleWorld(replicas, primary));
          play.expectDone(play.calmDown(endless(given), ['benign']));
          const evicted = play.steps.filter((step) => step.startsWith('evict')).map((step) => Number(step.slice(6)));
          const others = Array.from({ length: replicas }, (_, ordinal) => replicas - 1 - ordinal);
          expect(evicted).to.deep.equal([...others.filter((ordinal) => ordinal !== primary), primary]);
          expect(play.steps.filter((step) => step.startsWith('delete'))).to.deep.equal([]);
          expect(play.world.switchovers).to.equal(replicas === 1 ? 0 : 1);
        }),
        parameters,
      );
    }).timeout(patienceMilliseconds);

    it('with faults breaks no invariant, and ends once they have been repaired', () => {
      fc.assert(
        fc.property(fc.nat({ max: replicas - 1 }), choices, (primary, given) => {
          const play = new Play(staleWorld(replicas, primary));
          for (const choice of given) {
            const kind = kindOf(choice % 24);
            if (kind === null) {
              play.controller();
              continue;
            }
            const possible = moves(play.world).filter((move) => move.kind === kind);
            const next = possible[Math.floor(choice / 24) % Math.max(1, possible.length)];
            if (next) play.happens(next);
          }
          play.expectDone(play.calmDown(endless(given.toReversed()), ['benign', 'repair']));
        }),
        parameters,
      );
    }).timeout(patienceMilliseconds);
  });
}

/** Out of 24 moves 6 are the controller's and 2 are faults. */
function kindOf(choice: number): MoveKind | null {
  if (choice < 6) return null;
  const rest: readonly MoveKind[] = ['fault', 'fault', 'repair', 'noise', 'settle', 'long wait'];
  return rest[choice - 6] ?? 'benign';
}
