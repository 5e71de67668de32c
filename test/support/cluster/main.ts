import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { controlPlaneBinaries } from '../control-plane/build.ts';
import { attend } from './attended.ts';
import { kubeconfigIn, startCluster } from './cluster.ts';
import { clusterPrograms } from './programs.ts';
import { forgetTheDead, isStarterAlive, records } from './records.ts';
import { Unavailable, whatClusterLacks } from './requirements.ts';

const usage = `Usage: node test/support/cluster/main.ts build|run|shell|stop

  build  builds what a cluster runs, once, where one can run
  run    starts one until Ctrl-C
  shell  opens a shell with kubectl and the kubeconfig of the one that run has started
  stop   ends those that run has started in this directory, and removes what killed ones have left

NODES is the number of nodes, 3 by default. KUBERNETES is 1.36, the default, or 1.37.
`;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const unusable = 2;
const pauseMilliseconds = 200;

function run(): Promise<void> {
  return attend(async () => {
    const cluster = await startCluster({ nodes: Number(process.env['NODES'] || 3), openedIn: root });
    return { cluster, stop: () => cluster.stop() };
  });
}

/** Those that a person has started here. */
async function opened() {
  return (await records()).filter(({ openedIn }) => openedIn === root);
}

async function stop(): Promise<void> {
  for (const cluster of await opened()) {
    if (await isStarterAlive(cluster)) process.kill(cluster.pid, 'SIGTERM');
    while (await isStarterAlive(cluster)) await delay(pauseMilliseconds);
  }
  await forgetTheDead();
}

/** Ends with the status of the shell. */
async function shell(): Promise<void> {
  const cluster = (await opened()).at(-1);
  if (cluster === undefined) throw new Error('Expected a cluster that runs, found none: start one with "make cluster"');
  const { kubectl } = await controlPlaneBinaries();
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfigIn(cluster.directory),
    PATH: [join(cluster.directory, 'bin'), dirname(kubectl), dirname(process.execPath), process.env['PATH']].join(
      delimiter,
    ),
  };
  const [status] = await once(spawn(process.env['SHELL'] || 'sh', { stdio: 'inherit', env }), 'exit');
  process.exitCode = Number(status);
}

async function build(): Promise<void> {
  const lacking = await whatClusterLacks();
  if (lacking !== null) process.stderr.write(`${lacking}. No nodes are built.\n`);
  else for (const path of Object.values(await clusterPrograms())) process.stdout.write(`${path}\n`);
}

const commands: Readonly<Record<string, () => Promise<void>>> = { build, run, shell, stop };
const [name = '', ...rest] = process.argv.slice(2);
const command = commands[name];
if (command === undefined || rest.length > 0) {
  process.stderr.write(usage);
  process.exitCode = unusable;
} else {
  try {
    await command();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof Unavailable ? unusable : 1;
  }
}
