/**
 * Compares ages with limits and remembers which limit is reached first. Every comparison of a decision goes through
 * here, so that no limit is forgotten when the next decision is scheduled.
 */
export class Deadlines {
  #soonestSeconds = Number.POSITIVE_INFINITY;

  /** True if `ageSeconds` has reached `limitSeconds`. */
  reached(ageSeconds: number, limitSeconds: number): boolean {
    const left = limitSeconds - ageSeconds;
    if (left <= 0) return true;
    if (left < this.#soonestSeconds) this.#soonestSeconds = left;
    return false;
  }

  /** Seconds until the first limit that was compared and not yet reached; `null` when time alone changes nothing. */
  get soonestSeconds(): number | null {
    return this.#soonestSeconds === Number.POSITIVE_INFINITY ? null : this.#soonestSeconds;
  }
}
