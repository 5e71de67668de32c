import { expect } from 'chai';
import { Explored } from './explored.ts';
import { situations } from './situations.ts';
import { isSoaked, statesUnlessSoaked } from './soaked.ts';
import { type Family, families, type World, worldOf } from './world.ts';

/** In how many states of all explorations each situation holds. */
const explored = new Explored();

const reachesTheGoal = (world: World): void => {
  expect(explored.advances(world).get('goal')).to.be.greaterThan(0);
};

const manyStates = statesUnlessSoaked(10_000);
const someStates = statesUnlessSoaked(4_000);

/** Explores the beginning of a large world. `make soak` explores it to the end. */
const beginsWell = (world: World): void => {
  if (isSoaked) reachesTheGoal(world);
  else explored.keepsInvariants(world, manyStates);
};

const coarse = { detail: 'coarse', badRevision: false } as const;

/** Explored to their end with one fault: here, and the last in new-pods.test.ts. Less would show nothing more of them. */
const withOneFault = ['impaired', 'relay-log', 'agents', 'slow-log', 'unconfigurable'] as const;
const toTheirEnd: readonly Family[] = [...withOneFault, 'new-pods'];
const others = families.filter((family) => !toTheirEnd.includes(family));
/** More than 20,000 states each, even without faults. */
const large: readonly Family[] = ['template', 'leaving-nodes'];

const membersOf = (family: Family): number => (family === 'scaling' || family === 'two-at-once' ? 5 : 3);

const leavingNodes: ReadonlySet<Family> = new Set(['leaving-nodes']);
/** The family itself is the one with a rollout in which replicas leave as well. */
const ofLeavingNodes = [
  ['and no rollout', { begins: 'updated' }, {}],
  ['where only the primary is moved', {}, { nodeMaintenance: 'Switchover' }],
  ['where the rollout waits for them', {}, { rolloutsDuringMaintenance: 'Wait' }],
] as const satisfies readonly (readonly [string, Partial<World>, Partial<World['policy']>])[];

describe('every reachable state', () => {
  it('of one member keeps the invariants and makes progress with any number of faults', () => {
    reachesTheGoal(worldOf(1, { badRevision: false }));
    expect(explored.advances(worldOf(1)).get('UpdateRevisionFailing')).to.be.greaterThan(0);
  });

  it('of three members without faults keeps the invariants and makes progress, with at most one switchover', () => {
    reachesTheGoal(worldOf(3, { faults: 0, countMoves: true, badRevision: false }));
    reachesTheGoal(worldOf(3, { faults: 0, countMoves: true, badRevision: false, folded: false }));
  });

  it('of three members keeps the invariants and makes progress with one fault', () => {
    reachesTheGoal(worldOf(3, { badRevision: false, faults: 1 }));
  });

  it('of three members keeps the invariants, and halts at a revision that never starts', () => {
    expect(explored.advances(worldOf(3, { faults: 0 })).get('UpdateRevisionFailing')).to.be.greaterThan(0);
  });

  it('of five members keeps the invariants and makes progress without faults, in full detail', () => {
    reachesTheGoal(worldOf(5, { faults: 0, badRevision: false }));
    explored.advances(worldOf(5, { faults: 0 }));
  });

  for (const family of others) {
    const replicas = membersOf(family);
    it(`of ${replicas} members keeps the invariants and makes progress without faults with ${family}`, () => {
      const chosen: ReadonlySet<Family> = new Set([family]);
      const world = worldOf(replicas, { ...coarse, faults: 0, changes: 1, families: chosen });
      if (large.includes(family)) beginsWell(world);
      else explored.advances(world);
    });
  }

  for (const family of withOneFault) {
    it(`of 3 members keeps the invariants and makes progress with one fault and ${family}`, () => {
      beginsWell(worldOf(3, { ...coarse, faults: 1, families: new Set<Family>([family]) }));
    });
  }

  for (const [name, wanted, settings] of ofLeavingNodes) {
    it(`of 3 members keeps the invariants and makes progress without faults with leaving nodes, ${name}`, () => {
      beginsWell(worldOf(3, { ...coarse, faults: 0, families: leavingNodes, ...wanted }, settings));
    });
  }

  it('of 3 members keeps the invariants and makes progress where resizes meet maintenance windows', () => {
    explored.advances(worldOf(3, { ...coarse, faults: 0, families: new Set<Family>(['resize', 'maintenance']) }));
  });
});

describe('every state that is reached first', () => {
  it('of three members keeps the invariants with any number of faults', () => {
    explored.keepsInvariants(worldOf(3, { badRevision: false }), manyStates);
    explored.keepsInvariants(worldOf(3), manyStates);
  });

  it('of three members keeps the invariants where a revision is reverted between a resize and its label', () => {
    const families: ReadonlySet<Family> = new Set(['resize', 'template']);
    explored.keepsInvariants(worldOf(3, { ...coarse, faults: 0, families }), manyStates);
  });

  for (const other of ['delay', 'user'] as const) {
    it(`of three members keeps the invariants where the sidecar of a primary fails, with ${other}`, () => {
      const families: ReadonlySet<Family> = new Set(['impaired', other]);
      explored.keepsInvariants(worldOf(3, { ...coarse, faults: 1, families }), manyStates);
    });
  }

  it('of three members keeps the invariants where a replica restarts in a failover that needs it', () => {
    explored.keepsInvariants(
      worldOf(3, { ...coarse, faults: 2, families: new Set<Family>(['relay-log']) }),
      2 * manyStates,
    );
  });

  it('of three members keeps the invariants with one fault where nodes are emptied, and no rollout', () => {
    explored.keepsInvariants(
      worldOf(3, { ...coarse, faults: 1, families: leavingNodes, begins: 'updated' }),
      someStates,
    );
  });

  it('of five members keeps the invariants with one fault', () => {
    explored.keepsInvariants(worldOf(5, { ...coarse, faults: 1 }), manyStates);
  });

  for (const family of others) {
    const replicas = membersOf(family);
    it(`of ${replicas} members keeps the invariants with one fault and ${family}`, () => {
      const chosen: ReadonlySet<Family> = new Set([family]);
      explored.keepsInvariants(worldOf(replicas, { ...coarse, faults: 1, families: chosen }), someStates);
    });
  }
});

describe('the explorations above', () => {
  for (const sentence of Object.keys(situations)) {
    it(`reach a state in which ${sentence}`, () => {
      const count = explored.reached(sentence);
      console.log(`      ${count.toLocaleString('en')} states`);
      expect(count).to.be.greaterThan(0);
    });
  }
});
