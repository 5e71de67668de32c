import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { CertificateAuthority } from '../control-plane/certificates.ts';
import type { Guard } from '../control-plane/guard.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import type { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { addresses, apiServerUrl, nodeAddress } from './addresses.ts';
import { makeCgroup, removeCgroups } from './cgroups.ts';
import { Namespaces } from './namespaces.ts';
import {
  attachNode,
  cutOffFromApiServer,
  cutOffPods,
  reconnectPods,
  reconnectToApiServer,
  setRate,
} from './network.ts';
import { containerdConfiguration, kubeletConfiguration, podNetwork, registries } from './node-files.ts';
import type { ClusterPrograms } from './programs.ts';

const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface NodeOptions {
  /** From 1. */
  readonly number: number;
  /** Of the cluster. */
  readonly directory: string;
  /** Of the cluster, unique on this machine. */
  readonly id: string;
  readonly programs: ClusterPrograms;
  readonly ca: CertificateAuthority;
  readonly guard: Guard;
  readonly controlPlane: Namespaces;
}

type ServerName = 'containerd' | 'kubelet' | 'kube-proxy';

/** A machine with containerd, kubelet and kube-proxy, which can lose its power, its network and its kubelet. */
export class ClusterNode {
  readonly name: string;
  /** What it keeps while it is off. */
  readonly directory: string;
  readonly #options: NodeOptions;
  readonly #cgroup: string;
  readonly #servers = new Map<ServerName, SupervisedProcess>();
  #namespaces: Namespaces | null = null;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = `node-${options.number}`;
    this.directory = join(options.directory, this.name);
    this.#cgroup = `${options.id}-${this.name}`;
  }

  get address(): string {
    return nodeAddress(this.#options.number);
  }

  get isOn(): boolean {
    return this.#namespaces !== null;
  }

  /** The namespaces that it runs in. Throws while it is off. */
  get namespaces(): Namespaces {
    if (this.#namespaces === null) throw new Error(`Expected ${this.name} to be on, it is off`);
    return this.#namespaces;
  }

  /** Switches it on, up to a containerd that answers. */
  async powerOn(): Promise<void> {
    if (this.#namespaces !== null) throw new Error(`Expected ${this.name} to be off before it starts, it is on`);
    const { number, programs, guard, controlPlane } = this.#options;
    await makeCgroup(this.#cgroup);
    await this.#writeFiles();
    const { directory } = this;
    const nameServer = addresses.controlPlane;
    const namespaces = await Namespaces.open({ directory, hostname: this.name, nameServer, guard });
    this.#namespaces = namespaces;
    await attachNode(controlPlane, namespaces, number);
    const PATH = [programs.directory, systemPath].join(delimiter);
    const containerd = this.#start('containerd', ['--config', join(directory, 'containerd.toml')], { PATH });
    await containerd.untilReady(() => this.ctr('version').then(() => true));
  }

  /** kubelet and kube-proxy, which want an API server. */
  startServices(): void {
    this.startKubelet();
    const kubeconfig = join(this.directory, 'kube-proxy.kubeconfig');
    this.#start('kube-proxy', kubeProxyFlags(kubeconfig, this.name));
  }

  /** Switches it on and joins the cluster. */
  async start(): Promise<void> {
    await this.powerOn();
    this.startServices();
  }

  /** At once: every process is killed. Its disk stays. */
  async powerOff(): Promise<void> {
    const { namespaces } = this;
    this.#namespaces = null;
    const stopped = [...this.#servers.values()].map((server) => server.stop());
    this.#servers.clear();
    await namespaces.close();
    await Promise.all(stopped);
    await removeCgroups(this.#cgroup);
  }

  /** Kills it. Containers go on. */
  async stopKubelet(): Promise<void> {
    await this.#servers.get('kubelet')?.stop();
    this.#servers.delete('kubelet');
  }

  startKubelet(): void {
    this.#start('kubelet', [
      '--config',
      join(this.directory, 'kubelet.yaml'),
      '--kubeconfig',
      join(this.directory, 'kubelet.kubeconfig'),
      '--root-dir',
      join(this.directory, 'kubelet'),
      '--node-ip',
      this.address,
      '--v',
      '2',
    ]);
  }

  /** Neither it nor its pods reach the API server, and it does not reach them. Everything else does. */
  cutOff(): Promise<void> {
    return cutOffFromApiServer(this.namespaces);
  }

  reconnect(): Promise<void> {
    return reconnectToApiServer(this.namespaces);
  }

  /** Nobody outside reaches its pods, nor do they reach anybody. The kubelet goes on, so they stay Ready. */
  cutOffPods(): Promise<void> {
    return cutOffPods(this.namespaces, this.#options.number);
  }

  reconnectPods(): Promise<void> {
    return reconnectPods(this.namespaces);
  }

  /** What comes from elsewhere comes at that rate; `null`: as fast as it can. */
  limitCable(bytesPerSecond: number | null): Promise<void> {
    return setRate(this.#options.controlPlane, this.#options.number, bytesPerSecond);
  }

  /** Makes an image of an archive known here, so that nothing has to be pulled. */
  async importImage(archive: string): Promise<void> {
    await this.ctr('images', 'import', archive);
  }

  /** With all its layers that no other image has: the kubelet's containerd keeps an image under other names as well. */
  async removeImage(image: string): Promise<void> {
    const [, ...lines] = (await this.ctr('images', 'list')).trim().split('\n');
    const images = lines.map((line) => line.split(/\s+/));
    const digest = images.find(([name]) => name === image)?.[2];
    const names = images.flatMap(([name = '', , of]) => (of === digest ? [name] : []));
    if (names.length > 0) await this.ctr('images', 'remove', '--sync', ...names);
  }

  /** containerd's own tool, in the namespace of Kubernetes' containers. Resolves to its output. */
  ctr(...flags: readonly string[]): Promise<string> {
    return this.namespaces.run(this.#options.programs.ctr, '--namespace', 'k8s.io', ...flags);
  }

  #start(name: ServerName, flags: readonly string[], environment: NodeJS.ProcessEnv = {}): SupervisedProcess {
    const server = this.namespaces.start(name, this.#options.programs[name], flags, environment);
    server.watch((explanation) => process.stderr.write(`${this.name}: ${explanation}\n`));
    this.#servers.set(name, server);
    return server;
  }

  async #writeFiles(): Promise<void> {
    const { directory } = this;
    const { number, ca, programs } = this.#options;
    for (const name of ['cni', registries]) await mkdir(join(directory, name), { recursive: true });
    const write = (name: string, content: string): Promise<void> => writeFile(join(directory, name), content);
    await write('containerd.toml', containerdConfiguration(directory, programs.directory));
    await write('cni/10-pods.conflist', podNetwork(number));
    await write('kubelet.yaml', kubeletConfiguration({ directory, ca: ca.bundlePath, cgroup: this.#cgroup }));
    const kubelet = { commonName: `system:node:${this.name}`, organizations: ['system:nodes'] };
    const proxy = { commonName: 'system:kube-proxy' };
    for (const [name, subject] of Object.entries({ kubelet, 'kube-proxy': proxy })) {
      const content = { server: apiServerUrl, ca: ca.bundle, credentials: await ca.issue(subject) };
      await writeKubeconfig(join(directory, `${name}.kubeconfig`), content);
    }
  }
}

/** @param node one that exists: kube-proxy waits for its object */
export function kubeProxyFlags(kubeconfig: string, node: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${node}`,
    '--proxy-mode=nftables',
    `--cluster-cidr=${addresses.pods}`,
    // That limit is the whole machine's.
    '--conntrack-max-per-core=0',
    '--v=2',
  ];
}
