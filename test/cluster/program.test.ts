import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { putCertificate } from '../admission/certificates.ts';
import { HttpFront, kubeconfigOf } from '../support/api-server/http-front.ts';
import { patienceMilliseconds } from '../support/patience.ts';
import { programs } from '../support/programs.ts';

const program = programs.image;

interface Ended {
  readonly exitCode: number | null;
  readonly standardOutput: string;
  readonly standardError: string;
}

/** What exists only once the tests run. */
interface Places {
  readonly directory: string;
  readonly takenPort: string;
}

interface Case {
  readonly flags: (places: Places) => readonly string[];
  readonly exitCode: number;
  /** In the one sentence on standard error. */
  readonly says: readonly RegExp[];
}

const nowhere = ['--webhook-bind-address=0', '--metrics-bind-address=0', '--health-probe-bind-address=0'];

/** One case for each way to fail. The messages have tests of their own; every invalid flag ends like the first case. */
const cases: Readonly<Record<string, Case>> = {
  'an unknown flag': {
    flags: () => ['--kubeconfg=x'],
    exitCode: 2,
    says: [/known flags/, /`--kubeconfg`/, /--kubeconfig/],
  },
  'a missing kubeconfig': {
    flags: ({ directory }) => [`--kubeconfig=${join(directory, 'none')}`],
    exitCode: 1,
    says: [/expected a kubeconfig at/, /no such file/],
  },
  'an API server that forbids it': {
    flags: (places) => [...nowhere, kubeconfig(places, '403')],
    exitCode: 1,
    says: [/the API server refused/, /403/],
  },
  'a missing API server': {
    flags: (places) => [...nowhere, kubeconfig(places, 'absent')],
    exitCode: 1,
    says: [/the API server gave no answer/, /ECONNREFUSED/],
  },
  'a missing certificate': {
    flags: (places) => [
      ...nowhere.slice(1),
      '--webhook-bind-address=127.0.0.1:0',
      kubeconfig(places, 'good'),
      `--cert-dir=${join(places.directory, 'empty')}`,
    ],
    exitCode: 1,
    says: [/Expected the webhook's tls.crt/, /there is none/, /--cert-dir/],
  },
  'an address in use': {
    flags: (places) => [
      '--webhook-bind-address=0',
      '--metrics-bind-address=0',
      `--health-probe-bind-address=127.0.0.1:${places.takenPort}`,
      kubeconfig(places, 'good'),
    ],
    exitCode: 1,
    says: [/--health-probe-bind-address/, /something else listens/],
  },
};

describe('the program, started with', () => {
  /** Answers 403 to the bearer token `403`, and like an API server to every other. */
  let api: HttpFront;
  let directory: string;
  let ended: Readonly<Record<string, Promise<Ended>>>;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-program-'));
    api = await HttpFront.start(({ headers }, response) => {
      const isForbidden = headers.authorization === 'Bearer 403';
      response.writeHead(isForbidden ? 403 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isForbidden ? refusal : { gitVersion: 'v1.35.4' }));
    });
    for (const token of ['good', '403']) {
      await writeFile(join(directory, token), configOf(api.address, token));
    }
    await putCertificate(directory, 'webhook');
    // Port 9 is discard's, where nothing listens on loopback.
    await writeFile(join(directory, 'absent'), configOf('http://127.0.0.1:9', 'good'));
    const places = { directory, takenPort: new URL(api.address).port };
    ended = Object.fromEntries(Object.entries(cases).map(([name, { flags }]) => [name, start(flags(places))]));
  });

  after(async () => {
    await Promise.allSettled(Object.values(ended ?? {}));
    await api?.close();
    await rm(directory, { recursive: true, force: true });
  });

  for (const [name, { exitCode, says }] of Object.entries(cases)) {
    it(`${name}: exits with ${exitCode} and one sentence`, async () => {
      const { standardError, standardOutput, exitCode: got } = (await ended[name]) as Ended;
      const lines = standardError.trimEnd().split('\n');
      // What it logged before, a JSON object a line, is no sentence for the person who started it.
      const [sentence = '', ...others] = lines.filter((line) => !line.startsWith('{'));
      expect(sentence).to.match(/^moco-rollout: /);
      for (const pattern of says) expect(sentence).to.match(pattern);
      expect(others).to.deep.equal([]);
      expect(`${standardOutput}${standardError}`).not.to.include('"stack"');
      expect(got).to.equal(exitCode);
    });
  }
});

function kubeconfig({ directory }: Places, name: string): string {
  return `--kubeconfig=${join(directory, name)}`;
}

function configOf(server: string, token: string): string {
  return kubeconfigOf({ server, 'insecure-skip-tls-verify': true }, { token });
}

const refusal = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, reason: 'Forbidden', message: 'no' };

/** Where Node keeps what it has compiled. */
const { NODE_COMPILE_CACHE } = process.env;
const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

/** With nothing in the environment that could pass for a pod. */
function start(flags: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...flags],
      { env: compiled, timeout: patienceMilliseconds },
      (_, standardOutput, standardError) => {
        resolve({ exitCode: child.exitCode, standardOutput, standardError });
      },
    );
  });
}
