import { Chance } from '../../test/simulation/chance.ts';
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

/** What is asked of a cluster, and what goes wrong with the cluster itself. */
export type Task =
  | { readonly kind: 'image'; readonly image: string }
  /** A member's mysqld is dead when the template changes. */
  | { readonly kind: 'imageWithDead'; readonly image: string; readonly ordinal: number }
  /** Nobody can run the first image; it is corrected once a member has been given it. */
  | { readonly kind: 'badImage'; readonly bad: string; readonly image: string }
  /** The template changes again when a member has been taken. */
  | { readonly kind: 'changeOfMind'; readonly first: string; readonly image: string };

export interface RolloutPlan {
  readonly task: Task;
  readonly points: readonly Point[];
}

/** One MySQLCluster and its rollouts, one after the other. */
export interface ClusterPlan {
  readonly name: string;
  readonly replicas: 3 | 5;
  readonly rollouts: readonly RolloutPlan[];
}

/** What befalls a whole process, whatever it is doing. */
export type Disturbance =
  | { readonly kind: 'kill' }
  | { readonly kind: 'freeze'; readonly forMilliseconds: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'sever'; readonly forMilliseconds: number }
  | {
      readonly kind: 'watchLag';
      readonly plural: string;
      readonly byMilliseconds: number;
      readonly forMilliseconds: number;
    }
  | { readonly kind: 'errors'; readonly share: number; readonly forMilliseconds: number }
  | { readonly kind: 'slow'; readonly byMilliseconds: number; readonly forMilliseconds: number };

/** More revisions than that within ten minutes are held as RevisionFlapping, the one that it starts with included. */
const templateChanges = 2;
const plurals = ['pods', 'statefulsets', 'mysqlclusters', 'mysqlrollouts', 'poddisruptionbudgets'] as const;
/** Those that every rollout comes by more than once. */
const repeated: ReadonlySet<RequestName> = new Set(['confirm', 'confirmed', 'intent', 'evict', 'record', 'lease']);
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
 * The clusters of a run: the same for the same seed, so many template changes in all. Every point between two requests
 * comes up, and each kind of mishap at it, in turn.
 */
export function drawClusters(seed: string, rollouts: number): readonly ClusterPlan[] {
  const chance = new Chance(seed);
  const count = Math.ceil(rollouts / templateChanges);
  const turns = shuffled(
    requestNames.flatMap((request) => (['before', 'after'] as const).map((side) => ({ request, side }))),
    chance.fork('turns'),
  );
  let turn = 0;
  return Array.from({ length: count }, (_, index) => {
    const own = chance.fork(`cluster ${index}`);
    const replicas = own.happens(0.4) ? 5 : 3;
    const point = (): Point => {
      const { request, side } = turns[turn++ % turns.length] ?? { request: 'evict', side: 'after' };
      const nth = repeated.has(request) ? own.whole(1, replicas) : 1;
      return { request, nth, side, mishap: own.pick(mishaps)(own) };
    };
    const plan = (task: Task): RolloutPlan => ({
      task,
      points: Array.from({ length: own.whole(1, 3) }, point),
    });
    return { name: `chaos-${index}`, replicas, rollouts: drawTasks(own, replicas).map(plan) };
  });
}

/** Two template changes, in one rollout or in two. */
function drawTasks(chance: Chance, replicas: number): readonly Task[] {
  const one = (image: string): Task =>
    chance.happens(0.25)
      ? { kind: 'imageWithDead', image, ordinal: chance.whole(0, replicas - 1) }
      : { kind: 'image', image };
  if (chance.happens(0.15)) return [{ kind: 'badImage', bad: badImage, image: 'mysql:8.4.9' }];
  if (chance.happens(0.15)) return [{ kind: 'changeOfMind', first: 'mysql:8.4.9', image: 'mysql:8.4.10' }];
  return [one('mysql:8.4.9'), one('mysql:8.4.10')];
}

const badImage = 'mysql:8.4.9-crash';

export function changesOf({ kind }: Task): number {
  return kind === 'badImage' || kind === 'changeOfMind' ? 2 : 1;
}

/** What befalls processes in between, without end. */
export function* drawDisturbances(seed: string): Generator<Disturbance, never> {
  const chance = new Chance(`${seed}/disturbances`);
  const span = (from: number, to: number): number => chance.whole(from, to);
  const draws: readonly (() => Disturbance)[] = [
    () => ({ kind: 'kill' }),
    () => ({ kind: 'freeze', forMilliseconds: span(500, 8000) }),
    () => ({ kind: 'cut' }),
    () => ({ kind: 'sever', forMilliseconds: span(300, 3000) }),
    () => ({
      kind: 'watchLag',
      plural: chance.pick(plurals),
      byMilliseconds: span(100, 2500),
      forMilliseconds: span(2000, 8000),
    }),
    () => ({ kind: 'errors', share: chance.between(0.1, 0.5), forMilliseconds: span(500, 3000) }),
    () => ({ kind: 'slow', byMilliseconds: span(20, 250), forMilliseconds: span(1000, 5000) }),
  ];
  for (;;) yield chance.pick(draws)();
}

function shuffled<T>(list: readonly T[], chance: Chance): readonly T[] {
  return list
    .map((one) => [chance.next(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one);
}

export function inWords({ request, nth, side, mishap }: Point, words: (mishap: Mishap) => string): string {
  return `${side} ${request} ${nth}: ${words(mishap)}`;
}
