import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { type Attended, attend } from '../../support/cluster/attended.ts';
import type { Cluster } from '../../support/cluster/cluster.ts';
import { Unavailable } from '../../support/cluster/requirements.ts';
import { smallMySQLCluster } from '../../support/cluster/small-mysql-cluster.ts';
import { goTool } from '../../support/go-tools/build.ts';
import { startClusterWithMoco } from '../cluster-with-moco.ts';
import { imageNames } from '../image/archives.ts';

// `make cluster MOCO=1`: a Kubernetes cluster with MOCO, in which a person installs moco-rollout as the documents say.

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const [firstVersion, secondVersion] = imageNames.mysql;
/** The default image tag of the Helm chart. */
const ownTag = '0.1.0';

/** Puts helm and the plugin where the shell of `make cluster-shell` finds programs. */
async function addPrograms({ directory }: Cluster): Promise<void> {
  const programs = join(directory, 'bin');
  const bundle = await mkdtemp(join(tmpdir(), 'moco-rollout-plugin-'));
  try {
    await mkdir(programs);
    await run(process.execPath, ['hack/build.ts', bundle], { cwd: root });
    await copyFile(join(bundle, 'cli.cjs'), join(programs, 'kubectl-moco_rollout'));
    await symlink(await goTool('helm'), join(programs, 'helm'));
  } finally {
    await rm(bundle, { recursive: true, force: true });
  }
}

async function start(): Promise<Attended> {
  const started = await startClusterWithMoco(ownTag, { nodes: Number(process.env['NODES'] || 3), openedIn: root });
  const { cluster } = started;
  const manifest = join(cluster.directory, 'mysqlcluster.yaml');
  try {
    await Promise.all([addPrograms(cluster), writeFile(manifest, stringify(smallMySQLCluster(firstVersion)))]);
  } catch (error) {
    await started.stop();
    throw error;
  }
  const more = [
    `MOCO is running. "make cluster-shell" also has helm and the plugin. The image moco-rollout:${ownTag} is already on`,
    'the nodes, so you can skip the docker command in docs/getting-started.md. To create a MySQLCluster of three members:',
    '',
    `  kubectl apply --filename ${manifest}`,
    '',
    `It runs ${firstVersion}. The nodes also have ${secondVersion}, to which you can upgrade it.`,
    '',
  ];
  return { ...started, more };
}

try {
  await attend(start);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Unavailable ? 2 : 1;
}
