import { spawnSync } from 'node:child_process';
import { chmod, glob, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from './docs/markdown.ts';
import { leaveOut } from './left-out.ts';
import { programInPath } from './program-in-path.ts';
import { sampleCluster } from './support/moco/sample.ts';

const script = join(root, 'hack/kind/create.sh');
const needed = { CERT_MANAGER: 'cert-manager.yaml', MOCO_CHART: 'moco.tgz', MYSQL_IMAGE: 'mysql:8.4.8' };
const programs = ['docker', 'kind', 'kubectl', 'helm'];
/** What the script uses of every system. Nothing else is in its PATH. */
const tools = ['cat', 'dirname', 'grep', 'sed', 'tr'];

interface Said {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** No test has docker: stand-ins of its programs write down how they are called. `test/cluster/helm-values.test.ts` renders. */
describe('hack/kind/create.sh', () => {
  let directory: string;
  let calls: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-kind-'));
    calls = join(directory, 'calls');
    await mkdir(join(directory, 'bin'));
    for (const program of programs) await standIn(program, '');
    for (const tool of tools) await symlink(programInPath(tool) ?? tool, join(directory, 'bin', tool));
  });

  afterEach(() => rm(directory, { recursive: true }));

  it('passes shellcheck, as every other shell script does', async function () {
    const program = programInPath('shellcheck', resolve('.cache/debian'));
    if (program === undefined) {
      leaveOut(this, 'what checks shell scripts, since shellcheck is not in PATH: run `make debian-packages`');
    }
    const scripts = ['.ci/run'];
    for await (const file of glob('{hack,test}/**/*.sh', { cwd: root })) scripts.push(file);
    expect(scripts).to.include('hack/kind/create.sh');
    const { status, stdout, stderr } = spawnSync(program, scripts, { cwd: root, encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).to.equal(0);
  });

  it('installs cert-manager, MOCO and moco-rollout, and then creates a MySQLCluster', async () => {
    const { status, err } = run(needed);
    expect(status, err).to.equal(0);
    const chart = await readFile(join(root, 'config/helm/moco-rollout/Chart.yaml'), 'utf8');
    const image = `moco-rollout:${(parse(chart) as { readonly appVersion: string }).appVersion}`;
    const there = '--kube-context kind-moco-rollout';
    expect(await called()).to.deep.equal([
      'kind get clusters',
      'kind create cluster --name moco-rollout --config hack/kind/kind.yaml',
      'kubectl --context kind-moco-rollout apply --server-side --filename cert-manager.yaml',
      'kubectl --context kind-moco-rollout --namespace cert-manager wait deployment --all --for=condition=Available --timeout=5m',
      `helm upgrade --install moco moco.tgz ${there} --namespace moco-system --create-namespace --wait --timeout 5m`,
      `docker build --tag ${image} .`,
      `kind load docker-image ${image} --name moco-rollout`,
      `helm upgrade --install moco-rollout config/helm/moco-rollout ${there} --namespace moco-rollout-system --create-namespace --values hack/kind/values.yaml --wait --timeout 5m`,
      'kubectl --context kind-moco-rollout apply --server-side --filename -',
      'kubectl --context kind-moco-rollout wait mysqlcluster/test --for=condition=Healthy --timeout=15m',
    ]);
  });

  it('continues in an existing kind cluster, and accepts another node image', async () => {
    run({ ...needed, KIND_IMAGE: 'node:1', KIND_CLUSTER: 'other' });
    expect(await called()).to.include('kind create cluster --name other --config hack/kind/kind.yaml --image node:1');
    await rm(calls);
    await standIn('kind', 'echo other');
    run({ ...needed, KIND_CLUSTER: 'other' });
    expect((await called()).filter((line) => line.startsWith('kind create'))).to.deep.equal([]);
  });

  it('creates the MySQLCluster that MOCO’s users begin with', async () => {
    await standIn('kubectl', `case "$*" in *' -') cat > ${directory}/applied;; esac`);
    run(needed);
    const applied = parse(await readFile(join(directory, 'applied'), 'utf8'));
    expect(applied).to.deep.equal(sampleCluster({ name: 'test', namespace: 'default' }));
  });

  it('says what is missing before it begins', async () => {
    expect(run({ ...needed, MOCO_CHART: '' })).to.include({ status: 2 });
    expect(run({ ...needed, MOCO_CHART: '' }).err).to.match(/^Expected MOCO_CHART to be set, got nothing\.\nUsage: /);
    await rm(join(directory, 'bin/kind'));
    const { status, err } = run(needed);
    expect({ status, err }).to.deep.equal({
      status: 1,
      err: 'Expected kind in PATH: install it and run this again.\n',
    });
    expect(run(needed, '--nothing')).to.include({ status: 2 });
    const help = run({}, '--help');
    expect(help.status).to.equal(0);
    for (const variable of Object.keys(needed)) expect(help.out).to.contain(variable);
  });

  function run(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Said {
    const env = { PATH: join(directory, 'bin'), HOME: directory, ...variables };
    const { status, stdout, stderr } = spawnSync(script, args, { env, encoding: 'utf8' });
    return { status, out: stdout, err: stderr };
  }

  async function called(): Promise<readonly string[]> {
    return (await readFile(calls, 'utf8')).trim().split('\n');
  }

  async function standIn(program: string, does: string): Promise<void> {
    const file = join(directory, 'bin', program);
    await writeFile(file, `#!/bin/sh\necho "${program} $*" >> ${calls}\n${does}\n`);
    await chmod(file, 0o755);
  }
});
