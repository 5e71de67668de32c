import type { World } from './world.ts';

/** A timer may fire slightly early. If it does, the next timer waits at least this long. */
const shortestWaitMilliseconds = 1;

/**
 * A signal that is aborted with the caller's signal, or at the end of a given time that starts now or with `restart`.
 * The signals are linked by hand, because a signal of `AbortSignal.any` with a listener is kept for as long as the
 * caller's signal exists (Node 24).
 */
export class TimeLimit {
  readonly #world: World;
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #unlink: () => void;
  #endsAtMilliseconds: number;
  #cancel: () => void;
  #passed = false;

  constructor(world: World, milliseconds: number, callers?: AbortSignal) {
    this.#world = world;
    this.#milliseconds = milliseconds;
    this.#endsAtMilliseconds = world.monotonic() + milliseconds;
    this.#cancel = world.timer(milliseconds, () => this.#check());
    const aborted = (): void => this.#controller.abort(callers?.reason);
    callers?.addEventListener('abort', aborted, { once: true });
    if (callers?.aborted) aborted();
    this.#unlink = () => callers?.removeEventListener('abort', aborted);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time limit caused the abort, rather than the caller. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Restarts the limit. This is cheap enough for every line of a watch, because the timer is not replaced. */
  restart(): void {
    this.#endsAtMilliseconds = this.#world.monotonic() + this.#milliseconds;
  }

  /** Removes the limit; the caller's signal still applies. */
  lift(): void {
    this.#cancel();
  }

  end(): void {
    this.#cancel();
    this.#unlink();
  }

  #check(): void {
    const leftMilliseconds = this.#endsAtMilliseconds - this.#world.monotonic();
    if (leftMilliseconds > 0) {
      this.#cancel = this.#world.timer(Math.max(shortestWaitMilliseconds, leftMilliseconds), () => this.#check());
      return;
    }
    this.#passed = true;
    this.#controller.abort();
  }
}
