import type { AgentOptions } from 'node:https';
import {
  type Cluster,
  type DispatcherOptions,
  HttpMethod,
  KubeConfig,
  RequestContext,
  type User,
} from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { ExecCredential, execProvider } from './exec-credential.ts';
import { ConfigurationError, readKubeconfigs, type UserEntry } from './kubeconfig-files.ts';
import { type KubeconfigOverrides, noOverrides, withOverrides } from './kubeconfig-overrides.ts';
import { type Environment, proxyOf } from './proxy-environment.ts';

export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: DispatcherOptions;
  /**
   * Through a SOCKS proxy, by client-node: undici's own way calls itself an experiment (8.12), to everybody who starts
   * it.
   */
  readonly socks: Dispatcher | null;
}

export interface KubeconfigChoice {
  /** Several files are merged as by kubectl. `null`: from inside of a pod, by its ServiceAccount. */
  readonly kubeconfigPath: string | readonly string[] | null;
  /** What is said beside it, as with kubectl's options. */
  readonly overrides?: KubeconfigOverrides;
  /** Directory of a pod's own files; default: the root of the file system. */
  readonly podRoot?: string;
  /** With the proxies for a kubeconfig without `proxy-url`; default: none. */
  readonly environment?: Environment;
}

/**
 * client-node's kubeconfig for one context. It reads entries and authenticates; files, exec plugins, the rest of
 * impersonation and proxies of the environment are read here. What it would make a new connection pool of for every
 * request comes out as plain options instead.
 */
export class Kubeconfig extends KubeConfig {
  #tls: DispatcherOptions = { type: 'none' };
  #pending: Promise<Credentials> | null = null;
  #impersonation: Credentials['headers'] = {};

  private constructor() {
    super();
  }

  /** Throws `ConfigurationError`. */
  static load({
    kubeconfigPath,
    overrides = noOverrides,
    podRoot = '',
    environment = {},
  }: KubeconfigChoice): Kubeconfig {
    const kubeconfig = new Kubeconfig();
    if (kubeconfigPath === null) kubeconfig.#loadInCluster(podRoot, overrides);
    else kubeconfig.#loadFiles([kubeconfigPath].flat(), overrides, environment);
    return kubeconfig;
  }

  /** Of the context; `default` where it has none. */
  get namespace(): string {
    return this.getContextObject(this.getCurrentContext())?.namespace?.trim() || 'default';
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
    return { headers: { ...Object.fromEntries(headers), ...this.#impersonation }, tls: this.#tls, socks };
  }

  override createDispatcherOptions(cluster: Cluster | null, agentOptions: AgentOptions): DispatcherOptions {
    this.#tls = super.createDispatcherOptions(cluster, agentOptions);
    return this.#tls.type === 'socks' ? this.#tls : { type: 'none' };
  }

  #loadInCluster(podRoot: string, { userEntry }: KubeconfigOverrides): void {
    if (!process.env['KUBERNETES_SERVICE_HOST'] || !process.env['KUBERNETES_SERVICE_PORT']) {
      throw new ConfigurationError(
        'expected a kubeconfig, or to run in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set); got neither',
      );
    }
    this.loadFromCluster(podRoot);
    const { as: impersonateUser } = userEntry;
    if (impersonateUser) this.users = this.users.map((one) => ({ ...one, impersonateUser }));
    this.#impersonation = impersonationOf(userEntry);
  }

  #loadFiles(files: readonly string[], overrides: KubeconfigOverrides, environment: Environment): void {
    const content = withOverrides(readKubeconfigs(files), overrides);
    const place = files.join(', ');
    try {
      // YAML has JSON within it.
      this.loadFromString(JSON.stringify(content));
    } catch (error) {
      const came = error instanceof Error ? error.message.split('\n')[0] : String(error);
      throw new ConfigurationError(`expected a kubeconfig in ${place}, got: ${came}`, { cause: error });
    }
    const { cluster, user } = this.#check(place);
    const proxyUrl = cluster.proxyUrl || proxyOf(cluster.server, environment);
    if (proxyUrl) this.clusters = this.clusters.map((one) => (one === cluster ? { ...one, proxyUrl } : one));
    checkProxy(cluster.name, proxyUrl);
    const entry = content.users.find(({ name }) => name === user.name)?.user ?? {};
    this.#impersonation = impersonationOf(entry);
    const { exec: _exec, token: _token, ...others } = user;
    const provided = ((): User | null => {
      // What client-node reads for pods alone, under another name. It wins over `token`.
      if (entry.tokenFile)
        return { ...others, authProvider: { name: 'tokenFile', config: { tokenFile: entry.tokenFile } } };
      if (!entry.exec) return null;
      const own = content.clusters.find(({ name }) => name === cluster.name)?.cluster ?? {};
      this.addAuthenticator(new ExecCredential(entry.exec, own));
      return { ...others, authProvider: { name: execProvider } };
    })();
    if (provided !== null) this.users = this.users.map((one) => (one === user ? provided : one));
  }

  #check(file: string): { readonly cluster: Cluster; readonly user: User } {
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
    const user = this.getCurrentUser();
    if (!user) {
      throw new ConfigurationError(`expected the user ${context.user} of context ${name} in ${file}, got none`);
    }
    checkServer(cluster, file);
    return { cluster, user };
  }
}

/** The headers that client-node does not send: of `as` it sends the user. */
function impersonationOf({
  'as-uid': uid,
  'as-groups': groups = [],
  'as-user-extra': extra = {},
}: UserEntry): Credentials['headers'] {
  return {
    ...(uid && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
        [...values],
      ]),
    ),
  };
}

function checkServer({ name, server, skipTLSVerify }: Cluster, file: string): void {
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
}

function checkProxy(name: string, proxyUrl: string | null | undefined): void {
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
