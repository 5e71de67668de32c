import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AuditEvent, AuditLog } from './audit-log.ts';
import { type AuditSettings, auditDefaults, auditPolicy, markerPath } from './audit-policy.ts';
import { type Binaries, controlPlaneBinaries } from './build.ts';
import { CertificateAuthority, type KeyPair, type Subject, writePrivateKey } from './certificates.ts';
import { freePort } from './free-port.ts';
import { Guard } from './guard.ts';
import { type KubeconfigContent, writeKubeconfig } from './kubeconfig.ts';
import { type PlainAnswer, plainRequest } from './plain-request.ts';
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  type ServerFiles,
  type ServerOptions,
} from './server-flags.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { until } from './until.ts';

export type { AuditEvent } from './audit-log.ts';

const run = promisify(execFile);
const readyDeadlineMilliseconds = 120_000;
const flushDeadlineMilliseconds = 10_000;
const tokenSeconds = 24 * 3600;
const portTries = 5;
const kubectlOutputBytes = 64 * 1024 * 1024;

export interface ControlPlaneOptions extends Partial<ServerOptions> {
  /** What the API server records; `false`: nothing. */
  readonly audit?: boolean | Partial<AuditSettings>;
  /**
   * Manifests (files or directories) that are applied before kube-controller-manager starts. CustomResourceDefinitions
   * belong here: its garbage collector looks for new kinds only every 30 s.
   */
  readonly manifests?: readonly string[];
  /** Told when a server ends by itself; standard error where it is left out. */
  readonly onUnexpectedExit?: (explanation: string) => void;
}

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Builds what is missing, then starts etcd, kube-apiserver and kube-controller-manager on loopback. Resolves once
 * `/readyz` says so. Everything is in one temporary directory and goes when this process does, even by kill -9.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await controlPlaneBinaries();
  const guard = new Guard();
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-control-plane-'));
  guard.remove(directory);
  const controlPlane = new ControlPlane(binaries, guard, directory, options);
  try {
    await controlPlane.start();
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
  return controlPlane;
}

/** A running etcd, kube-apiserver and kube-controller-manager. */
export class ControlPlane {
  readonly directory: string;
  readonly binaries: Binaries;
  readonly #guard: Guard;
  readonly #options: ControlPlaneOptions;
  readonly #adminToken = randomBytes(16).toString('hex');
  #authority: CertificateAuthority | null = null;
  #files: ServerFiles | null = null;
  #auditLog: AuditLog | null = null;
  #etcd: SupervisedProcess | null = null;
  #apiServer: SupervisedProcess | null = null;
  #controllerManager: SupervisedProcess | null = null;
  #kubeconfigs = 0;

  constructor(binaries: Binaries, guard: Guard, directory: string, options: ControlPlaneOptions) {
    this.binaries = binaries;
    this.#guard = guard;
    this.directory = directory;
    this.#options = options;
  }

  /** Such as `https://127.0.0.1:23456`. */
  get server(): string {
    return `https://127.0.0.1:${this.#startedFiles.apiServerPort}`;
  }

  /** Path of a kubeconfig of user `admin` in group `system:masters`. */
  get adminKubeconfig(): string {
    return join(this.directory, 'admin.kubeconfig');
  }

  /** Issues further certificates, for a webhook say. */
  get certificates(): { issue(subject: string | Subject, alternativeNames?: readonly string[]): Promise<KeyPair> } {
    return this.#startedAuthority;
  }

  /** PEM of the authority behind every certificate here. A webhook's `caBundle` is the base64 of it. */
  get caBundle(): string {
    return this.#startedAuthority.bundle;
  }

  get pids(): { etcd: number | undefined; apiServer: number | undefined; controllerManager: number | undefined } {
    return { etcd: this.#etcd?.pid, apiServer: this.#apiServer?.pid, controllerManager: this.#controllerManager?.pid };
  }

  get #startedAuthority(): CertificateAuthority {
    return this.#authority ?? notStarted();
  }

