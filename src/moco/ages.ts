/** The two clocks that ages need; both in milliseconds. */
export interface Clocks {
  /** Never steps back. */
  monotonic(): number;
  /** Since 1970; may step. Only read to place a timestamp of the API. */
  wall(): number;
}

interface Sighting {
  readonly value: string;
  readonly sinceMilliseconds: number;
  readonly resourceVersion: string;
}

/**
 * For how long the facts of one cluster have been as they are. Counted on the monotonic clock from the moment that this
 * process saw a fact come; only for what was there before its first look is a timestamp of the API believed, and one
 * in the future counts as now. So neither a step of a clock nor a wrong one can make something look older than it is
 * for a running process.
 */
export class Ages {
  readonly #clocks: Clocks;
  #sightings = new Map<string, Sighting>();
  #asked = new Map<string, Sighting>();
  #firstLook = true;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Begins a look at the cluster: facts that are not asked about before its end are forgotten. */
  look<T>(facts: () => T): T {
    this.#asked = new Map();
    const result = facts();
    this.#sightings = this.#asked;
    this.#firstLook = false;
    return result;
  }

  /**
   * Seconds for which `fact` of the object has had this value; `wallMilliseconds` is when the API says it came. An object older than one seen before (a cache behind
   * a live read) never changes what is remembered: what it says otherwise has the age 0.
   */
  since(
    object: { readonly uid: string; readonly resourceVersion: string },
    fact: string,
    value: string,
    wallMilliseconds: number | null = null,
  ): number {
    const key = `${object.uid}/${fact}`;
    const known = this.#sightings.get(key);
    const now = this.#clocks.monotonic();
    if (known?.value === value) {
      this.#asked.set(key, known);
      return (now - known.sinceMilliseconds) / 1000;
    }
    if (known && olderThan(object.resourceVersion, known.resourceVersion)) {
      this.#asked.set(key, known);
      return 0;
    }
    const before = this.#firstLook ? this.#elapsedSince(wallMilliseconds) : 0;
    this.#asked.set(key, { value, sinceMilliseconds: now - before, resourceVersion: object.resourceVersion });
    return before / 1000;
  }

  /** Whether the fact has this value or had it at the last change that was worth remembering. */
  remembers(uid: string, fact: string, value: string): boolean {
    const key = `${uid}/${fact}`;
    const known = this.#asked.get(key) ?? this.#sightings.get(key);
    if (known) this.#asked.set(key, known);
    return known?.value === value;
  }

  #elapsedSince(wallMilliseconds: number | null): number {
    return wallMilliseconds === null ? 0 : Math.max(0, this.#clocks.wall() - wallMilliseconds);
  }
}

/** resourceVersions are integers of any length (KEP-5504, Kubernetes 1.35). */
function olderThan(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
