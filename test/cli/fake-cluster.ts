import type { IncomingMessage, ServerResponse } from 'node:http';
import { V1MicroTime } from '@kubernetes/client-node';
import { rolloutKind } from '../../src/api/rollout.ts';
import type { ExchangeRequest } from '../../src/base/world.ts';
import type { Host, Terminal } from '../../src/cli/host.ts';
import { runCli } from '../../src/cli/run.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { Bench } from '../controller/bench.ts';
import { mysqlCluster } from '../controller/moco-objects.ts';
import type { ObjectServer } from '../controller/object-server.ts';
import { answer, status } from '../kube/fake-world.ts';
import { HttpFront } from '../support/api-server/http-front.ts';
import { resourceAt } from '../support/api-server/resource-path.ts';

/** What a request is answered instead of as the objects say; `hang` for never, `null` for as they say. */
export type Fault = (request: ExchangeRequest) => ReturnType<typeof answer> | 'hang' | null;

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const defaultNamespace = { metadata: { name: 'default', uid: 'namespace', resourceVersion: '1', labels: {} } };

export const leasePath = '/apis/coordination.k8s.io/v1/namespaces/moco-rollout-system/leases/moco-rollout';

/** Where the API server has the sequences. */
export const sequencesPath = '/apis/moco-rollout.io/v1alpha1/mysqlrolloutsequences';

/**
 * The bench's cluster of three called `test` on an API server over real HTTP, and commands run against it at the bench's
 * moment. The real controller works on it where a test starts it.
 */
export class FakeCluster {
  readonly bench: Bench;
  fault: Fault = () => null;
  /** Every request that came, with its query. */
  readonly requests: ExchangeRequest[] = [];
  /** Objects and lists that are in no namespace, by path. */
  readonly clusterScoped: Record<string, object> = {
    '/api/v1/namespaces/default': defaultNamespace,
    '/api/v1/namespaces': { items: [defaultNamespace] },
    '/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies': { items: [] },
    [sequencesPath]: { items: [] },
    '/apis/authentication.k8s.io/v1/selfsubjectreviews': { status: { userInfo: { username: 'me' } } },
  };
  #front!: HttpFront;

  private constructor(bench: Bench) {
    this.bench = bench;
  }

  static async start(options: ConstructorParameters<typeof Bench>[0] = {}): Promise<FakeCluster> {
    const cluster = new FakeCluster(new Bench(options));
    cluster.#front = await HttpFront.start((request, response) => void cluster.#serve(request, response));
    return cluster;
  }

  get server(): ObjectServer {
    return this.bench.server;
  }

  /** Another cluster of three, with the status of its MySQLRollout; without one it has none yet. */
  add(name: string, status: object | null, labels: Readonly<Record<string, string>> = {}): void {
    const metadata = { name, namespace: 'default' };
    const { uid } = this.server.create(clusterKind, {
      ...mysqlCluster(),
      metadata: { ...metadata, labels, uid: `${name}-uid`, generation: 1 },
    }).metadata;
    const ownerReferences = [{ kind: clusterKind.kind, name, uid, controller: true }];
    if (status !== null) this.server.create(rolloutKind, { metadata: { ...metadata, ownerReferences }, status });
  }

  /** The lease of a controller that publishes these flags and has renewed it so long ago. */
  lease(flags: object, silentForSeconds = 0): void {
    const annotations = { 'moco-rollout.io/flags': JSON.stringify(flags) };
    this.clusterScoped[leasePath] = {
      metadata: {
        namespace: 'moco-rollout-system',
        name: 'moco-rollout',
        uid: 'lease',
        resourceVersion: '1',
        annotations,
      },
      spec: {
        holderIdentity: 'a',
        renewTime: new V1MicroTime(this.bench.world.wall() - silentForSeconds * 1000).toISOString(),
      },
    };
  }

  /** Runs a command line to its end, with this server in its kubeconfig. */
  async run(...argv: readonly string[]): Promise<Ran> {
    return this.runOn({}, ...argv);
  }

  /** Runs it on a terminal, or with an interrupt. */
  async runOn(host: Partial<Host>, ...argv: readonly string[]): Promise<Ran> {
    return runWith({ KUBECONFIG: await this.kubeconfig() }, argv, { wall: () => this.bench.world.wall(), ...host });
  }

  /** Runs it until its first output, and interrupts it then. */
  async watch(terminal: Terminal | null, ...argv: readonly string[]): Promise<Ran> {
    let interrupt = (): void => undefined;
    const onInterrupt = (callback: () => void) => {
      interrupt = callback;
      return () => undefined;
    };
    return this.runOn({ terminal: () => terminal, out: () => interrupt(), onInterrupt }, ...argv);
  }

  kubeconfig(): Promise<string> {
    return this.#front.kubeconfig();
  }

  close(): Promise<void> {
    return this.#front.close();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const request: ExchangeRequest = {
      method: incoming.method as ExchangeRequest['method'],
      path: incoming.url ?? '/',
      headers: incoming.headers as Record<string, string>,
      ...(body !== '' && { body }),
      signal: new AbortController().signal,
      pool: 'call',
    };
    const { path: url } = request;
    this.requests.push(request);
    const scripted = this.fault(request);
    if (scripted === 'hang') return;
    if (url.includes('watch=true')) {
      // Nothing ever happens on it.
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.flushHeaders();
      return;
    }
    const clusterScoped = this.clusterScoped[url.split('?')[0] ?? ''];
    const response = scripted ?? (clusterScoped && answer(200, clusterScoped)) ?? (await this.server.exchange(request));
    outgoing.writeHead(response.status, { 'content-type': 'application/json' });
    const parts: Uint8Array[] = [];
    for await (const part of response.body) parts.push(part);
    const text = Buffer.concat(parts).toString();
    // Lists are at the version of their newest object; a watch asks from there.
    const kind = `${resourceAt(url.split('?')[0] ?? '')?.kind.kind}List`;
    outgoing.end(
      text.startsWith('{"items":') ? `{"kind":"${kind}","metadata":{"resourceVersion":"1"},${text.slice(1)}` : text,
    );
  }
}

/** Gives each test of a suite a cluster of its own, which `setUp` prepares. */
export function useFakeCluster(
  setUp: (cluster: FakeCluster) => void | Promise<void>,
  options: Parameters<typeof FakeCluster.start>[0] = {},
): void {
  let cluster: FakeCluster | undefined;
  beforeEach(async () => {
    cluster = await FakeCluster.start(options);
    await setUp(cluster);
  });
  afterEach(() => cluster?.close());
}

/** Runs a command line in this process, with nothing around it but what is given. */
export async function runWith(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
  host: Partial<Host> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    program: 'kubectl moco-rollout',
    env,
    home: '/nowhere',
    out: (text) => {
      out += text;
      host.out?.(text);
    },
    err: (text) => {
      err += text;
    },
    terminal: host.terminal ?? (() => null),
    onInterrupt: host.onInterrupt ?? (() => () => undefined),
    wall: host.wall ?? (() => 1_782_907_200_000),
  });
  return { status: code, out, err };
}

export const forbidden = (request: ExchangeRequest): ReturnType<typeof answer> =>
  answer(
    403,
    status(403, 'Forbidden', {
      message: `user "me" cannot ${request.method.toLowerCase()} ${request.path.split('?')[0]}`,
    }),
  );

export const notFound = (): ReturnType<typeof answer> =>
  answer(404, status(404, 'NotFound', { message: 'the server could not find the requested resource' }));
