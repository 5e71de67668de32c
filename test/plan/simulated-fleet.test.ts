import { expect } from 'chai';
import * as fc from 'fast-check';
import { newRollout } from '../../src/api/rollout-progress.ts';
import type { SequenceSpec } from '../../src/api/rollout-sequence.ts';
import { concurrencyOf, type StagedCluster, stageCounts } from '../../src/core/fleet/stage-counts.ts';
import { stageGates } from '../../src/core/fleet/stage-waits.ts';
import type { FleetPlan, PlannedCluster } from '../../src/plan/fleet-plan.ts';
import { type FleetInput, playFleet } from '../../src/plan/simulated-fleet.ts';
import { measured, type WholeCluster } from '../controller/whole-clusters.ts';
import { StagedFleet } from '../verification/fleet/staged-fleet.ts';
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
      queuedSince: isOver || isRolling ? null : plan.from,
      wantsTurn: true,
      completeSince: isOver ? (endsAt ?? 0) : null,
      failing: false,
    };
  });
}

describe('the plan of a fleet', () => {
  it('lets the others begin once a member of the first cluster is back', () => {
    const all = ['a', 'b', 'c'].map((name) => ({ name, stale: true, status: measured(30) }));
    const { from, clusters: planned } = playFleet(observedFleet(all, {}, { verifyFirstCluster: true }));
    const [first = Number.NaN, ...others] = planned.map(({ beginsAt }) => (beginsAt ?? Number.NaN) - from);
    expect([first, others]).to.deep.equal([0, [35, 35]]);
  });

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

describe('a cluster in the plan of a fleet', () => {
  const only = (one: Omit<WholeCluster, 'name'>): PlannedCluster => {
    const [planned] = playFleet(observedFleet([{ name: 'only', ...one }], {})).clusters;
    if (planned === undefined) throw new Error('expected a stale cluster');
    return planned;
  };
  const secondsOf = ({ beginsAt, endsAt }: PlannedCluster): number => (endsAt ?? Number.NaN) - (beginsAt ?? Number.NaN);
  const minReady = 5;
  const switchover = 10;

  it('has its members updated one after another, and one switchover', () => {
    expect(secondsOf(only({ replicas: 1, status: measured(60) }))).to.equal(60 + minReady);
    expect(secondsOf(only({ replicas: 3, status: measured(60) }))).to.equal(3 * (60 + minReady) + switchover);
  });

  it('has as many members updated at a time as maxUnavailable allows', () => {
    const five = (maxUnavailable: number) => only({ replicas: 5, spec: { maxUnavailable }, status: measured(60) });
    expect(secondsOf(five(1))).to.equal(5 * (60 + minReady) + switchover);
    expect(secondsOf(five(2))).to.equal(3 * (60 + minReady) + switchover);
  });

  it('takes expectedMemberSeconds where nothing was measured', () => {
    const planned = only({ replicas: 1, spec: { expectedMemberSeconds: 120 } });
    expect([secondsOf(planned), planned.measured]).to.deep.equal([120 + minReady, false]);
  });

  it('waits for its window between two members', () => {
    // 12:00 is now; the window is open for two members.
    const window = { schedule: '0 12 * * *', duration: '20m' };
    const planned = only({ spec: { maintenanceWindows: [window], expectedMemberSeconds: 540 } });
    expect(planned.spans.map(({ what }) => what)).to.deep.equal(['Updating', 'OutsideMaintenanceWindow', 'Updating']);
    expect(secondsOf(planned)).to.equal(24 * 3600 + 540 + minReady + switchover);
  });

  it('continues a rollout that has begun, whatever the stages', () => {
    const status = { updateRevision: 'moco-begun-7966559688', rollout: begun('moco-begun-7966559688') };
    const spec = { settleDuration: 300, stages: [{ name: 'all' }] };
    const { clusters: planned, from } = playFleet(
      observedFleet([{ name: 'begun', status }, { name: 'other' }], { all: spec }),
    );
    expect(planned[0]?.beginsAt).to.equal(from - 60);
    expect(planned[0]?.spans[0]?.from).to.equal(from);
    expect(planned[1]?.beginsAt).to.equal(planned[0]?.endsAt);
  });

  it('keeps others waiting forever if its revision fails', () => {
    const revision = 'moco-bad-7966559688';
    const status = {
      updateRevision: revision,
      rollout: {
        ...begun(revision),
        failing: { ordinal: 2, message: 'container mysqld is waiting (CrashLoopBackOff)' },
      },
    };
    const stages = [{ name: 'canary', selector: { matchLabels: { tier: 'canary' } } }, { name: 'rest' }];
    const bad = { name: 'bad', labels: { tier: 'canary' }, crashing: true, status };
    const { clusters: planned } = playFleet(observedFleet([bad, { name: 'other' }], { all: { stages } }));
    expect(planned.map(({ name, endsAt, stop }) => [name, endsAt, stop?.rule])).to.deep.equal([
      ['bad', null, 'UpdateRevisionFailing'],
      ['other', null, 'StageFailing'],
    ]);
  });

  it('counts as healthy soon if it is not', () => {
    const ill = { name: 'ill', labels: { tier: 'canary' }, stale: false, crashing: true };
    const stages = [{ name: 'canary', selector: { matchLabels: { tier: 'canary' } } }, { name: 'rest' }];
    const plan = playFleet(
      observedFleet([ill, { name: 'other', status: measured(60) }], { all: { stages, settleDuration: 0 } }),
    );
    expect(plan.clusters.map(({ name, stop }) => [name, stop])).to.deep.equal([['other', null]]);
    expect(plan.recovering).to.deep.equal(['default/ill']);
  });
});

const begun = (revision: string) => ({
  ...newRollout(revision, '2026-07-01T11:58:00Z'),
  begunAt: '2026-07-01T11:59:00Z',
  disruptions: 1,
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
