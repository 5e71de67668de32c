import type { Exchange, ExchangeRequest, ExchangeResponse, World } from '../../src/base/world.ts';

interface FakeTimer {
  readonly dueMilliseconds: number;
  readonly callback: () => void;
}

/** Lets everything run that doesn't wait for time: promises, and I/O on loopback that has arrived. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Clocks that stand still until told to advance, chance that is always the same, and a network by script. */
export class FakeWorld implements World {
  /** What `random` gives. */
  chance = 0.5;
  /** Wall minus monotonic: changing it is a step of the wall clock. */
  wallOffsetMilliseconds = 1_782_907_200_000;
  readonly requests: ExchangeRequest[] = [];
  readonly exchange: Exchange;
  readonly #timers = new Set<FakeTimer>();
  #nowMilliseconds = 0;

  constructor(answer: Exchange = () => Promise.reject(new Error('expected no request'))) {
    this.exchange = async (request) => {
      request.assertMaySend?.();
      this.requests.push(request);
      return answer(request);
    };
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  monotonic(): number {
    return this.#nowMilliseconds;
  }

  wall(): number {
    return this.#nowMilliseconds + this.wallOffsetMilliseconds;
  }

  timer(delayMilliseconds: number, callback: () => void): () => void {
    const timer = { dueMilliseconds: this.#nowMilliseconds + delayMilliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return this.chance;
  }

  /** Time passes without anybody running: the process was stopped. Timers that are due fire with the next `advance`. */
  freeze(milliseconds: number): void {
    this.#nowMilliseconds += milliseconds;
  }

  /** Time passes; timers fire in the order of their times, those of the same time in the order of their making. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#nowMilliseconds + milliseconds;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#nowMilliseconds = Math.max(this.#nowMilliseconds, next.dueMilliseconds);
      next.callback();
      await settle();
    }
    this.#nowMilliseconds = Math.max(this.#nowMilliseconds, end);
    await settle();
  }

  /** Advances in small steps until the condition holds. For what also waits for real I/O. */
  async until(condition: () => boolean, what: string, stepMilliseconds = 20): Promise<void> {
    const mostSteps = 3_000;
    for (let step = 0; !condition(); step += 1) {
      if (step === mostSteps)
        throw new Error(`expected ${what} within ${mostSteps * stepMilliseconds} ms, it never came`);
      await this.advance(stepMilliseconds);
    }
  }

  #next(end: number): FakeTimer | undefined {
    return [...this.#timers]
      .filter(({ dueMilliseconds }) => dueMilliseconds <= end)
      .reduce<FakeTimer | undefined>(
        (earliest, timer) => (earliest && earliest.dueMilliseconds <= timer.dueMilliseconds ? earliest : timer),
        undefined,
      );
  }
}

/** An answer with a body, sent at once. */
export function answer(
  status: number,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): ExchangeResponse {
  return { status, headers, body: chunks(typeof body === 'string' ? body : JSON.stringify(body)) };
}

/** Answers in turn; the last answer again and again. */
export function inTurn(...answers: readonly Exchange[]): Exchange {
  let calls = 0;
  return (request) => {
    const next = answers[Math.min(calls, answers.length - 1)] as Exchange;
    calls += 1;
    return next(request);
  };
}

export const says =
  (...given: Parameters<typeof answer>): Exchange =>
  () =>
    Promise.resolve(answer(...given));

/** A Status as the API server answers with. */
export function status(code: number, reason: string, more: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} it is`, ...more };
}

/** Never answers; rejects as soon as it is aborted, as a real exchange does. */
export function silence({ signal }: ExchangeRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true });
  });
}

/** The network's error when no process listens. */
export function refused(): Promise<never> {
  return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
}

/** What the network says when the other side goes away in the middle. */
export function reset(): Promise<never> {
  return Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
