import { expect } from 'chai';
import * as fc from 'fast-check';
import { CrowdedFleet, type Obstacle, obstacles } from './crowded-fleet.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;
const kinds = Object.keys(obstacles) as readonly Obstacle[];

interface Plot {
  readonly slots: number;
  /** What keeps each cluster waiting. */
  readonly kept: readonly (Obstacle | null)[];
  /** The obstacles of these clusters go away first, those of the others at the end. */
  readonly first: readonly boolean[];
}

const plots: fc.Arbitrary<Plot> = fc.record({
  slots: fc.constantFrom(1, 1, 2),
  kept: fc.tuple(...names.map(() => fc.constantFrom(null, ...kinds))),
  first: fc.tuple(...names.map(() => fc.boolean())),
});

/** What the status of a cluster showed after it had shown the hold for the first time, if anything else. */
function changesOf(fleet: CrowdedFleet, name: string, obstacle: Obstacle): readonly unknown[] {
  const shown = fleet.shown.get(name) ?? [];
  const at = shown.findIndex((one) => one?.rule === obstacles[obstacle]);
  return at < 0 ? ['it was never shown'] : shown.slice(at + 1);
}

describe('a fleet with more clusters than slots', () => {
  it('shows each hold until it ends, with one start time, and lets every cluster finish that nothing holds', async () => {
    await fc.assert(
      fc.asyncProperty(plots, async ({ slots, kept, first }) => {
        const fleet = new CrowdedFleet(names, slots);
        const isKept = new Map(names.map((name, at) => [name, kept[at] ?? null]));
        const ending = (now: boolean) => names.filter((name, at) => isKept.get(name) !== null && first[at] === now);
        for (const [name, obstacle] of isKept) if (obstacle !== null) fleet.put(name, obstacle);
        await fleet.run(80);
        const changes: unknown[] = [];
        const end = async (those: readonly string[]): Promise<void> => {
          for (const name of those) {
            const obstacle = isKept.get(name as 'a') ?? 'pause';
            changes.push(...changesOf(fleet, name, obstacle).map((change) => ({ name, obstacle, change })));
            fleet.remove(name, obstacle);
          }
          await fleet.run(80);
        };
        expect(names.filter((name) => isKept.get(name) === null && !fleet.isComplete(name))).to.deep.equal([]);
        await end(ending(true));
        await end(ending(false));
        expect(changes).to.deep.equal([]);
        expect(names.filter((name) => !fleet.isComplete(name))).to.deep.equal([]);
        expect(fleet.mostRolling).to.be.at.most(slots);
      }),
      { numRuns: 5 },
    );
  });

  it('lets another cluster roll while one that has begun waits for a person, which needs a slot again afterwards', async () => {
    const fleet = new CrowdedFleet(['a', 'b', 'c'], 1);
    fleet.put('a', 'pin');
    await fleet.run(60);
    expect(fleet.status('a').hold?.rule).to.equal('PrimaryWaitsForPinned');
    expect(fleet.status('a').rollout?.yieldedAt).to.be.a('string');
    expect([fleet.isComplete('b'), fleet.isComplete('c')]).to.deep.equal([true, true]);
    fleet.remove('a', 'pin');
    await fleet.run(30);
    expect(fleet.isComplete('a')).to.equal(true);
  });

  it('logs a hold once', async () => {
    const fleet = new CrowdedFleet(['a', 'b', 'c', 'd'], 1);
    fleet.put('a', 'pin');
    fleet.put('b', 'backup');
    await fleet.run(60);
    const rules = fleet.process.log.lines
      .map(({ fields }) => fields as { readonly cluster?: string; readonly rule?: string })
      .filter(({ cluster, rule }) => cluster === 'default/b' && rule !== undefined);
    expect(rules.map(({ rule }) => rule).filter((rule) => rule !== 'setStrategy')).to.deep.equal(['BackupRunning']);
  });
});
