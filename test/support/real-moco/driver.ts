import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import { leases } from '../../../src/kube/resource.ts';
import type { World } from '../../../src/kube/world.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePort } from '../control-plane/free-port.ts';
import type { Guard } from '../control-plane/guard.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import type { MocoStandIn } from '../moco/driver.ts';
import type { Faults } from '../moco/faults.ts';
import type { Pod } from '../moco/objects.ts';
import { type RealMocoFiles, realMocoFiles } from './build.ts';
import { certManagerDefinitions, installation } from './manifests.ts';
import { MysqlServers, mysqlAdminPort } from './mysql-servers.ts';

const mocoNamespace = 'moco-system';
/** `--leader-election-id`, its default. */
const leaseName = 'moco';
const checkInterval = '3s';
const readyDeadlineMilliseconds = 60_000;
const pollMilliseconds = 50;
const networks = { first: 1, last: 254 };

export interface RealMocoOptions {
  readonly controlPlane: ControlPlane;
  /** An administrator's. */
  readonly client: ApiClient;
  readonly world: World;
  /** The user of moco-controller in the audit log, with the rights of MOCO's ServiceAccount. */
  readonly user: string;
  /** Where its files are kept. */
  readonly directory: string;
  readonly guard: Guard;
}

interface Ports {
  readonly webhook: number;
  readonly probe: number;
}

interface Program {
  readonly command: string;
  readonly flags: readonly string[];
  readonly kubeconfig: string;
  readonly logFile: string;
  readonly probePort: number;
  readonly network: number;
}

/** Installs MOCO from its own manifests and starts moco-controller; resolves once it leads and its webhooks answer. */
export async function startRealMoco(options: RealMocoOptions): Promise<RealMoco> {
  const files = await realMocoFiles();
  const directory = join(options.directory, 'real-moco');
  await mkdir(directory);
  const ports = { webhook: await freePort(), probe: await freePort() };
  await install(options, files, directory, ports);
  const servers = new MysqlServers(options.client, options.world);
  await servers.start();
  const kubeconfig = await options.controlPlane.kubeconfigForUser(options.user, []);
  const flags = [
    `--webhook-addr=127.0.0.1:${ports.webhook}`,
    `--health-probe-addr=127.0.0.1:${ports.probe}`,
    '--metrics-addr=0',
    `--cert-dir=${directory}`,
    `--grpc-cert-dir=${directory}`,
    // The default is a minute: the delay for changes without an event of Kubernetes.
    `--check-interval=${checkInterval}`,
    '--apiserver-qps-throttle=500',
  ];
  const moco = new RealMoco(options, servers, {
    command: files.controller,
    flags,
    kubeconfig,
    logFile: join(directory, 'log'),
    probePort: ports.probe,
    network: await freeNetwork(),
  });
  try {
    await moco.resume();
  } catch (error) {
    await moco.stop();
    throw error;
  }
  return moco;
}

async function install(
  { controlPlane, user }: RealMocoOptions,
  { configuration }: RealMocoFiles,
  directory: string,
  ports: Ports,
): Promise<void> {
  const { certificate, key } = await controlPlane.certificates.issue('moco-controller', ['127.0.0.1']);
  await copyFile(certificate, join(directory, 'tls.crt'));
  await copyFile(key, join(directory, 'tls.key'));
  await writeFile(join(directory, 'ca.crt'), controlPlane.caBundle);
  const kustomized = await controlPlane.kubectl('kustomize', join(configuration, 'default'));
  const webhooks = { port: ports.webhook, ca: controlPlane.caBundle };
  const manifests = installation(kustomized, webhooks, user);
  const of = async (name: string, items: typeof manifests): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    return file;
  };
  const isFirst = ({ kind }: { readonly kind: string }): boolean =>
    kind === 'Namespace' || kind === 'CustomResourceDefinition';
  await controlPlane.apply(await of('first.json', manifests.filter(isFirst)), certManagerDefinitions(configuration));
  await controlPlane.apply(
    await of(
      'others.json',
      manifests.filter((manifest) => !isFirst(manifest)),
    ),
  );
}

