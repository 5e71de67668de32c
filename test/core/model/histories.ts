import { expect } from 'chai';
import * as fc from 'fast-check';
import { defaultPolicy, type MaxUnavailable, type RolloutPolicy } from '../../../src/core/policy.ts';
import { plan } from '../../../src/plan/plan.ts';
import { type MoveKind, moves } from './moves.ts';
import { Play } from './play.ts';
import { viewOf } from './view.ts';
import { ordinals, staleWorld, type World, withPod } from './world.ts';

// Histories of the rules in a closed loop with a small world: what they cause is what they see next.

const { PROPERTY_RUNS, SEED, REPLAY_PATH } = process.env;
/** How often a long run says how far it is. */
const historiesBetweenReports = 5_000;

/**
 * Runs so many histories, more of them with PROPERTY_RUNS. A failure prints its seed and path, which SEED and
 * REPLAY_PATH set.
 */
export function always<T>(histories: number, drawn: fc.Arbitrary<T>, holds: (drawn: T) => void): void {
  const numRuns = Number(PROPERTY_RUNS ?? histories);
  let done = 0;
  fc.assert(
    fc.property(drawn, (given) => {
      holds(given);
      done++;
      if (done % historiesBetweenReports === 0 && done < numRuns) console.log(`      ${done} of ${numRuns} histories`);
    }),
    {
      numRuns,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
    },
  );
}

interface Beginning {
  readonly replicas: number;
  readonly primary: number;
  readonly policy: RolloutPolicy;
  /** Whatever has to be chosen, in the order in which it is asked for. */
  readonly choices: readonly number[];
}

const maxUnavailable = fc.constantFrom<MaxUnavailable>(1, 1, 1, 2, 3, 4, 9, '20%', '34%', '50%', '100%');

/** From one member to nine; whoever is primary, whatever may be away at once. */
export const beginning: fc.Arbitrary<Beginning> = fc.constantFrom(1, 3, 5, 7, 9).chain((replicas) =>
  fc.record({
    replicas: fc.constant(replicas),
    primary: fc.nat({ max: replicas - 1 }),
    policy: maxUnavailable.map((wanted) => ({ ...defaultPolicy, maxUnavailable: wanted })),
    choices: fc.array(fc.nat({ max: 9999 }), { maxLength: 40 + 40 * replicas }),
  }),
);

const beginningOf = ({ replicas, primary, policy }: Beginning): World => staleWorld(replicas, primary, policy);

/** Ends, replicas first in descending order, with one switchover at most. */
export function endsWithoutFaults(drawn: Beginning): void {
  const { replicas, primary, choices } = drawn;
  const play = new Play(beginningOf(drawn));
  play.expectDone(play.calmDown(endless(choices), ['benign']));
  const evicted = play.steps.filter((step) => step.startsWith('evict')).map((step) => Number(step.slice(6)));
  const others = Array.from({ length: replicas }, (_, ordinal) => replicas - 1 - ordinal);
  expect(evicted).to.deep.equal([...others.filter((ordinal) => ordinal !== primary), primary]);
  expect(play.steps.filter((step) => step.startsWith('delete'))).to.deep.equal([]);
  expect(play.world.switchovers).to.equal(replicas === 1 ? 0 : 1);
}

/** Breaks no invariant whatever happens, and ends once it has been repaired. */
export function endsAfterFaults(drawn: Beginning): void {
  const { choices } = drawn;
  const play = new Play(beginningOf(drawn));
  for (const choice of choices) {
    const kind = kindOf(choice % 24);
    if (kind === null) {
      play.controller();
      continue;
    }
    const possible = moves(play.world).filter((move) => move.kind === kind);
    const next = possible[Math.floor(choice / 24) % Math.max(1, possible.length)];
    if (next) play.happens(next);
  }
  play.expectDone(play.calmDown(endless(choices.toReversed()), ['benign', 'repair']));
}

/** Every step of a plan is the one that is taken when the time has come, in a world that the plan knows nothing of. */
export function goesAsPlanned(drawn: Beginning): void {
  const { choices } = drawn;
  const updated = choices[0] ?? 0;
  let world = beginningOf({ ...drawn, policy: withWishes(drawn) });
  for (const ordinal of ordinals(world)) {
    // A replica is updated before the primary: one that is older than its source would not be a rollout's doing.
    if (ordinal !== world.primary && (updated >> ordinal) % 2 === 1) {
      world = withPod(world, ordinal, { revision: world.template });
    }
  }
  const planned = plan(viewOf(world), world.policy).entries.flatMap((entry) => {
    if (entry.kind !== 'step') return [];
    const { step } = entry;
    return [`${step.kind} ${'targets' in step ? step.targets.map(({ ordinal }) => ordinal).join() : ''}`.trim()];
  });
  const play = new Play(world);
  play.stepByStep();
  if (JSON.stringify(play.steps) !== JSON.stringify(planned)) play.fail(`planned was ${planned.join(', ')}`);
}

/** Members that keep their revision, by ordinal or one by one. */
function withWishes({ policy, replicas, choices }: Beginning): RolloutPolicy {
  const [, partition = 0, held = 0] = choices;
  return {
    ...policy,
    partition: partition % 3 === 0 ? partition % (replicas + 2) : 0,
    pinnedOrdinals: held % 3 === 0 ? [held % replicas] : [],
  };
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

/** Out of 24 moves 6 are the controller's and 2 are faults. */
function kindOf(choice: number): MoveKind | null {
  if (choice < 6) return null;
  const rest: readonly MoveKind[] = ['fault', 'fault', 'repair', 'noise', 'settle', 'long wait'];
  return rest[choice - 6] ?? 'benign';
}
