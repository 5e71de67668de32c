import type { Chance } from '../simulation/chance.ts';
import type { Mishap, Side } from './mishap.ts';
import { mishapInWords } from './mishap.ts';
import { inWords, type Point } from './plan.ts';
import type { NamedRequest, RequestName } from './point.ts';
import type { Fate } from './proxy.ts';

/** The points of one rollout, and how often each of their requests has been seen. */
interface Ambush {
  readonly open: Set<Point>;
  readonly seen: Map<string, number>;
}

export interface Trouble {
  /** Of requests: how many are answered with an error. */
  errorShare: number;
  slowMilliseconds: number;
  readonly lagMilliseconds: Map<string, number>;
}

/** Which mishap meets which request of which cluster, for all processes together. */
export class Fates {
  readonly #chance: Chance;
  readonly #ambushes = new Map<string, Ambush>();
  readonly #onMet: (namespace: string, actor: string, words: string) => void;
  #met = 0;

  constructor(chance: Chance, onMet: (namespace: string, actor: string, words: string) => void) {
    this.#chance = chance;
    this.#onMet = onMet;
  }

  /** How many points have been reached. */
  get met(): number {
    return this.#met;
  }

  /** From now on, until another call for the same cluster. */
  await(namespace: string, points: readonly Point[]): void {
    this.#ambushes.set(namespace, { open: new Set(points), seen: new Map() });
  }

  of(actor: string, trouble: Trouble): Fate {
    return {
      of: (request, side) => this.#meet(actor, request, side),
      ofAny: () => this.#anyOf(trouble),
      lagOf: (plural) => trouble.lagMilliseconds.get(plural) ?? 0,
    };
  }

  #meet(actor: string, { name, namespace }: NamedRequest, side: Side): Mishap | null {
    // A lease belongs to no cluster: whichever waits for one has it.
    const candidates = name === 'lease' ? [...this.#ambushes.keys()] : [namespace];
    for (const candidate of candidates) {
      const ambush = this.#ambushes.get(candidate);
      const point = ambush === undefined ? undefined : reached(ambush, name, side);
      if (point === undefined) continue;
      ambush?.open.delete(point);
      this.#met += 1;
      this.#onMet(candidate, actor, inWords(point, mishapInWords));
      return point.mishap;
    }
    return null;
  }

  #anyOf({ errorShare, slowMilliseconds }: Trouble): Mishap | null {
    if (errorShare > 0 && this.#chance.happens(errorShare)) {
      return this.#chance.pick<Mishap>([
        { kind: 'answer', status: 500, retryAfterSeconds: null },
        { kind: 'answer', status: 429, retryAfterSeconds: 1 },
        { kind: 'answer', status: 503, retryAfterSeconds: null },
        { kind: 'reset' },
      ]);
    }
    return slowMilliseconds > 0 ? { kind: 'slow', byMilliseconds: slowMilliseconds } : null;
  }
}

function reached({ open, seen }: Ambush, name: RequestName, side: Side): Point | undefined {
  const key = `${side} ${name}`;
  const count = (seen.get(key) ?? 0) + 1;
  seen.set(key, count);
  return [...open].find((point) => point.request === name && point.side === side && point.nth <= count);
}
