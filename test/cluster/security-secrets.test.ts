import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpFront, kubeconfigOf } from '../support/api-server/http-front.ts';
import { programs } from '../support/programs.ts';
import { cli } from './cli-program.ts';

const program = programs.image;
/** Of a process that would go on forever: by then it has listed, been refused, waited and tried again. */
const mostLines = 4;
/** Where Node keeps what it has compiled. Nothing else of the environment. */
const { NODE_COMPILE_CACHE } = process.env;
const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
/** Letters and digits alone, so that no encoding but base64 makes anything else of it. */
const marker = 'MarkerThatNobodyMayEverRead0123456789';
const encoded = Buffer.from(`somebody:${marker}`).toString('base64');
const nowhere = ['--webhook-bind-address=0', '--metrics-bind-address=0', '--health-probe-bind-address=0'];

/** One that reads, one that writes, one that goes over all clusters; none of them gets far. */
const commands: readonly (readonly string[])[] = [
  ['status', '--request-timeout=1s'],
  ['pause', 'x', '--request-timeout=1s'],
  ['release', '--all', '-A', '--request-timeout=1s', '--timeout=1s'],
];

/** Addresses and paths that exist only once the tests run. */
interface Places {
  readonly directory: string;
  /** Answers `/version`, and 401 to everything else. */
  readonly refusing: string;
  /** Answers 401 to everything. */
  readonly closed: string;
}

interface Case {
  readonly server: (places: Places) => string;
  /** Of the kubeconfig's user. */
  readonly user: (places: Places) => object;
  /** Of the kubeconfig's cluster. */
  readonly cluster?: object;
}

/** Where nothing listens on loopback: discard's port. */
const absent = (): string => 'http://127.0.0.1:9';
const token = (): object => ({ token: marker });
const exec = (command: string): ((places: Places) => object) => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  return ({ directory }) => ({ exec: { apiVersion, command: join(directory, command), interactiveMode: 'Never' } });
};

const cases: Readonly<Record<string, Case>> = {
  'a refused token': { server: ({ closed }) => closed, user: token },
  'a token refused after the start': { server: ({ refusing }) => refusing, user: token },
  'a token without an API server': { server: absent, user: token },
  'a token file': {
    server: ({ refusing }) => refusing,
    user: ({ directory }) => ({ tokenFile: join(directory, 'token') }),
  },
  'a password': { server: ({ refusing }) => refusing, user: () => ({ username: 'somebody', password: marker }) },
  'a credential plugin': { server: ({ refusing }) => refusing, user: exec('plugin') },
  'a credential plugin without JSON output': { server: ({ closed }) => closed, user: exec('chatty-plugin') },
  'a credential plugin that fails': { server: ({ closed }) => closed, user: exec('failing-plugin') },
  'an invalid client key': {
    server: ({ closed }) => closed.replace('http:', 'https:'),
    user: () => ({ 'client-certificate-data': pem('CERTIFICATE'), 'client-key-data': pem('PRIVATE KEY') }),
  },
  'a password in the address of the API server': {
    server: ({ refusing }) => refusing.replace('//', `//somebody:${marker}@`),
    user: () => ({}),
  },
  'a password in an invalid address of an API server': {
    server: () => `ftp://somebody:${marker}@127.0.0.1:9`,
    user: () => ({}),
  },
  'a password in the address of a proxy': {
    server: ({ closed }) => closed,
    user: () => ({}),
    cluster: { 'proxy-url': `http://somebody:${marker}@127.0.0.1:9` },
  },
  'a password in the address of a proxy of no known kind': {
    server: ({ closed }) => closed,
    user: () => ({}),
    cluster: { 'proxy-url': `ftp://somebody:${marker}@127.0.0.1:9` },
  },
};

const plugins: Readonly<Record<string, string>> = {
  plugin: `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"${marker}"}}'`,
  'chatty-plugin': `echo ${marker}`,
  'failing-plugin': `echo ${marker}; exit 1`,
};

