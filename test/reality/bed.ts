import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../../src/kube/connection.ts';
import { realWorld, type World } from '../../src/kube/world.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { Guard } from '../support/control-plane/guard.ts';
import { type Nodes, startNodes } from '../support/nodes/driver.ts';
import { faultOfImage } from '../support/nodes/faults.ts';
import type { NodesSettings } from '../support/nodes/settings.ts';
import { ObjectClient } from '../support/object-client.ts';
import { freeNetwork } from '../support/real-moco/free-network.ts';
import { installMocoController, type MocoController, mocoNamespace } from '../support/real-moco/moco-controller.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import type { ControllerProcess } from '../support/stage/controller-process.ts';
import { Installation } from '../support/stage/installation.ts';
import { Images } from './image/images.ts';
import { secrets } from './node/objects-of-pods.ts';
import { type ContainerPid, ProcessRuntime } from './node/process-runtime.ts';

export { Unavailable } from './image/unavailable.ts';

export interface BedOptions {
  /** The directory of an unpacked MySQL 8.4; without it Debian's MySQL is fetched. */
  readonly mysqlHome?: string;
  /** moco-controller looks at each cluster this often without an event, such as `10s`; its default is a minute. */
  readonly checkInterval?: string;
}

const cache = fileURLToPath(new URL('../../.cache/reality', import.meta.url));
const unlimited = { qps: 10_000, burst: 10_000 };
/** Processes take their own time; a kubelet sees their end within a second. */
const timesOfNodes: Partial<NodesSettings> = {
  startMilliseconds: 0,
  restartMilliseconds: 500,
  imagePullMilliseconds: 10_000,
};

/** Two tags of mysqld that differ in `VERSION()`, and one that can't be pulled. */
const images = { first: 'mysql:8.4.4', second: 'mysql:8.4.5', missing: 'mysql:8.4.5-missing' } as const;

interface Parts {
  readonly controlPlane: ControlPlane;
  readonly client: ObjectClient;
  readonly world: World;
  readonly images: Images;
  readonly moco: MocoController;
  readonly runtime: ProcessRuntime;
  readonly nodes: Nodes;
  readonly installation: Installation;
}

/**
 * Fetches and builds what is missing, with its progress on standard error, then starts a control plane, moco-controller
 * and nodes that run the real processes of pods. Throws `Unavailable` where MySQL can't be had.
 */
