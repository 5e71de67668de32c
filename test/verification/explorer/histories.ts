import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Decision } from '../../../src/core/decision.ts';
import { defaultPolicy, type MaxUnavailable, type RolloutPolicy } from '../../../src/core/policy.ts';
import { plan } from '../../../src/plan/rollout-plan.ts';
import { propertyParameters } from '../../support/property-parameters.ts';
import * as c from './cells.ts';
import * as facts from './facts.ts';
import { Play } from './play.ts';
import { beginnings, type Family, type World, worldOf } from './world.ts';

// Random histories of the controller in the explorer's model. They go where no exploration can: up to nine members, any
// maxUnavailable, any number of families at once, many templates.

/** How often a long run says how far it is. */
const historiesBetweenReports = 5_000;

/**
 * Runs so many histories, more of them with PROPERTY_RUNS. A failure prints its seed and path, which SEED and
 * REPLAY_PATH set.
 */
export function always<T>(histories: number, drawn: fc.Arbitrary<T>, holds: (drawn: T) => void): void {
  const parameters = propertyParameters(histories);
  const { numRuns = histories } = parameters;
  let done = 0;
  fc.assert(
    fc.property(drawn, (given) => {
      holds(given);
      done++;
      if (done % historiesBetweenReports === 0 && done < numRuns) console.log(`      ${done} of ${numRuns} histories`);
    }),
    parameters,
  );
}

interface Beginning {
  readonly replicas: number;
  readonly primary: number;
  readonly policy: RolloutPolicy;
  readonly families: readonly Family[];
  /** How many of 24 moves need not go well. */
  readonly mishaps: number;
  /** Whatever has to be chosen, in the order in which it is asked for. */
  readonly choices: readonly number[];
}

const maxUnavailable = fc.constantFrom<MaxUnavailable>(1, 1, 1, 2, 3, 4, 9, '20%', '34%', '50%', '100%');

const drawnFamilies = [
  'budget',
  'prevent-delete',
  'errant',
  'foreign-demote',
  'impaired',
  'upstream',
  'recovery',
] as const;

/** From one member to nine, with any of them as primary, and any of them unavailable at the same time. */
export const beginning: fc.Arbitrary<Beginning> = fc.constantFrom(1, 3, 5, 7, 9).chain((replicas) =>
  fc.record({
    replicas: fc.constant(replicas),
    primary: fc.nat({ max: replicas - 1 }),
    policy: maxUnavailable.map((allowed) => ({ ...defaultPolicy, maxUnavailable: allowed })),
    families: fc.subarray<Family>([...drawnFamilies]),
    mishaps: fc.constantFrom(0, 1, 3),
    choices: fc.array(fc.nat({ max: 9999 }), { maxLength: 40 + 40 * replicas, size: 'max' }),
  }),
);

/** Everything is well and stale, and the template has just changed. `families` are those that the history is to have. */
function begin(drawn: Beginning, families: readonly Family[], wanted: Partial<World> = {}): Play {
  const base = worldOf(drawn.replicas, { families: new Set(['two-at-once', ...families]), folded: false, ...wanted });
  const world = { ...base, policy: drawn.policy };
  const cells = beginnings(world).find((one) => one[c.INDEX] === drawn.primary && one[c.BAD] === 0);
  if (cells === undefined) throw new Error(`expected a beginning with primary ${drawn.primary}, got none`);
  cells[c.PROMOTED] = 0;
  // The user changes the template where the history says so, and not by a move of the family.
  cells[c.CHANGES] = 2;
  return new Play(world, cells);
}

function expectDone(play: Play, { hold, complete }: Decision): void {
  const { cells, world } = play;
  if (hold !== null) play.fail(`ends with ${JSON.stringify(hold)}`);
  expect(facts.count(cells, world.replicas, facts.isUpdated)).to.equal(world.replicas);
  expect(cells[c.PROMOTED]).to.equal(1);
  expect(complete).to.equal(true);
}

/** Ends, replicas first in descending order, with one switchover at most. */
export function endsWithoutFaults(drawn: Beginning): void {
  const { replicas, primary, choices } = drawn;
  const play = begin(drawn, [], { faults: 0, countMoves: true });
  expectDone(play, play.calmDown(endless(choices)));
  const evicted = play.steps.filter((step) => step.startsWith('evict')).map((step) => Number(step.slice(6)));
  const others = Array.from({ length: replicas }, (_, ordinal) => replicas - 1 - ordinal);
  expect(evicted).to.deep.equal([...others.filter((ordinal) => ordinal !== primary), primary]);
  expect(play.steps.filter((step) => step.startsWith('delete'))).to.deep.equal([]);
  expect(play.cells[c.MOVES]).to.equal(replicas === 1 ? 0 : 1);
}

/** Breaks no invariant whatever happens, and ends once it has been repaired. */
export function endsAfterFaults(drawn: Beginning): void {
  const { choices, families, mishaps } = drawn;
  const play = begin(drawn, ['template', ...families]);
  for (const choice of choices) act(play, choice % 24, Math.floor(choice / 24), mishaps);
  expectDone(play, play.calmDown(endless(choices.toReversed())));
}

/** Out of 24 moves 6 are the controller's, and one is a long time; the user's are rarer. */
function act(play: Play, kind: number, choice: number, mishaps: number): void {
  if (kind < 6) play.controller();
  else if (kind === 6) play.happens('late', choice);
  else if (kind === 7 && choice % 8 === 0) play.changeTemplate(choice % 16 === 0);
  else if (kind === 7 && choice % 8 === 1) play.isWindowOpen = !play.isWindowOpen;
  else if (kind > 7 && kind < 8 + mishaps) play.happens('perhaps', choice);
  else play.happens('benign', choice);
}

/** Every step of a plan is the one that is taken when the time has come, in a world that the plan knows nothing of. */
export function goesAsPlanned(drawn: Beginning): void {
  const { choices } = drawn;
  const updated = choices[0] ?? 0;
  const play = begin({ ...drawn, policy: withMembersKept(drawn) }, [], { faults: 0 });
  const { cells, world } = play;
  for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
    // A replica is updated before the primary: one that is older than its source would not be a rollout's doing.
    if (ordinal !== cells[c.INDEX] && (updated >> ordinal) % 2 === 1) cells[c.REVISION + ordinal] = 1;
  }
  const planned = plan({ snapshot: play.snapshot(), policy: world.policy, memberSeconds: 60 }).entries.flatMap(
    (entry) => {
      if (entry.kind !== 'step') return [];
      const { step } = entry;
      return [`${step.kind} ${'targets' in step ? step.targets.map(({ ordinal }) => ordinal).join() : ''}`.trim()];
    },
  );
  play.stepByStep();
  if (JSON.stringify(play.steps) !== JSON.stringify(planned)) play.fail(`planned was ${planned.join(', ')}`);
}

/** Members that keep their revision, by ordinal or one by one. */
function withMembersKept({ policy, replicas, choices }: Beginning): RolloutPolicy {
  const [, partition = 0, pinned = 0] = choices;
  return {
    ...policy,
    partition: partition % 3 === 0 ? partition % (replicas + 2) : 0,
    pinnedOrdinals: pinned % 3 === 0 ? [pinned % replicas] : [],
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
