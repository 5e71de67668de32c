import { Chance } from '../simulation/chance.ts';
import type { Mishap, Side } from './mishap.ts';
import { type RequestName, requestNames } from './point.ts';

/** A request of a rollout, counted from its beginning, and what befalls it. */
export interface Point {
  readonly request: RequestName;
  /** 1: the first of its kind. */
  readonly nth: number;
  readonly side: Side;
  readonly mishap: Mishap;
}

/** As a MySQLRollout asks for it. */
export type Strategy = 'OnDelete' | 'Partition';
/** Who lowers partitions if a cluster isn't at OnDelete: MOCO, or this program. */
export type Driver = 'moco' | 'own';

/** The requests to a cluster, and the faults of the cluster itself. */
export type Task =
  | { readonly kind: 'image'; readonly image: string }
  /** A member's mysqld is dead when the template changes. */
  | { readonly kind: 'imageWithDead'; readonly image: string; readonly ordinal: number }
  /** Nobody can run the first image; it is corrected once a member has been given it. */
  | { readonly kind: 'badImage'; readonly bad: string; readonly image: string }
  /** The template changes again after a member was disrupted. */
  | { readonly kind: 'changeOfMind'; readonly first: string; readonly image: string }
  /** Somebody else takes a member while the rollout is paused. */
  | { readonly kind: 'lost'; readonly image: string; readonly ordinal: number; readonly how: Loss }
  /** The strategy changes after a member was disrupted, and stays changed. */
  | { readonly kind: 'flip'; readonly image: string; readonly to: Strategy };

/** How a member is lost: its pod is deleted, evicted as by a drain, or deleted without a grace period. */
export type Loss = 'delete' | 'evict' | 'force';

export interface RolloutPlan {
  readonly task: Task;
  readonly points: readonly Point[];
}

/** One MySQLCluster and its rollouts, one after the other. */
export interface ClusterPlan {
  readonly name: string;
  readonly replicas: 3 | 5;
  /** Until a task changes it. */
  readonly strategy: Strategy;
  readonly rollouts: readonly RolloutPlan[];
}

/** Clusters that meet the same kind of replicas of the controller. */
export interface Act {
  readonly driver: Driver;
  /** `false`: all of them act at once, all the time. */
  readonly elects: boolean;
  /** Whether the gate alternates between off and on, from one process to the next. */
  readonly flipsGate: boolean;
  readonly plans: readonly ClusterPlan[];
}

interface Cast extends Omit<Act, 'plans'> {
  /** Of all clusters. */
  readonly share: number;
  /** Of its clusters: how many are at OnDelete at the beginning. */
  readonly onDelete: number;
}

const casts: readonly Cast[] = [
  { driver: 'moco', elects: true, flipsGate: false, share: 0.34, onDelete: 0.85 },
  { driver: 'moco', elects: false, flipsGate: false, share: 0.2, onDelete: 0.85 },
  { driver: 'moco', elects: true, flipsGate: true, share: 0.14, onDelete: 1 },
  { driver: 'own', elects: true, flipsGate: true, share: 0.14, onDelete: 1 },
  { driver: 'own', elects: false, flipsGate: false, share: 0.18, onDelete: 0.3 },
];

/** More revisions than that within ten minutes cause RevisionFlapping, including the first one. */
const templateChanges = 2;
/** The points that every rollout passes more than once. */
const repeated: ReadonlySet<RequestName> = new Set([
  'confirm',
  'confirmed',
  'intent',
  'evict',
  'setPartition',
  'record',
  'lease',
]);
/** Under OnDelete alone. */
const ofPods: ReadonlySet<RequestName> = new Set(['evict', 'delete', 'demote', 'undemote', 'promote']);
/** What a process does to no answer can't be done to it before there is one. */
const mishaps: readonly ((chance: Chance) => Mishap)[] = [
  () => ({ kind: 'kill' }),
  () => ({ kind: 'kill' }),
  (chance) => ({ kind: 'killAndArrive', afterMilliseconds: chance.whole(200, 5000) }),
  (chance) => ({ kind: 'freeze', forMilliseconds: chance.whole(1000, 9000) }),
  () => ({ kind: 'reset' }),
  () => ({ kind: 'answer', status: 500, retryAfterSeconds: null }),
  () => ({ kind: 'answer', status: 503, retryAfterSeconds: 1 }),
  () => ({ kind: 'answer', status: 429, retryAfterSeconds: 1 }),
  (chance) => ({ kind: 'slow', byMilliseconds: chance.whole(100, 3000) }),
];

/**
 * The plan of a run: the same for the same seed, with so many template changes in all. Every reachable point between
 * two requests occurs, with each kind of mishap in turn.
 */
