/**
 * Compares ages with limits and remembers which limit is reached first. A decision makes every such comparison here, so
 * that no limit is forgotten when the next decision is scheduled.
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

  /** Seconds until the first limit that was compared but not yet reached; `null` if no such limit exists. */
  get soonestSeconds(): number | null {
    return this.#soonestSeconds === Number.POSITIVE_INFINITY ? null : this.#soonestSeconds;
  }
}
