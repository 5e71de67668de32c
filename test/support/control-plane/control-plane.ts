import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditedSoFar } from './audit-files.ts';
import type { AuditEvent } from './audit-log.ts';
import type { AuditSettings } from './audit-policy.ts';
import { leaveRights } from './audit-rights.ts';
import { type Binaries, controlPlaneBinaries } from './build.ts';
import type { KeyPair, Subject } from './certificates.ts';
import { Guard } from './guard.ts';
import { type KubeconfigContent, writeKubeconfig } from './kubeconfig.ts';
import { Kubectl } from './kubectl.ts';
import { type Preparation, prepare } from './preparation.ts';
import type { ServerOptions } from './server-flags.ts';
import { type ServerName, Servers } from './servers.ts';

export type { AuditEvent } from './audit-log.ts';

const tokenSeconds = 24 * 3600;

export interface ControlPlaneOptions extends Partial<ServerOptions> {
  /** What the API server records; `false`: nothing. */
  readonly audit?: boolean | Partial<AuditSettings>;
  /**
   * Manifests (files or directories) that are applied before kube-controller-manager starts. CustomResourceDefinitions
   * belong here: its garbage collector looks for new kinds only every 30 s.
   */
  readonly manifests?: readonly string[];
  /**
   * Whether a whole run of the tests takes what the ServiceAccount is refused here for what the program needs; the
   * default is yes. No: a test does with its token what the program does not.
   */
  readonly countsRefusals?: boolean;
  /** Called when a server ends by itself; the default writes to standard error. */
  readonly onUnexpectedExit?: (explanation: string) => void;
}

interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Builds missing programs, then starts etcd, kube-apiserver and kube-controller-manager on loopback. Resolves once
 * `/readyz` succeeds. Everything is in one temporary directory, which is removed when this process ends, even by kill
 * -9.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await controlPlaneBinaries();
  const { featureGates = {}, runtimeConfig = {}, moreControllers = [], moreApiServerFlags = [] } = options;
  const { serviceAccountAdmission = false } = options;
  const guard = new Guard();
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-control-plane-'));
  guard.remove(directory);
  const preparation = await prepare(directory, options.audit ?? true);
  const servers = new Servers({
    binaries,
    guard,
    directory,
    preparation,
    server: { featureGates, runtimeConfig, moreControllers, serviceAccountAdmission, moreApiServerFlags },
    onUnexpectedExit: options.onUnexpectedExit ?? ((explanation) => process.stderr.write(`${explanation}\n`)),
  });
  const controlPlane = new ControlPlane({
    binaries,
    guard,
    directory,
    preparation,
    servers,
    countsRefusals: options.countsRefusals ?? true,
  });
  try {
    await controlPlane.start(options.manifests ?? []);
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
  return controlPlane;
}

interface Parts {
  readonly binaries: Binaries;
  readonly guard: Guard;
  readonly directory: string;
  readonly preparation: Preparation;
  readonly servers: Servers;
  readonly countsRefusals: boolean;
}

/** A running etcd, kube-apiserver and kube-controller-manager, and the ways in. */
export class ControlPlane {
  /** Goes with the control plane. */
  readonly directory: string;
  readonly binaries: Binaries;
  readonly #guard: Guard;
  readonly #preparation: Preparation;
  readonly #servers: Servers;
  readonly #kubectl: Kubectl;
  readonly #countsRefusals: boolean;
  #kubeconfigs = 0;
  #rights: Promise<void> | null = null;

  constructor({ directory, binaries, guard, preparation, servers, countsRefusals }: Parts) {
    this.directory = directory;
    this.binaries = binaries;
    this.#guard = guard;
    this.#preparation = preparation;
    this.#servers = servers;
    this.#countsRefusals = countsRefusals;
    this.#kubectl = new Kubectl(binaries.kubectl, this.adminKubeconfig);
  }

  /** Such as `https://127.0.0.1:23456`. */
  get server(): string {
    return this.#servers.url;
  }

  /** Path of a kubeconfig of user `admin` in group `system:masters`. */
  get adminKubeconfig(): string {
    return join(this.directory, 'admin.kubeconfig');
  }

  /** Issues further certificates, such as for a webhook. */
  get certificates(): { issue(subject: string | Subject, alternativeNames?: readonly string[]): Promise<KeyPair> } {
    return this.#preparation.ca;
  }

  /** PEM of the authority behind every certificate here. A webhook's `caBundle` is the base64 of it. */
  get caBundle(): string {
    return this.#preparation.ca.bundle;
  }

