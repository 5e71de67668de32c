import type { World } from './world.ts';

/** A signal that is aborted when the caller's is, or after so long; `end` leaves neither timer nor listener behind. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #end: () => void;
  #passed = false;

  constructor(world: World, milliseconds: number, callers?: AbortSignal) {
    const aborted = (): void => this.#controller.abort(callers?.reason);
    const cancel = world.timer(milliseconds, () => {
      this.#passed = true;
      this.#controller.abort();
    });
    callers?.addEventListener('abort', aborted, { once: true });
    if (callers?.aborted) aborted();
    this.#end = () => {
      cancel();
      callers?.removeEventListener('abort', aborted);
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was time, and not the caller, that aborted. */
  get passed(): boolean {
    return this.#passed;
  }

  end(): void {
    this.#end();
  }
}
