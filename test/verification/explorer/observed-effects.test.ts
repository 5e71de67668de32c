import { expect } from 'chai';
import { decide } from '../../../src/core/decide.ts';
import type { StepKind } from '../../../src/core/decision.ts';
import * as c from './cells.ts';
import { perform } from './controller.ts';
import { type Decide, verdictOf } from './decisions.ts';
import { declared } from './declared-effects.ts';
import { Exploration } from './explore.ts';
import { type EffectKind, observed } from './observed-effects.ts';
import { snapshotOf } from './view.ts';
import { beginnings, type Family, type World, worldOf } from './world.ts';

const worldWith = (...families: readonly Family[]): World =>
  worldOf(3, { detail: 'coarse', badRevision: false, faults: 0, families: new Set(families) });

/** Everything is well and stale, and member 0 is primary. */
function begin(world: World, change: (cells: c.Cells) => void = () => undefined): c.Cells {
  const cells = (beginnings(world)[0] as c.Cells).slice();
  change(cells);
  return cells;
}

/** What the step of the core does to that state. */
function effects(world: World, before: c.Cells, decideWith: Decide = decide): readonly string[] {
  const verdict = verdictOf(decideWith(snapshotOf(before, before, before, world), world.policy));
  const after = new Uint16Array(c.cellCount);
  perform(verdict, before, after, world, 0);
  return [verdict.kind, ...observed(before, after, world).map(({ kind, member }) => `${kind} ${member}`)];
}

const withReplicasUpdated = (cells: c.Cells): void => {
  for (const ordinal of [1, 2]) cells[c.REVISION + ordinal] = 1;
};

describe('what a step has done', () => {
  it('is seen of a replica that is evicted', () => {
    const world = worldWith();
    expect(effects(world, begin(world))).to.deep.equal([
      'evict',
      'stops 2',
      'leavesService 2',
      'losesRelayLog 2',
      'brings 2',
    ]);
  });

  it('is seen of a primary that is demoted', () => {
    const world = worldWith();
    expect(effects(world, begin(world, withReplicasUpdated))).to.deep.equal(['demote', 'movesPrimary 0']);
  });

  it('is seen of a single member that is evicted', () => {
    const world = worldOf(1, { badRevision: false });
    expect(effects(world, begin(world))).to.deep.equal([
      'evict',
      'stops 0',
      'leavesService 0',
      'movesPrimary 0',
      'brings 0',
    ]);
  });

  it('ends nothing if mysqld does not run', () => {
    const world = worldWith();
    const down = begin(world, (cells) => {
      cells[c.HEALTH + 1] = c.Health.Crashed;
      cells[c.STATUS] = c.Status.Available;
    });
    expect(effects(world, down)).to.deep.equal(['delete', 'brings 1']);
  });

  it('is seen of a container that restarts in place', () => {
    const world = worldWith('slow-log');
    expect(effects(world, begin(world))).to.deep.equal(['updateInPlace', 'leavesService 2', 'brings 2']);
    const primaryLeft = begin(world, withReplicasUpdated);
    expect(effects(world, primaryLeft)).to.deep.equal(['demote', 'movesPrimary 0']);
  });

  it('is seen of a resize, and is nothing for the label after it', () => {
    const world = worldWith('resize');
    expect(effects(world, begin(world))).to.deep.equal(['resizeInPlace', 'brings 2']);
    const resized = begin(world, (cells) => {
      cells[c.RESIZE + 2] = c.Resize.Done;
    });
    expect(effects(world, resized)).to.deep.equal(['updateInPlace']);
  });

  it('is seen of a member that the StatefulSet controller replaces', () => {
    const world = worldWith('partition-mode');
    expect(effects(world, begin(world))).to.deep.equal([
      'setPartition',
      'stops 2',
      'leavesService 2',
      'losesRelayLog 2',
      'brings 2',
    ]);
  });
});

/** What the explorer says of a core that forgets to declare an effect of a step. */
function foundWithout(kind: EffectKind, forgets: StepKind, world: World): string | undefined {
  const exploration = new Exploration(world, {
    declare: (decision) =>
      declared(decision).filter((effect) => decision.step.kind !== forgets || effect.kind !== kind),
  });
  return exploration.run({ states: 20_000 }).counterexample?.invariant;
}

describe('the explorer finds a core that does not declare', () => {
  const forgotten = [
    ['stops', 'evict', []],
    ['leavesService', 'evict', []],
    ['losesRelayLog', 'evict', []],
    ['brings', 'evict', []],
    ['movesPrimary', 'demote', []],
    ['leavesService', 'updateInPlace', ['in-place']],
    ['brings', 'updateInPlace', ['in-place']],
    ['brings', 'resizeInPlace', ['resize']],
    ['stops', 'setPartition', ['partition-mode']],
    ['movesPrimary', 'setPartition', ['partition-mode']],
  ] as const;
  for (const [kind, step, families] of forgotten) {
    it(`${kind} of ${step}`, () => {
      expect(foundWithout(kind, step, worldWith(...families))).to.equal('effects');
    });
  }

  it('and finds nothing where each step declares what it may do', () => {
    const exploration = new Exploration(worldWith());
    expect(exploration.run().counterexample).to.equal(null);
  });
});
