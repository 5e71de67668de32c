import { isAskedFor } from '../core/asked-for.ts';
import type { HoldRule } from '../core/decision.ts';
import { type FleetCluster, type FleetPlace, fleetQueue } from '../core/fleet.ts';
import type { RolloutPolicy } from '../core/policy.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { isAtLeast } from '../kube/resource-version.ts';
import type { World } from '../kube/world.ts';
import { milliseconds } from '../moco/timestamp.ts';
import { type Cache, keyOf } from './cache.ts';
import { type Intent, isOwnOf, type MySQLRollout, type RolloutStatus } from './rollout-resource.ts';

/** What all clusters together may do; 0 stands for no limit. */
export interface FleetLimits {
  readonly maxConcurrentRollouts: number;
  /** A rollout that has begun and whose condition `Stalled` is True leaves its slot to another. */
  readonly releaseStalledSlots: boolean;
  readonly disruptionIntervalSeconds: number;
  readonly partitionUpdateIntervalSeconds: number;
}

export const noFleetLimits: FleetLimits = {
  maxConcurrentRollouts: 0,
  releaseStalledSlots: false,
  disruptionIntervalSeconds: 0,
  partitionUpdateIntervalSeconds: 0,
};

/** A cluster as its MySQLRollout tells of it. */
interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly rolling: boolean;
  /** It is rolling, and needs a person to go on. */
  readonly stalled: boolean;
  /** When its rollout came, on the wall clock, that has not begun; else `null`. */
  readonly waitingSince: number | null;
  /** It waits for a slot and, as far as is known, for nothing else. */
  readonly wantsSlot: boolean;
  /** A step that is written down and has not ended. */
  readonly open: Happening | null;
}

interface Happening {
  readonly step: Pick<Intent, 'step' | 'rule'>;
  /** On the wall clock. */
  readonly at: number;
}

/** Steps for which a cluster needs a slot. Members that are down need none, and neither does what gives back. */
export function needsSlot({ step, rule }: Pick<Intent, 'step' | 'rule'>): boolean {
  return step === 'setPartition' || step === 'demote' || isDisruption({ step, rule });
}

function isDisruption({ step, rule }: Pick<Intent, 'step' | 'rule'>): boolean {
  return (step === 'delete' || step === 'evict') && rule !== 'MemberDown';
}

/** What an interval is counted from: members that were taken, those included that a lower partition gave away. */
const disrupts = (one: Pick<Intent, 'step' | 'rule'>): boolean =>
  isDisruption(one) || (lowers(one) && one.rule !== 'AlreadyUpdated');
const lowers = ({ step }: Pick<Intent, 'step' | 'rule'>): boolean => step === 'setPartition';

/** Waits that end when a slot is free or the interval is over, and by nothing else. */
const waitsForTheFleet: ReadonlySet<string> = new Set<HoldRule>(['AwaitingFleetSlot', 'AwaitingFleetInterval']);

/**
 * The limits over all clusters, counted from the MySQLRollouts in the API server, so that another leader counts the
 * same. A slot that was promised to a step which is about to be written down counts at once: two passes at the same
 * time never take the last one both.
 */
export class Fleet {
  readonly #limits: FleetLimits;
  readonly #world: Pick<World, 'wall'>;
  readonly #wake: (key: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #promised = new Map<string, Happening>();
  /** On the wall clock, of those that were done. */
  #lastDisruption = Number.NEGATIVE_INFINITY;
  #lastPartitionUpdate = Number.NEGATIVE_INFINITY;

  /** `wake` is called with the key of each cluster that may have got a slot. */
  constructor(limits: FleetLimits, world: Pick<World, 'wall'>, wake: (key: string) => void) {
    this.#limits = limits;
    this.#world = world;
    this.#wake = wake;
  }