export async function openBed(options: BedOptions = {}): Promise<Bed> {
  await mkdir(cache, { recursive: true });
  const guard = new Guard();
  const directory = await mkdtemp(join(cache, 'bed-'));
  guard.remove(directory);
  /** In the order of opening. */
  const closers: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true }),
    () => guard.close(),
  ];
  try {
    return new Bed(await openParts(options, { directory, guard, closers }), closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

interface Opening {
  readonly directory: string;
  readonly guard: Guard;
  readonly closers: (() => Promise<unknown>)[];
}

async function openParts({ mysqlHome, checkInterval }: BedOptions, opening: Opening): Promise<Parts> {
  const { directory, guard, closers } = opening;
  const images = await Images.open({ cache, directory: join(directory, 'images'), mysqlHome });
  const controlPlane = await startControlPlane(admissionPolicyFlags(process.env));
  closers.push(() => controlPlane.stop());
  const as = async (user: string): Promise<{ client: ObjectClient; world: World }> => {
    const connection = connect({ kubeconfigPath: await controlPlane.kubeconfigForUser(user) });
    closers.push(() => connection.close());
    const world = realWorld(connection.exchange);
    return { client: new ObjectClient({ world, ...unlimited, userAgent: user }), world };
  };
  const { client, world } = await as('bed');
  const flags = checkInterval === undefined ? [] : [`--check-interval=${checkInterval}`];
  const moco = await installMocoController({ controlPlane, client, user: 'moco-controller', directory, guard, flags });
  closers.push(() => moco.kill());
  await moco.start();
  const { runtime, nodes } = await openNodes(await as('nodes'), images, directory);
  closers.push(() => nodes.stop());
  const installation = await Installation.open({ controlPlane, client, world, directory, guard });
  closers.push(() => installation.close());
  return { controlPlane, client, world, images, moco, runtime, nodes, installation };
}

async function openNodes(
  { client, world }: { readonly client: ObjectClient; readonly world: World },
  images: Images,
  directory: string,
): Promise<Pick<Parts, 'runtime' | 'nodes'>> {
  const own = join(directory, 'node');
  await mkdir(own);
  const runtime = await ProcessRuntime.open({
    client,
    imageOf: (name) => images.of(name),
    directory: own,
    onProblem: (problem) => process.stderr.write(`${problem}\n`),
  });
  const imageFault: NodesSettings['imageFault'] = (image, isInit) =>
    images.isMissing(image) ? 'imagePull' : images.of(image) === null ? faultOfImage(image, isInit) : null;
  const nodes = await startNodes({
    client,
    world,
    runtime,
    settings: { ...timesOfNodes, imageFault },
    network: await freeNetwork(),
  });
  return { runtime, nodes };
}

async function closeAll(closers: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}

/** A control plane, moco-controller and nodes with the real agents and mysqld of MOCO's clusters, on this machine alone. */
export class Bed {
  readonly controlPlane: ControlPlane;
  readonly client: ObjectClient;
  readonly world: World;
  readonly moco: MocoController;
  /** With the faults that nodes have; those of containers kill their processes. */
  readonly nodes: Nodes;
  /** Which MySQL runs, as a sentence shows it. */
  readonly mysql: string;
  readonly images = images;
  readonly #parts: Parts;
  readonly #closers: readonly (() => Promise<unknown>)[];

  constructor(parts: Parts, closers: readonly (() => Promise<unknown>)[]) {
    this.controlPlane = parts.controlPlane;
    this.client = parts.client;
    this.world = parts.world;
    this.moco = parts.moco;
    this.nodes = parts.nodes;
    this.mysql = parts.images.mysql;
    this.#parts = parts;
    this.#closers = closers;
  }

  createNamespace(name: string): Promise<void> {
    return this.#parts.installation.createNamespace(name);
  }

  /** The certificate of a cluster's agents, which cert-manager would make. Before the MySQLCluster is created. */
  async prepareCluster(namespace: string, name: string): Promise<void> {
    const { controlPlane, client } = this.#parts;
    const served = `*.moco-${name}.${namespace}.svc`;
    const { certificate, key } = await controlPlane.certificates.issue('moco-agent', [served]);
    const files = { 'tls.crt': await readFile(certificate), 'tls.key': await readFile(key) };
    const body = {
      metadata: { name: `moco-agent-${namespace}.${name}` },
      data: {
        'tls.crt': files['tls.crt'].toString('base64'),
        'tls.key': files['tls.key'].toString('base64'),
        'ca.crt': Buffer.from(controlPlane.caBundle).toString('base64'),
      },
    };
    await client.create(secrets, { namespace: mocoNamespace }, body, { priority: 'disrupt' });
  }

  /** See {@link Installation.startController}. */
  startController(flags: readonly string[] = []): Promise<ControllerProcess> {
    return this.#parts.installation.startController(flags);
  }

  /** The containers that run as processes. */
  containers(): readonly ContainerPid[] {
    return this.#parts.runtime.containers();
  }

  /** SIGKILL. The container starts again as its back-off says. */
  killContainer(namespace: string, pod: string, container: string): void {
    this.#parts.runtime.kill(namespace, pod, container);
  }

  /** SIGKILL, now and until `heal`: the container does not start again before, in this pod. */
  holdContainer(namespace: string, pod: string, container: string): void {
    this.nodes.containerFault(namespace, pod, container, 'dead');
  }

  heal(namespace: string, pod: string): void {
    this.nodes.heal(namespace, pod);
  }

  /** Leaves nothing in the volume of a claim. A pod that starts on it clones. */
  emptyVolume(namespace: string, claim: string): Promise<void> {
    return this.#parts.runtime.emptyClaim(namespace, claim);
  }

  /** The directory behind a claim. */
  claimDirectory(namespace: string, claim: string): string {
    return this.#parts.runtime.claimDirectory(namespace, claim);
  }

  /** Path of the log of a container of the newest pod of that name. It stays until the bed is closed. */
  containerLog(namespace: string, pod: string, container: string): string {
    return this.#parts.runtime.logFile(namespace, pod, container);
  }

  /** Ends every process, removes every directory. */
  async close(): Promise<void> {
    await closeAll(this.#closers);
  }
}
