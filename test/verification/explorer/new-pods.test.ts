import { expect } from 'chai';
import { decide } from '../../../src/core/decide.ts';
import { closed } from '../../../src/core/gates.ts';
import { survey } from '../../../src/core/situation.ts';
import { violations } from '../../core/invariants.ts';
import type { Decide } from './decisions.ts';
import { Explored } from './explored.ts';
import { situationsOfLostMembers } from './situations.ts';
import { isSoaked, statesUnlessSoaked } from './soaked.ts';
import { type Family, type World, worldOf } from './world.ts';

// Members whose pods another client deletes while they are held come back at their previous revision (I24). In the end
// new pods start at the update revision again.

const ofNewPods: ReadonlySet<string> = new Set(['setStrategy', 'promoteRevision', 'restore']);

/** I23: of all steps those that only this family takes, with nothing in their way. */
const decideJudged: Decide = (snapshot, policy) => {
  const decision = decide(snapshot, policy);
  if (ofNewPods.has(decision.step.kind)) {
    expect(closed(survey(snapshot, policy), decision.step)).to.equal(null);
    expect(violations(snapshot, policy, decision)).to.deep.equal([]);
  }
  return decision;
};

const explored = new Explored(decideJudged);

type Wanted = Partial<Omit<World, 'replicas' | 'policy'>>;

const lossOf = (replicas: number, wanted: Wanted = {}, settings: Parameters<typeof worldOf>[2] = {}): World =>
  worldOf(
    replicas,
    { detail: 'coarse', badRevision: false, faults: 1, families: new Set<Family>(['new-pods']), ...wanted },
    settings,
  );

/** Worlds in which more happens are explored so far. */
const manyStates = statesUnlessSoaked(60_000);
const someStates = statesUnlessSoaked(15_000);
/** In the world of one member. */
const faults = isSoaked ? 2 : 1;

describe('every reachable state in which another client deletes pods', () => {
  it(`of one member keeps the invariants and makes progress with faults (${faults}) in full detail`, () => {
    const requests: World['requests'] = new Set(['pins', 'restores']);
    expect(explored.advances(lossOf(1, { detail: 'fine', faults, requests })).get('goal')).to.be.greaterThan(0);
    explored.advances(
      lossOf(1, { detail: 'fine', faults, badRevision: true, requests: new Set(['pauses', 'restores']) }),
    );
  });

  it('of three members keeps the invariants and makes progress where a person restores a member', () => {
    explored.advances(lossOf(3, { badRevision: true, faults: 0, requests: new Set(['restores']) }));
  });
});

describe('every state that is reached first where another client deletes pods', () => {
  const worlds: Readonly<Record<string, World>> = {
    'one fault strikes': lossOf(3),
    'the revision fails': lossOf(3, { badRevision: true }),
    'the user pins': lossOf(3, { requests: new Set(['pins']) }),
    'the user pauses and pins': lossOf(3, { requests: new Set(['pauses', 'pins']) }),
    'the revision fails and a person gives a member back its revision': lossOf(3, {
      badRevision: true,
      requests: new Set(['restores']),
    }),
    'only the highest member is due, and two members go': lossOf(3, { faults: 2 }, { partition: 2 }),
    'members that are lost always keep their revision': lossOf(3, {}, { lostMembers: 'KeepRevision' }),
    'the cluster gets two more members while the user pauses': lossOf(3, {
      families: new Set<Family>(['new-pods', 'scaling']),
      requests: new Set(['pauses']),
    }),
    'a webhook keeps the strategy': lossOf(3, { badRevision: true, keeper: 'webhook' }),
    'the current revision is older than that of the members': lossOf(3, { current: 'older' }),
    'the current revision is the update revision': lossOf(3, { current: 'updated' }),
    'the template changes': lossOf(3, { families: new Set<Family>(['new-pods', 'template']), changes: 1 }),
  };
  /** The situations that they are there for are reached late. */
  const deepWorlds = new Set([
    'one fault strikes',
    'the user pins',
    'only the highest member is due, and two members go',
  ]);
  for (const [where, world] of Object.entries(worlds)) {
    it(`keeps the invariants where ${where}`, () => {
      explored.keepsInvariants(world, deepWorlds.has(where) ? manyStates : someStates);
    });
  }

  it('of five members keeps the invariants', () => {
    explored.keepsInvariants(lossOf(5), someStates);
  });
});

describe('the explorations of lost members', () => {
  for (const sentence of Object.keys(situationsOfLostMembers)) {
    it(`reach a state in which ${sentence}`, () => {
      const count = explored.reached(sentence);
      console.log(`      ${count.toLocaleString('en')} states`);
      expect(count).to.be.greaterThan(0);
    });
  }
});
