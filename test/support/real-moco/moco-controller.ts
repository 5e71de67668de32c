import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotFound } from '../../../src/kube/api-error.ts';
import { leases } from '../../../src/kube/resource.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePort } from '../control-plane/free-port.ts';
import type { Guard } from '../control-plane/guard.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import type { ObjectClient } from '../object-client.ts';
import { type RealMocoFiles, realMocoFiles } from './build.ts';
import { certManagerDefinitions, installation } from './manifests.ts';

export const mocoNamespace = 'moco-system';
/** `--leader-election-id`, its default. */
const leaseName = 'moco';
/** What MOCO's agents expect of a client. */
const commonName = 'moco-controller';

export interface MocoControllerOptions {
  readonly controlPlane: ControlPlane;
  /** An administrator's. */
  readonly client: ObjectClient;
  /** The user of moco-controller in the audit log, with the rights of MOCO's ServiceAccount. */
  readonly user: string;
  /** Where its files are kept. */
  readonly directory: string;
  readonly guard: Guard;
  /** Another build of it than the released one. */
  readonly program?: string | undefined;
  /** Over its defaults. */
  readonly flags?: readonly string[];
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
}

/** Installs MOCO from its own manifests. moco-controller can be started then. */
export async function installMocoController(options: MocoControllerOptions): Promise<MocoController> {
  const files = await realMocoFiles();
  const directory = join(options.directory, 'real-moco');
  await mkdir(directory);
  const ports = { webhook: await freePort(), probe: await freePort() };
  await install(options, files, directory, ports);
  const kubeconfig = await options.controlPlane.kubeconfigForUser(options.user, []);
  const flags = [
    `--webhook-addr=127.0.0.1:${ports.webhook}`,
    `--health-probe-addr=127.0.0.1:${ports.probe}`,
    '--metrics-addr=0',
    `--cert-dir=${directory}`,
    `--grpc-cert-dir=${directory}`,
    '--apiserver-qps-throttle=500',
    ...(options.flags ?? []),
  ];
  const logFile = join(directory, 'log');
  const command = options.program ?? files.controller;
  return new MocoController(options, { command, flags, kubeconfig, logFile, probePort: ports.probe });
}

async function install(
  { controlPlane, user }: MocoControllerOptions,
  { configuration }: RealMocoFiles,
  directory: string,
  ports: Ports,
): Promise<void> {
  const { certificate, key } = await controlPlane.certificates.issue(commonName, ['127.0.0.1']);
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

/** The process of moco-controller 0.36 itself: its reconciler, partition controller, clustering and webhooks. */
export class MocoController {
  readonly #options: MocoControllerOptions;
  readonly #program: Program;
  #process: SupervisedProcess | null = null;

  constructor(options: MocoControllerOptions, program: Program) {
    this.#options = options;
    this.#program = program;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get log(): string {
    return this.#process?.log ?? '';
  }

  /** Ends it at once, its webhooks too. */
  async kill(): Promise<void> {
    await this.#process?.stop();
    this.#process = null;
  }

  /** Starts it, again where it was killed. Resolves once it leads and its webhooks answer. */
  async start(): Promise<void> {
    const { client, guard } = this.#options;
    // Avoids waiting for the expiry of the previous lease.
    await client.remove(leases, { namespace: mocoNamespace, name: leaseName }, {}).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const { command, flags, kubeconfig, logFile } = this.#program;
    const started = new SupervisedProcess({
      name: 'moco-controller',
      command,
      flags,
      logFile,
      guard,
      environment: { ...process.env, POD_NAMESPACE: mocoNamespace, KUBECONFIG: kubeconfig },
    });
    this.#process = started;
    const readyz = `http://127.0.0.1:${this.#program.probePort}/readyz`;
    await started.untilReady(async () => (await fetch(readyz)).ok && (await this.#leads()));
    started.watch((explanation) => process.stderr.write(`${explanation}\n`));
  }

  async #leads(): Promise<boolean> {
    try {
      await this.#options.client.get(leases, { namespace: mocoNamespace, name: leaseName });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
