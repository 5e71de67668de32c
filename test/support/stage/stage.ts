import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../../../src/base/world.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { Guard } from '../control-plane/guard.ts';
import { type MocoStandIn, startMoco } from '../moco/driver.ts';
import { installMoco } from '../moco/install.ts';
import type { ClusteringDurations, PartitionIntervals } from '../moco/settings.ts';
import { type MocoWebhookServer, startMocoWebhookServer } from '../moco/webhook-server.ts';
import { type Nodes, startNodes } from '../nodes/driver.ts';
import type { NodesSettings } from '../nodes/settings.ts';
import { type Access, accessWith, type Connected, type ObjectClient } from '../object-client.ts';
import { RealMoco, startRealMoco } from '../real-moco/driver.ts';
import type { ControllerProcess } from './controller-process.ts';
import { Installation, type OnDeleteAdmission } from './installation.ts';

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

/** No agents listen at the pods of the stand-in, and clusters of other tests fail on purpose. */
const flagsOfTests = [
  '--replica-delay-grace-seconds=0',
  '--silent-member-grace-seconds=0',
  '--max-failing-rollouts=0',
  // A slow machine must not fail a test.
  '--confirmation-timeout=10s',
];

/**
 * Everything around the controller on a running control plane: the stand-ins for MOCO and for nodes, each under a user
 * name of its own, and this project's CRD, RBAC and admission from `config/`. Controllers are started on it.
 */
export class Stage {
  readonly controlPlane: ControlPlane;
  readonly client: ObjectClient;
  readonly world: World;
  readonly moco: MocoStandIn;
  readonly nodes: Nodes;
  readonly #directory: string;
  readonly #guard: Guard;
  readonly #closers: readonly (() => Promise<unknown>)[];
  readonly #installation: Installation;

  private constructor(
    parts: Pick<Stage, 'controlPlane' | 'client' | 'world' | 'moco' | 'nodes'>,
    installation: Installation,
    directory: string,
    guard: Guard,
    closers: readonly (() => Promise<unknown>)[],
  ) {
    this.controlPlane = parts.controlPlane;
    this.client = parts.client;
    this.world = parts.world;
    this.moco = parts.moco;
    this.nodes = parts.nodes;
    this.#installation = installation;
    this.#directory = directory;
    this.#guard = guard;
    this.#closers = closers;
  }

  static async open(controlPlane: ControlPlane, options: StageOptions = {}): Promise<Stage> {
    const guard = new Guard();
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-stage-'));
    guard.remove(directory);
    const closers: (() => Promise<unknown>)[] = [];
    const as = async (user: string): Promise<Connected> => {
      const access = accessWith(await controlPlane.kubeconfigForUser(user), { userAgent: user });
      closers.push(() => access.connection.close());
      return access;
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
    const { admission } = options;
    const installation = await Installation.open({
      controlPlane,
      client,
      partitionDriver,
      directory,
      guard,
      ...(admission === undefined ? {} : { admission }),
    });
    const parts = { controlPlane, client, world, moco, nodes };
    return new Stage(parts, installation, directory, guard, closers);
  }

  /** The controllers that run. */
  get controllers(): readonly ControllerProcess[] {
    return this.#installation.controllers;
  }

  /** See {@link Installation.startController}. */
  startController(flags: readonly string[] = []): Promise<ControllerProcess> {
    return this.#installation.startController([...flagsOfTests, ...flags]);
  }

  createNamespace(name: string): Promise<void> {
    return this.#installation.createNamespace(name);
  }

  /** Ends every controller, the stand-ins and their connections; the control plane stays. */
  async close(): Promise<void> {
    await this.#installation.close();
    for (const close of this.#closers.toReversed()) await close();
    await rm(this.#directory, { recursive: true, force: true });
    await this.#guard.close();
  }
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
