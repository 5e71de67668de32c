import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { UsageError } from '../../failure.ts';
import { ApiClient, type ApiClientOptions, type Call } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { type Connection, connect } from '../../kube/connection.ts';
import type { KubeconfigChoice } from '../../kube/kubeconfig.ts';
import { realWorld, type World } from '../../kube/world.ts';
import { ClusterApi } from '../../objects/cluster-client.ts';
import { parseDuration, read } from '../../options/flag.ts';
import type { Host } from '../host.ts';

/** The options of a command line, by their camel-case names. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

export interface Session {
  readonly host: Host;
  readonly client: ApiClient;
  readonly api: ClusterApi;
  readonly world: World;
  readonly server: string;
  /** `null` for all namespaces. */
  readonly namespace: string | null;
  /** The label selector for MySQLClusters, as given to `--selector`. */
  readonly selector: string | undefined;
  readonly requestTimeoutSeconds: number;
  readonly given: Given;
  close(): Promise<void>;
}

/** The default of kubectl. */
const qps = 50;
const burst = 100;

/**
 * Does not retry a request that timed out, since a user is waiting. Requests end with the command, when no response is
 * needed any more.
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

/** Opens no connection yet. Throws `ConfigurationError` or `UsageError`. */
export function openSession(given: Given, host: Host): Session {
  const requestTimeoutMilliseconds = durationOf('request-timeout', given['requestTimeout'] ?? '10s');
  const choice = { kubeconfig: optionText(given['kubeconfig']), context: optionText(given['context']) };
  const connection: Connection = connect(chooseKubeconfig(choice, host));
  const world: World = { ...realWorld(connection.exchange), wall: host.wall };
  const stop = new AbortController();
  const client = new CommandClient(stop.signal, {
    world,
    qps,
    burst,
    userAgent: `moco-rollout-cli/${manifest.version}`,
    timeoutMilliseconds: requestTimeoutMilliseconds,
  });
  if (given['allNamespaces'] === true && given['namespace'] !== undefined) {
    throw new UsageError('expected either --namespace or --all-namespaces, got both');
  }
  const asked = optionText(given['namespace']);
  const selector = optionText(given['selector']);
  return {
    host,
    client,
    api: new ClusterApi(client, stop.signal),
    world,
    server: connection.server,
    namespace: given['allNamespaces'] === true ? null : (asked ?? connection.namespace),
    selector,
    requestTimeoutSeconds: requestTimeoutMilliseconds / 1000,
    given,
    close: () => {
      stop.abort();
      return connection.close();
    },
  };
}

export const optionText = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Parses a duration into milliseconds. As in kubectl, a plain number is in seconds. Throws `UsageError`. */
export function durationOf(option: string, value: string | boolean): number {
  const parse = (text: string) => parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  return read({ name: option, parse }, String(value));
}

/**
 * Uses the same order as kubectl: `--kubeconfig`, the files in KUBECONFIG, ~/.kube/config, the ServiceAccount of the
 * pod. Several files are merged; of those that KUBECONFIG lists, some may be missing.
 */
function chooseKubeconfig(
  { kubeconfig, context }: { readonly kubeconfig: string | undefined; readonly context: string | undefined },
  { env, home }: Pick<Host, 'env' | 'home'>,
): KubeconfigChoice {
  const standard = join(home, '.kube/config');
  const files = filesOf(kubeconfig, env['KUBECONFIG'], standard);
  if (files.length === 0 && env['KUBERNETES_SERVICE_HOST']) {
    if (context !== undefined) throw new UsageError(`expected a kubeconfig with context ${context}, got none`);
    return { kubeconfigPath: null };
  }
  // The error is reported when the connection reads the file.
  const kubeconfigPath = files.length === 0 ? standard : files;
  return { kubeconfigPath, environment: env, ...(context !== undefined && { context }) };
}

function filesOf(flag: string | undefined, variable: string | undefined, standard: string): readonly string[] {
  if (flag !== undefined) return [flag];
  const named = (variable ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length === 1) return named;
  return (named.length > 1 ? named : [standard]).filter((path) => existsSync(path));
}
