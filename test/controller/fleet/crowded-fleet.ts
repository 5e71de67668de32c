import { type RolloutSpec, rolloutKind } from '../../../src/api/rollout.ts';
import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import { timestampOf } from '../../../src/base/json.ts';
import { noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import type { HoldRule } from '../../../src/core/decision.ts';
import type { CheckReading } from '../../../src/core/on-demand-facts.ts';
import {
  jobs,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
} from '../../../src/kube/resource.ts';
import { FakeWorld, settle } from '../../kube/fake-world.ts';
import { jobLabels } from '../../support/moco/names.ts';
import { Process, type Surroundings } from '../bench.ts';
import { FakeMembers, FakeMysql, FakePrometheus, FakeReplicas } from '../fake-servers.ts';
import { pod, revisionAfter } from '../moco-objects.ts';
import { ObjectServer, type Patch, type Raw } from '../object-server.ts';
import { addWholeCluster, renamed } from '../whole-clusters.ts';
import { switchOver } from '../whole-rollout.ts';

/** What keeps a cluster waiting, and the rule that reports it. */
export const obstacles = {
  pin: 'PrimaryWaitsForPinned',
  pause: 'Paused',
  budget: 'BlockedByPDB',
  backup: 'BackupRunning',
  protection: 'MemberProtected',
  cordon: 'NodeTakesNoPods',
  check: 'CheckFailing',
} as const satisfies Readonly<Record<string, HoldRule>>;

export type Obstacle = keyof typeof obstacles;

/** Of passes that follow each other at once. Those that are left follow within the next second. */
const mostRounds = 20;

/** A hold as a status has shown it, and when that was written. */
export interface Shown {
  readonly rule: HoldRule;
  readonly since: string;
  readonly at: string;
}

const failing = (name: string): CheckReading => ({
  kind: 'failing',
  series: { labels: { name }, value: '1', others: 0 },
});

/**
 * Stale clusters of three members, beside one process whose fleet has fewer slots: a pass follows each change of an
 * object, each time that a cluster is woken, and each time that one has asked for. MOCO and Kubernetes replace pods and
 * move primaries within a second.
 */
export class CrowdedFleet implements Surroundings {
  readonly world = new FakeWorld((request) => this.server.exchange(request));
  readonly server = new ObjectServer(() => this.world.wall());
  readonly replicas = new FakeReplicas();
  readonly members = new FakeMembers();
  readonly mysql = new FakeMysql();
  readonly prometheus = new FakePrometheus();
  readonly process: Process;
  readonly names: readonly string[];
  /** What the status of each cluster has shown, one after another. */
  readonly shown = new Map<string, (Shown | null)[]>();
  readonly #awake = new Set<string>();
  readonly #timers = new Map<string, number>();
  passes = 0;
  /** The most clusters of which members were being replaced at a time. */
  mostRolling = 0;

  constructor(names: readonly string[], slots: number) {
    this.names = names;
    for (const name of names) {
      addWholeCluster(this.server, { name, spec: { checks: [{ name, query: 'up == 0' }] } });
      this.#createNodes(name);
    }
    this.process = new Process(this, 'process', {}, { ...noFleetLimits, maxConcurrentRollouts: slots });
    this.process.wake = (key) => this.#awake.add(key);
    this.process.cache.onChange((key) => this.#awake.add(key));
    for (const name of names) this.shown.set(name, []);
  }

  status(name: string): RolloutStatus {
    return this.server.get(rolloutKind, name)['status'] ?? {};
  }

  /** Passes until that many seconds have gone by. */
  async run(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.#othersAct();
      await this.#passAll();
      this.world.freeze(1000);
    }
  }

  put(name: string, obstacle: Obstacle): void {
    switch (obstacle) {
      case 'pin':
        return this.#setting(name, { pinnedMembers: [{ ordinal: 1, reason: 'a report runs on it' }] });
      case 'pause':
        return this.#setting(name, { paused: true });
      case 'budget':
        return this.#allow(name, 0);
      case 'backup': {
        const metadata = { name: `backup-${name}`, labels: jobLabels(name) };
        this.server.create(jobs, { metadata, status: { active: 1, startTime: '2026-07-01T11:59:00Z' } });
        return;
      }
      case 'protection':
        return this.#protect(name, 'true');
      case 'cordon':
        return this.#cordon(name, true);
      case 'check':
        return this.prometheus.says(name, failing(name));
    }
  }

  remove(name: string, obstacle: Obstacle): void {
    switch (obstacle) {
      case 'pin':
        return this.#setting(name, { pinnedMembers: null } as unknown as RolloutSpec);
      case 'pause':
        return this.#setting(name, { paused: false });
      case 'budget':
        return this.#allow(name, 1);
      case 'backup':
        return this.server.remove(jobs, `backup-${name}`);
      case 'protection':
        return this.#protect(name, null);
      case 'cordon':
        return this.#cordon(name, false);
      case 'check':
        return this.prometheus.says(name, { kind: 'passing' });
    }
  }

  isComplete(name: string): boolean {
    const status = this.status(name);
    return status.rollout === undefined && status.history?.at(-1)?.outcome === 'Complete';
  }

  async #passAll(): Promise<void> {
    const now = this.world.monotonic();
    this.process.sync();
    for (const [key, at] of this.#timers) if (at <= now) this.#awake.add(key);
    // What a pass changes wakes others at once.
    for (let rounds = 0; this.#awake.size > 0 && rounds < mostRounds; rounds += 1) {
      const awake = [...this.#awake].toSorted();
      this.#awake.clear();
      for (const key of awake) {
        this.#timers.delete(key);
        const writes = this.server.writes.length;
        const { requeueAfterMilliseconds } = await this.process.pass(key);
        this.passes += 1;
        if (requeueAfterMilliseconds !== undefined) this.#timers.set(key, now + requeueAfterMilliseconds);
        if (this.server.writes.length > writes) this.process.sync();
      }
      this.#note();
      // Prometheus answers.
      await settle();
    }
    const rolling = this.names.filter((name) => this.#members(name).some(({ metadata }) => metadata.deletionTimestamp));
    this.mostRolling = Math.max(this.mostRolling, rolling.length);
  }

  #note(): void {
    for (const name of this.names) {
      const { hold } = this.status(name);
      const all = this.shown.get(name) ?? [];
      const last = all.at(-1);
      if (last !== undefined && last?.rule === hold?.rule && last?.since === hold?.since) continue;
      all.push(hold ? { rule: hold.rule, since: hold.since, at: timestampOf(this.world.wall()) } : null);
    }
  }

  #members(name: string): readonly Raw[] {
    return this.server.all(pods).filter(({ metadata }) => metadata.name.startsWith(`moco-${name}-`));
  }

  /** The StatefulSet controller replaces pods, and MOCO moves primaries. */
  #othersAct(): void {
    const at = timestampOf(this.world.wall());
    for (const name of this.names) {
      for (const { metadata } of this.#members(name)) {
        const ordinal = Number(metadata.name.slice(-1));
        if (metadata.deletionTimestamp !== undefined) {
          this.server.remove(pods, metadata.name);
          const made = renamed(pod(ordinal, { revision: revisionAfter, at }), name) as Raw;
          this.server.create(pods, { ...made, spec: { ...(made['spec'] as Patch), nodeName: nodeOf(name, ordinal) } });
        } else if (metadata.annotations?.['moco.cybozu.com/demote'] === 'true') {
          switchOver(this, ordinal, (ordinal + 1) % 3, name);
        }
      }
    }
  }

  #setting(name: string, spec: RolloutSpec): void {
    this.server.change(rolloutKind, name, { spec });
  }

  /** Somebody else's members count in MOCO's budget. */
  #allow(name: string, disruptionsAllowed: number): void {
    this.server.change(podDisruptionBudgets, `moco-${name}`, {
      status: { disruptionsAllowed, currentHealthy: 2 + disruptionsAllowed },
    });
  }

  #protect(name: string, value: string | null): void {
    for (const { metadata } of this.#members(name)) {
      this.server.change(pods, metadata.name, {
        metadata: { annotations: { 'moco.cybozu.com/prevent-delete': value } },
      });
    }
  }

  /** Each member's volume ties it to its node. */
  #cordon(name: string, unschedulable: boolean): void {
    for (const ordinal of [0, 1, 2]) {
      this.server.change(nodes, nodeOf(name, ordinal), { spec: { unschedulable } }, '');
    }
  }

  #createNodes(name: string): void {
    for (const ordinal of [0, 1, 2]) {
      const node = nodeOf(name, ordinal);
      const labels = { 'kubernetes.io/hostname': node };
      this.server.create(nodes, { metadata: { namespace: '', name: node, labels } });
      const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] };
      const spec = { nodeAffinity: { required: { nodeSelectorTerms: [term] } } };
      this.server.create(persistentVolumes, { metadata: { namespace: '', name: `pvc-${node}` }, spec });
      const claim = `mysql-data-moco-${name}-${ordinal}`;
      this.server.change(persistentVolumeClaims, claim, { spec: { volumeName: `pvc-${node}` } });
      this.server.change(pods, `moco-${name}-${ordinal}`, { spec: { nodeName: node } });
    }
  }
}

const nodeOf = (name: string, ordinal: number): string => `node-${name}-${ordinal}`;