  /** A cluster's MySQLRollout as a watch or an own write has brought it, or `null` when there is none any more. */
  note(key: string, rollout: MySQLRollout | null): void {
    const before = this.#known.get(key);
    if (rollout === null) {
      this.#known.delete(key);
    } else {
      const { uid, resourceVersion } = rollout.metadata;
      if (before?.uid === uid && isAtLeast(before.resourceVersion, resourceVersion)) return;
      this.#known.set(key, known(rollout));
      const { lastStep } = rollout.status ?? {};
      if (lastStep?.result === 'done') this.count(lastStep);
    }
    const now = this.#known.get(key);
    if (!this.#occupies(now) && (this.#occupies(before) || (before?.wantsSlot === true && now?.wantsSlot !== true))) {
      // It has ended, or it has left its place in the queue to those behind it.
      this.#freed();
    }
    if (this.#holdsStalled(before) !== this.#holdsStalled(now)) this.#wakeWaiting();
  }

  /** Intervals are counted from this step: it was done, or may have been and nobody will ever tell. */
  count(one: Pick<Intent, 'step' | 'rule' | 'at'>): void {
    const at = milliseconds(one.at) ?? Number.NEGATIVE_INFINITY;
    if (disrupts(one)) this.#lastDisruption = Math.max(this.#lastDisruption, at);
    if (lowers(one)) this.#lastPartitionUpdate = Math.max(this.#lastPartitionUpdate, at);
  }

  /** Whether a cluster that ends its rollout makes way for another. */
  get hasSlots(): boolean {
    return this.#limits.maxConcurrentRollouts > 0;
  }

  /** How many clusters have begun a rollout and not ended it, those aside that rest as somebody wants them to. */
  get rolling(): number {
    return [...this.#known.values()].filter(({ rolling }) => rolling).length;
  }

  /** What `decide` has to know of the other clusters. */
  factsFor(key: string, mode: RolloutPolicy['mode']): Pick<ClusterSnapshot, 'fleetQueue' | 'fleetInterval'> {
    return { fleetQueue: this.#place(key), fleetInterval: this.#interval(key, mode) };
  }

  /** Promises the slot for a step that `decide` has just allowed. Returns what ends the promise. */
  promise(key: string, step: Pick<Intent, 'step' | 'rule'>): () => void {
    if (!needsSlot(step)) return () => undefined;
    this.#promised.set(key, { step, at: this.#world.wall() });
    return () => {
      this.#promised.delete(key);
      if (!this.#occupies(this.#known.get(key))) this.#freed();
    };
  }

  #place(key: string): FleetPlace | null {
    const limit = this.#limits.maxConcurrentRollouts;
    if (limit <= 0 || this.#known.get(key)?.rolling === true) return null;
    return fleetQueue(this.#clusters(key), limit).get(key) ?? null;
  }

  /** All clusters as the queue sees them. The one that asks wants a slot, and its own promise does not stand in its way. */
  #clusters(asking: string | null): readonly FleetCluster[] {
    const now = this.#world.wall();
    const clusters: FleetCluster[] = [];
    for (const [key, one] of this.#known) {
      const { stalled, waitingSince, wantsSlot } = one;
      const since = key === asking ? (waitingSince ?? now) : wantsSlot ? waitingSince : null;
      clusters.push({
        key,
        rolling: this.#occupies(one) || (key !== asking && this.#promised.has(key)),
        stalled,
        waitingForSeconds: since === null ? null : (now - since) / 1000,
      });
    }
    if (asking !== null && !this.#known.has(asking)) {
      clusters.push({ key: asking, rolling: false, stalled: false, waitingForSeconds: 0 });
    }
    return clusters;
  }

  /** The interval that leaves the most to wait for. */
  #interval(key: string, mode: RolloutPolicy['mode']): ClusterSnapshot['fleetInterval'] {
    const { disruptionIntervalSeconds, partitionUpdateIntervalSeconds } = this.#limits;
    if (disruptionIntervalSeconds === 0 && partitionUpdateIntervalSeconds === 0) return null;
    const open = this.#openElsewhere(key);
    const since = (done: number, which: (step: Happening['step']) => boolean): number => {
      const last = open.reduce((newest, { step, at }) => (which(step) ? Math.max(newest, at) : newest), done);
      return Math.max(0, (this.#world.wall() - last) / 1000);
    };
    const disruption = {
      flag: '--disruption-interval',
      seconds: disruptionIntervalSeconds,
      sinceSeconds: since(this.#lastDisruption, disrupts),
    };
    const partition = {
      flag: '--partition-update-interval',
      seconds: mode === 'Partition' ? partitionUpdateIntervalSeconds : 0,
      sinceSeconds: since(this.#lastPartitionUpdate, lowers),
    };
    const left = (one: typeof disruption): number => one.seconds - one.sinceSeconds;
    const longer = left(partition) > left(disruption) ? partition : disruption;
    return longer.seconds > 0 && left(longer) > 0 ? longer : null;
  }

  /** Steps of other clusters that are about to be done, or were and haven't been told of. */
  #openElsewhere(key: string): readonly Happening[] {
    const open: Happening[] = [];
    for (const [other, happening] of this.#promised) if (other !== key) open.push(happening);
    for (const [other, { open: happening }] of this.#known) if (other !== key && happening) open.push(happening);
    return open;
  }

  /** Whether others have to wait for its slot. One that goes on after it was released does not wait itself. */
  #occupies(one: Known | undefined): boolean {
    return one?.rolling === true && !(one.stalled && this.#limits.releaseStalledSlots);
  }

  #holdsStalled(one: Known | undefined): boolean {
    return this.#occupies(one) && one?.stalled === true;
  }

  /** Their sentence says how many slots are held by stalled rollouts. */
  #wakeWaiting(): void {
    if (!this.hasSlots) return;
    for (const [key, { wantsSlot }] of this.#known) if (wantsSlot) this.#wake(key);
  }

  /** Those that want a slot and need not wait for it any more. */
  #freed(): void {
    const { maxConcurrentRollouts: limit } = this.#limits;
    if (limit <= 0) return;
    const clusters = this.#clusters(null);
    const queue = fleetQueue(clusters, limit);
    for (const { key, rolling, waitingForSeconds } of clusters) {
      if (!rolling && waitingForSeconds !== null && !queue.has(key)) this.#wake(key);
    }
  }
}

/**
 * Tells the fleet of every MySQLRollout of a MySQLCluster that exists and stays. Any other has nothing under way, and
 * nobody would ever end its rollout.
 */
export function followRollouts(
  { clusters, rollouts }: Pick<Cache, 'clusters' | 'rollouts'>,
  fleet: Pick<Fleet, 'note'>,
): void {
  const note = (changed: { readonly namespace: string; readonly name: string } | null): void => {
    if (changed === null) return;
    const { namespace, name } = changed;
    const cluster = clusters.get(namespace, name);
    const record = rollouts.get(namespace, name);
    const rollout = record?.partial ? undefined : record?.object;
    const counts = cluster && !cluster.deleting && rollout && isOwnOf(cluster, rollout);
    fleet.note(keyOf(namespace, name), counts ? rollout : null);
  };
  rollouts.subscribe(({ before, after }) => note(after ?? before));
  clusters.subscribe(({ before, after }) => note(after ?? before));
}

function known({ metadata: { uid, resourceVersion }, status = {} }: MySQLRollout): Known {
  const { intent } = status;
  const at = milliseconds(intent?.at ?? null);
  const open = intent && at !== null ? { step: intent, at } : null;
  return { uid, resourceVersion, open, ...standing(status) };
}

/** Whether a cluster of this status has a slot of its own. */
export const holdsSlot = (status: RolloutStatus): boolean => standing(status).rolling;

/**
 * Rules under which a rollout has left its slot, whoever is missing: the pods are gone on purpose, or somebody else
 * replaces them. Nothing of this program is under way there, and nobody could say when the slot would come back.
 */
const leavesItsSlot: ReadonlySet<HoldRule> = new Set(['Offline', 'HandedBack', 'ForcedRollingUpdate']);

/**
 * A rollout keeps its slot from the first member that it takes until its end, except while it rests because somebody
 * wants it to, with every member in its place. One that could not go even with a slot does not keep it from others.
 */
function standing({
  rollout,
  hold,
  members,
  conditions,
}: RolloutStatus): Pick<Known, 'rolling' | 'stalled' | 'waitingSince' | 'wantsSlot'> {
  if (!rollout) return { rolling: false, stalled: false, waitingSince: null, wantsSlot: false };
  const rule = hold?.rule as HoldRule | undefined;
  if (rollout.begunAt !== undefined) {
    const rolling = !rests(rule, members);
    const stalled = rolling && conditions?.some(({ type, status }) => type === 'Stalled' && status === 'True') === true;
    return { rolling, stalled, waitingSince: null, wantsSlot: false };
  }
  const wantsSlot = rule === undefined || waitsForTheFleet.has(rule);
  return { rolling: false, stalled: false, waitingSince: milliseconds(rollout.startedAt), wantsSlot };
}

function rests(rule: HoldRule | undefined, members: RolloutStatus['members']): boolean {
  if (rule === undefined || !isAskedFor(rule) || waitsForTheFleet.has(rule)) return false;
  return leavesItsSlot.has(rule) || Object.values(members ?? {}).every(({ state }) => state === 'participating');
}