export function drawActs(seed: string, rollouts: number): readonly Act[] {
  const chance = new Chance(seed);
  const count = Math.ceil(rollouts / templateChanges);
  const turns = new MemberProgress(chance.fork('turns'));
  let number = 0;
  let shares = 0;
  return casts.map(({ share, onDelete, ...act }) => {
    shares += share;
    const upTo = Math.round(count * shares);
    const plans: ClusterPlan[] = [];
    for (; number < upTo; number++) {
      const own = chance.fork(`cluster ${number}`);
      const strategy = own.happens(onDelete) ? 'OnDelete' : 'Partition';
      plans.push(drawCluster(own, `chaos-${number}`, strategy, act, turns));
    }
    return { ...act, plans };
  });
}

function drawCluster(
  chance: Chance,
  name: string,
  strategy: Strategy,
  act: Omit<Act, 'plans'>,
  turns: MemberProgress,
): ClusterPlan {
  const replicas = chance.happens(0.4) ? 5 : 3;
  const tasks = drawTasks(chance, replicas, strategy, act.flipsGate);
  let before = strategy;
  const rollouts = tasks.map((task) => {
    const after = task.kind === 'flip' ? task.to : before;
    const canMeet = (request: RequestName): boolean => {
      const isFlipped = act.flipsGate || before !== after;
      if (request === 'release') return isFlipped;
      if (request === 'setPartition') return act.driver === 'own' && (isFlipped || after === 'Partition');
      return !ofPods.has(request) || isFlipped || after === 'OnDelete';
    };
    const points = Array.from({ length: chance.whole(1, 3) }, (): Point => {
      const { request, side } = turns.next(canMeet);
      const nth = repeated.has(request) ? chance.whole(1, replicas) : 1;
      return { request, nth, side, mishap: chance.pick(mishaps)(chance) };
    });
    before = after;
    return { task, points };
  });
  return { name, replicas, strategy, rollouts };
}

/** Whose turn it is among all requests and both sides of each. */
class MemberProgress {
  readonly #waiting: { readonly request: RequestName; readonly side: Side }[];

  constructor(chance: Chance) {
    const all = requestNames.flatMap((request) => (['before', 'after'] as const).map((side) => ({ request, side })));
    this.#waiting = all
      .map((one) => [chance.next(), one] as const)
      .toSorted(([one], [other]) => one - other)
      .map(([, one]) => one);
  }

  /** The one that has waited for longest. */
  next(canBe: (request: RequestName) => boolean): { readonly request: RequestName; readonly side: Side } {
    const index = this.#waiting.findIndex(({ request }) => canBe(request));
    const [turn] = this.#waiting.splice(index, 1);
    if (index === -1 || turn === undefined) throw new Error('expected a request that every rollout makes, found none');
    this.#waiting.push(turn);
    return turn;
  }
}

const images = { first: 'mysql:8.4.9', second: 'mysql:8.4.10', bad: 'mysql:8.4.9-crash' } as const;

/** Two template changes, in one rollout or in two. */
function drawTasks(chance: Chance, replicas: number, strategy: Strategy, flipsGate: boolean): readonly Task[] {
  if (chance.happens(0.15)) return [{ kind: 'badImage', bad: images.bad, image: images.first }];
  if (chance.happens(0.15)) return [{ kind: 'changeOfMind', first: images.first, image: images.second }];
  const lossOf = chance.fork('lost');
  if (strategy === 'OnDelete' && !flipsGate && lossOf.happens(0.25)) {
    const how = lossOf.pick(['delete', 'delete', 'evict', 'force'] as const);
    const lost = { kind: 'lost', image: images.first, ordinal: lossOf.whole(0, replicas - 1), how } as const;
    return [lost, { kind: 'image', image: images.second }];
  }
  let present = strategy;
  return [images.first, images.second].map((image): Task => {
    if (!flipsGate && chance.happens(0.3)) {
      present = present === 'OnDelete' ? 'Partition' : 'OnDelete';
      return { kind: 'flip', image, to: present };
    }
    // By partitions a member that is down waits for its turn, which another one that is down may keep from coming.
    const canRepair = present === 'OnDelete' && !flipsGate;
    if (!canRepair || !chance.happens(0.25)) return { kind: 'image', image };
    return { kind: 'imageWithDead', image, ordinal: chance.whole(0, replicas - 1) };
  });
}

export function changesOf({ kind }: Task): number {
  return kind === 'badImage' || kind === 'changeOfMind' ? 2 : 1;
}

/** How often the primary may move in a cluster that stays at OnDelete; `null` if partitions are lowered in between. */
export function mostSwitchovers(
  { strategy, rollouts }: ClusterPlan,
  { flipsGate }: Pick<Act, 'flipsGate'>,
): number | null {
  if (flipsGate || strategy === 'Partition' || rollouts.some(({ task }) => task.kind === 'flip')) return null;
  return rollouts.reduce((sum, { task }) => sum + (task.kind === 'image' ? 1 : 2), 0);
}

export function inWords({ request, nth, side, mishap }: Point, words: (mishap: Mishap) => string): string {
  return `${side} ${request} ${nth}: ${words(mishap)}`;
}
