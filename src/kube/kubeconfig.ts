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
import { type KubeconfigOverrides, made, noOverrides, withOverrides } from './kubeconfig-overrides.ts';
import { type Environment, proxyOf } from './proxy-environment.ts';

// Reads one context of a kubeconfig in the form that the connection needs.

export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: DispatcherOptions;
  /** A dispatcher from client-node for SOCKS proxies. undici's own dispatcher (8.12) warns that it is experimental. */
  readonly socks: Dispatcher | null;
}

export interface KubeconfigChoice {
  /**
   * Several files are merged as kubectl does. `null` stands for the ServiceAccount of the pod in which the program
   * runs.
   */
  readonly kubeconfigPath: string | readonly string[] | null;
  /** Values that the user specifies in addition to the kubeconfig, like kubectl's options. */
  readonly overrides?: KubeconfigOverrides;
  /** The directory with the pod's own files. The default is the root of the file system. */
  readonly podRoot?: string;
  /** Environment variables that set a proxy for a kubeconfig without `proxy-url`. The default is no proxy. */
  readonly environment?: Environment;
}

/**
 * client-node's kubeconfig for one context. client-node reads the entries and authenticates. This class reads files,
 * exec plugins, the remaining impersonation fields, and proxies set in environment variables. It returns some values as
 * plain options, because client-node would otherwise create a new connection pool for every request.
 */
export class Kubeconfig extends KubeConfig {
  #tls: DispatcherOptions = { type: 'none' };
  #pending: Promise<Credentials> | null = null;
  #impersonation: Credentials['headers'] = {};

  private constructor() {
    super();
  }

  /** Reads the kubeconfig. Throws `ConfigurationError`. */
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

  /** The namespace of the context; `default` if the context has none. */
  get namespace(): string {
    return this.getContextObject(this.getCurrentContext())?.namespace?.trim() || 'default';
  }

  /** The address without its password, which is never sent and must not appear in logs. */
  get server(): string {
    return withoutPassword(this.getCurrentCluster()?.server ?? '');
  }

  /**
   * Reads files that may have changed, and runs the exec plugin again if the credential has expired. Rejects if that
   * fails.
   */
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
      // JSON is a subset of YAML.
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
    checkProvider(user.name, entry, place);
    this.#impersonation = impersonationOf(entry);
    const { exec: _exec, token: _token, ...others } = user;
    const provided = ((): User | null => {
      // client-node reads a token file only in pods, and under a different name. The file has precedence over `token`.
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

/** The impersonation headers that client-node does not send. client-node itself sends only the user name. */
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

/**
 * Rejects auth-providers that kubectl has rejected since 1.26. client-node would still run the command of such a
 * provider.
 */
function checkProvider(user: string, { 'auth-provider': provider }: UserEntry, file: string): void {
  if (!provider || provider.name === 'oidc') return;
  throw new ConfigurationError(
    `expected credentials of the user ${user} in ${file} that kubectl supports, got the auth-provider ${provider.name}, which kubectl has not supported since 1.26: use exec instead`,
  );
}

function checkServer({ name, server, skipTLSVerify }: Cluster, file: string): void {
  const protocol = URL.canParse(server) ? new URL(server).protocol : '';
  const where = name === made ? '--server' : `the cluster ${name} in ${file}`;
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new ConfigurationError(`expected an https address for ${where}, got ${withoutPassword(server)}`);
  }
  if (protocol === 'http:' && !skipTLSVerify) {
    throw new ConfigurationError(
      `expected an https address, or insecure-skip-tls-verify, for ${where}, got ${withoutPassword(server)}`,
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

/** The address `https://user:password@host/path` without the part before the `@`. */
function withoutPassword(address: string): string {
  return address.replace(/\/\/[^/]*@/, '//');
}
