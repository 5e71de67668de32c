import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CertificateAuthority } from '../../../test/support/control-plane/certificates.ts';
import { freePort } from '../../../test/support/control-plane/free-port.ts';
import { Guard } from '../../../test/support/control-plane/guard.ts';
import { writeKubeconfig } from '../../../test/support/control-plane/kubeconfig.ts';
import { percentile } from '../record/spread.ts';
import type { ConnectionCounts } from './fleet-server.ts';
import type { EventLoopDelay } from './measured-process.ts';
import type { Order, Report } from './server/main.ts';
import type { RuntimeBenchOptions } from './settings.ts';
import { bundle, runtimeAlone, type Variant } from './variants.ts';
import { type Listing, listed } from './watching.ts';

const concurrency = '8';

/** A program that processes events at a given rate. */
export interface UnderEvents {
  readonly listing: Listing;
  readonly events: number;
  readonly cpuSecondsPerThousand: number;
  readonly eventLoop: EventLoopDelay;
  readonly residentBytes: number;
}

export interface EventRate {
  /** The whole program, passes included. */
  readonly program: UnderEvents & { readonly connections: ConnectionCounts };
  /** From the connection to the start of what would be a pass. */
  readonly runtime: UnderEvents & { readonly latencyMilliseconds: { readonly p50: number; readonly p99: number } };
}

/** Against a server that answers at once, in a process of its own. */
export async function measureEventRate(options: RuntimeBenchOptions): Promise<EventRate> {
  const guard = new Guard();
  try {
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-bench-'));
    guard.remove(directory);
    const server = await Server.start(directory, options, guard);
    const metricsPort = await freePort();
    const flags = [
      `--kubeconfig=${server.kubeconfig}`,
      '--feature-gates=UpdateStrategyOnDelete=true',
      '--webhook-bind-address=0',
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
      `--health-probe-bind-address=127.0.0.1:${await freePort()}`,
    ];
    const program = await underEvents(bundle, flags, server, options, guard);
    const connections = (await server.order({ what: 'connections' })).connections as ConnectionCounts;
    const runtime = await underEvents(runtimeAlone, [server.kubeconfig, concurrency], server, options, guard);
    const latencies = latenciesOf(runtime.tail);
    await server.stop();
    return {
      program: { ...program.measured, connections },
      runtime: {
        ...runtime.measured,
        latencyMilliseconds: { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) },
      },
    };
  } finally {
    await guard.close();
  }
}

async function underEvents(
  variant: Variant,
  more: readonly string[],
  server: Server,
  { events }: RuntimeBenchOptions,
  guard: Guard,
): Promise<{ readonly measured: UnderEvents; readonly tail: string }> {
  const { program, listing } = await listed(variant, more, guard, '"starting"');
  await program.eventLoopDelay();
  const before = program.usage().cpuSeconds;
  const { sent = 0 } = await server.order({ what: 'events', ...events });
  const { cpuSeconds, residentBytes } = program.usage();
  const eventLoop = await program.eventLoopDelay('off');
  await program.stop();
  const cpuSecondsPerThousand = ((cpuSeconds - before) / sent) * 1000;
  return { measured: { listing, events: sent, cpuSecondsPerThousand, eventLoop, residentBytes }, tail: program.tail };
}

/** Its last line. */
function latenciesOf(tail: string): readonly number[] {
  const line = tail.split('\n').findLast((one) => one.startsWith('{"latencies"')) ?? '';
  const { latencies } = JSON.parse(line.slice(0, line.lastIndexOf('}') + 1)) as { latencies: number[] };
  return latencies.toSorted((a, b) => a - b);
}

/** The fleet's server in its own process. */
class Server {
  readonly kubeconfig: string;
  readonly #process: ReturnType<typeof fork>;

  private constructor(kubeconfig: string, process: ReturnType<typeof fork>) {
    this.kubeconfig = kubeconfig;
    this.#process = process;
  }

  static async start(directory: string, options: RuntimeBenchOptions, guard: Guard): Promise<Server> {
    const ca = await CertificateAuthority.create(directory);
    const { certificate, key } = await ca.issue('fleet', ['127.0.0.1']);
    const program = fileURLToPath(new URL('server/main.ts', import.meta.url));
    const child = fork(program, [certificate, key, `${options.clusters}`, `${options.namespaces}`], { detached: true });
    if (child.pid !== undefined) guard.watch(child.pid);
    const [{ url = '' }] = (await once(child, 'message')) as [Report];
    const kubeconfig = join(directory, 'kubeconfig');
    await writeKubeconfig(kubeconfig, { server: url, ca: ca.bundle, credentials: { token: 'fleet' } });
    return new Server(kubeconfig, child);
  }

  async order(order: Order): Promise<Report> {
    this.#process.send(order);
    const [report] = (await once(this.#process, 'message')) as [Report];
    return report;
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exit;
  }
}
