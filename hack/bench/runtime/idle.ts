import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControlPlane } from '../../../test/support/control-plane/control-plane.ts';
import { freePort } from '../../../test/support/control-plane/free-port.ts';
import { Guard } from '../../../test/support/control-plane/guard.ts';
import { clusterDefinitionFile } from '../../../test/support/moco/install.ts';
import { accessWith } from '../../../test/support/object-client.ts';
import { installAdmissionPolicy } from '../../../test/support/stage/admission-policy.ts';
import { type ColdStart, measureColdStarts } from './cold-start.ts';
import { type FleetSize, fill } from './fill.ts';
import { measureReconnect, type Reconnect } from './reconnect.ts';
import { measureScrapes } from './scrape.ts';
import { measureStatusAll } from './status-all.ts';
import { bundle, type Variant } from './variants.ts';
import { type Listing, listed, pause } from './watching.ts';

// Measures programs that have nothing to do.

const configuration = fileURLToPath(new URL('../../../config', import.meta.url));
const systemNamespace = 'moco-rollout-system';
const sampleMilliseconds = 1_000;

/** One variant of the idle program. */
export interface Idle {
  readonly variant: string;
  readonly listing: Listing;
  readonly seconds: number;
  readonly cores: number;
  /** One value for each second of the measurement. */
  readonly residentBytes: readonly number[];
  readonly scrapeMilliseconds: readonly number[];
}

/** What is measured on a fleet in which nothing happens. */
export interface AtRest {
  readonly idle: readonly Idle[];
  readonly coldStarts: readonly ColdStart[];
  readonly statusAllMilliseconds: readonly number[];
  readonly reconnect: Reconnect;
}

/** A fleet, and how long to watch the idle program. */
export interface RestingFleet extends FleetSize {
  readonly idleSeconds: number;
}

/**
 * Measures each variant in turn on a real API server that contains only the fleet, then cold starts and the command
 * line.
 */
export async function measureIdle(
  options: RestingFleet,
  variants: readonly Variant[],
  progress: (what: string) => void,
): Promise<AtRest> {
  const guard = new Guard();
  const controlPlane = await startControlPlane({
    audit: false,
    manifests: [
      clusterDefinitionFile,
      join(configuration, 'crd'),
      join(configuration, 'default/namespace.yaml'),
      join(configuration, 'rbac'),
    ],
  });
  try {
    // The controllers would change the fleet.
    await controlPlane.killControllerManager();
    progress(`creating ${options.clusters} clusters`);
    const { client, connection } = accessWith(controlPlane.adminKubeconfig);
    await fill(client, options);
    await installAdmissionPolicy(client);
    await connection.close();
    const kubeconfig = await controlPlane.kubeconfigFor({ namespace: systemNamespace, name: 'moco-rollout' });
    const flags = await flagsOn(kubeconfig);
    progress('adopting them');
    await adopt(flags, guard);
    const measured: Idle[] = [];
    for (const variant of variants) {
      progress(`${variant.name}: listing, then ${options.idleSeconds} s without anything to do`);
      measured.push(await idle(variant, flags, options, guard));
    }
    progress('starting again and again');
    const coldStarts = await measureColdStarts(flags, options.clusters, guard);
    progress('asking for the status of every cluster');
    const statusAllMilliseconds = await measureStatusAll(controlPlane.adminKubeconfig, options.clusters);
    progress('cutting every connection');
    const reconnect = await measureReconnect(controlPlane.server, kubeconfig, flagsOn, guard);
    return { idle: measured, coldStarts, statusAllMilliseconds, reconnect };
  } finally {
    await controlPlane.stop();
    await guard.close();
  }
}

/**
 * Adopts the fleet without a rate limit. With the limit, a large fleet would take minutes, and the limit is not
 * measured here.
 */
async function adopt(flags: readonly string[], guard: Guard): Promise<void> {
  const noLimit = ['--kube-api-qps=10000', '--kube-api-burst=10000'];
  const { program } = await listed(bundle, [...flags, ...noLimit], guard, '"starting"');
  await program.stop();
}

/** The flags of `config/manager`, including the flags for its lease, with the kubeconfig of the ServiceAccount. */
async function flagsOn(kubeconfig: string): Promise<readonly string[]> {
  const address = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
  return [
    `--kubeconfig=${kubeconfig}`,
    '--feature-gates=UpdateStrategyOnDelete=true',
    '--leader-elect',
    `--leader-election-namespace=${systemNamespace}`,
    `--metrics-bind-address=${await address()}`,
    `--health-probe-bind-address=${await address()}`,
  ];
}

async function idle(
  variant: Variant,
  flags: readonly string[],
  { idleSeconds }: Pick<RestingFleet, 'idleSeconds'>,
  guard: Guard,
): Promise<Idle> {
  const { program, listing } = await listed(variant, flags, guard, '"starting"');
  await program.eventLoopDelay('off');
  const start = performance.now();
  const before = program.usage().cpuSeconds;
  const residentBytes: number[] = [];
  while (performance.now() - start < idleSeconds * 1000) {
    await pause(sampleMilliseconds);
    residentBytes.push(program.usage().residentBytes);
  }
  const seconds = (performance.now() - start) / 1000;
  const cores = (program.usage().cpuSeconds - before) / seconds;
  const scrapeMilliseconds = await measureScrapes(flags);
  await program.stop();
  return { variant: variant.name, listing, seconds, cores, residentBytes, scrapeMilliseconds };
}
