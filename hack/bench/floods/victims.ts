import { setTimeout as after } from 'node:timers/promises';
import { plainText, type RunningHttpServer, shared, startHttpServer } from '../../../src/telemetry/http-server.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { ServedWebhook } from '../../../test/admission/served-webhook.ts';
import { Bench, type Process } from '../../../test/controller/bench.ts';
import { Client } from './client.ts';

// The program under a flood, and probes of the work that it has to do meanwhile.

const clusters = 1000;
const loopback = { host: '127.0.0.1', port: 0 };
const pauseMilliseconds = 100;

/**
 * The program's servers, and the reconciler of a cluster that is not flooded, all in this thread. The clients run in
 * other threads.
 */
export class Victims {
  readonly webhook: ServedWebhook;
  readonly #metrics: RunningHttpServer;
  readonly #health: RunningHttpServer;
  readonly #prober: Client;
  readonly #program: Process;

  private constructor(
    webhook: ServedWebhook,
    metrics: RunningHttpServer,
    health: RunningHttpServer,
    prober: Client,
    program: Process,
  ) {
    [this.webhook, this.#metrics, this.#health] = [webhook, metrics, health];
    [this.#prober, this.#program] = [prober, program];
  }

  static async start(): Promise<Victims> {
    const serve = (handlers: Parameters<typeof startHttpServer>[0]['handlers']): Promise<RunningHttpServer> =>
      startHttpServer({
        address: loopback,
        flag: '--metrics-bind-address',
        handlers,
        onError: (path, error) => console.error(`${path} failed`, error),
      });
    const metrics = metricsOfMany();
    const ofMetrics = await serve({ '/metrics': shared(metrics.handler, () => performance.now()) });
    const health = await serve({ '/healthz': () => plainText(200, 'ok') });
    const prober = new Client({ kind: 'probe', port: health.address.port });
    const program = new Bench({ stale: false }).start();
    await program.work();
    return new Victims(await ServedWebhook.start(), ofMetrics, health, prober, program);
  }

  get metricsPort(): number {
    return this.#metrics.address.port;
  }

  /**
   * The longest times, in milliseconds, from when a GET or a pass was due until it had ended, during the given period.
   */
  async longestWaits(milliseconds: number): Promise<{ readonly probe: number; readonly pass: number }> {
    await this.#prober.taken();
    const end = performance.now() + milliseconds;
    let pass = 0;
    while (performance.now() < end) {
      const due = performance.now() + pauseMilliseconds;
      await after(pauseMilliseconds);
      await this.#program.pass();
      pass = Math.max(pass, performance.now() - due);
    }
    return { probe: Math.max(...(await this.#prober.taken())), pass };
  }

  async end(): Promise<void> {
    await this.#prober.end();
    await this.webhook.close();
    await this.#metrics.close();
    await this.#health.close();
  }
}

function metricsOfMany() {
  const metrics = createMetrics('0', [], { servesWebhook: false, drivesPartitions: false });
  for (let index = 0; index < clusters; index += 1) {
    metrics.rollouts.setCluster([`namespace-${index % 50}`, `cluster-${index}`], {
      members: { Updated: 2, Stale: 1, Down: 0 },
      staleMembers: 1,
      hold: { AwaitingSwitchover: 1.7e9 },
      lastProgress: 1.7e9,
      stalled: null,
    });
  }
  return metrics;
}
