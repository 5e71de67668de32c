import { readFileSync } from 'node:fs';
import type { AgentOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { type Cluster, type DispatcherOptions, HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { load as parseYaml } from 'js-yaml';
import type { Dispatcher } from 'undici';

/**
 * The configuration does not say where to connect, or as whom. The message is a sentence for the person who wrote it.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** What a request needs on top of itself. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: DispatcherOptions;
  /**
   * Through a SOCKS proxy, by client-node: undici's own way calls itself an experiment (8.12), to everybody who starts
   * it.
   */
  readonly socks: Dispatcher | null;
}

/**
 * client-node's kubeconfig for one context: its clusters, users, token files, exec plugins and proxies. What it would
 * make a new connection pool of for every request comes out as plain options instead.
 */
export class Kubeconfig extends KubeConfig {
  #tls: DispatcherOptions = { type: 'none' };
  #pending: Promise<Credentials> | null = null;

  private constructor() {
    super();
  }

  /** Throws `ConfigurationError`. `file` null: from inside of a pod, whose files are under `podRoot`. */
  static load(file: string | null, context?: string, podRoot = ''): Kubeconfig {
    const kubeconfig = new Kubeconfig();
    if (file === null) kubeconfig.#loadInCluster(podRoot);
    else kubeconfig.#loadFile(file, context);
    return kubeconfig;
  }

  /** The address without a password: none is ever sent with it, and none may reach the logs. */
  get server(): string {
    return withoutPassword(this.getCurrentCluster()?.server ?? '');
  }

  /** Reads files that may have changed, runs an exec plugin whose credential has expired. Rejects when it can't. */
  credentials(): Promise<Credentials> {
    this.#pending ??= this.#read().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #read(): Promise<Credentials> {
    const request = new RequestContext(this.server, HttpMethod.GET);
    await this.applySecurityAuthentication(request);
    const headers = Object.entries(request.getHeaders()).map(([name, value]) => [name.toLowerCase(), value.trim()]);
    const socks = request.getDispatcher() ?? null;
    return { headers: Object.fromEntries(headers) as Record<string, string>, tls: this.#tls, socks };
  }

  override createDispatcherOptions(cluster: Cluster | null, agentOptions: AgentOptions): DispatcherOptions {
    this.#tls = super.createDispatcherOptions(cluster, agentOptions);
    return this.#tls.type === 'socks' ? this.#tls : { type: 'none' };
  }

  #loadInCluster(podRoot: string): void {
    if (!process.env['KUBERNETES_SERVICE_HOST'] || !process.env['KUBERNETES_SERVICE_PORT']) {
      throw new ConfigurationError(
        'expected a kubeconfig, or to run in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set); got neither',
      );
    }
    this.loadFromCluster(podRoot);
  }

  #loadFile(file: string, context: string | undefined): void {
    const text = read(file);
    try {
      this.loadFromString(text);
      this.makePathsAbsolute(dirname(resolve(file)));
      this.#useTokenFiles(text, dirname(resolve(file)));
    } catch (error) {
      const came = error instanceof Error ? error.message.split('\n')[0] : String(error);
      throw new ConfigurationError(`expected a kubeconfig in ${file}, got: ${came}`, { cause: error });
    }
    if (context !== undefined) this.setCurrentContext(context);
    this.#check(file);
  }

  /** client-node knows token files for pods alone; in a kubeconfig they are `tokenFile`, which wins over `token`. */
  #useTokenFiles(text: string, directory: string): void {
    const parsed = parseYaml(text) as { users?: { name: string; user?: { tokenFile?: string } }[] };
    const files = new Map(parsed.users?.map(({ name, user }) => [name, user?.tokenFile]));
    this.users = this.users.map((user) => {
      const tokenFile = files.get(user.name);
      if (tokenFile === undefined) return user;
      const { token: _, ...others } = user;
      return { ...others, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(directory, tokenFile) } } };
    });
  }

  #check(file: string): void {
    const name = this.getCurrentContext();
    if (!name) throw new ConfigurationError(`expected a current-context in the kubeconfig ${file}, got none`);
    const context = this.contexts.find((candidate) => candidate.name === name);
    if (!context) {
      const known = this.contexts.map((candidate) => candidate.name).join(', ') || 'none';
      throw new ConfigurationError(`expected a context ${name} in the kubeconfig ${file}, got: ${known}`);
    }
    const cluster = this.getCurrentCluster();
    if (!cluster) {
      throw new ConfigurationError(`expected the cluster ${context.cluster} of context ${name} in ${file}, got none`);
    }
    if (!this.getCurrentUser()) {
      throw new ConfigurationError(`expected the user ${context.user} of context ${name} in ${file}, got none`);
    }
    checkServer(cluster, file);
  }
}

function checkServer({ name, server, skipTLSVerify, proxyUrl }: Cluster, file: string): void {
  const protocol = URL.canParse(server) ? new URL(server).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new ConfigurationError(
      `expected an https address for the cluster ${name} in ${file}, got ${withoutPassword(server)}`,
    );
  }
  if (protocol === 'http:' && !skipTLSVerify) {
    throw new ConfigurationError(
      `expected an https address, or insecure-skip-tls-verify, for the cluster ${name} in ${file}, got ${withoutPassword(server)}`,
    );
  }
  if (proxyUrl && !/^(https?|socks5h?|socks):\/\//.test(proxyUrl)) {
    throw new ConfigurationError(
      `expected an http, https or socks5 proxy-url for the cluster ${name}, got ${withoutPassword(proxyUrl)}`,
    );
  }
}

/** `https://user:password@host/path` without what stands before the `@`. */
function withoutPassword(address: string): string {
  return address.replace(/\/\/[^/]*@/, '//');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const came = code === 'ENOENT' ? 'no such file' : (code ?? String(error));
    throw new ConfigurationError(`expected a kubeconfig at ${file}, got: ${came}`, { cause: error });
  }
}
