import { expect } from 'chai';
import * as fc from 'fast-check';
import { secondsOf } from '../../../src/api/duration.ts';
import type { SequenceSpec } from '../../../src/api/sequence.ts';
import { type FleetCluster, StagedFleet } from './staged-fleet.ts';

// Random histories of a fleet with three stages, whose leaders change, and whose clusters are added, relabelled, deleted,
// taken offline, failing and corrected in the middle. A judge that shares no code with the controller checks each begin.

const tiers = ['canary', 'most', 'rest'] as const;
const sequence: SequenceSpec = {
  settleDuration: 60,
  stages: [
    { name: 'canary', selector: { matchLabels: { tier: 'canary' } }, maxConcurrent: 1, soakDuration: '10m' },
    {
      name: 'most',
      selector: { matchLabels: { tier: 'most' } },
      maxConcurrent: '50%',
      soakDuration: 120,
      maxFailures: 1,
    },
    { name: 'rest', maxConcurrent: 2 },
  ],
};

type Tier = (typeof tiers)[number];
const tierOf = ({ labels }: FleetCluster): Tier => tiers.find((tier) => tier === labels['tier']) ?? 'rest';
const limits: Readonly<Record<Tier, (clusters: number) => number>> = {
  canary: () => 1,
  most: (clusters) => Math.max(1, Math.floor(clusters / 2)),
  rest: () => 2,
};
const soaks: Readonly<Record<Tier, number>> = { canary: 600, most: 120, rest: 0 };
const failures: Readonly<Record<Tier, number>> = { canary: 0, most: 1, rest: 0 };

const isComplete = ({ revision, status }: FleetCluster): boolean =>
  status.completeSince !== undefined && status.updateRevision === revision;
const isRolling = ({ status }: FleetCluster): boolean => status.rollout?.begunAt !== undefined;

/** Why the cluster should not have begun, or nothing. */
function faultOf(fleet: StagedFleet, cluster: FleetCluster): string | null {
  const all = [...fleet.clusters.values()].filter(({ offline }) => !offline);
  const of = (tier: Tier) => all.filter((one) => tierOf(one) === tier);
  const tier = tierOf(cluster);
  if (fleet.secondsSince(cluster.status.rollout?.startedAt) < 60) return 'it has not settled';
  for (const other of tiers) {
    if (of(other).filter(({ status }) => status.rollout?.failing).length > failures[other]) return `${other} fails`;
  }
  for (const earlier of tiers.slice(0, tiers.indexOf(tier))) {
    for (const one of of(earlier)) {
      if (!isComplete(one)) return `${one.key} of ${earlier} is not complete`;
      if (fleet.secondsSince(one.status.completeSince) < soaks[earlier]) return `${one.key} of ${earlier} soaks`;
    }
  }
  return of(tier).filter(isRolling).length < limits[tier](of(tier).length) ? null : `${tier} is full`;
}

/** Everybody who is awake decides, until nobody is. Whoever fails is said by `fails`. */
function settle(fleet: StagedFleet, ends: (cluster: FleetCluster) => 'complete' | 'failing' | null): void {
  for (let passes = 0; fleet.awake.size > 0; passes += 1) {
    expect(passes, 'it comes to rest').to.be.lessThan(10_000);
    for (const key of Array.from(fleet.awake)) {
      const cluster = fleet.clusters.get(key);
      if (cluster === undefined) fleet.awake.delete(key);
      else if (fleet.pass(cluster)) {
        expect(faultOf(fleet, cluster), `${key} begins`).to.equal(null);
        fleet.begin(cluster);
      }
    }
    for (const cluster of fleet.clusters.values()) {
      const how = isRolling(cluster) && !cluster.status.rollout?.failing ? ends(cluster) : null;
      if (how !== null) fleet.end(cluster, how);
    }
  }
}

type Action =
  | { readonly does: 'template'; readonly which: number }
  | { readonly does: 'wait'; readonly seconds: number }
  | { readonly does: 'leader' | 'add' | 'sequence' | 'end' }
  | { readonly does: 'relabel' | 'remove' | 'offline' | 'fail' | 'correct'; readonly which: number };

const which = fc.nat(7);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('template' as const), which: fc.nat(255) }) },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 30, 60, 120, 600) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom('leader' as const, 'add' as const, 'sequence' as const) }),
  },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('end' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom(
        'relabel' as const,
        'remove' as const,
        'offline' as const,
        'fail' as const,
        'correct' as const,
      ),
      which,
    }),
  },
);

class History {
  readonly fleet = new StagedFleet();
  #revision = 0;
  #added = 0;

  constructor() {
    this.fleet.sequence('all', sequence);
    for (const tier of ['canary', 'canary', 'most', 'most', 'rest']) this.#add(tier);
  }

