import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { type Connection, connect } from '../../../src/kube/connection.ts';
import { realWorld } from '../../../src/kube/real-world.ts';
import { namespaces } from '../../../src/kube/resource.ts';
import type { World } from '../../../src/kube/world.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePort } from '../control-plane/free-port.ts';
import { Guard } from '../control-plane/guard.ts';
import { type MocoStandIn, startMoco } from '../moco/driver.ts';
import { beginsHeldBack } from '../moco/held-back.ts';
import { installMoco } from '../moco/install.ts';
import type { ClusteringDurations, PartitionIntervals } from '../moco/settings.ts';
import { type MocoWebhookServer, startMocoWebhookServer } from '../moco/webhook-server.ts';
import { type Nodes, startNodes } from '../nodes/driver.ts';
import type { NodesSettings } from '../nodes/settings.ts';
import { RealMoco, startRealMoco } from '../real-moco/driver.ts';
import { admissionPolicyVersion, installAdmissionPolicy } from './admission-policy.ts';
import { ControllerProcess } from './controller-process.ts';
import { isKeptOnDelete } from './kept-on-delete.ts';
import { partitionWebhookManifest, registerWebhooks, webhookManifest } from './webhook-registration.ts';

export interface StageOptions {
  /** `real`: moco-controller itself with its own webhooks; the durations below are then its own. */
  readonly moco?: 'stand-in' | 'real';
  readonly nodes?: Partial<NodesSettings>;
  readonly clustering?: Partial<ClusteringDurations>;
  /** Delays of MOCO's partition controller; default: the real ones. */
  readonly partition?: Partial<PartitionIntervals>;
  /**
   * `moco` (left out): MOCO's webhook of StatefulSets and its partition controller are there. `own`: they aren't, and
   * this project's webhook of `config/partition-driver` is registered where a controller is started. A control plane
   * has stages of one of the two only.
   */
  readonly partitionDriver?: 'moco' | 'own';
  /**
   * What keeps adopted StatefulSets at OnDelete: the policy of `config/admission-policy`, the webhook of
   * `config/webhook`, or nothing. Default: the policy if the API server supports it, else the webhook.
   */
  readonly admission?: OnDeleteAdmission;
  /** The second byte of the pods' addresses, for a test that listens there. */
  readonly network?: number;
}

export type OnDeleteAdmission = 'policy' | 'webhook' | 'none';

/** The installation's namespace and ServiceAccount, as in `config/`. */
const systemNamespace = 'moco-rollout-system';
const serviceAccount = 'moco-rollout';

const configuration = fileURLToPath(new URL('../../../config', import.meta.url));

/** Far above what one machine can do: nothing here waits for its own rate limit. */
const unlimited = { qps: 10_000, burst: 10_000 };

/**
 * Everything around the controller on a running control plane: the stand-ins for MOCO and for nodes, each under a user
 * name of its own, and this project's CRD, RBAC and admission from `config/`. Controllers are started on it.
 */
export class Stage {
  readonly controlPlane: ControlPlane;
  readonly client: ApiClient;
  readonly world: World;
  readonly moco: MocoStandIn;
  readonly nodes: Nodes;
  readonly #directory: string;
  readonly #guard: Guard;
  readonly #closers: readonly (() => Promise<unknown>)[];
  readonly #controllers: ControllerProcess[] = [];
  readonly #partitionDriver: 'moco' | 'own';
  readonly #admission: OnDeleteAdmission;
  #webhookPort = 0;

  private constructor(
    parts: Pick<Stage, 'controlPlane' | 'client' | 'world' | 'moco' | 'nodes'>,
    partitionDriver: 'moco' | 'own',
    admission: OnDeleteAdmission,
    directory: string,
    guard: Guard,
    closers: readonly (() => Promise<unknown>)[],
  ) {
    this.controlPlane = parts.controlPlane;
    this.client = parts.client;
    this.world = parts.world;
    this.moco = parts.moco;
    this.nodes = parts.nodes;
    this.#partitionDriver = partitionDriver;
    this.#admission = admission;
    this.#directory = directory;
    this.#guard = guard;
    this.#closers = closers;
  }

  static async open(controlPlane: ControlPlane, options: StageOptions = {}): Promise<Stage> {
    const guard = new Guard();
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-stage-'));
    guard.remove(directory);
    const closers: (() => Promise<unknown>)[] = [];
    const as = async (user: string): Promise<{ client: ApiClient; world: World }> => {
      const connection: Connection = connect({ kubeconfigPath: await controlPlane.kubeconfigForUser(user) });
      closers.push(() => connection.close());
      const world = realWorld(connection.exchange);
      return { client: new ApiClient({ world, ...unlimited, userAgent: user }), world };
    };
    const { client, world } = await as('stage');
    const { partitionDriver = 'moco' } = options;
    const moco =
      options.moco === 'real'
        ? await startRealMoco({ controlPlane, client, world, user: 'moco-controller', directory, guard })
        : await startMocoStandIn(options, { client, world }, await as('moco-controller'), closers);
    closers.push(() => moco.stop());
    const nodes = await startNodes({
      ...(await as('nodes')),
      databases: moco,
      settings: options.nodes ?? {},
      network: moco instanceof RealMoco ? moco.network : (options.network ?? 0),
    });
    closers.push(() => nodes.stop());
    const { admission = (await admissionPolicyVersion(client)) === null ? 'webhook' : 'policy' } = options;
    const parts = { controlPlane, client, world, moco, nodes };
    const stage = new Stage(parts, partitionDriver, admission, directory, guard, closers);
    await stage.#install();
    return stage;
  }

