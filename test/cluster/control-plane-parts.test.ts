import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AuditLog } from '../support/control-plane/audit-log.ts';
import { controlPlaneBinaries } from '../support/control-plane/build.ts';
import { withLock } from '../support/control-plane/build-lock.ts';
import { freePort, freePortFrom } from '../support/control-plane/free-port.ts';
import { until } from '../support/control-plane/until.ts';

const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];

/** Collects what would have gone to standard error. */
class Output {
  text = '';
  readonly isTTY: boolean;
  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }
  write(text: string): void {
    this.text += text;
  }
}

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('building the control plane', () => {
  let directory: string;
  let cache: string;
  let programs: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-build-test-'));
    cache = join(directory, 'cache');
    programs = join(directory, 'programs');
    await mkdir(programs);
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function program(at: string, name: string, script: string): Promise<void> {
    await mkdir(at, { recursive: true });
    await writeFile(join(at, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(at, name), 0o755);
  }

  /** A `go` that says it is of some version, writes down what it is asked to build, and "builds" it. */
  async function fakeGo(version: string, build = 'exit 0'): Promise<void> {
    await program(
      programs,
      'go',
      `if [ "$1" = env ]; then echo ${version}; exit 0; fi
for argument; do previous=$last; last=$argument; done
echo "$last" >> ${directory}/built
echo 'go: downloading example.com/module v1.0.0' >&2
${build}
printf '#!/bin/sh\\n' > "$previous"; chmod +x "$previous"`.replace('exit 0\nprintf', 'printf'),
    );
  }

  const environment = (): NodeJS.ProcessEnv => ({ PATH: `${programs}:/usr/bin:/bin`, HOME: directory });
  const build = (output = new Output()) => controlPlaneBinaries({ cache, output, environment: environment() });
  const built = async (): Promise<string[]> => (await readFile(join(directory, 'built'), 'utf8')).trim().split('\n');

  it('builds the four programs, prints that, and does nothing the second time', async () => {
    await fakeGo('go1.26.8');
    const output = new Output();
    const binaries = await build(output);
    expect(Object.keys(binaries)).to.have.members(names);
    await Promise.all(Object.values(binaries).map((path) => access(path)));
    expect(output.text).to.match(/about 5 minutes the first time/);
    expect(output.text).to.match(/kube-apiserver, 4 of 4 \(\d+ s\)/);
    const again = new Output();
    expect(await build(again)).to.deep.equal(binaries);
    expect(again.text).to.equal('');
    expect(await built()).to.have.length(4);
  });

  it('builds each program once for two callers at the same time', async () => {
    await fakeGo('go1.30.1');
    const [first, second] = await Promise.all([build(), build()]);
    expect(first).to.deep.equal(second);
    expect(await built()).to.have.length(4);
  });

  it('leaves no partial program behind if go fails, and prints the end of its output', async () => {
    await fakeGo('go1.26.0', 'echo "cannot find the moon" >&2; echo half > "$previous"; exit 7');
    const message = await failure(build());
    expect(message).to.equal('go build go.etcd.io/etcd/server/v3 failed (exit code 7): cannot find the moon');
    const [version = ''] = await readdir(cache);
    expect(await readdir(join(cache, version))).to.deep.equal([]);
    expect(await readdir(cache)).to.deep.equal([version]);
  });

  it('stops an interrupted build, go included, and leaves no partial program behind', async () => {
    await fakeGo(
      'go1.26.0',
      `echo half > "$previous"; echo $$ > ${directory}/pid; trap 'exit 1' INT; while :; do sleep 0.02; done`,
    );
    const interruption = new AbortController();
    const { signal } = interruption;
    const message = failure(controlPlaneBinaries({ cache, output: new Output(), environment: environment(), signal }));
    const started = async (): Promise<number | undefined> =>
      Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => '')) || undefined;
    const pid = await until('the build starts', started);
    interruption.abort(new Error('ended by SIGINT'));
    expect(await message).to.equal('ended by SIGINT');
    expect(isAlive(pid)).to.equal(false);
    const [version = ''] = await readdir(cache);
    expect(await readdir(join(cache, version))).to.deep.equal([]);
    expect(await readdir(cache), 'the lock is released').to.deep.equal([version]);
  });

  for (const version of ['go1.25.9', 'go1.9', 'devel']) {
    it(`refuses ${version} with one sentence`, async () => {
      await fakeGo(version);
      const message = await failure(build());
      expect(message).to.match(/^Expected Go 1\.26 or newer in PATH to build the control plane with, got /);
      expect(message).to.contain(version);
    });
  }

  it('reports a missing go', async () => {
    const message = await failure(
      controlPlaneBinaries({ cache, output: new Output(), environment: { PATH: programs } }),
    );
    expect(message).to.match(/^Expected Go 1\.26 or newer .*, found no program `go`: install it .*KUBEBUILDER_ASSETS/);
  });

  it('uses the programs in KUBEBUILDER_ASSETS', async () => {
    const assets = join(directory, 'assets');
    await Promise.all(names.map((name) => program(assets, name, 'exit 0')));
    const binaries = await controlPlaneBinaries({ cache, environment: { KUBEBUILDER_ASSETS: assets } });
    expect(binaries.etcd).to.equal(join(assets, 'etcd'));
    expect(binaries['kube-controller-manager']).to.equal(join(assets, 'kube-controller-manager'));
  });

  it('builds only the controller manager if KUBEBUILDER_ASSETS lacks it', async () => {
    await fakeGo('go1.26.8');
    const assets = join(directory, 'assets');
    await Promise.all(['etcd', 'kube-apiserver', 'kubectl'].map((name) => program(assets, name, 'exit 0')));
    const binaries = await controlPlaneBinaries({ assets, cache, output: new Output(), environment: environment() });
    expect(binaries.kubectl).to.equal(join(assets, 'kubectl'));
    expect(binaries['kube-controller-manager']).to.contain(cache);
    expect(await built()).to.deep.equal(['k8s.io/kubernetes/cmd/kube-controller-manager']);
  });

  it('reports what KUBEBUILDER_ASSETS lacks', async () => {
    const assets = join(directory, 'assets');
    await program(assets, 'etcd', 'exit 0');
    const message = await failure(controlPlaneBinaries({ assets, cache, environment: environment() }));
    expect(message).to.equal(
      `Expected KUBEBUILDER_ASSETS (${assets}) to hold etcd, kube-apiserver and kubectl, it lacks kubectl, kube-apiserver`,
    );
  });

  it('takes over the lock of a dead process, and releases it', async () => {
    const gone = spawn('/bin/sh', ['-c', 'exit 0']);
    await once(gone, 'exit');
    const lock = join(directory, 'lock');
    await writeFile(lock, String(gone.pid));
    const waited: number[] = [];
    expect(
      await withLock(
        lock,
        (pid) => waited.push(pid),
        () => Promise.resolve('done'),
      ),
    ).to.equal('done');
    expect(waited).to.deep.equal([]);
    expect(await readdir(directory)).not.to.include('lock');
  });
});

