import { join } from 'node:path';
import type { Binaries } from './build.ts';
import { freePort } from './free-port.ts';
import type { Guard } from './guard.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { isOk, type PlainAnswer, plainRequest } from './plain-request.ts';
import type { Preparation } from './preparation.ts';
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  type ServerFiles,
  type ServerOptions,
} from './server-flags.ts';
import { SupervisedProcess } from './supervised-process.ts';

const portTries = 5;
/** Four times as much as by default: a server that lives for minutes had better spend memory than processor time. */
const garbagePercent = '400';

export type ServerName = Exclude<keyof Binaries, 'kubectl'>;

export interface ServersOptions {
  readonly binaries: Binaries;
  readonly guard: Guard;
  readonly directory: string;
  readonly preparation: Preparation;
  readonly server: ServerOptions;
  readonly onUnexpectedExit: (explanation: string) => void;
}

/** The three processes: their starts, their readiness, their ends. */
export class Servers {
  readonly #options: ServersOptions;
  #files: ServerFiles;
  #etcd: SupervisedProcess | null = null;
  #apiServer: SupervisedProcess | null = null;
  #controllerManager: SupervisedProcess | null = null;
  #apiServerServes = false;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#files = options.preparation.files;
  }

  get pids(): { etcd: number | undefined; apiServer: number | undefined; controllerManager: number | undefined } {
    return { etcd: this.#etcd?.pid, apiServer: this.#apiServer?.pid, controllerManager: this.#controllerManager?.pid };
  }

  /** Such as `https://127.0.0.1:23456`. */
  get url(): string {
    return `https://127.0.0.1:${this.#files.apiServerPort}`;
  }

  /** etcd and an API server, on free ports. */
  async startStorageAndApi(): Promise<void> {
    await this.#startOnFreePort('etcdPort', () => this.#startEtcd());
    await this.#startOnFreePort('apiServerPort', () => this.startApiServer());
  }

  async killApiServer(): Promise<void> {
    this.#apiServerServes = false;
    await this.#apiServer?.stop();
    this.#apiServer = null;
  }

  /** On the same port as before. Resolves once it is ready. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== null && this.#apiServer.ended === null) {
      throw new Error('Expected no API server running before starting one, got one that runs');
    }
    const apiServer = this.#spawn('kube-apiserver', apiServerFlags(this.#files, this.#options.server));
    this.#apiServer = apiServer;
    await this.#untilReady(apiServer, () => this.request('/readyz'));
    this.#apiServerServes = true;
    // A controller manager that is still starting ends if it loses its API server. A kubelet would start it again.
    if (this.#controllerManager !== null && this.#controllerManager.ended !== null) await this.startControllerManager();
  }

  /** Has etcd forget everything but the present. Resolves to the revision before which nothing can be watched any more. */
  async compactEtcd(): Promise<number> {
    const { header } = await this.#etcdRequest('kv/range', { key: Buffer.from('\0').toString('base64') });
    await this.#etcdRequest('kv/compaction', { revision: header.revision, physical: true });
    return Number(header.revision);
  }

  async killControllerManager(): Promise<void> {
    await this.#controllerManager?.stop();
    this.#controllerManager = null;
  }

  /** Has no readiness to wait for: whatever it does is seen only by waiting for its effect. */
  async startControllerManager(): Promise<void> {
    if (this.#controllerManager !== null && this.#controllerManager.ended === null) {
      throw new Error('Expected no controller manager running before starting one, got one that runs');
    }
    const { ca } = this.#options.preparation;
    const organizations = ['system:masters'];
    const credentials = await ca.issue({ commonName: 'system:kube-controller-manager', organizations });
    const kubeconfig = { server: this.url, ca: ca.bundle, credentials };
    await writeKubeconfig(this.#files.controllerManagerKubeconfig, kubeconfig);
    this.#controllerManager = this.#spawn(
      'kube-controller-manager',
      controllerManagerFlags(this.#files, this.#options.server),
    );
    this.#controllerManager.watch((explanation) => {
      if (this.#apiServerServes) this.#options.onUnexpectedExit(explanation);
    });
  }

  /** As admin: a GET, or a POST if there is a body. */
  request(path: string, body?: unknown): Promise<PlainAnswer> {
    const { ca, adminToken } = this.#options.preparation;
    return plainRequest({
      url: `${this.url}${path}`,
      method: body === undefined ? 'GET' : 'POST',
      ca: ca.bundle,
      token: adminToken,
      body,
    });
  }

  /** Those that need the others first. */
  async stop(): Promise<void> {
    await this.killControllerManager();
    await this.killApiServer();
    await this.#etcd?.stop();
  }

  /** A free port can be in use a moment later; then another port is tried. */
  async #startOnFreePort(which: 'etcdPort' | 'apiServerPort', start: () => Promise<void>): Promise<void> {
    for (let tried = 1; ; tried++) {
      this.#files = { ...this.#files, [which]: await freePort() };
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

  /** By etcd's JSON gateway (v3 API). */
  async #etcdRequest(path: string, body: object): Promise<{ readonly header: { readonly revision: string } }> {
    const url = `http://127.0.0.1:${this.#files.etcdPort}/v3/${path}`;
    const answer = await plainRequest({ url, method: 'POST', body });
    if (answer.status !== 200) throw new Error(`Expected 200 from ${url}, got ${answer.status}: ${answer.body}`);
    return JSON.parse(answer.body) as { header: { revision: string } };
  }

  async #startEtcd(): Promise<void> {
    const { etcdPort } = this.#files;
    const etcd = this.#spawn('etcd', etcdFlags(this.#files));
    this.#etcd = etcd;
    await this.#untilReady(etcd, () => plainRequest({ url: `http://127.0.0.1:${etcdPort}/readyz` }));
  }

  #spawn(name: ServerName, flags: readonly string[]): SupervisedProcess {
    const { binaries, directory, guard } = this.#options;
    return new SupervisedProcess({
      name,
      command: binaries[name],
      flags,
      logFile: join(directory, `${name}.log`),
      guard,
      environment: { ...process.env, GOGC: garbagePercent },
    });
  }

  async #untilReady(server: SupervisedProcess, ask: () => Promise<PlainAnswer>): Promise<void> {
    await server.untilReady(async () => isOk(await ask()));
    server.watch(this.#options.onUnexpectedExit);
  }
}
