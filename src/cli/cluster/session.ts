import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { realWorld, type World } from '../../base/world.ts';
import { UsageError } from '../../failure.ts';
import { ApiClient, type ApiClientOptions, type Call } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { type Connection, connect } from '../../kube/connection.ts';
import type { KubeconfigChoice } from '../../kube/kubeconfig.ts';
import { onServerClock } from '../../kube/server-clock.ts';
import { ClusterApi } from '../../objects/cluster-client.ts';
import type { Host } from '../host.ts';
import type { Values } from '../option.ts';
import { type connectionOptions, overridesOf } from './connection-flags.ts';

// What a command knows about the Kubernetes cluster: the connection, the namespace and the user's options.

/** Additional options of commands that act on several clusters. */
interface Scope {
  readonly allNamespaces?: boolean;
  readonly selector?: string | undefined;
  readonly all?: boolean;
}

export interface Session {
  readonly host: Host;
  readonly client: ApiClient;
  readonly api: ClusterApi;
  readonly world: World;
  readonly server: string;
  /** `null` for all namespaces. */
  readonly namespace: string | null;
  /** Whether `--all-namespaces` is given. */
  readonly allNamespaces: boolean;
  /** The label selector for MySQLClusters, as given to `--selector`. */
  readonly selector: string | undefined;
  /** Whether `--all` is given. */
  readonly all: boolean;
  readonly requestTimeoutSeconds: number;
  close(): Promise<void>;
}

/** kubectl's default rate limit. */
const qps = 50;
const burst = 100;

/**
 * A client that does not retry a request after a timeout, because a user is waiting. Its requests end with the command.
 */
class CommandClient extends ApiClient {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal, options: ApiClientOptions) {
    super(options);
    this.#signal = signal;
  }

  override async call<T>(one: Call): Promise<T> {
    const call = { signal: this.#signal, ...one };
    try {
      return await super.call<T>({ ...call, retries: 0 });
    } catch (error) {
      if (error instanceof ApiError && error.status !== 429 && error.status < 500) throw error;
      return call.retries === 0 ? Promise.reject(error) : super.call<T>(call);
    }
  }
}

/**
 * Creates a session without reading the kubeconfig. The first use of the client, of the server or of the namespace
 * reads it, so that a command can check its arguments first. Throws `UsageError`.
 */
export function openSession(given: Values<typeof connectionOptions> & Scope, host: Host): Session {
  const { allNamespaces = false, selector, all = false, namespace, requestTimeout } = given;
  if (allNamespaces && namespace !== undefined) {
    throw new UsageError('expected either --namespace or --all-namespaces, got both');
  }
  let connection: Connection | null = null;
  /** Throws `ConfigurationError` or `UsageError`. */
  const connected = (): Connection => {
    connection ??= connect(chooseKubeconfig(given, host));
    return connection;
  };
  const machine: World = { ...realWorld(async (request) => connected().exchange(request)), wall: host.wall };
  const world = onServerClock(machine, { warn: () => undefined });
  const stop = new AbortController();
  const client = new CommandClient(stop.signal, {
    world,
    qps,
    burst,
    userAgent: `moco-rollout-cli/${manifest.version}`,
    timeoutMilliseconds: requestTimeout,
  });
  const api = new ClusterApi(client, stop.signal);
  return {
    host,
    get client() {
      connected();
      return client;
    },
    get api() {
      connected();
      return api;
    },
    world,
    get server() {
      return connected().server;
    },
    get namespace() {
      return allNamespaces ? null : (namespace ?? connected().namespace);
    },
    allNamespaces,
    selector,
    all,
    requestTimeoutSeconds: requestTimeout / 1000,
    close: async () => {
      stop.abort();
      await connection?.close();
    },
  };
}

/**
 * Chooses the kubeconfig in kubectl's order: `--kubeconfig`, the files in KUBECONFIG, ~/.kube/config, the
 * ServiceAccount of the pod. Several files are merged; files in KUBECONFIG may be missing.
 */
function chooseKubeconfig(
  given: Values<typeof connectionOptions>,
  { env, home }: Pick<Host, 'env' | 'home'>,
): KubeconfigChoice {
  const standard = join(home, '.kube/config');
  const overrides = overridesOf(given);
  const { context, cluster, user, clusterEntry, userEntry } = overrides;
  const files = filesOf(given.kubeconfig, env['KUBECONFIG'], standard);
  if (files.length > 0 || clusterEntry.server !== undefined) {
    return { kubeconfigPath: files, environment: env, overrides };
  }
  // There is no kubeconfig. The connection reports the error when it tries to read the file.
  if (!env['KUBERNETES_SERVICE_HOST']) return { kubeconfigPath: standard, environment: env, overrides };
  for (const [what, name] of Object.entries({ context, cluster, user })) {
    if (name !== undefined) throw new UsageError(`expected a kubeconfig with ${what} ${name}, got none`);
  }
  const { as: _as, 'as-uid': _uid, 'as-groups': _groups, ...others } = userEntry;
  const [other] = Object.keys({ ...clusterEntry, ...others });
  if (other !== undefined) throw new UsageError(`expected a kubeconfig or --server with --${other}, got neither`);
  return { kubeconfigPath: null, overrides };
}

function filesOf(flag: string | undefined, variable: string | undefined, standard: string): readonly string[] {
  if (flag !== undefined) return [flag];
  const named = (variable ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length === 1) return named;
  return (named.length > 1 ? named : [standard]).filter((path) => existsSync(path));
}
