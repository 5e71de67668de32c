import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { filledIn } from '../docs/command-kind.ts';
import { commandsUnder } from '../docs/markdown.ts';
import { leaveOut } from '../left-out.ts';
import { imageArchives, imageNames } from '../reality/image/archives.ts';
import { ClusterLoad } from '../reality/load/cluster-load.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { installMoco } from '../support/cluster/moco.ts';
import { ownImage } from '../support/cluster/own-image.ts';
import { Unavailable, whatClusterLacks } from '../support/cluster/requirements.ts';
import { quickMysqld, smallMySQLCluster } from '../support/cluster/small-mysql-cluster.ts';
import { goTool } from '../support/go-tools/build.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const ours = '--selector=app.kubernetes.io/part-of=moco-rollout';
const kinds =
  'deployment,replicaset,pod,service,configmap,secret,job,networkpolicy,poddisruptionbudget,role,rolebinding,serviceaccount,clusterrole,clusterrolebinding,mutatingwebhookconfiguration,mutatingadmissionpolicy,mutatingadmissionpolicybinding,validatingadmissionpolicy,validatingadmissionpolicybinding,crd';
const members = ['moco-test-0', 'moco-test-1', 'moco-test-2'];
const [mysqlImage] = imageNames.mysql;

/** The second one is the user's own. */
const containers = [quickMysqld(mysqlImage), { name: 'beside', image: imageNames.slowLog[0] }];
const mysqlCluster = smallMySQLCluster(mysqlImage, { podTemplate: { spec: { containers } } });

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status: {
    readonly containerStatuses: readonly {
      readonly name: string;
      readonly image: string;
      readonly containerID: string;
      readonly restartCount: number;
    }[];
  };
}

