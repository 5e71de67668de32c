import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { faultOf, type Gone, isComplete, isFailing, isRolling, sequence, type Tier, tierOf, tiers } from './judge.ts';
import { type FleetCluster, StagedFleet } from './staged-fleet.ts';

// Random histories of a fleet that begins with five clusters in three stages: leaders change and crash, and clusters are
// added, relabelled, deleted, taken offline, paused, released, failing and corrected in the middle of rollouts.

type Act =
  | { readonly does: 'template'; readonly tiers: readonly Tier[]; readonly which: number }
  | { readonly does: 'wait'; readonly seconds: number }
  | { readonly does: 'leader' | 'crash' | 'add' | 'sequence' }
  | { readonly does: 'end' | 'fail' | 'correct'; readonly which: number }
  | { readonly does: OfOne; readonly which: number };

const ofOne = ['relabel', 'remove', 'offline', 'pause', 'release', 'resume', 'suffer'] as const;
type OfOne = (typeof ofOne)[number];

const one = <Does extends Act['does']>(...does: readonly Does[]) => fc.constantFrom(...does);

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      // A change reaches every cluster of a stage, or of all stages, or every other one of them.
      arbitrary: fc.record({
        does: one('template'),
        tiers: fc.constantFrom<readonly Tier[]>(tiers, ...tiers.map((tier) => [tier])),
        which: fc.constantFrom(255, 85),
      }),
    },
    { weight: 5, arbitrary: fc.record({ does: one('wait'), seconds: fc.constantFrom(1, 60, 120, 600) }) },
    { weight: 2, arbitrary: fc.record({ does: one('leader', 'crash', 'add', 'sequence') }) },
    { weight: 8, arbitrary: fc.record({ does: one('end', 'end', 'fail', 'correct'), which: fc.nat(7) }) },
    { weight: 4, arbitrary: fc.record({ does: one(...ofOne), which: fc.nat(7) }) },
  ),
  { maxLength: 40, size: 'max' },
);

/** What a history begins with, besides a cluster in each stage, and what happens in it. */
export interface Plot {
  readonly others: readonly Tier[];
  readonly acts: readonly Act[];
}

export const plots: fc.Arbitrary<Plot> = fc.record({
  others: fc.array(fc.constantFrom(...tiers), { minLength: 2, maxLength: 2 }),
  acts,
});

const works = (cluster: FleetCluster): boolean => isRolling(cluster) && !isFailing(cluster);

export class FleetHistory {
  readonly fleet = new StagedFleet();
  readonly faults: string[] = [];
  #revision = 0;
  #added = 0;
  #crashes = false;
  /** Whom a person still has to say something about. */
  #gone: readonly Gone[] = [];

  constructor(others: readonly Tier[]) {
    this.fleet.sequence('all', sequence);
    for (const tier of [...tiers, ...others]) this.#add(tier);
  }

  do(act: Act): void {
    const { fleet } = this;
    const all = [...fleet.clusters.values()];
    const oneOf = (clusters: readonly FleetCluster[], which: number) => clusters[which % clusters.length];
    switch (act.does) {
      case 'template':
        this.#revision += 1;
        for (const [index, cluster] of all.entries()) {
          if (act.tiers.includes(tierOf(cluster)) && (act.which >> (index % 8)) & 1) this.#change(cluster);
        }
        break;
      case 'wait':
        fleet.wait(act.seconds);
        break;
      case 'leader':
        this.changeLeader();
        break;
      case 'crash':
        this.#crashes = true;
        break;
      case 'add':
        this.#add(tiers[this.#added % 3] ?? 'rest');
        break;
      case 'sequence':
        this.#gone = [];
        fleet.sequence('all', null);
        fleet.sequence('all', sequence);
        break;
      case 'end':
        fleet.end(oneOf(all.filter(works), act.which), 'complete');
        break;
      case 'fail':
        fleet.end(oneOf(all.filter(works), act.which), 'failing');
        break;
      case 'correct':
        this.#revision += 1;
        this.#change(oneOf(all.filter(isFailing), act.which));
        break;
      default:
        this.#concern(act.does, oneOf(all, act.which));
    }
    this.#missStill();
    this.settle(() => null);
  }

  /** Every cluster that is awake decides, until none is awake. `ends` says how rollouts end that have begun. */
  settle(ends: (cluster: FleetCluster) => 'complete' | 'failing' | null): void {
    const { fleet } = this;
    for (let rounds = 0; fleet.awake.size > 0; rounds += 1) {
      if (rounds === 10_000) {
        this.faults.push('it never comes to rest');
        return;
      }
      this.#decide();
      for (const cluster of fleet.clusters.values()) {
        const how = works(cluster) ? ends(cluster) : null;
        if (how !== null) fleet.end(cluster, how);
      }
    }
  }

