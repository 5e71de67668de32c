import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { auditedSoFar, auditFlags, prepareAudit } from '../control-plane/audit-files.ts';
import { type AuditEvent, AuditLog } from '../control-plane/audit-log.ts';
import { auditDefaults, auditPolicy } from '../control-plane/audit-policy.ts';
import type { KeyPair, Subject } from '../control-plane/certificates.ts';
import { Guard } from '../control-plane/guard.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { Kubectl } from '../control-plane/kubectl.ts';
import { plainRequest } from '../control-plane/plain-request.ts';
import { until } from '../control-plane/until.ts';
import { patienceMilliseconds } from '../patience.ts';
import { addresses, mostNodes } from './addresses.ts';
import { Forwards } from './forwards.ts';
import { writeImageArchive } from './image-archive.ts';
import { localVolumes } from './local-volumes.ts';
import { ClusterNode } from './node.ts';
import { pauseImage } from './node-files.ts';
import { type ClusterPrograms, clusterPrograms } from './programs.ts';
import { forget, forgetTheDead, record } from './records.ts';
import { Unavailable, whatClusterLacks } from './requirements.ts';
import { ClusterServers } from './servers.ts';
import { sharedStorageClass, storageClass } from './volume-steps.ts';

export interface ClusterOptions {
  /** How many, 3 by default. */
  readonly nodes?: number;
  /** Paths of image archives that every node knows from its start. */
  readonly images?: readonly string[];
  readonly apiServerFlags?: readonly string[];
  /** The API server records every request, for {@link Cluster.audit}. */
  readonly audit?: boolean;
  readonly controllerManagerFlags?: readonly string[];
  /** The directory for which `make cluster` starts it. */
  readonly openedIn?: string;
}

const prefix = 'moco-rollout-cluster-';

/** Path of the kubeconfig of the cluster in a directory. */
export function kubeconfigIn(directory: string): string {
  return join(directory, 'admin.kubeconfig');
}

/**
 * Builds missing programs, then starts a whole Kubernetes on this machine, in namespaces of its own. Resolves once every
 * node is ready. It ends with this process, even by kill -9; what is left on disk then, the next start removes. Throws
 * {@link Unavailable} where it can't run.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { nodes: count = 3, images = [], openedIn = null } = options;
  const { apiServerFlags = [], controllerManagerFlags = [], audit = false } = options;
  if (!Number.isInteger(count) || count < 1 || count > mostNodes) {
    throw new Error(`Expected from 1 to ${mostNodes} nodes, got ${count}`);
  }
  const lacking = await whatClusterLacks();
  if (lacking !== null) throw new Unavailable(lacking);
  const programs = await clusterPrograms();
  await forgetTheDead();
  const directory = await mkdtemp(join(tmpdir(), prefix));
  const id = basename(directory);
  await record(id, { directory, openedIn });
  const guard = new Guard();
  const cluster = new Cluster(id, directory, programs, guard);
  try {
    await cluster.start({ count, images, apiServerFlags, controllerManagerFlags, audit });
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

interface StartOptions {
  readonly count: number;
  readonly images: readonly string[];
  readonly apiServerFlags: readonly string[];
  readonly controllerManagerFlags: readonly string[];
  readonly audit: boolean;
}

/** A running cluster, and the ways in. */
export class Cluster {
  /** Unique on this machine. */
  readonly id: string;
  /** Goes with the cluster. */
  readonly directory: string;
  readonly programs: ClusterPrograms;
  readonly #guard: Guard;
  readonly #kubectl: Kubectl;
  readonly #nodes: ClusterNode[] = [];
  #servers: ClusterServers | null = null;
  #forwards: Forwards | null = null;
  #stopped: Promise<void> | null = null;
  #volumes: ReturnType<typeof localVolumes> | null = null;
  /** Of the API server, as this process reaches it. */
  #url = '';
  #auditLog: AuditLog | null = null;

  constructor(id: string, directory: string, programs: ClusterPrograms, guard: Guard) {
    this.id = id;
    this.directory = directory;
    this.programs = programs;
    this.#guard = guard;
    this.#kubectl = new Kubectl(programs.kubectl, this.kubeconfig);
  }

