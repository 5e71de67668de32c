import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { leaveOut } from '../left-out.ts';
import { imageArchives, imageNames } from '../reality/image/archives.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { installMoco } from '../support/cluster/moco.ts';
import { ownImage } from '../support/cluster/own-image.ts';
import { whatClusterLacks } from '../support/cluster/requirements.ts';
import { smallMySQLCluster } from '../support/cluster/small-mysql-cluster.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const [firstMysql, secondMysql] = imageNames.mysql;
const ours = 'app.kubernetes.io/part-of=moco-rollout';

/** The other ways to install both: `test/cluster/real-nodes.test.ts` has MOCO's manifests and this program's chart. */
describe('MOCO from its chart and moco-rollout with kustomize, on a real node', function () {
  let cluster: Cluster;
  let certificates: { stop(): Promise<void> } | undefined;

  before(async function install() {
    const lacking = await whatClusterLacks();
    if (lacking !== null) leaveOut(this, `the installation with kustomize on a real node. ${lacking}`);
    const archives = await imageArchives();
    const { mysql, agent, slowLog, controller } = imageNames;
    const images = [...mysql, agent[0], slowLog[0], ...controller].map(
      (name) => archives.get(name) ?? expect.fail(name),
    );
    cluster = await startCluster({ nodes: 1, images });
    [certificates] = await Promise.all([
      installMoco(cluster, { from: 'chart' }),
      ownImage(cluster.directory, ['docker.io/library/moco-rollout:0.1.0']).then((one) => cluster.importImage(one)),
    ]);
    await apply(firstMysql);
  });

  after(async () => {
    await certificates?.stop();
    await cluster?.stop();
  });

  it("installing.md's overlay installs it, and adopts nothing", async () => {
    const document = await readFile(join(root, 'docs/installing.md'), 'utf8');
    const section = document.slice(document.indexOf('\n## With kustomize'));
    const [, overlay = ''] = /```yaml\n([^]*?)```/.exec(section) ?? [];
    const directory = join(cluster.directory, 'overlay');
    await mkdir(directory);
    const kustomization = parse(overlay.replaceAll('IMAGE', 'docker.io/library/moco-rollout')) as object;
    // Kustomize refuses absolute paths.
    const resources = [relative(directory, join(root, 'config/default'))];
    await writeFile(join(directory, 'kustomization.yaml'), stringify({ ...kustomization, resources }));
    await cluster.kubectl('apply', '--server-side', '--kustomize', directory);
    const namespace = '--namespace=moco-rollout-system';
    await cluster.kubectl('rollout', 'status', namespace, 'deployment/moco-rollout-controller', '--timeout=180s');
    await cluster.kubectl('wait', '--for=condition=Healthy', '--timeout=600s', 'mysqlcluster/test');
    await cluster.kubectl('wait', '--for=create', '--timeout=120s', 'mysqlrollout/test');
    expect(await strategy()).to.equal('RollingUpdate');
  });

  it('once adopted, its members are replaced one at a time, the primary last', async () => {
    const rollout = JSON.stringify({ spec: { strategy: 'OnDelete' } });
    await cluster.kubectl('patch', 'mysqlrollout', 'test', '--type=merge', `--patch=${rollout}`);
    const adopted = '--for=jsonpath={.spec.updateStrategy.type}=OnDelete';
    await cluster.kubectl('wait', adopted, '--timeout=120s', 'statefulset/moco-test');
    const primary = await cluster.kubectl(
      'get',
      'mysqlcluster',
      'test',
      '--output=jsonpath={.status.currentPrimaryIndex}',
    );
    await apply(secondMysql);
    const last = '--for=jsonpath={.spec.containers[?(@.name=="mysqld")].image}';
    await cluster.kubectl('wait', `${last}=${secondMysql}`, '--timeout=600s', `pod/moco-test-${primary}`);
    const complete = '--for=condition=moco-rollout.io/RolloutComplete';
    await cluster.kubectl('wait', complete, '--timeout=300s', 'mysqlcluster/test');
    const names = await cluster.kubectl(
      'get',
      'pods',
      '--selector=app.kubernetes.io/created-by=moco',
      '--sort-by=.metadata.creationTimestamp',
      `--output=jsonpath={range .items[*]}{.metadata.name}={.spec.containers[?(@.name=="mysqld")].image}{" "}{end}`,
    );
    const order = [0, 1, 2].filter((ordinal) => String(ordinal) !== primary).toReversed();
    expect(names.trim().split(' ')).to.deep.equal(
      [...order, primary].map((ordinal) => `moco-test-${ordinal}=${secondMysql}`),
    );
  });

  it('make undeploy gives the cluster back and leaves nothing', async () => {
    const path = [dirname(cluster.programs.kubectl), process.env['PATH']].join(':');
    await run('make', ['undeploy'], { cwd: root, env: { ...process.env, KUBECONFIG: cluster.kubeconfig, PATH: path } });
    expect(await strategy()).to.equal('RollingUpdate');
    const kinds = 'deployment,service,role,rolebinding,clusterrole,clusterrolebinding,namespace,crd';
    const admission = 'mutatingadmissionpolicy,mutatingadmissionpolicybinding,validatingadmissionpolicy';
    const all = ['get', `${kinds},${admission}`, '--all-namespaces', '--output=name'];
    expect(await cluster.kubectl(...all, `--selector=${ours}`)).to.equal('');
    const left = '--output=jsonpath={.status.conditions[*].type}';
    expect(await cluster.kubectl('get', 'mysqlcluster', 'test', left)).not.to.contain('moco-rollout.io');
  });

  async function apply(image: string): Promise<void> {
    const file = join(cluster.directory, 'test.yaml');
    await writeFile(file, stringify(smallMySQLCluster(image)));
    await cluster.apply(file);
  }

  function strategy(): Promise<string> {
    return cluster.kubectl('get', 'statefulset', 'moco-test', '--output=jsonpath={.spec.updateStrategy.type}');
  }
});
