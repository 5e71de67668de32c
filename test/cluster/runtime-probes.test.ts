import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpFront } from '../support/api-server/http-front.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { until } from '../support/control-plane/until.ts';
import { knownKinds } from '../support/known-kinds.ts';
import { loopbackCertificate } from '../support/moco/certificate.ts';
import { programs } from '../support/programs.ts';

const program = programs.image;
const deadlineMilliseconds = 180_000;

interface Probe {
  readonly status: number;
  readonly lines: readonly string[];
}

describe('startup and shutdown of the program', function () {
  this.timeout(deadlineMilliseconds);
  let api: HttpFront;
  let directory: string;
  let healthPort: number;
  let child: ChildProcess;
  let exited: Promise<number | null>;
  /** What the API server says to `/version`, and to everything else. */
  let version: (response: ServerResponse) => void;
  let others: (response: ServerResponse, url: URL) => void;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-probes-'));
    api = await HttpFront.start((request, response) => {
      const url = new URL(request.url ?? '/', 'http://api');
      if (url.pathname === '/version') version(response);
      else others(response, url);
    });
    version = (response) => json(response, 200, { gitVersion: 'v1.35.4' });
    others = (response) => json(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' });
  });

  afterEach(async () => {
    child.kill('SIGKILL');
    await exited;
    await api.close();
    await rm(directory, { recursive: true });
  });

  async function start(...flags: readonly string[]): Promise<void> {
    const { certificate, key } = await loopbackCertificate();
    await writeFile(join(directory, 'tls.crt'), certificate);
    await writeFile(join(directory, 'tls.key'), key);
    healthPort = await freePort();
    child = spawn(
      process.execPath,
      [
        program,
        `--kubeconfig=${await api.kubeconfig()}`,
        `--health-probe-bind-address=127.0.0.1:${healthPort}`,
        '--webhook-bind-address=127.0.0.1:0',
        `--cert-dir=${directory}`,
        '--metrics-bind-address=0',
        ...flags,
      ],
      { stdio: 'ignore' },
    );
    exited = new Promise((resolve) => {
      child.once('exit', resolve);
    });
  }

  async function probe(endpoint: 'healthz' | 'readyz'): Promise<Probe> {
    const response = await fetch(`http://127.0.0.1:${healthPort}/${endpoint}?verbose`);
    return { status: response.status, lines: (await response.text()).trimEnd().split('\n') };
  }

  async function probed(endpoint: 'healthz' | 'readyz', line: string): Promise<Probe> {
    return until(`/${endpoint} says "${line}"`, async () => {
      const answer = await probe(endpoint).catch(() => undefined);
      return answer?.lines.includes(line) && answer;
    });
  }

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
    child.kill('SIGTERM');
    expect(await exited).to.equal(0);
  });

  it('is not ready while it cannot list everything, and exits with 0 on SIGTERM even then', async () => {
    await start();
    const { status, lines } = await probed('readyz', '[+]certificate ok');
    expect(status).to.equal(500);
    expect(lines).to.include('[-]caches failed: not every kind has been listed yet');
    child.kill('SIGTERM');
    expect(await exited).to.equal(0);
  });

  it('exits with 0 on SIGTERM although the API server does not answer any more', async () => {
    let asked = 0;
    others = () => (asked += 1);
    await start();
    await until('a list is asked for', () => asked > 0);
    child.kill('SIGTERM');
    expect(await exited).to.equal(0);
  });

  it('acquires the lease only once it is ready, and is ready without it', async () => {
    const asked: string[] = [];
    let forbidden = true;
    others = (response, { pathname, searchParams }) => {
      asked.push(pathname.split('/').at(-1) ?? '');
      if (pathname.includes('/leases')) json(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden' });
      else if (forbidden) json(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden' });
      else if (searchParams.has('sendInitialEvents'))
        json(response, 422, { kind: 'Status', code: 422, reason: 'Invalid' });
      else if (searchParams.has('watch')) response.writeHead(200).flushHeaders();
      else json(response, 200, { kind: listKind(pathname), metadata: { resourceVersion: '1' }, items: [] });
    };
    await start('--leader-elect', '--leader-election-namespace=default');
    await probed('readyz', '[+]certificate ok');
    await until('there are several lists', () => asked.length >= 3);
    expect(asked).not.to.include('moco-rollout');
    forbidden = false;
    expect(await probed('readyz', '[+]caches ok')).to.have.property('status', 200);
    await until('the lease is asked for', () => asked.includes('moco-rollout'));
  });
});

function listKind(path: string): string {
  const plural = path.split('/').at(-1);
  return `${knownKinds.find((kind) => kind.plural === plural)?.kind ?? `no kind of ${plural}`}List`;
}

function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
