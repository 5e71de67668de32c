import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { path } from '../../src/kube/resource.ts';
import { HttpFront } from '../support/api-server/http-front.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { Guard } from '../support/control-plane/guard.ts';
import { until } from '../support/control-plane/until.ts';
import { knownKinds } from '../support/known-kinds.ts';
import { ControllerProcess } from '../support/stage/controller-process.ts';

const deadlineMilliseconds = 180_000;

const watchedKinds = 9;

/** An API server that has nothing but a version: what can't be built here can still be told. */
describe('the program and an API server', function () {
  this.timeout(deadlineMilliseconds);
  let api: HttpFront;
  let directory: string;
  let guard: Guard;
  let controller: ControllerProcess;
  let gitVersion: string;
  /** Requests that are no GET, such as for a lease. */
  let writes: string[];
  let watched: Set<string>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-version-'));
    guard = new Guard();
    writes = [];
    watched = new Set();
    api = await HttpFront.start(({ method = '', url = '/' }, response) => {
      if (method !== 'GET') writes.push(`${method} ${url}`);
      answer(new URL(url, 'http://api'), response);
    });
  });

  afterEach(async () => {
    await controller.stop('SIGKILL');
    await guard.close();
    await api.close();
    await rm(directory, { recursive: true });
  });

  function answer({ pathname, searchParams }: URL, response: ServerResponse): void {
    if (searchParams.has('sendInitialEvents')) {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', code: 422, reason: 'Invalid' }));
      return;
    }
    if (searchParams.has('watch')) {
      watched.add(pathname);
      return;
    }
    const kind = knownKinds.find((candidate) => path(candidate) === pathname);
    const list = { kind: `${kind?.kind}List`, metadata: { resourceVersion: '1' }, items: [] };
    const isFound = kind !== undefined || pathname === '/version';
    response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(pathname === '/version' ? { gitVersion } : list));
  }

  /** Resolves once the program is ready. */
  async function start(version: string): Promise<void> {
    gitVersion = version;
    const healthPort = await freePort();
    const flags = [
      `--kubeconfig=${await api.kubeconfig()}`,
      `--health-probe-bind-address=127.0.0.1:${healthPort}`,
      '--webhook-bind-address=0',
      '--metrics-bind-address=0',
      '--leader-elect',
      '--leader-election-namespace=default',
      '--log-format=json',
    ];
    controller = new ControllerProcess(flags, join(directory, 'log'), guard);
    const ready = async (): Promise<boolean> => {
      if (!controller.running) throw new Error(`Expected the program to run, it has ended\n${controller.log}`);
      return (await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => null))?.ok === true;
    };
    await until('the program is ready', ready, { got: () => controller.log });
  }

  const warnings = (): readonly string[] =>
    controller.log
      .split('\n')
      .filter((line) => line.includes('"level":"warn"') && line.includes('"kubernetes"'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);

  it('of an unsupported version: it logs that, is ready, writes nothing, and shuts down on SIGTERM', async () => {
    await start('v1.29.14');
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.match(/^expected Kubernetes 1\.30 or newer, got v1\.29\.14: /);
    // Whatever comes after the lists would have come by then.
    await until(`${watchedKinds} kinds are watched`, () => watched.size === watchedKinds, {
      got: () => [...watched].join(),
    });
    expect(await controller.stop()).to.equal(0);
    expect(writes).to.deep.equal([]);
  });

  it('of a version with a broken rolling update: it logs that and starts to work', async () => {
    await start('v1.35.2');
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.contain('upgrade to 1.35.4');
    const leased = (): boolean => writes.some((write) => write.includes('/leases'));
    await until('the program asks for its lease', leased, { got: () => controller.log });
  });
});