  get pids(): Servers['pids'] {
    return this.#servers.pids;
  }

  /** Once, by {@link startControlPlane}. */
  async start(manifests: readonly string[]): Promise<void> {
    await this.#servers.startStorageAndApi();
    await this.#writeKubeconfig(this.adminKubeconfig, { token: this.#preparation.adminToken });
    await this.apply(...manifests);
    await this.#servers.startControllerManager();
  }

  /** A kubeconfig (path) that speaks as a ServiceAccount, with a token from the TokenRequest API: its RBAC is real. */
  async kubeconfigFor({ namespace, name }: ServiceAccountName): Promise<string> {
    const answer = await this.#servers.request(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: tokenSeconds },
    });
    if (answer.status !== 201) {
      throw new Error(
        `Expected a token for ServiceAccount ${namespace}/${name} (201), got ${answer.status}: ${answer.body}`,
      );
    }
    const { status } = JSON.parse(answer.body) as { status: { token: string } };
    return this.#writeKubeconfig(this.#nextKubeconfig(), { token: status.token }, namespace);
  }

  /**
   * A kubeconfig (path) that speaks as a user by a client certificate, so that the API server's record tells the
   * stand-ins apart.
   *
   * @param groups `system:masters` may do everything
   */
  async kubeconfigForUser(name: string, groups: readonly string[] = ['system:masters']): Promise<string> {
    const keyPair = await this.#preparation.ca.issue({ commonName: name, organizations: groups });
    return this.#writeKubeconfig(this.#nextKubeconfig(), keyPair);
  }

  /** Runs kubectl as admin. Resolves to its standard output; throws with its standard error. */
  kubectl(...flags: readonly string[]): Promise<string> {
    return this.#kubectl.run(...flags);
  }

  /** The path of a new file of these objects, for kubectl's `-f`. */
  async fileOf(...objects: readonly object[]): Promise<string> {
    const file = join(this.directory, `objects-${randomUUID()}.yaml`);
    await writeFile(file, objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n'));
    return file;
  }

  /** See {@link Kubectl.apply}. */
  apply(...paths: readonly string[]): Promise<void> {
    return this.#kubectl.apply(...paths);
  }

  /** The API server's own record, see {@link auditedSoFar}. */
  async audit(): Promise<readonly AuditEvent[]> {
    const log = this.#preparation.auditLog;
    if (log === null) {
      throw new Error('Expected a control plane with an audit log, got one that was started with audit: false');
    }
    return auditedSoFar(log, (path) => this.#servers.request(path));
  }

  killApiServer(): Promise<void> {
    return this.#servers.killApiServer();
  }

  /** On the same port as before. Resolves once it is ready. */
  startApiServer(): Promise<void> {
    return this.#servers.startApiServer();
  }

  async restartApiServer(): Promise<void> {
    await this.killApiServer();
    await this.startApiServer();
  }

  /**
   * Compacts etcd to the current revision, as the API server does every five minutes. A running API server still serves
   * its watch cache; one that starts afterwards answers 410 to watches from earlier revisions.
   */
  compactEtcd(): Promise<number> {
    return this.#servers.compactEtcd();
  }

  killControllerManager(): Promise<void> {
    return this.#servers.killControllerManager();
  }

  /** Has no readiness to wait for: whatever it does is seen only by waiting for its effect. */
  startControllerManager(): Promise<void> {
    return this.#servers.startControllerManager();
  }

  /** The output of a server so far, for diagnosis. */
  log(name: ServerName): Promise<string> {
    return readFile(join(this.directory, `${name}.log`), 'utf8');
  }

  /** Kills by pid, waits for the ends, removes the directory. Calling it again is harmless. */
  async stop(): Promise<void> {
    await this.#servers.stop();
    await (this.#rights ??= leaveRights(this.#preparation.files.audit?.log, { refusals: this.#countsRefusals }));
    await rm(this.directory, { recursive: true, force: true });
    await this.#guard.close();
  }

  #nextKubeconfig(): string {
    return join(this.directory, `user-${this.#kubeconfigs++}.kubeconfig`);
  }

  async #writeKubeconfig(
    path: string,
    credentials: KubeconfigContent['credentials'],
    namespace?: string,
  ): Promise<string> {
    const content = { server: this.server, ca: this.caBundle, credentials };
    await writeKubeconfig(path, namespace === undefined ? content : { ...content, namespace });
    return path;
  }
}
