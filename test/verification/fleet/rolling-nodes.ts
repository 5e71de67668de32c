import type { SequenceSpec } from '../../../src/api/rollout-sequence.ts';
import { decide } from '../../../src/core/decide.ts';
import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import { cluster as clusterOf } from '../../core/cluster-builder.ts';
import { type MemberBuilder, member, revisionAfter, revisionBefore } from '../../core/member-builder.ts';
import { isComplete, isRolling, type Tier, tierOf, tiers } from './judge.ts';
import { type FleetCluster, StagedFleet } from './staged-fleet.ts';

// A sequence soaks for a day, and every node is upgraded meanwhile: each is drained in turn, again and again. Each cluster
// has one member on each node. What the StatefulSet controller creates follows from what `decide` says of the cluster.

export const soakSeconds = 86_400;
const settleSeconds = 60;
/** From one node to the next. */
const drainSeconds = 1_800;
export const nodes = 3;

const sequence: SequenceSpec = {
  settleDuration: settleSeconds,
  stages: [
    { name: 'canary', selector: { matchLabels: { tier: 'canary' } }, soakDuration: soakSeconds },
    { name: 'most', selector: { matchLabels: { tier: 'most' } }, soakDuration: soakSeconds },
    { name: 'rest' },
  ],
};

/** Who keeps the strategy, and whether a drained pod is deleted by force. */
export interface Circumstances {
  readonly keeper: ClusterSnapshot['strategyKeeper'];
  readonly byForce: boolean;
}

interface Members {
  readonly revisions: string[];
  readonly waiting: number[];
  newPods: 'CurrentRevision' | 'UpdateRevision';
}

/** What a member had when its node was drained, and what it has now. */
export interface Drained {
  readonly key: string;
  readonly tier: Tier;
  readonly ordinal: number;
  readonly hadBegun: boolean;
  readonly before: string;
  readonly after: string;
}

export class RollingNodes {
  readonly fleet = new StagedFleet();
  readonly drained: Drained[] = [];
  readonly #circumstances: Circumstances;
  readonly #members = new Map<string, Members>();
  #node = 0;

  constructor(circumstances: Circumstances) {
    this.#circumstances = circumstances;
    this.fleet.sequence('all', sequence);
    for (const tier of tiers) this.fleet.add(`db/${tier}`, { tier });
    for (const { key } of this.fleet.clusters.values()) {
      const ordinals = Array.from({ length: nodes }, (_, ordinal) => ordinal);
      this.#members.set(key, {
        revisions: ordinals.map(() => revisionBefore),
        waiting: ordinals,
        newPods: 'UpdateRevision',
      });
    }
  }

  /** Everybody's template changes; then nodes are drained until every rollout has ended. Returns after how long. */
  play(): number {
    const { fleet } = this;
    for (const one of fleet.clusters.values()) {
      one.revision = revisionAfter;
      fleet.changed(one);
    }
    while (![...fleet.clusters.values()].every(isComplete)) {
      if (fleet.nowSeconds > 10 * soakSeconds) throw new Error('expected every rollout to end, one did not');
      fleet.wait(drainSeconds);
      this.#settle();
      this.#drain();
    }
    return fleet.nowSeconds;
  }

  /** A rollout that may begin ends at once. */
  #settle(): void {
    const { fleet } = this;
    while (fleet.awake.size > 0) {
      const begins = [...fleet.awake].flatMap((key) => {
        const one = fleet.clusters.get(key);
        return one !== undefined && fleet.pass(one) ? [one] : [];
      });
      for (const one of begins) fleet.begin(one);
      for (const one of [...fleet.clusters.values()].filter(isRolling)) {
        this.#decide(one, null);
        const members = this.#of(one);
        members.revisions.fill(revisionAfter);
        members.waiting.length = 0;
        members.newPods = 'UpdateRevision';
        fleet.end(one, 'complete');
      }
    }
    for (const one of fleet.clusters.values()) this.#decide(one, null);
  }

  #drain(): void {
    const ordinal = this.#node;
    this.#node = (this.#node + 1) % nodes;
    for (const one of this.fleet.clusters.values()) {
      const members = this.#of(one);
      const before = members.revisions[ordinal] ?? '';
      const hadBegun = one.status.rollout?.begunAt !== undefined || isComplete(one);
      if (!this.#circumstances.byForce) this.#decide(one, ordinal);
      const after = members.newPods === 'CurrentRevision' ? revisionBefore : revisionAfter;
      members.revisions[ordinal] = after;
      this.drained.push({ key: one.key, tier: tierOf(one), ordinal, hadBegun, before, after });
      this.#decide(one, null);
    }
  }

  #of({ key }: FleetCluster): Members {
    const members = this.#members.get(key);
    if (members === undefined) throw new Error(`expected members of ${key}, got none`);
    return members;
  }

  /** Does what is decided about new pods, while the pod of that member is going. */
  #decide(one: FleetCluster, going: number | null): void {
    const members = this.#of(one);
    // The strategy is set back and forth only if something else changes in between.
    for (let steps = 0; steps < 3; steps += 1) {
      const { step } = decide(this.#facts(one, members, going), policy);
      if (step.kind !== 'setStrategy') return;
      members.newPods = step.newPods;
    }
    throw new Error(`expected ${one.key} to come to rest, it did not`);
  }

  #facts(one: FleetCluster, { revisions, waiting, newPods }: Members, going: number | null): ClusterSnapshot {
    const states = revisions.map((revision, ordinal): MemberBuilder => {
      const state = revision === revisionAfter ? member(ordinal).updated() : member(ordinal).stale();
      return ordinal === going ? state.terminating() : state;
    });
    const isStale = revisions.some((revision) => revision !== revisionAfter);
    const given = clusterOf(nodes)
      .members(...states)
      .but({ strategyKeeper: this.#circumstances.keeper })
      .statefulSet({ currentRevision: isStale ? revisionBefore : revisionAfter });
    if (isStale) given.memory({ waiting: [...waiting] });
    if (newPods === 'CurrentRevision') given.keepingRevisions();
    const [wait] = this.fleet.waits(one).filter(({ remainingSeconds }) => remainingSeconds !== 0);
    if (wait !== undefined) given.waitingForOthers(wait.hold, wait.remainingSeconds);
    return given.facts();
  }
}

const policy: RolloutPolicy = defaultPolicy;
