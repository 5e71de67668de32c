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

/** The API cuts its timestamps to the second: what they tell may have come as much later. */
const cutMilliseconds = 1000;

/**
 * Of one object, by fact. Objects, not maps: members of a fleet have the same facts, whose names V8 then keeps once for
 * all of them.
 */
type Facts = Record<string, Sighting>;

/**
 * For how long the facts of one cluster have been as they are. Counted on the monotonic clock from the moment that this
 * process saw a fact come; only for what was there before its first look is a timestamp of the API believed, and one
 * in the future counts as now. So neither a step of a clock nor a wrong one can make something look older than it is
 * for a running process.
 */
export class Ages {
  readonly #clocks: Clocks;
  /** By uid. */
  #sightings = new Map<string, Facts>();
  #asked = new Map<string, Facts>();
  #firstLook = true;
  /** Both clocks as they were when the look began. */
  #nowMilliseconds = 0;
  #wallMilliseconds = 0;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Begins a look at the cluster: facts that are not asked about before its end are forgotten. */
  look<T>(facts: () => T): T {
    this.#asked = new Map();
    this.#nowMilliseconds = this.#clocks.monotonic();
    this.#wallMilliseconds = this.#clocks.wall();
    const result = facts();
    this.#sightings = this.#asked;
    this.#firstLook = false;
    return result;
  }

  /**
   * Seconds for which `fact` of the object has had this value; `wallMilliseconds` is when the API says it came. An
   * object older than one seen before (a cache behind a live read) never changes what is remembered: what it says
   * otherwise has the age 0.
   */
  since(
    object: { readonly uid: string; readonly resourceVersion: string },
    fact: string,
    value: string,
    wallMilliseconds: number | null = null,
  ): number {
    const known = this.#sightings.get(object.uid)?.[fact];
    if (known?.value === value) {
      this.#keep(object.uid, fact, known);
      return (this.#nowMilliseconds - known.sinceMilliseconds) / 1000;
    }
    if (known && olderThan(object.resourceVersion, known.resourceVersion)) {
      this.#keep(object.uid, fact, known);
      return 0;
    }
    const before = this.#firstLook ? this.#elapsedSince(wallMilliseconds) : 0;
    this.#see(object, fact, value, this.#nowMilliseconds - before);
    return before / 1000;
  }

  /** Whether the fact has this value or had it at the last change that was worth remembering. */
  remembers(uid: string, fact: string, value: string): boolean {
    const known = this.#asked.get(uid)?.[fact] ?? this.#sightings.get(uid)?.[fact];
    if (known) this.#keep(uid, fact, known);
    return known?.value === value;
  }

  /** Much of an object comes at the same moment with the same value: all of that shares one sighting. */
  #see(
    { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
    fact: string,
    value: string,
    sinceMilliseconds: number,
  ): void {
    const same = Object.values(this.#asked.get(uid) ?? {}).find(
      (one) =>
        one.value === value && one.sinceMilliseconds === sinceMilliseconds && one.resourceVersion === resourceVersion,
    );
    this.#keep(uid, fact, same ?? { value, sinceMilliseconds, resourceVersion });
  }

  #keep(uid: string, fact: string, sighting: Sighting): void {
    const facts = this.#asked.get(uid) ?? {};
    facts[fact] = sighting;
    this.#asked.set(uid, facts);
  }

  #elapsedSince(wallMilliseconds: number | null): number {
    return wallMilliseconds === null ? 0 : Math.max(0, this.#wallMilliseconds - wallMilliseconds - cutMilliseconds);
  }
}

/** resourceVersions are integers of any length (KEP-5504, Kubernetes 1.35). */
function olderThan(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
