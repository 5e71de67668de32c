import { expect } from 'chai';
import * as fc from 'fast-check';
import type { SequenceSpec } from '../../../src/api/sequence.ts';
import { type FleetInput, playFleet } from '../../../src/cli/fleet/play-fleet.ts';
import { concurrencyOf } from '../../../src/core/fleet/sequence.ts';
import { type StagedCluster, stageCounts } from '../../../src/core/fleet/stage-counts.ts';
import { stageGates } from '../../../src/core/fleet/stage-waits.ts';
import type { FleetPlan, PlannedCluster } from '../../../src/plan/fleet-plan.ts';
import { StagedFleet } from '../../verification/fleet/staged-fleet.ts';
import { measured, type WholeCluster } from '../whole-clusters.ts';
import { observedFleet } from './observed-fleet.ts';

const tiers = ['canary', 'most', 'rest'] as const;
const soaked = '2026-01-01T00:00:00Z';

const stageSettings = fc.record({
  maxConcurrent: fc.constantFrom<number | string>(1, 2, '50%', '100%'),
  soakDuration: fc.constantFrom(0, 60, 3600),
});

const sequence = fc
  .record({
    settleDuration: fc.constantFrom(0, 45, 300),
    stages: fc.tuple(stageSettings, stageSettings, stageSettings),
  })
  .map(
    ({ settleDuration, stages }): SequenceSpec => ({
      settleDuration,
      stages: tiers.map((name, index) => ({
        name,
        ...(stages[index] as (typeof stages)[number]),
        ...(name !== 'rest' && { selector: { matchLabels: { tier: name } } }),
      })),
    }),
  );