/** A second byte of loopback addresses that no other stand-in for mysqld on this machine uses. */
async function freeNetwork(): Promise<number> {
  const { first, last } = networks;
  const from = first + (process.pid % (last - first + 1));
  for (let tried = 0; tried <= last - first; tried++) {
    const network = first + ((from - first + tried) % (last - first + 1));
    if (await reserve(`127.${network}.0.1`)) return network;
  }
  throw new Error('Expected a network of loopback addresses that nobody uses, found none');
}

/** Pinned until this process ends. */
function reserve(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port: mysqlAdminPort, exclusive: true }, () => {
      server.unref();
      resolve(true);
    });
  });
}

/**
 * moco-controller 0.36 itself: its reconciler, partition controller, clustering and webhooks. The databases that it talks
 * to have no data and never clone.
 */
export class RealMoco implements MocoStandIn {
  readonly #options: RealMocoOptions;
  readonly #servers: MysqlServers;
  readonly #program: Program;
  #process: SupervisedProcess | null = null;

  constructor(options: RealMocoOptions, servers: MysqlServers, program: Program) {
    this.#options = options;
    this.#servers = servers;
    this.#program = program;
  }

  /** The second byte of the addresses that pods have to have. */
  get network(): number {
    return this.#program.network;
  }

  mysqldReady(pod: Pod): boolean {
    const { namespace, labels } = pod.metadata;
    return this.#servers.of(namespace, labels?.[clusterNameLabel] ?? '').isServing(pod);
  }

  acceptsCommits(namespace: string, clusterName: string): boolean {
    return this.#servers.of(namespace, clusterName).acceptsCommits();
  }

  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void {
    return this.#servers.onChange(callback);
  }

  /** Those that are MySQL's: lag, errant transactions, members out of reach, a candidate that never catches up. */
  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    const { nextPrimary, cloneHangs, statusLagMilliseconds, switchover } = faults;
    if ((nextPrimary ?? null) !== null || cloneHangs || statusLagMilliseconds || switchover === 'ignored') {
      throw new Error(
        `Expected faults of MySQL, got one that moco-controller itself would have to have: ${JSON.stringify(faults)}`,
      );
    }
    this.#servers.setFaults(namespace, clusterName, faults);
  }

  /** Ends moco-controller at once, its webhooks too. */
  async pause(): Promise<void> {
    await this.#process?.stop();
    this.#process = null;
  }

  /** Starts it again. Resolves once it leads and its webhooks answer. */
  async resume(): Promise<void> {
    const { client, guard } = this.#options;
    // Avoids waiting for the expiry of the previous lease.
    await client
      .remove(leases, { namespace: mocoNamespace, name: leaseName }, {}, { priority: 'disrupt' })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    const { command, flags, kubeconfig, logFile } = this.#program;
    const started = new SupervisedProcess({
      name: 'moco-controller',
      command,
      flags,
      logFile,
      guard,
      environment: { POD_NAMESPACE: mocoNamespace, KUBECONFIG: kubeconfig },
    });
    this.#process = started;
    await this.#ready(started);
    started.watch((explanation) => process.stderr.write(`${explanation}\n`));
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.#servers.stop();
  }

  get log(): string {
    return this.#process?.logTail() ?? '';
  }

  async #ready(started: SupervisedProcess): Promise<void> {
    const deadline = performance.now() + readyDeadlineMilliseconds;
    while (!((await this.#answers()) && (await this.#leads()))) {
      if (started.ended !== null)
        throw new Error(started.explain(`moco-controller ended at its start (${started.ended})`));
      if (performance.now() > deadline) throw new Error(started.explain('moco-controller was not ready in time'));
      await delay(pollMilliseconds);
    }
  }

  async #answers(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.#program.probePort}/readyz`).catch(() => null);
    return answer?.ok === true;
  }

  async #leads(): Promise<boolean> {
    try {
      await this.#options.client.get(leases, { namespace: mocoNamespace, name: leaseName }, { priority: 'read' });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