/** Kubernetes, MOCO and mysqld as they are, each member on a node of its own, and moco-rollout as its users install it. */
describe('on real nodes', function () {
  let cluster: Cluster;
  let certificates: Awaited<ReturnType<typeof installMoco>>;
  let load: ClusterLoad;
  let environment: NodeJS.ProcessEnv;
  /** README's, but for the one that builds and pushes the image. */
  let commands: readonly string[];
  let nextTag: string;
  /** Of this machine, that containerd and kubelet make elsewhere. */
  let foreign: readonly string[];

  before(async function install() {
    const lacking = await whatClusterLacks();
    foreign = foreignDirectories();
    if (lacking !== null) leaveOut(this, `what runs on real nodes. ${lacking}`);
    const archives = await imageArchives().catch((error: unknown) => {
      if (error instanceof Unavailable) leaveOut(this, `what runs on real nodes. ${error.message}`);
      throw error;
    });
    const archivesOf = (...names: readonly string[]): readonly string[] =>
      names.map((name) => archives.get(name) ?? expect.fail(`no archive of ${name}`));
    const helm = await goTool('helm');
    const { mysql, agent, slowLog, controller } = imageNames;
    cluster = await startCluster({ images: archivesOf(mysql[0], agent[0], ...slowLog, ...controller) });
    environment = {
      ...process.env,
      HOME: cluster.directory,
      KUBECONFIG: cluster.kubeconfig,
      PATH: [dirname(helm), dirname(cluster.programs.kubectl), process.env['PATH']].join(delimiter),
    };
    const [build = '', ...others] = (await commandsUnder('Install', '../README.md')).map(filledIn);
    commands = others;
    // There is no engine and no registry: the image is made without the one and goes to the nodes without the other.
    const [, image = ''] = /^docker build --tag (\S+) /.exec(build) ?? [];
    const own = [image, `${image}-next`].map((name) => `docker.io/library/${name}`);
    nextTag = `${image}-next`.replace(/^.*:/, '');
    await Promise.all([
      createDatabase(),
      ownImage(cluster.directory, own).then((archive) => cluster.importImage(archive)),
    ]);
  });

  /** MOCO, and a MySQLCluster that is being made. */
  async function createDatabase(): Promise<void> {
    certificates = await installMoco(cluster);
    const file = join(cluster.directory, 'test.yaml');
    await writeFile(file, stringify(mysqlCluster));
    await cluster.apply(file);
  }

  after(async () => {
    load?.kill();
    await certificates?.stop();
    await cluster?.stop();
  });

  it('the commands of README install it and adopt a cluster', async () => {
    for (const command of commands.slice(0, -2)) await shell(command);
    await shell(
      "kubectl wait statefulset/moco-test --for=jsonpath='{.spec.updateStrategy.type}'=OnDelete --timeout=60s",
    );
    expect(await shell(`kubectl get ${kinds} --all-namespaces ${ours} -o name`)).to.contain('deployment.apps/');
  });

  it('the change of README loses no row and ends with the primary, though helm upgrade brings another image meanwhile', async () => {
    load = await ClusterLoad.start(cluster, { namespace: 'default', name: 'test', writers: 4 });
    const primary = `moco-test-${await shell("kubectl get mysqlcluster test -o jsonpath='{.status.currentPrimaryIndex}'")}`;
    const before = await pods();
    const [change = '', complete = ''] = commands.slice(-2);
    await shell(change);
    await upgrade();
    await shell(complete);
    const result = await load.stop();
    expect(result.acknowledged).to.be.greaterThan(100);
    for (const { member, missing, unreadable } of result.members) {
      expect({ member, missing, unreadable }).to.deep.equal({ member, missing: [], unreadable: null });
    }
    expect(result.members.map(({ member }) => member)).to.have.members(members);
    const after = await pods();
    expect(after.map(({ metadata }) => metadata.uid)).not.to.include.members(
      before.map(({ metadata }) => metadata.uid),
    );
    const replicas = members.filter((name) => name !== primary).toReversed();
    const byAge = after.toSorted((one, other) =>
      one.metadata.creationTimestamp.localeCompare(other.metadata.creationTimestamp),
    );
    expect(byAge.map(({ metadata }) => metadata.name)).to.deep.equal([...replicas, primary]);
    for (const { metadata } of after) expect(metadata.annotations).to.include({ 'example.com/rollout': '1' });
  });

  it('the feature that the upgrade brought updates a container in place', async () => {
    await shell(
      `kubectl patch mysqlrollout test --type=merge -p '{"spec":{"inPlace":{"mode":"IfPossible","containers":["beside"]}}}'`,
    );
    const before = await pods();
    await patchBeside(imageNames.slowLog[1]);
    await shell(commands.at(-1) ?? '');
    const after = await pods();
    for (const [index, pod] of after.entries()) {
      const old = before[index] ?? expect.fail('a pod is missing');
      expect(pod.metadata.uid, pod.metadata.name).to.equal(old.metadata.uid);
      expect(container(pod, 'mysqld').containerID).to.equal(container(old, 'mysqld').containerID);
      expect(container(pod, 'beside').containerID).not.to.equal(container(old, 'beside').containerID);
      expect(container(pod, 'beside').image).to.equal(imageNames.slowLog[1]);
    }
  });

  it('uninstalling releases the cluster and leaves nothing', async () => {
    const before = await pods();
    for (const command of await commandsUnder('With Helm', 'uninstalling.md')) await shell(command);
    expect(await strategyOf('test')).to.equal('RollingUpdate');
    expect((await pods()).map(({ metadata }) => metadata.uid)).to.deep.equal(
      before.map(({ metadata }) => metadata.uid),
    );
    await shell(`kubectl wait pods --namespace moco-rollout-system --all --for=delete --timeout=60s`);
    const left = await shell(
      `kubectl get ${kinds} --all-namespaces -o name | grep -i moco-rollout | grep -v ^job.batch/never || true`,
    );
    expect(left).to.equal('');
  });

  it('the cluster ends without a trace', async () => {
    const { directory, id } = cluster;
    await certificates.stop();
    await cluster.stop();
    expect(await processesWith(directory)).to.deep.equal([]);
    expect(await readFile('/proc/self/mounts', 'utf8')).not.to.contain(id);
    const hierarchies = await readdir('/sys/fs/cgroup');
    for (const name of hierarchies) {
      const cgroups = await readdir(join('/sys/fs/cgroup', name)).catch(() => []);
      expect(cgroups.filter((cgroup) => cgroup.startsWith(id))).to.deep.equal([]);
    }
    expect(await readdir(dirname(directory))).not.to.include(id);
    expect(foreignDirectories()).to.deep.equal(foreign);
  });

  /** Keeps the release's values. Resolves once the next image runs. */
  async function upgrade(): Promise<void> {
    const values = [`image.tag=${nextTag}`, 'featureGates.InPlaceUpdate=true', 'settings.minReadySeconds=0'];
    const release = 'moco-rollout config/helm/moco-rollout --namespace moco-rollout-system';
    await shell(`helm upgrade ${release} --reuse-values --set ${values.join()} --wait --timeout 5m`);
  }

  async function patchBeside(image: string): Promise<void> {
    const changed = containers.map((one) => (one.name === 'beside' ? { ...one, image } : one));
    const patch = JSON.stringify({ spec: { podTemplate: { spec: { containers: changed } } } });
    await cluster.kubectl('patch', 'mysqlcluster', 'test', '--type=merge', `--patch=${patch}`);
  }

  function strategyOf(name: string): Promise<string> {
    return cluster.kubectl('get', 'statefulset', `moco-${name}`, '--output=jsonpath={.spec.updateStrategy.type}');
  }

  /** By name. */
  async function pods(): Promise<readonly Pod[]> {
    const selector = '--selector=app.kubernetes.io/created-by=moco';
    const { items } = JSON.parse(await cluster.kubectl('get', 'pods', selector, '--output=json')) as { items: Pod[] };
    return items;
  }

  /** Rejects where it ends with another status than 0, with all that it said. */
  async function shell(command: string): Promise<string> {
    const { stdout } = await run('bash', ['-c', command], { cwd: root, env: environment });
    return stdout;
  }
});

function foreignDirectories(): readonly string[] {
  const places = ['/opt/containerd', '/usr/libexec/kubernetes', '/etc/cni', '/etc/kubernetes', '/etc/containerd'];
  const states = ['/run/containerd', '/var/lib/containerd', '/var/lib/kubelet', '/var/lib/cni', '/var/log/pods'];
  return [...places, ...states].filter((place) => existsSync(place));
}

function container({ metadata, status }: Pod, name: string) {
  const found = status.containerStatuses.find((one) => one.name === name);
  return found ?? expect.fail(`${metadata.name} has no container ${name}`);
}

/** Those that run in a directory or were started with its name. */
async function processesWith(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (line.includes(directory) || place.startsWith(directory)) found.push(line.replaceAll('\0', ' '));
  }
  return found;
}