const clusters = fc
  .array(
    fc.record({
      tier: fc.constantFrom(...tiers),
      replicas: fc.constantFrom(1, 3),
      stale: fc.boolean(),
      seconds: fc.constantFrom(1, 20, 90),
      maxUnavailable: fc.constantFrom(1, 2),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((all): readonly WholeCluster[] =>
    all.map(({ tier, replicas, stale, seconds, maxUnavailable }, index) => ({
      name: `c${index}`,
      labels: { tier },
      replicas,
      stale,
      spec: { maxUnavailable },
      status: {
        ...measured(seconds),
        ...(!stale && { updateRevision: `moco-c${index}-7966559688`, completeSince: soaked }),
      },
    })),
  );

const keyOf = ({ namespace, name }: PlannedCluster): string => `${namespace}/${name}`;

/** The fleet at a moment of the plan, just before a cluster begins, as the controller's own functions take it. */
function stagedAt({ facts, sequences }: FleetInput, plan: FleetPlan, seconds: number): readonly StagedCluster[] {
  const planned = new Map(plan.clusters.map((one) => [keyOf(one), one]));
  return [...facts].map(([key, { objects }]) => {
    const { beginsAt = null, endsAt = null } = planned.get(key) ?? {};
    const isOver = !planned.has(key) || (endsAt !== null && endsAt <= seconds);
    const isRolling = !isOver && beginsAt !== null && beginsAt < seconds;
    return {
      key,
      places: sequences.map(({ sequence: one, stageOf }) => ({
        sequence: one,
        stage: stageOf(objects.cluster.labels) ?? -1,
      })),
      rolling: isRolling,
      waitingSince: isOver || isRolling ? null : plan.from,
      wantsTurn: true,
      completeSince: isOver ? (endsAt ?? 0) : null,
      failing: false,
    };
  });
}

describe('the plan of a fleet', () => {
  it('ends, and no cluster begins in it before its turn', () => {
    fc.assert(
      fc.property(
        clusters,
        sequence,
        fc.constantFrom(0, 1, 3),
        fc.constantFrom(0, 30),
        (all, spec, slots, interval) => {
          const input = observedFleet(
            all,
            { all: spec },
            { maxConcurrentRollouts: slots, disruptionIntervalSeconds: interval },
          );
          const plan = playFleet(input);
          expect(plan.clusters).to.have.length(all.filter(({ stale }) => stale).length);
          const [record] = input.sequences;
          if (record === undefined) throw new Error('expected a sequence');
          for (const one of plan.clusters) {
            const { beginsAt, endsAt, stop, spans, stage } = one;
            expect(stop, one.name).to.equal(null);
            if (beginsAt === null || endsAt === null) throw new Error(`expected ${one.name} to begin and to end`);
            expect(endsAt).to.be.greaterThan(beginsAt);
            expect(beginsAt - plan.from, 'it settles').to.be.at.least(record.sequence.settleSeconds);
            const index = tiers.findIndex((tier) => tier === stage);
            const counts = stageCounts(record.sequence, stagedAt(input, plan, beginsAt));
            const gates = stageGates(record.sequence, counts, index).filter(
              (gate) => !('until' in gate) || gate.until > beginsAt,
            );
            expect(gates, `${one.name} begins`).to.deep.equal([]);
            const rolling = plan.clusters.filter(
              (other) => (other.beginsAt ?? 0) <= beginsAt && (other.endsAt ?? 0) > beginsAt,
            );
            const limit = concurrencyOf(record.sequence.stages[index] as never, counts[index]?.clusters ?? 0);
            expect(rolling.filter((other) => other.stage === stage).length, 'of its stage').to.be.at.most(limit);
            if (slots > 0) expect(rolling.length, 'of all').to.be.at.most(slots);
            for (const [at, span] of spans.entries()) {
              expect(span.until).to.be.at.least(span.from);
              expect(span.from).to.be.at.least(spans[at - 1]?.until ?? plan.from);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('has each cluster begin when the controller lets it begin', () => {
    fc.assert(
      fc.property(clusters, sequence, (all, spec) => {
        const plan = playFleet(observedFleet(all, { all: spec }));
        const expected = plan.clusters.map((one) => [keyOf(one), (one.beginsAt ?? Number.NaN) - plan.from]);
        const times = new Map(plan.clusters.map((one) => [keyOf(one), (one.endsAt ?? 0) - (one.beginsAt ?? 0)]));
        const begun = beginsIn(all, spec, times);
        expect(Object.fromEntries(begun)).to.deep.equal(Object.fromEntries(expected));
      }),
      { numRuns: 60 },
    );
  });

  it('is the same for the same fleet, whatever the order of the clusters', () => {
    fc.assert(
      fc.property(clusters, sequence, (all, spec) => {
        const plan = playFleet(observedFleet(all, { all: spec }, { maxConcurrentRollouts: 2 }));
        const again = playFleet(observedFleet(all.toReversed(), { all: spec }, { maxConcurrentRollouts: 2 }));
        expect(again).to.deep.equal(plan);
      }),
      { numRuns: 20 },
    );
  });
});

/** When the controller's fleet lets each stale cluster begin, in seconds, if each then rolls for the given time. */
function beginsIn(
  all: readonly WholeCluster[],
  spec: SequenceSpec,
  times: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const fleet = new StagedFleet();
  fleet.sequence('all', spec);
  for (const { name, labels = {} } of all) fleet.add(`default/${name}`, labels);
  for (const { name, stale } of all) {
    const cluster = fleet.clusters.get(`default/${name}`);
    if (cluster === undefined || !stale) continue;
    cluster.revision = '1';
    fleet.changed(cluster);
  }
  const begun = new Map<string, number>();
  const ends = new Map<string, number>();
  for (;;) {
    for (const key of fleet.awake) {
      const cluster = fleet.clusters.get(key);
      if (cluster === undefined || !fleet.pass(cluster)) continue;
      fleet.begin(cluster);
      begun.set(key, fleet.nowSeconds);
      ends.set(key, fleet.nowSeconds + (times.get(key) ?? 0));
    }
    const next = Math.min(...ends.values(), fleet.nowSeconds + (fleet.nextTimerSeconds ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) return begun;
    fleet.wait(next - fleet.nowSeconds);
    for (const [key, at] of ends) {
      const cluster = fleet.clusters.get(key);
      if (at > fleet.nowSeconds || cluster === undefined) continue;
      ends.delete(key);
      fleet.end(cluster, 'complete');
    }
  }
}
