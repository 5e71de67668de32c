import { isAtLeast } from '../kube/raw-object.ts';

// Measures how long facts have been true. The core gets ages instead of times, so all handling of clocks and clock
// changes is here.

export interface Clocks {
  /** Milliseconds on a clock that never steps back. */
  monotonic(): number;
  /** Milliseconds since 1970; may jump. Only used to compare timestamps of the API with the present. */
  wall(): number;
}

interface Sighting {
  readonly value: string;
  readonly sinceMilliseconds: number;
  readonly resourceVersion: string;
}

/** The API truncates its timestamps to seconds: the change may have happened up to a second later. */
const cutMilliseconds = 1000;

/**
 * The observations of one object, by fact. This is an object and not a map, because V8 then stores the names of the
 * facts only once for all members of a fleet.
 */
type Facts = Record<string, Sighting>;

/**
 * How long each fact about a cluster has had its current value. Time is counted on the monotonic clock since this
 * process first observed the value. A timestamp of the API counts only for values that existed before the first
 * observation, and a timestamp in the future counts as now. So a clock that jumps or is wrong cannot make a fact seem
 * older to a running process.
 */
export class Ages {
  readonly #clocks: Clocks;
  /** The remembered observations, by the uid of the object. */
  #sightings = new Map<string, Facts>();
  #asked = new Map<string, Facts>();
  #firstObservation = true;
  /** The time of both clocks at the start of the observation. */
  #nowMilliseconds = 0;
  #wallMilliseconds = 0;

  /** Copies `before`, the state after the last observation, and leaves it unchanged. */
  constructor(clocks: Clocks, before?: Ages) {
    this.#clocks = clocks;
    if (before === undefined) return;
    this.#sightings = before.#sightings;
    this.#firstObservation = before.#firstObservation;
  }

  /** Observes the cluster. Facts that `facts` does not ask for are forgotten. */
  observe<T>(facts: () => T): T {
    this.#asked = new Map();
    this.#nowMilliseconds = this.#clocks.monotonic();
    this.#wallMilliseconds = this.#clocks.wall();
    const result = facts();
    this.#sightings = this.#asked;
    this.#firstObservation = false;
    return result;
  }

  /**
   * The seconds for which `fact` of the object has had this value. `wallMilliseconds` is the API's timestamp of the
   * change. A cache may return an object that is older than one that a live read has already returned. Such an object
   * does not change what is remembered; if it has a different value, the age is 0.
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
    if (known && !isAtLeast(object.resourceVersion, known.resourceVersion)) {
      this.#keep(object.uid, fact, known);
      return 0;
    }
    const before = this.#firstObservation ? this.#elapsedSince(wallMilliseconds) : 0;
    this.#see(object, fact, value, this.#nowMilliseconds - before);
    return before / 1000;
  }

  /** Whether this is the remembered value of the fact. */
  remembers(uid: string, fact: string, value: string): boolean {
    const known = this.#asked.get(uid)?.[fact] ?? this.#sightings.get(uid)?.[fact];
    if (known) this.#keep(uid, fact, known);
    return known?.value === value;
  }

  /** The remembered value of the fact, or `null`. */
  valueOf(uid: string, fact: string): string | null {
    return (this.#asked.get(uid)?.[fact] ?? this.#sightings.get(uid)?.[fact])?.value ?? null;
  }

  /** Adds an observation. Facts of one object that change to the same value at the same time share one record. */
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