  /** The controllers that run. */
  get controllers(): readonly ControllerProcess[] {
    return this.#controllers.filter((controller) => controller.running);
  }

  /**
   * Starts `src/main.ts` with its own ServiceAccount's token, with the gate on unless `flags` differ. The webhook
   * configurations refer to the last started one.
   */
  async startController(flags: readonly string[] = []): Promise<ControllerProcess> {
    const name = `controller-${this.#controllers.length}`;
    const kubeconfig = await this.controlPlane.kubeconfigFor({ namespace: systemNamespace, name: serviceAccount });
    const [webhookPort, metricsPort, healthPort] = [await freePort(), await freePort(), await freePort()];
    const logFile = join(this.#directory, `${name}.log`);
    await writeFile(logFile, '');
    const controller = new ControllerProcess(
      [
        `--kubeconfig=${kubeconfig}`,
        '--feature-gates=UpdateStrategyOnDelete=true',
        `--webhook-bind-address=127.0.0.1:${webhookPort}`,
        `--metrics-bind-address=127.0.0.1:${metricsPort}`,
        `--health-probe-bind-address=127.0.0.1:${healthPort}`,
        `--cert-dir=${join(this.#directory, 'certificate')}`,
        `--partition-driver=${this.#partitionDriver}`,
        `--leader-election-namespace=${systemNamespace}`,
        // No agents listen at the pods of the stand-in.
        '--replica-delay-grace-seconds=0',
        '--log-level=debug',
        // Clusters of other tests fail on purpose.
        '--max-failing-rollouts=0',
        '--log-format=json',
        ...flags,
      ],
      logFile,
      this.#guard,
    );
    this.#controllers.push(controller);
    await this.#ready(controller, healthPort);
    this.#webhookPort = webhookPort;
    await this.#registerWebhooks(controller);
    return controller;
  }

  async createNamespace(name: string): Promise<void> {
    await this.client.create(namespaces, {}, { metadata: { name } }, { priority: 'disrupt' });
  }

  /** Ends every controller, the stand-ins and their connections; the control plane stays. */
  async close(): Promise<void> {
    await Promise.all(this.controllers.map((controller) => controller.stop('SIGKILL')));
    for (const close of this.#closers.toReversed()) await close();
    await rm(this.#directory, { recursive: true, force: true });
    await this.#guard.close();
  }

  async #install(): Promise<void> {
    await this.controlPlane.apply(join(configuration, 'crd'));
    await this.controlPlane.apply(join(configuration, 'default/namespace.yaml'), join(configuration, 'rbac'));
    if (this.#admission === 'policy') {
      await installAdmissionPolicy(this.client);
      while (!(await isKeptOnDelete(this.client))) await pause(this.world);
    }
    const { certificate, key } = await this.controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    const directory = join(this.#directory, 'certificate');
    await mkdir(directory);
    await copyFile(certificate, join(directory, 'tls.crt'));
    await copyFile(key, join(directory, 'tls.key'));
  }

  async #ready(controller: ControllerProcess, healthPort: number): Promise<void> {
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => null))?.ok ?? false;
    await this.#until(isReady, controller);
  }

  async #until(condition: () => Promise<boolean>, controller: ControllerProcess): Promise<void> {
    while (!(await condition())) {
      if (!controller.running) throw new Error(`the controller ended at its start:\n${controller.log}`);
      await pause(this.world);
    }
  }

  async #registerWebhooks(controller: ControllerProcess): Promise<void> {
    const serving = { port: this.#webhookPort, caBundle: this.controlPlane.caBundle };
    if (this.#admission === 'webhook') {
      await registerWebhooks(this.client, webhookManifest, serving);
      await this.#until(() => isKeptOnDelete(this.client), controller);
    }
    if (this.#partitionDriver === 'moco') return;
    await registerWebhooks(this.client, partitionWebhookManifest, serving);
    // Whatever MOCO created before would be rolled by Kubernetes itself.
    await this.#until(() => beginsHeldBack(this.client), controller);
  }
}

interface Access {
  readonly client: ApiClient;
  readonly world: World;
}

/** The stand-in for MOCO under `mocoAccess`, and its installation. */
async function startMocoStandIn(
  { partitionDriver = 'moco', clustering = {}, partition = {} }: StageOptions,
  { client, world }: Access,
  mocoAccess: Access,
  closers: (() => Promise<unknown>)[],
): Promise<MocoStandIn> {
  const webhook: MocoWebhookServer = await startMocoWebhookServer();
  closers.push(() => webhook.stop());
  const partitionController = partitionDriver === 'moco';
  await installMoco(client, world, webhook, { statefulSetWebhook: partitionController });
  return startMoco({ ...mocoAccess, clustering, partition, partitionController });
}

const pauseMilliseconds = 20;

/** Between two checks of a condition. */
function pause(world: World): Promise<void> {
  return new Promise((resolve) => void world.timer(pauseMilliseconds, resolve));
}
