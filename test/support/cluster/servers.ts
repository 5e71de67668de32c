import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority, writePrivateKey } from '../control-plane/certificates.ts';
import type { Guard } from '../control-plane/guard.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { isOk, plainRequest } from '../control-plane/plain-request.ts';
import type { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { addresses, apiServerUrl } from './addresses.ts';
import { Namespaces } from './namespaces.ts';
import { openBridge } from './network.ts';
import { kubeProxyFlags } from './node.ts';
import type { ClusterPrograms } from './programs.ts';

const etcdUrl = 'http://127.0.0.1:2379';
const masters = ['system:masters'];

export interface ServersOptions {
  /** Of the cluster. */
  readonly directory: string;
  readonly programs: ClusterPrograms;
  readonly guard: Guard;
  readonly apiServerFlags: readonly string[];
  readonly controllerManagerFlags: readonly string[];
}

type ServerName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kube-proxy' | 'coredns';

/** etcd, the API server, the controller manager, the scheduler and CoreDNS, on a machine of their own beside the nodes. */
export class ClusterServers {
  readonly ca: CertificateAuthority;
  readonly namespaces: Namespaces;
  /** Of user `admin` in group `system:masters`. */
  readonly adminToken = randomBytes(16).toString('hex');
  readonly #directory: string;
  readonly #options: ServersOptions;
  readonly #servers = new Map<ServerName, SupervisedProcess>();

  private constructor(options: ServersOptions, ca: CertificateAuthority, namespaces: Namespaces) {
    this.#options = options;
    this.#directory = directoryIn(options);
    this.ca = ca;
    this.namespaces = namespaces;
  }

  /** The machine and its network; no server yet. */
  static async open(options: ServersOptions): Promise<ClusterServers> {
    const directory = directoryIn(options);
    const certificates = join(directory, 'certificates');
    await mkdir(certificates, { recursive: true });
    const ca = await CertificateAuthority.create(certificates);
    const nameServer = addresses.controlPlane;
    const { guard } = options;
    const namespaces = await Namespaces.open({ directory, hostname: 'control-plane', nameServer, guard });
    await openBridge(namespaces);
    return new ClusterServers(options, ca, namespaces);
  }

  /**
   * @param apiServer the API server's address as this process reaches it, such as `https://127.0.0.1:12345`
   * @param node one that will exist, under whose name the API server's kube-proxy runs
   */
  async start(apiServer: string, node: string): Promise<void> {
    this.#start('etcd', [
      `--data-dir=${join(this.#directory, 'etcd')}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ]);
    await this.#startApiServer(apiServer);
    const kubeconfigs = await this.#writeKubeconfigs();
    this.#start('kube-controller-manager', [
      `--kubeconfig=${kubeconfigs['kube-controller-manager']}`,
      '--leader-elect=false',
      `--root-ca-file=${this.ca.bundlePath}`,
      `--service-account-private-key-file=${this.#serviceAccountKey}`,
      '--use-service-account-credentials=true',
      // It makes its default, outside of the cluster's directory.
      `--flex-volume-plugin-dir=${join(this.#directory, 'volume-plugins')}`,
      '--bind-address=127.0.0.1',
      ...this.#options.controllerManagerFlags,
    ]);
    this.#start('kube-scheduler', [
      `--kubeconfig=${kubeconfigs['kube-scheduler']}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
    ]);
    // The API server calls webhooks by their Services.
    this.#start('kube-proxy', kubeProxyFlags(kubeconfigs['kube-proxy'], node));
    this.#start('coredns', ['-conf', await this.#writeCorefile(kubeconfigs.coredns)]);
  }

  async close(): Promise<void> {
    const stopped = [...this.#servers.values()].map((server) => server.stop());
    await this.namespaces.close();
    await Promise.all(stopped);
  }

  get #serviceAccountKey(): string {
    return join(this.#directory, 'certificates', 'service-account.key');
  }

  async #startApiServer(url: string): Promise<void> {
    const { controlPlane, kubernetesService, apiServerPort, services } = addresses;
    const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
    const serving = await this.ca.issue('kube-apiserver', ['127.0.0.1', controlPlane, kubernetesService, ...names]);
    const toKubelets = await this.ca.issue({ commonName: 'kube-apiserver-kubelet-client', organizations: masters });
    await writePrivateKey(this.#serviceAccountKey);
    const tokens = join(this.#directory, 'tokens.csv');
    await writeFile(tokens, `${this.adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
    const server = this.#start('kube-apiserver', [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=0.0.0.0',
      `--advertise-address=${controlPlane}`,
      `--secure-port=${apiServerPort}`,
      `--tls-cert-file=${serving.certificate}`,
      `--tls-private-key-file=${serving.key}`,
      `--client-ca-file=${this.ca.bundlePath}`,
      `--kubelet-client-certificate=${toKubelets.certificate}`,
      `--kubelet-client-key=${toKubelets.key}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--token-auth-file=${tokens}`,
      `--service-account-key-file=${this.#serviceAccountKey}`,
      `--service-account-signing-key-file=${this.#serviceAccountKey}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-cluster-ip-range=${services}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      ...this.#options.apiServerFlags,
    ]);
    await server.untilReady(async () =>
      isOk(await plainRequest({ url: `${url}/readyz`, ca: this.ca.bundle, token: this.adminToken })),
    );
  }

  async #writeKubeconfigs(): Promise<
    Record<'kube-controller-manager' | 'kube-scheduler' | 'kube-proxy' | 'coredns', string>
  > {
    const write = async (name: string, organizations: readonly string[] = []): Promise<string> => {
      const credentials = await this.ca.issue({ commonName: `system:${name}`, organizations });
      const path = join(this.#directory, `${name}.kubeconfig`);
      await writeKubeconfig(path, { server: apiServerUrl, ca: this.ca.bundle, credentials });
      return path;
    };
    return {
      'kube-controller-manager': await write('kube-controller-manager'),
      'kube-scheduler': await write('kube-scheduler'),
      'kube-proxy': await write('kube-proxy'),
      // Kubernetes has no role of its own for it.
      coredns: await write('coredns', masters),
    };
  }

  async #writeCorefile(kubeconfig: string): Promise<string> {
    const path = join(this.#directory, 'Corefile');
    const zones = 'cluster.local in-addr.arpa';
    const blocks = [
      `bind ${addresses.controlPlane}`,
      'errors',
      `kubernetes ${zones} {`,
      `kubeconfig ${kubeconfig}`,
      'ttl 5',
      '}',
    ];
    await writeFile(path, `.:53 {\n${blocks.join('\n')}\n}\n`);
    return path;
  }

  #start(name: ServerName, flags: readonly string[]): SupervisedProcess {
    const server = this.namespaces.start(name, this.#options.programs[name], flags);
    server.watch((explanation) => process.stderr.write(`${explanation}\n`));
    this.#servers.set(name, server);
    return server;
  }
}

function directoryIn({ directory }: ServersOptions): string {
  return join(directory, 'control-plane');
}