describe('the output of the controller at level debug and of the command line contains no secret:', () => {
  const servers: HttpFront[] = [];
  const processes: ChildProcess[] = [];
  let directory: string;
  let places: Places;
  let reported: Readonly<Record<string, Promise<string>>>;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-secrets-'));
    await writeFile(join(directory, 'token'), marker);
    for (const [name, line] of Object.entries(plugins)) {
      await writeFile(join(directory, name), `#!/bin/sh\n${line}\n`);
      await chmod(join(directory, name), 0o700);
    }
    places = { directory, refusing: await serve('/version'), closed: await serve(null) };
    const entries = await Promise.all(
      Object.entries(cases).map(async ([name, one], index) => {
        const path = join(directory, `kubeconfig-${index}`);
        await writeFile(path, kubeconfigFor(one, places));
        return [name, run([`--kubeconfig=${path}`, ...nowhere])] as const;
      }),
    );
    reported = Object.fromEntries(entries);
  });

  after(async () => {
    for (const process of processes) process.kill('SIGKILL');
    await Promise.allSettled(Object.values(reported ?? {}));
    for (const server of servers) await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  for (const [index, name] of Object.keys(cases).entries()) {
    it(name, async () => {
      holdsNoSecret(await reported[name]);
      for (const text of await Promise.all(
        commands.map((argv) => written(argv, join(directory, `kubeconfig-${index}`))),
      )) {
        holdsNoSecret(text);
      }
    });
  }

  it('an invalid kubeconfig', async () => {
    const path = join(directory, 'broken');
    await writeFile(path, `apiVersion: v1\nusers: [{name: it, user: {token: "${marker}}}]\n`);
    holdsNoSecret(await run([`--kubeconfig=${path}`, ...nowhere]));
    for (const argv of commands) holdsNoSecret(await written(argv, path));
  });

  it('an invalid key of a webhook', async () => {
    const certDir = join(directory, 'certificate');
    await mkdir(certDir);
    await writeFile(join(certDir, 'tls.crt'), fromPem('CERTIFICATE'));
    await writeFile(join(certDir, 'tls.key'), fromPem('PRIVATE KEY'));
    const path = join(directory, 'good');
    const one: Case = { server: ({ refusing }) => refusing, user: token };
    await writeFile(path, kubeconfigFor(one, places));
    const flags = [`--kubeconfig=${path}`, ...nowhere.slice(1), '--webhook-bind-address=127.0.0.1:0'];
    holdsNoSecret(await run([...flags, `--cert-dir=${certDir}`]));
  });

  /** An API server of sorts; what it is told it keeps to itself. */
  async function serve(known: string | null): Promise<string> {
    const server = await HttpFront.start(({ url }, response) => {
      const status = url === known ? 200 : 401;
      const refusal = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 401, reason: 'Unauthorized' };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? { gitVersion: 'v1.35.4' } : refusal));
    });
    servers.push(server);
    return server.address;
  }

  /** Everything that it writes until it ends, or has written enough. */
  function run(flags: readonly string[]): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const child = spawn(process.execPath, [program, ...flags, '--log-level=debug'], { env: compiled });
    processes.push(child);
    let text = '';
    const take = (piece: Buffer): void => {
      text += piece.toString();
      if (text.split('\n').length > mostLines) child.kill('SIGTERM');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('close', () => resolve(text));
    return promise;
  }
});

/** What the command line writes, to whomever. */
async function written(argv: readonly string[], kubeconfig: string): Promise<string> {
  const { status, out, err } = await cli(kubeconfig, argv);
  expect(status, err).not.to.equal(0);
  return out + err;
}

function holdsNoSecret(text: string | undefined): void {
  expect(text).to.match(/^(moco-rollout: |error: |Unable to connect|\{"level":)/);
  for (const secret of [marker, encoded, Buffer.from(marker).toString('base64').slice(0, -2), marker.slice(0, 12)]) {
    expect(text).not.to.include(secret);
  }
}

function kubeconfigFor({ server, user, cluster = {} }: Case, places: Places): string {
  return kubeconfigOf({ server: server(places), 'insecure-skip-tls-verify': true, ...cluster }, user(places));
}

function fromPem(label: string): string {
  return `-----BEGIN ${label}-----\n${marker}\n-----END ${label}-----\n`;
}

/** As kubeconfigs have it. */
function pem(label: string): string {
  return Buffer.from(fromPem(label)).toString('base64');
}