  /** Passes go on side by side: each is promised its first step before any of them has written that down. */
  #decide(): void {
    const { fleet } = this;
    const about = new Set<FleetCluster>();
    for (const key of Array.from(fleet.awake)) {
      const cluster = fleet.clusters.get(key);
      if (cluster === undefined) {
        fleet.awake.delete(key);
        continue;
      }
      const corrects = isFailing(cluster);
      if (!fleet.pass(cluster)) continue;
      const fault = corrects ? null : faultOf(fleet, cluster, about, this.#gone);
      if (fault !== null) this.faults.push(`${key} begins: ${fault}`);
      about.add(cluster);
    }
    // The leader may crash before it has written down the second one.
    const written = [...about].slice(0, this.#crashes ? 1 : undefined);
    for (const cluster of written) fleet.begin(cluster);
    if (!this.#crashes || about.size === 0) return;
    this.#crashes = false;
    fleet.changeLeader();
  }

  /** A new leader has to answer as the one before it, for every cluster. */
  changeLeader(): void {
    const before = this.#answers();
    this.fleet.changeLeader();
    if (!isDeepStrictEqual(this.#answers(), before)) this.faults.push('a new leader gives another answer');
  }

  /** Everything works again, and nothing is held back: every rollout has to end. */
  end(): void {
    const { fleet } = this;
    fleet.overridden.add('StageMemberGone');
    this.#gone = [];
    for (const cluster of fleet.clusters.values()) {
      if (isFailing(cluster)) cluster.revision += 'corrected';
      cluster.offline = false;
      cluster.keptBy = null;
      if (cluster.suffers) fleet.recover(cluster);
      fleet.changed(cluster);
    }
    // Only clusters that were woken decide: a cluster that is never woken would wait forever.
    for (let timers = 0; timers < 200; timers += 1) {
      this.settle(() => 'complete');
      const next = fleet.nextTimerSeconds;
      if (next === null) break;
      fleet.wait(next);
    }
    for (const cluster of fleet.clusters.values()) {
      if (!isComplete(cluster)) this.faults.push(`${cluster.key} never ends: ${cluster.status.hold?.rule}`);
    }
  }

  #answers() {
    return [...this.fleet.clusters.values()].map((cluster) => [cluster.key, this.fleet.waits(cluster)]);
  }

  #concern(does: OfOne, cluster: FleetCluster | undefined): void {
    const { fleet } = this;
    if (cluster === undefined) return;
    if (does === 'remove' && fleet.clusters.size <= 3) return;
    const leaves = does === 'remove' || does === 'relabel' || (does === 'offline' && !cluster.offline);
    if (leaves) this.#leaves(cluster);
    if (does === 'remove') {
      fleet.remove(cluster.key);
      return;
    }
    if (does === 'relabel') cluster.labels = { tier: tiers[(tiers.indexOf(tierOf(cluster)) + 1) % 3] ?? 'rest' };
    if (does === 'offline') cluster.offline = !cluster.offline;
    if (does === 'pause') cluster.keptBy = 'Paused';
    if (does === 'release') cluster.keptBy = 'Released';
    if (does === 'resume') cluster.keptBy = null;
    if (does === 'suffer') fleet.suffer(cluster);
    fleet.changed(cluster);
  }

  /**
   * Records a cluster that leaves and is certainly missed: it fails, or it is the last one that could verify a change
   * for others.
   */
  #leaves(cluster: FleetCluster): void {
    if (cluster.offline) return;
    const tier = tierOf(cluster);
    const others = [...this.fleet.clusters.values()].filter((one) => one !== cluster && !one.offline);
    const isLast = !others.some((one) => tierOf(one) === tier);
    const failing = isFailing(cluster);
    if (!failing && !(isLast && !isComplete(cluster))) return;
    this.#gone = [...this.#gone, { key: cluster.key, tier, failing }];
  }

  /** They are back, a different cluster has taken the place of the last one, or no cluster has a change to roll out. */
  #missStill(): void {
    const all = [...this.fleet.clusters.values()].filter(({ offline }) => !offline);
    if (all.every(isComplete)) this.#gone = [];
    this.#gone = this.#gone.filter(({ key, tier, failing }) => {
      const there = all.filter((one) => tierOf(one) === tier);
      return !there.some((one) => one.key === key) && (failing || there.length === 0);
    });
  }

  #change(cluster: FleetCluster | undefined): void {
    if (cluster === undefined) return;
    cluster.revision = String(this.#revision);
    this.fleet.changed(cluster);
  }

  #add(tier: string): void {
    this.#added += 1;
    this.fleet.add(`db/${this.#added}`, { tier });
  }
}

/** What is wrong with a history: a cluster begins before its turn, or a rollout never ends. */
export function faultsIn({ others, acts }: Plot): readonly string[] {
  const history = new FleetHistory(others);
  for (const act of acts) history.do(act);
  history.end();
  return history.faults;
}