describe('the ports of the control plane', () => {
  it('are none that another program uses', async () => {
    const server = createServer();
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const whileHeld = await failure(freePortFrom(port, port + 1));
    await new Promise((resolve) => server.close(resolve));
    expect(whileHeld).to.match(/^Expected a free port from \d+ up to below \d+, found none in \d+ tries$/);
    expect(await freePortFrom(port, port + 1)).to.equal(port);
  });
});

describe('the audit log', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-audit-test-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('is read from where the last read ended, without incomplete lines', async () => {
    const path = join(directory, 'audit.log');
    const log = new AuditLog(path);
    await writeFile(path, '{"auditID":"1"}\n{"audit');
    expect((await log.read()).map(({ auditID }) => auditID)).to.deep.equal(['1']);
    await writeFile(path, 'ID":"ü"}\n{"auditID":"3"}\n', { flag: 'a' });
    const [first, second] = await Promise.all([log.read(), log.read()]);
    expect(first.map(({ auditID }) => auditID)).to.deep.equal(['1', 'ü', '3']);
    expect(second).to.deep.equal(first);
  });
});

describe('the guard', () => {
  it('stops the servers and removes the directory of a killed program', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-guard-test-'));
    const guard = new URL('../support/control-plane/guard.ts', import.meta.url).href;
    const supervised = new URL('../support/control-plane/supervised-process.ts', import.meta.url).href;
    const script = `
      const { Guard } = await import(${JSON.stringify(guard)});
      const { SupervisedProcess } = await import(${JSON.stringify(supervised)});
      const guard = new Guard();
      guard.remove(${JSON.stringify(directory)});
      const start = () => new SupervisedProcess({
        name: 'sleep', command: 'sleep', flags: ['600'], logFile: ${JSON.stringify(join(directory, 'log'))}, guard,
      });
      const [stopped, kept] = [start(), start()];
      await stopped.stop();
      console.log(kept.pid);
      setInterval(() => {}, 1000);
    `;
    const parent: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    parent.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const pid = await until('the program prints a process id', () => text.endsWith('\n') && Number(text));
    expect(isAlive(pid)).to.equal(true);
    parent.kill('SIGKILL');
    const gone = async (): Promise<boolean> => {
      const left = await access(directory).then(
        () => true,
        () => false,
      );
      return !isAlive(pid) && !left;
    };
    await until(`${pid} and ${directory} are gone`, gone);
  });
});