  do(action: Action): void {
    const { fleet } = this;
    const keys = [...fleet.clusters.keys()];
    const cluster = 'which' in action ? fleet.clusters.get(keys[action.which % keys.length] ?? '') : undefined;
    switch (action.does) {
      case 'template':
        this.#revision += 1;
        for (const [index, key] of keys.entries()) if ((action.which >> (index % 8)) & 1) this.#change(key);
        break;
      case 'wait':
        fleet.wait(action.seconds);
        break;
      case 'leader':
        this.changeLeader();
        break;
      case 'add':
        this.#add(tiers[this.#added % 3] ?? 'rest');
        break;
      case 'sequence':
        fleet.sequence('all', null);
        fleet.sequence('all', sequence);
        break;
      case 'end':
        for (const one of fleet.clusters.values())
          if (isRolling(one) && !one.status.rollout?.failing) fleet.end(one, 'complete');
        break;
      default:
        if (cluster !== undefined) this.#concern(action.does, cluster);
    }
    settle(fleet, () => null);
  }

  /** A new leader answers as the one before it, for every cluster. */
  changeLeader(): void {
    const before = this.#answers();
    this.fleet.changeLeader();
    expect(this.#answers()).to.deep.equal(before);
  }

  #answers() {
    return [...this.fleet.clusters.values()].map((cluster) => [cluster.key, this.fleet.waits(cluster)]);
  }

  #concern(does: 'relabel' | 'remove' | 'offline' | 'fail' | 'correct', cluster: FleetCluster): void {
    const { fleet } = this;
    if (does === 'remove') {
      if (fleet.clusters.size > 3) fleet.remove(cluster.key);
      return;
    }
    if (does === 'relabel') cluster.labels = { tier: tiers[(tiers.indexOf(tierOf(cluster)) + 1) % 3] ?? 'rest' };
    if (does === 'offline') cluster.offline = !cluster.offline;
    if (does === 'fail' && isRolling(cluster)) fleet.end(cluster, 'failing');
    if (does === 'correct' && cluster.status.rollout?.failing) {
      this.#revision += 1;
      cluster.revision = String(this.#revision);
    }
    fleet.changed(cluster);
  }

  #change(key: string): void {
    const cluster = this.fleet.clusters.get(key);
    if (cluster === undefined) return;
    cluster.revision = String(this.#revision);
    this.fleet.changed(cluster);
  }

  #add(tier: string): void {
    this.#added += 1;
    this.fleet.add(`db/${this.#added}`, { tier });
  }
}

describe('random histories of a fleet in stages', () => {
  it('never let a cluster begin before its turn, and end once everything works again', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const history = new History();
        for (const one of actions) history.do(one);
        const { fleet } = history;
        for (const cluster of fleet.clusters.values()) {
          if (cluster.status.rollout?.failing) cluster.revision += 'corrected';
          cluster.offline = false;
          fleet.changed(cluster);
        }
        // Only those decide who are woken: a cluster that nobody wakes would wait forever.
        for (let timers = 0; timers < 200; timers += 1) {
          settle(fleet, () => 'complete');
          const next = fleet.nextTimerSeconds;
          if (next === null) break;
          fleet.wait(next);
        }
        const unfinished = [...fleet.clusters.values()].filter((cluster) => !isComplete(cluster));
        expect(unfinished.map(({ key, status }) => [key, status.hold?.rule])).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('never let a failure of one stage reach the next one', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), fc.nat(1), (actions, canary) => {
        const history = new History();
        const { fleet } = history;
        for (const cluster of fleet.clusters.values()) cluster.revision = 'bad';
        for (const cluster of fleet.clusters.values()) fleet.changed(cluster);
        fleet.wait(60);
        const bad = fleet.clusters.get(`db/${canary + 1}`);
        settle(fleet, (cluster) => (cluster === bad ? 'failing' : 'complete'));
        fleet.wait(60);
        settle(fleet, (cluster) => (cluster === bad ? 'failing' : 'complete'));
        expect(bad?.status.rollout?.failing).to.equal(true);
        for (const one of actions) {
          if (one.does !== 'leader' && one.does !== 'wait' && one.does !== 'sequence') continue;
          history.do(one);
          settle(fleet, () => 'complete');
        }
        const reached = [...fleet.clusters.values()].filter(
          (cluster) => tierOf(cluster) !== 'canary' && (isRolling(cluster) || isComplete(cluster)),
        );
        expect(reached.map(({ key }) => key)).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });

  it('are judged by the specification that the test has: the durations are those of the sequence', () => {
    expect(sequence.stages.map(({ soakDuration = 0 }) => secondsOf(soakDuration))).to.deep.equal(
      tiers.map((tier) => soaks[tier]),
    );
  });
});
