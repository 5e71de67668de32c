import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../src/cli/run.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { podDisruptionBudgets, pods, statefulSets } from '../../src/kube/resource.ts';
import type { ExchangeRequest } from '../../src/kube/world.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { budget, mysqlCluster, pod, revisionAfter, revisionBefore, statefulSet } from '../controller/moco-objects.ts';
import { ObjectServer } from '../controller/object-server.ts';
import { answer, status } from '../kube/fake-world.ts';

/** What a request is answered instead of as the objects say; `hang` for never, `null` for as they say. */
export type Fault = (request: ExchangeRequest) => ReturnType<typeof answer> | 'hang' | null;

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/**
 * A cluster of three called `test` on an API server over real HTTP, and commands run against it. Every member is stale
 * unless told otherwise; kube-controller-manager looks at a StatefulSet at once.
 */
export class FakeCluster {
  readonly server = new ObjectServer(() => Date.now());
  fault: Fault = () => null;
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();
  #directory = '';

  private constructor() {
    this.#http = createServer((request, response) => void this.#serve(request, response));
    this.#http.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start({ stale = true, rollout = true, replicas = 3 } = {}): Promise<FakeCluster> {
    const cluster = new FakeCluster();
    await new Promise<void>((resolve) => {
      cluster.#http.listen(0, '127.0.0.1', resolve);
    });
    cluster.#directory = await mkdtemp(join(tmpdir(), 'fake-cluster-'));
    cluster.#fill(stale ? revisionBefore : revisionAfter, rollout, replicas);
    return cluster;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Runs a command line to its end, with this server in its kubeconfig. */
  async run(...argv: readonly string[]): Promise<Ran> {
    return runWith({ KUBECONFIG: await this.kubeconfig() }, argv);
  }

  async kubeconfig(): Promise<string> {
    const path = join(this.#directory, 'kubeconfig');
    await writeFile(
      path,
      JSON.stringify({
        clusters: [{ name: 'fake', cluster: { server: this.address, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'me', user: {} }],
        contexts: [{ name: 'here', context: { cluster: 'fake', user: 'me' } }],
        'current-context': 'here',
      }),
    );
    return path;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#http.close(resolve);
    });
    await rm(this.#directory, { recursive: true });
  }

  #fill(revision: string, withRollout: boolean, replicas: number): void {
    const { server } = this;
    const { uid } = server.create(clusterKind, mysqlCluster({ replicas })).metadata;
    const ownerReferences = [{ kind: clusterKind.kind, name: 'test', uid, controller: true }];
    if (withRollout) server.create(rolloutKind, { metadata: { name: 'test', ownerReferences } });
    server.create(statefulSets, statefulSet({ replicas, current: revision }));
    server.create(podDisruptionBudgets, budget());
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      server.create(pods, pod(ordinal, { revision, role: ordinal === 0 ? 'primary' : 'replica' }));
    }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const request: ExchangeRequest = {
      method: incoming.method as ExchangeRequest['method'],
      path: withNamespace(incoming.url ?? '/'),
      headers: incoming.headers as Record<string, string>,
      ...(body !== '' && { body }),
      signal: new AbortController().signal,
      pool: 'call',
    };
    const scripted = this.fault({ ...request, path: incoming.url ?? '/' });
    if (scripted === 'hang') return;
    const response = scripted ?? (await this.server.exchange(request));
    outgoing.writeHead(response.status, { 'content-type': 'application/json' });
    for await (const part of response.body) outgoing.write(part);
    outgoing.end();
  }
}

/** Everything is in one namespace, so that a list of all of them is one of that. */
function withNamespace(url: string): string {
  return url.replace(/^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/([a-z]+)(?=\?|$)/, '$1/namespaces/default/$2');
}

/** Runs a command line in this process, with nothing around it but what is given. */
export async function runWith(env: Readonly<Record<string, string>>, argv: readonly string[]): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    program: 'kubectl moco-rollout',
    env,
    home: '/nowhere',
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: () => null,
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
