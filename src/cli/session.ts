import manifest from '../../package.json' with { type: 'json' };
import { ClusterApi } from '../controller/cluster-api.ts';
import { UsageError } from '../failure.ts';
import { ApiClient, type Call } from '../kube/api-client.ts';
import { ApiError } from '../kube/api-error.ts';
import { type Connection, connect } from '../kube/connection.ts';
import { realWorld } from '../kube/real-world.ts';
import type { World } from '../kube/world.ts';
import { parseDuration } from '../options/duration.ts';
import type { Host } from './host.ts';
import { chooseKubeconfig } from './kubeconfig-choice.ts';

/** What stands on the command line beside the command's name, by the name of the option. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** One command's connection, and how it was asked to go about things. */
export interface Session {
  readonly host: Host;
  readonly client: ApiClient;
  readonly api: ClusterApi;
  readonly world: World;
  readonly server: string;
  /** The one that is meant; `null` for all of them. */
  readonly namespace: string | null;
  /** `-n` was given. */
  readonly namespaceGiven: boolean;
  readonly requestTimeoutSeconds: number;
  readonly given: Given;
  /** Aborted when the command is to end, as nothing waits for its answers any more. */
  readonly signal: AbortSignal;
  close(): Promise<void>;
}

/** As kubectl's; a fleet is handed back at this pace. */
const qps = 50;
const burst = 100;

/** A server that hangs is not asked again: it has had its time, and somebody is waiting. */
class CommandClient extends ApiClient {
  override async call<T>(call: Call): Promise<T> {
    try {
      return await super.call<T>({ ...call, retries: 0 });
    } catch (error) {
      if (error instanceof ApiError && error.status === 0) throw error;
      if (error instanceof ApiError && error.status !== 429 && error.status < 500) throw error;
      return call.retries === 0 ? Promise.reject(error) : super.call<T>(call);
    }
  }
}

/** Opens nothing yet. Throws `ConfigurationError` or `UsageError`. */
export function openSession(given: Given, host: Host): Session {
  const requestTimeoutMilliseconds = durationOf('request-timeout', given['requestTimeout'] ?? '10s');
  const { path, context, namespace } = chooseKubeconfig(
    { kubeconfig: textOf(given['kubeconfig']), context: textOf(given['context']) },
    host,
  );
  const connection: Connection = connect({ kubeconfigPath: path, ...(context !== undefined && { context }) });
  const world: World = { ...realWorld(connection.exchange), wall: host.wall };
  const client = new CommandClient({
    world,
    qps,
    burst,
    userAgent: `moco-rollout-cli/${manifest.version}`,
    timeoutMilliseconds: requestTimeoutMilliseconds,
  });
  const asked = textOf(given['namespace']);
  const stop = new AbortController();
  return {
    host,
    client,
    api: new ClusterApi(client),
    world,
    server: connection.server,
    namespace: given['allNamespaces'] === true || given['all'] === true ? null : (asked ?? namespace),
    namespaceGiven: asked !== undefined,
    requestTimeoutSeconds: requestTimeoutMilliseconds / 1000,
    given,
    signal: stop.signal,
    close: () => {
      stop.abort();
      return connection.close();
    },
  };
}

export const textOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** In milliseconds. A number alone is one of seconds, as kubectl reads it. */
export function durationOf(option: string, value: string | boolean): number {
  const text = String(value);
  const parsed = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (parsed.kind === 'value') return parsed.value;
  throw new UsageError(`expected --${option} to be ${parsed.expected}, got \`${text}\``);
}
