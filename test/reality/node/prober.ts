import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { nothingProbed, type Probe, probed } from './probe.ts';

const defaultPeriodSeconds = 10;
const defaultTimeoutSeconds = 1;
const lowestFailure = 400;

export interface ProberOptions {
  readonly probe: Probe;
  /** Where the container answers. */
  readonly address: string;
  /** By the names that the container gives its ports. */
  readonly portOf: (port: number | string) => number;
  /** Called whenever a threshold is reached and the verdict is another one than before. */
  readonly onVerdict: (passes: boolean) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** One probe of one container, repeated as its spec says. */
export class Prober {
  readonly #options: ProberOptions;
  #wake = new AbortController();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** The next request is made at once. */
  probeNow(): void {
    this.#wake.abort();
  }

  /** Until its signal. */
  async run(): Promise<void> {
    const { probe, onVerdict, signal } = this.#options;
    await this.#pause(probe.initialDelaySeconds ?? 0);
    let count = nothingProbed;
    while (!signal.aborted) {
      const next = probed(count, await this.#succeeds(), probe);
      if (signal.aborted) return;
      if (next.passes !== null && next.passes !== count.passes) onVerdict(next.passes);
      count = next;
      await this.#pause(probe.periodSeconds ?? defaultPeriodSeconds);
    }
  }

  async #pause(seconds: number): Promise<void> {
    this.#wake = new AbortController();
    const either = AbortSignal.any([this.#wake.signal, this.#options.signal]);
    await delay(seconds * 1000, undefined, { signal: either }).catch(() => undefined);
  }

  /** On a connection of its own, as a kubelet makes one for every request. */
  #succeeds(): Promise<boolean> {
    const { probe, address, portOf } = this.#options;
    const { httpGet, timeoutSeconds = defaultTimeoutSeconds } = probe;
    if (httpGet === undefined) {
      throw new Error(`Expected a probe by HTTP, got ${JSON.stringify(probe)}`);
    }
    return new Promise((resolve) => {
      const asked = request(
        {
          host: address,
          port: portOf(httpGet.port),
          path: httpGet.path ?? '/',
          agent: false,
          signal: AbortSignal.timeout(timeoutSeconds * 1000),
        },
        (answer) => {
          answer.resume();
          resolve((answer.statusCode ?? lowestFailure) < lowestFailure);
        },
      );
      asked.once('error', () => resolve(false));
      asked.end();
    });
  }
}