  /** Path of a kubeconfig of user `admin` in group `system:masters`, for this machine's own network. */
  get kubeconfig(): string {
    return kubeconfigIn(this.directory);
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  /** @param number from 1 */
  node(number: number): ClusterNode {
    const node = this.#nodes[number - 1];
    if (node === undefined) throw new Error(`Expected a node from 1 to ${this.#nodes.length}, got ${number}`);
    return node;
  }

  /** PEM of the authority behind every certificate here. A webhook's `caBundle` is the base64 of it. */
  get caBundle(): string {
    return this.servers.ca.bundle;
  }

  get servers(): ClusterServers {
    if (this.#servers === null) throw new Error('Expected a cluster that runs, got one that has not started');
    return this.#servers;
  }

  /** Paths of a certificate and its key, such as cert-manager would make. */
  issue(subject: string | Subject, alternativeNames: readonly string[] = []): Promise<KeyPair> {
    return this.servers.ca.issue(subject, alternativeNames);
  }

  /** Once, by {@link startCluster}. */
  async start({ count, images, apiServerFlags, controllerManagerFlags, audit }: StartOptions): Promise<void> {
    const { directory, programs, id } = this;
    const guard = this.#guard;
    const flags = [...apiServerFlags, ...(audit ? await this.#prepareAudit() : [])];
    const options = { directory, programs, guard, apiServerFlags: flags, controllerManagerFlags };
    const servers = await ClusterServers.open(options);
    this.#servers = servers;
    const { ca, namespaces: controlPlane } = servers;
    for (let number = 1; number <= count; number++) {
      this.#nodes.push(new ClusterNode({ number, directory, id, programs, ca, guard, controlPlane }));
    }
    this.#forwards = new Forwards(controlPlane);
    const port = await this.#forwards.open(addresses.controlPlane, addresses.apiServerPort);
    const server = `https://127.0.0.1:${port}`;
    this.#url = server;
    await writeKubeconfig(this.kubeconfig, { server, ca: ca.bundle, credentials: { token: servers.adminToken } });
    const pause = await this.#pauseArchive();
    const powered = this.#nodes.map(async (node) => {
      await node.powerOn();
      await node.importImage(pause);
      return node;
    });
    const serve = async (): Promise<void> => {
      await Promise.all([servers.start(server, this.node(1).name), ...powered]);
      for (const node of this.#nodes) node.startServices();
      await this.#startVolumes();
      await this.#untilNodesAreReady();
    };
    // No pod needs the images before all of this is over.
    const importInto = async (on: Promise<ClusterNode>): Promise<void> => {
      const node = await on;
      for (const archive of images) await node.importImage(archive);
    };
    await Promise.all([serve(), ...powered.map(importInto)]);
  }

  /** Runs kubectl as admin. Resolves to its standard output; throws with its standard error. */
  kubectl(...flags: readonly string[]): Promise<string> {
    return this.#kubectl.run(...flags);
  }

  /** See {@link Kubectl.apply}. */
  apply(...paths: readonly string[]): Promise<void> {
    return this.#kubectl.apply(...paths);
  }

  /** The API server's own record, see {@link auditedSoFar}. */
  audit(): Promise<readonly AuditEvent[]> {
    const log = this.#auditLog;
    if (log === null) throw new Error('Expected a cluster that was started with audit: true, got one without');
    const { bundle: ca } = this.servers.ca;
    const { adminToken: token } = this.servers;
    return auditedSoFar(log, (path) => plainRequest({ url: `${this.#url}${path}`, ca, token }));
  }

  /** Makes an image of an archive known to some nodes, by default to all. */
  async importImage(archive: string, nodes: readonly ClusterNode[] = this.#nodes): Promise<void> {
    await Promise.all(nodes.map((node) => node.importImage(archive)));
  }

  /** A port on 127.0.0.1 that leads to an address in the cluster, such as that of a Service. */
  async forward(host: string, port: number): Promise<number> {
    if (this.#forwards === null) throw new Error('Expected a cluster that runs, got one that has not started');
    return this.#forwards.open(host, port);
  }

  /** What a command has to begin with to run in the cluster's network, where Services and pods have their addresses. */
  get network(): readonly [string, ...string[]] {
    return this.servers.namespaces.network;
  }

  /** Ends every process, removes everything. Calling it again is harmless. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await this.#volumes?.stop();
    const nodes = await Promise.allSettled(this.#nodes.filter(({ isOn }) => isOn).map((node) => node.powerOff()));
    await this.#servers?.close();
    await this.#forwards?.close();
    await this.#guard.close();
    await forget(this);
    // Only now: whatever a node has left is gone with the rest.
    for (const node of nodes) if (node.status === 'rejected') throw node.reason;
  }

  async #prepareAudit(): Promise<readonly string[]> {
    const files = await prepareAudit(this.directory, auditPolicy(auditDefaults));
    this.#auditLog = new AuditLog(files.log);
    return auditFlags(files);
  }

  async #startVolumes(): Promise<void> {
    const file = join(this.directory, 'storage-classes.json');
    const items = [storageClass, sharedStorageClass];
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await this.apply(file);
    this.#volumes = localVolumes(this.kubeconfig, (name) => join(this.directory, name));
    await this.#volumes.start();
  }

  async #untilNodesAreReady(): Promise<void> {
    // kubectl waits for no object that isn't there yet.
    const names = [...this.#nodes.map(({ name }) => `node/${name}`), 'serviceaccount/default'];
    const areThere = (): Promise<boolean> =>
      this.kubectl('get', '--namespace=default', ...names).then(
        () => true,
        () => false,
      );
    await until(`there are ${names.join(', ')}`, areThere, {
      got: () => `the logs in ${this.directory}`,
    });
    const nodes = names.filter((name) => name.startsWith('node/'));
    await this.kubectl('wait', '--for=condition=Ready', `--timeout=${patienceMilliseconds}ms`, ...nodes);
  }

  async #pauseArchive(): Promise<string> {
    const root = join(this.directory, 'pause');
    await mkdir(root);
    await copyFile(this.programs.pause, join(root, 'pause'));
    const archive = join(this.directory, 'pause.tar');
    await writeImageArchive({ layers: [root], names: [pauseImage], config: { Entrypoint: ['/pause'] }, archive });
    return archive;
  }
}