  get #startedFiles(): ServerFiles {
    return this.#files ?? notStarted();
  }

  get #serverOptions(): ServerOptions {
    const { featureGates = {}, runtimeConfig = {}, moreControllers = [], moreApiServerFlags = [] } = this.#options;
    return { featureGates, runtimeConfig, moreControllers, moreApiServerFlags };
  }

  /** Once, by {@link startControlPlane}. */
  async start(): Promise<void> {
    await this.#prepare();
    await this.#startOnFreePort('etcdPort', () => this.#startEtcd());
    await this.#startOnFreePort('apiServerPort', () => this.startApiServer());
    await writeKubeconfig(this.adminKubeconfig, {
      server: this.server,
      authority: this.caBundle,
      credentials: { token: this.#adminToken },
    });
    await this.apply(...(this.#options.manifests ?? []));
    await this.startControllerManager();
  }

  /** A kubeconfig (path) that speaks as a ServiceAccount, with a token from the TokenRequest API: its RBAC is real. */
  async kubeconfigFor({ namespace, name }: ServiceAccountName): Promise<string> {
    const answer = await this.#request(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
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
    return this.#writeKubeconfig({ token: status.token }, namespace);
  }

  /**
   * A kubeconfig (path) that speaks as a user by a client certificate, so that the API server's record tells the
   * stand-ins apart.
   *
   * @param groups `system:masters` may do everything
   */
  async kubeconfigForUser(name: string, groups: readonly string[] = ['system:masters']): Promise<string> {
    const { certificate, key } = await this.#startedAuthority.issue({ commonName: name, organizations: groups });
    return this.#writeKubeconfig({ certificate, key });
  }

  /** Runs kubectl as admin. Resolves to its standard output; throws with its standard error. */
  async kubectl(...flags: readonly string[]): Promise<string> {
    try {
      const { stdout } = await run(this.binaries.kubectl, ['--kubeconfig', this.adminKubeconfig, ...flags], {
        maxBuffer: kubectlOutputBytes,
        env: { ...process.env, HOME: this.directory, KUBECONFIG: this.adminKubeconfig },
      });
      return stdout;
    } catch (error) {
      const output = (error as { stderr?: string }).stderr ?? String(error);
      throw new Error(`kubectl ${flags.join(' ')} failed: ${output.trim()}`, { cause: error });
    }
  }

  /** Applies manifests (files or directories) and waits until the API server serves every kind that they define. */
  async apply(...paths: readonly string[]): Promise<void> {
    if (paths.length === 0) {
      return;
    }
    const applied = await this.kubectl(
      'apply',
      '--server-side',
      '-o',
      'name',
      ...paths.flatMap((path) => ['-f', path]),
    );
    const definitions = applied.split('\n').filter((name) => name.startsWith('customresourcedefinition'));
    if (definitions.length > 0) {
      await this.kubectl('wait', '--for=condition=Established', '--timeout=60s', ...definitions);
    }
  }

  /**
   * The API server's own record of requests, in the order in which it finished them. Everything that was answered
   * before this call is in it.
   */
  async audit(): Promise<readonly AuditEvent[]> {
    const log = this.#auditLog;
    if (log === null) {
      throw new Error('Expected a control plane with an audit log, got one that was started with audit: false');
    }
    // A record is written as a request ends, which can be a moment after its answer arrived. A request of our own,
    // made now, that is in the log already shows that the earlier ones are.
    const marker = `${markerPath}/${randomBytes(8).toString('hex')}`;
    await this.#request(marker);
    return until(
      async () => {
        const events = await log.read();
        const end = events.findIndex(({ requestURI }) => requestURI === marker);
        return end === -1
          ? undefined
          : events.slice(0, end).filter((event) => !event.requestURI.startsWith(markerPath));
      },
      flushDeadlineMilliseconds,
      () => `Expected the API server's audit log to show ${marker} within ${flushDeadlineMilliseconds} ms, it did not`,
    );
  }

  async killApiServer(): Promise<void> {
    await this.#apiServer?.stop();
    this.#apiServer = null;
  }

  /** On the same port as before. Resolves once it is ready. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== null && this.#apiServer.ended === null) {
      throw new Error('Expected no API server running before starting one, got one that runs');
    }
    const apiServer = this.#spawn('kube-apiserver', apiServerFlags(this.#startedFiles, this.#serverOptions));
    this.#apiServer = apiServer;
    await this.#untilReady('kube-apiserver', apiServer, () => this.#request('/readyz'));
  }

  async restartApiServer(): Promise<void> {
    await this.killApiServer();
    await this.startApiServer();
  }

  async killControllerManager(): Promise<void> {
    await this.#controllerManager?.stop();
    this.#controllerManager = null;
  }

  /** Has no readiness to wait for: whatever it does is seen only by waiting for its effect. */
  async startControllerManager(): Promise<void> {
    const files = this.#startedFiles;
    const { certificate, key } = await this.#startedAuthority.issue({
      commonName: 'system:kube-controller-manager',
      organizations: ['system:masters'],
    });
    await writeKubeconfig(files.controllerManagerKubeconfig, {
      server: this.server,
      authority: this.caBundle,
      credentials: { certificate, key },
    });
    this.#controllerManager = this.#spawn(
      'kube-controller-manager',
      controllerManagerFlags(files, this.#serverOptions),
    );
    this.#watch(this.#controllerManager);
  }

  /** Kills by pid, waits for the ends, removes the directory. Calling it again is harmless. */
  async stop(): Promise<void> {
    await this.#controllerManager?.stop();
    await this.#apiServer?.stop();
    await this.#etcd?.stop();
    await rm(this.directory, { recursive: true, force: true });
    await this.#guard.close();
  }

  async #prepare(): Promise<void> {
    const path = (name: string): string => join(this.directory, name);
    const certificates = path('certificates');
    await mkdir(certificates);
    this.#authority = await CertificateAuthority.create(certificates);
    const serving = await this.#authority.issue('kube-apiserver', ['127.0.0.1', 'localhost']);
    const serviceAccountKey = join(certificates, 'service-account.key');
    await writePrivateKey(serviceAccountKey);
    await writeFile(path('tokens.csv'), `${this.#adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
    this.#files = {
      etcdData: path('etcd'),
      etcdPort: 0,
      apiServerPort: 0,
      authority: this.#authority.bundlePath,
      servingCertificate: serving.certificate,
      servingKey: serving.key,
      serviceAccountKey,
      tokens: path('tokens.csv'),
      controllerManagerKubeconfig: path('kube-controller-manager.kubeconfig'),
      audit: await this.#prepareAudit(),
    };
  }

  async #prepareAudit(): Promise<ServerFiles['audit']> {
    const wanted = this.#options.audit ?? true;
    if (wanted === false) {
      return null;
    }
    const policy = join(this.directory, 'audit-policy.json');
    const log = join(this.directory, 'audit.log');
    const settings = { ...auditDefaults, ...(wanted === true ? {} : wanted) };
    await writeFile(policy, JSON.stringify(auditPolicy(settings)));
    await writeFile(log, '', { mode: 0o600 });
    this.#auditLog = new AuditLog(log);
    return { policy, log };
  }

  /** A port that was free when asked for can be taken a moment later; then another one. */
  async #startOnFreePort(which: 'etcdPort' | 'apiServerPort', start: () => Promise<void>): Promise<void> {
    for (let tried = 1; ; tried++) {
      this.#files = { ...this.#startedFiles, [which]: await freePort() };
      try {
        await start();
        return;
      } catch (error) {
        if (tried === portTries || !String(error).includes('address already in use')) {
          throw error;
        }
      }
    }
  }

  async #startEtcd(): Promise<void> {
    const files = this.#startedFiles;
    const etcd = this.#spawn('etcd', etcdFlags(files));
    this.#etcd = etcd;
    await this.#untilReady('etcd', etcd, () => plainRequest({ url: `http://127.0.0.1:${files.etcdPort}/readyz` }));
  }

  #spawn(name: keyof Binaries, flags: readonly string[]): SupervisedProcess {
    return new SupervisedProcess({
      name,
      command: this.binaries[name],
      flags,
      logFile: join(this.directory, `${name}.log`),
      guard: this.#guard,
    });
  }

  async #untilReady(name: string, server: SupervisedProcess, ask: () => Promise<PlainAnswer>): Promise<void> {
    let last = 'no answer';
    await until(
      async () => {
        if (server.ended !== null) {
          throw new Error(server.explain(`${name} ended before it was ready (${server.ended})`));
        }
        try {
          const answer = await ask();
          last = `${answer.status} ${answer.body}`;
          return answer.status === 200 ? true : undefined;
        } catch (error) {
          last = String(error);
          return undefined;
        }
      },
      readyDeadlineMilliseconds,
      () => server.explain(`${name} was not ready within ${readyDeadlineMilliseconds} ms (last: ${last})`),
    );
    this.#watch(server);
  }

  #watch(server: SupervisedProcess): void {
    server.watch(this.#options.onUnexpectedExit ?? ((explanation) => process.stderr.write(`${explanation}\n`)));
  }

  #request(path: string, body?: unknown): Promise<PlainAnswer> {
    return plainRequest({
      url: `${this.server}${path}`,
      method: body === undefined ? 'GET' : 'POST',
      authority: this.caBundle,
      token: this.#adminToken,
      body,
    });
  }

  async #writeKubeconfig(credentials: KubeconfigContent['credentials'], namespace?: string): Promise<string> {
    const path = join(this.directory, `user-${this.#kubeconfigs++}.kubeconfig`);
    await writeKubeconfig(path, {
      server: this.server,
      authority: this.caBundle,
      credentials,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return path;
  }

  /** What a server has written so far, for whoever wants to know why. */
  log(name: Exclude<keyof Binaries, 'kubectl'>): Promise<string> {
    return readFile(join(this.directory, `${name}.log`), 'utf8');
  }
}

function notStarted(): never {
  throw new Error('Expected a control plane that has been started, got one that has not');
}
