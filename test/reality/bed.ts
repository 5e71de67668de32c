import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { realWorld, type World } from '../../src/base/world.ts';
import { connect } from '../../src/kube/connection.ts';
import { namespaces } from '../../src/kube/resource.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { Registry } from '../support/cluster/registry.ts';
import type { AuditEvent } from '../support/control-plane/audit-log.ts';
import { goTool } from '../support/go-tools/build.ts';
import { ObjectClient } from '../support/object-client.ts';
import { archiveOf, startClusterWithMoco } from './cluster-with-moco.ts';
import { Containers } from './containers.ts';
import { Controller } from './controller.ts';
import { imageNames } from './image/archives.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const unlimited = { qps: 10_000, burst: 10_000 };
const release = 'moco-rollout';
const ownNamespace = 'moco-rollout-system';
const ownTag = 'reality';

/** As people write them. */
const [first = '', second = ''] = imageNames.mysql.map((name) => name.replace(/^.*[/]/, ''));
const [firstAgent, secondAgent] = imageNames.agent;
const images = { first, second, missing: `${second}-missing`, agents: [firstAgent, secondAgent] } as const;

/** Every installation's, beside what a scenario asks for. */
const usualValues = {
  image: { tag: ownTag },
  // What is updated in place a MySQLRollout says.
  featureGates: { UpdateStrategyOnDelete: true, InPlaceUpdate: true },
};

export interface BedOptions {
  /** How many nodes, 3 by default. */
  readonly nodes?: number;
}

type Closer = () => unknown;

/**
 * Builds what is missing, then starts a whole Kubernetes on this machine and installs MOCO and this program as users do.
 * Throws `Unavailable` where that can't be.
 */
export async function openBed({ nodes = 3 }: BedOptions = {}): Promise<Bed> {
  /** In the order of opening. */
  const closers: Closer[] = [];
  try {
    const started = await startClusterWithMoco(ownTag, { nodes, audit: true });
    closers.push(() => started.stop());
    const { cluster, archives } = started;
    const connection = connect({ kubeconfigPath: cluster.kubeconfig });
    closers.push(() => connection.close());
    const bed = new Bed({ cluster, world: realWorld(connection.exchange), archives, closers });
    await bed.configure({});
    return bed;
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function closeAll(closers: readonly Closer[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}

interface Parts {
  readonly cluster: Cluster;
  readonly world: World;
  /** Of images, by their names. */
  readonly archives: ReadonlyMap<string, string>;
  readonly closers: Closer[];
}

/** A cluster with real nodes, MOCO and this program, for one MySQLCluster after the other. */
export class Bed {
  /** With its nodes, and what can happen to them. */
  readonly cluster: Cluster;
  /** An administrator's. */
  readonly client: ObjectClient;
  readonly world: World;
  readonly moco: Controller;
  readonly program: Controller;
  readonly containers: Containers;
  /** Two of mysqld that differ in `VERSION()`, one that can't be pulled, and two of MOCO's agent that differ in their names. */
  readonly images = images;
  /** Which MySQL runs, as a sentence shows it. */
  readonly mysql = "Debian's MySQL with its version and its plugins renamed to those of 8.4";
  readonly #archives: ReadonlyMap<string, string>;
  readonly #closers: Closer[];
  #registry: Promise<Registry> | null = null;

  constructor({ cluster, world, archives, closers }: Parts) {
    this.cluster = cluster;
    this.world = world;
    this.client = new ObjectClient({ world, ...unlimited, userAgent: 'bed' });
    this.containers = new Containers(cluster, this.client);
    this.moco = new Controller(cluster, this.containers, {
      namespace: 'moco-system',
      deployment: 'moco-controller',
      selector: 'app.kubernetes.io/component=moco-controller',
      replicas: 2,
    });
    this.program = new Controller(cluster, this.containers, {
      namespace: ownNamespace,
      deployment: 'moco-rollout-controller',
      selector: 'app.kubernetes.io/component=controller',
      replicas: 2,
    });
    this.#archives = archives;
    this.#closers = closers;
  }

  /** Installs this program's chart, or upgrades it, with these values beside the usual ones. Resolves once it is ready. */
  async configure(values: Readonly<Record<string, object>>): Promise<void> {
    const merged = {
      ...usualValues,
      ...values,
      featureGates: { ...usualValues.featureGates, ...values['featureGates'] },
    };
    const file = join(this.cluster.directory, 'values.yaml');
    await writeFile(file, stringify(merged));
    const helm = await goTool('helm');
    const chart = ['upgrade', '--install', release, 'config/helm/moco-rollout', '--namespace', ownNamespace];
    const flags = ['--create-namespace', '--reset-values', '--values', file, '--wait', '--timeout', '5m'];
    const env = { ...process.env, HOME: this.cluster.directory, KUBECONFIG: this.cluster.kubeconfig };
    await run(helm, [...chart, ...flags], { cwd: root, env });
  }

  /** As it was before scenarios brought other values and flags. */
  async restore(): Promise<void> {
    await this.configure({});
    await this.moco.setFlags([]);
  }

  /** Makes one of {@link imageNames} known to every node; not every one is from the start. */
  importImage(name: string): Promise<void> {
    return this.cluster.importImage(archiveOf(this.#archives, name));
  }

  /** From now on nodes pull from it. It has the images that rollouts bring, but for one that is missing. */
  registry(): Promise<Registry> {
    const names = [imageNames.mysql[1], ...imageNames.agent, ...imageNames.slowLog];
    this.#registry ??= Registry.start(
      this.cluster,
      new Map(names.map((name) => [name, archiveOf(this.#archives, name)])),
    ).then((registry) => {
      this.#closers.push(() => registry.stop());
      return registry;
    });
    return this.#registry;
  }

  audit(): Promise<readonly AuditEvent[]> {
    return this.cluster.audit();
  }

  async createNamespace(name: string): Promise<void> {
    await this.client.create(namespaces, {}, { metadata: { name } });
  }

  /** Ends every process, removes every directory. */
  async close(): Promise<void> {
    this.containers.stop();
    await closeAll(this.#closers);
  }
}
