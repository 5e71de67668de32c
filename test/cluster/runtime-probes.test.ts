import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpFront } from '../support/api-server/http-front.ts';
import { loopbackCertificate } from '../support/control-plane/certificates.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { Guard } from '../support/control-plane/guard.ts';
import { until } from '../support/control-plane/until.ts';
import { knownKinds } from '../support/known-kinds.ts';
import { ControllerProcess } from '../support/stage/controller-process.ts';

const electing = ['--leader-elect', '--leader-election-namespace=default'];
const watchedKinds = 9;

interface Probe {
  readonly status: number;
  readonly lines: readonly string[];
}

/** The program and an API server that says what a test lets it say. */
describe('startup and shutdown of the program', () => {
  let api: HttpFront;
  let directory: string;
  let guard: Guard;
  let healthPort: number;
  let program: ControllerProcess;
  /** What the API server says to `/version`, and to everything else. */
  let version: (response: ServerResponse) => void;
  let others: (response: ServerResponse, url: URL) => void;
  /** Requests that were made of it, but for those for its version. */
  let asked: { readonly method: string; readonly url: URL }[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-probes-'));
    guard = new Guard();
    asked = [];
    api = await HttpFront.start(({ method = '', url: target = '/' }, response) => {
      const url = new URL(target, 'http://api');
      if (url.pathname === '/version') return version(response);
      asked.push({ method, url });
      others(response, url);
    });
    version = (response) => json(response, 200, { gitVersion: 'v1.35.4' });
    others = forbidden;
  });

  afterEach(async () => {
    await program.stop('SIGKILL');
    await guard.close();
    await api.close();
    await rm(directory, { recursive: true });
  });

  async function start(...flags: readonly string[]): Promise<void> {
    const { certificate, key } = await loopbackCertificate();
    await writeFile(join(directory, 'tls.crt'), certificate);
    await writeFile(join(directory, 'tls.key'), key);
    healthPort = await freePort();
    const own = [
      `--kubeconfig=${await api.kubeconfig()}`,
      `--health-probe-bind-address=127.0.0.1:${healthPort}`,
      '--webhook-bind-address=127.0.0.1:0',
      `--cert-dir=${directory}`,
      '--metrics-bind-address=0',
    ];
    program = new ControllerProcess([...own, ...flags], join(directory, 'log'), guard);
  }

  async function probe(endpoint: 'healthz' | 'readyz'): Promise<Probe> {
    const response = await fetch(`http://127.0.0.1:${healthPort}/${endpoint}?verbose`);
    return { status: response.status, lines: (await response.text()).trimEnd().split('\n') };
  }

  async function probed(endpoint: 'healthz' | 'readyz', line: string): Promise<Probe> {
    const ask = async (): Promise<Probe | false | undefined> => {
      if (!program.running) throw new Error(`Expected the program to run, it has ended\n${program.log}`);
      const answer = await probe(endpoint).catch(() => undefined);
      return answer?.lines.includes(line) && answer;
    };
    return until(`/${endpoint} says "${line}"`, ask, { got: () => program.log });
  }

  /** A dry run that asks whether the policies are in force creates no Lease. */
  const isDryRun = ({ url }: { readonly url: URL }): boolean => url.searchParams.has('dryRun');
  const isElecting = (): boolean => asked.some((one) => one.url.pathname.includes('/leases') && !isDryRun(one));

  it('is alive and not ready while the API server does not answer, and exits with 0 on SIGTERM', async () => {
    version = () => {};
    await start();
    expect(await probed('healthz', '[+]eventLoop ok')).to.have.property('status', 200);
    expect(await probe('readyz')).to.deep.equal({
      status: 500,
      lines: [
        '[-]certificate failed: the webhook has not loaded its certificate yet',
        '[-]caches failed: not every kind has been listed yet',
        'readyz check failed',
      ],
    });
    expect(await program.stop()).to.equal(0);
  });

  it('exits with 0 on SIGTERM although the API server does not answer any more', async () => {
    others = () => undefined;
    await start();
    await until('a list is asked for', () => asked.length > 0);
    expect(await program.stop()).to.equal(0);
  });

  it('acquires the lease only once it is ready, and is ready without it', async () => {
    await start(...electing);
    await probed('readyz', '[+]certificate ok');
    await until('there are several lists', () => asked.length >= 3);
    expect(isElecting()).to.equal(false);
    others = (response, url) => (url.pathname.includes('/leases') ? forbidden : empty)(response, url);
    expect(await probed('readyz', '[+]caches ok')).to.have.property('status', 200);
    await until('the lease is asked for', isElecting);
  });

  // What can't be built here can still be told.
  const warnings = (): readonly string[] =>
    program.log
      .split('\n')
      .filter((line) => line.includes('"level":"warn"') && line.includes('"kubernetes"'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);

  it('logs an unsupported version of Kubernetes, is ready, writes nothing, and exits with 0 on SIGTERM', async () => {
    version = (response) => json(response, 200, { gitVersion: 'v1.29.14' });
    others = empty;
    await start(...electing);
    await probed('readyz', '[+]caches ok');
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.match(/^expected Kubernetes 1\.30 or newer, got v1\.29\.14: /);
    // Whatever comes after the lists would have come by then.
    const isWatch = ({ url }: { readonly url: URL }): boolean => url.searchParams.has('watch') && !isStreamed(url);
    const watched = (): number => new Set(asked.filter(isWatch).map(({ url }) => url.pathname)).size;
    await until(`${watchedKinds} kinds are watched`, () => watched() === watchedKinds, { got: () => `${watched()}` });
    expect(await program.stop()).to.equal(0);
    expect(asked.filter((one) => one.method !== 'GET' && !isDryRun(one))).to.deep.equal([]);
  });
});

function forbidden(response: ServerResponse): void {
  json(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' });
}

/** Nothing is there, lists are not streamed, and nothing ever changes. */
function empty(response: ServerResponse, url: URL): void {
  if (isStreamed(url)) return json(response, 422, { kind: 'Status', code: 422, reason: 'Invalid' });
  if (url.searchParams.has('watch')) return response.writeHead(200).flushHeaders();
  const plural = url.pathname.split('/').at(-1);
  const kind = knownKinds.find((one) => one.plural === plural)?.kind;
  if (kind === undefined) return json(response, 404, { kind: 'Status', code: 404, reason: 'NotFound' });
  json(response, 200, { kind: `${kind}List`, metadata: { resourceVersion: '1' }, items: [] });
}

const isStreamed = ({ searchParams }: URL): boolean => searchParams.has('sendInitialEvents');

function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
