import type { Registry } from 'prom-client';
import { Declared, type Series } from './declared.ts';

/** Observes one part of the cache. */
export interface CacheObserver {
  /** A list or a watch failed, and is tried again. */
  failed(): void;
  /** Something that the API server sent was skipped. */
  ignored(reason: string): void;
}

/** Seconds since the last answer of the API server; `null` before the first list. */
export type CacheAge = () => number | null;

/** How well the cache follows the API server, by kind of object. */
export class CacheMetrics extends Declared {
  readonly #failures = this.counter(
    'moco_rollout_cache_failures_total',
    'Lists and watches that failed and were tried again, by kind of object.',
    'kind',
  );
  readonly #ignored = this.counter(
    'moco_rollout_decode_failures_total',
    'Objects, lists and watch events that could not be read and were left out, by kind of object and by reason.',
    'kind',
    'reason',
  );
  readonly #ages = new Map<string, CacheAge[]>();

  constructor(registry: Registry) {
    super(registry);
    this.computed(
      'moco_rollout_cache_age_seconds',
      'Time since the API server last said anything about the kind, bookmarks included; no series before its first list.',
      ['kind'],
      () =>
        [...this.#ages].flatMap(([kind, asked]): readonly Series[] => {
          const known = asked.map((age) => age()).filter((age) => age !== null);
          return known.length === 0 ? [] : [[{ kind }, Math.max(...known)]];
        }),
    );
  }

  /** For one reflector; a kind may have several. `age` is called whenever the metrics are read. */
  observe(kind: string, age: CacheAge): CacheObserver {
    this.#ages.set(kind, [...(this.#ages.get(kind) ?? []), age]);
    this.#failures.inc({ kind }, 0);
    return {
      failed: () => this.#failures.inc({ kind }),
      ignored: (reason) => this.#ignored.inc({ kind, reason }),
    };
  }
}
