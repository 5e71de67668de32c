import { once } from 'node:events';
import { openBed, Unavailable } from './bed.ts';
import { whatIsMissing } from './requirements.ts';

const members = 3;
const unusable = 2;

/** Until Ctrl-C. */
async function run(): Promise<void> {
  const { MYSQL_HOME: mysqlHome } = process.env;
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const bed = await openBed(mysqlHome === undefined ? {} : { mysqlHome });
  try {
    const controller = await bed.startController();
    process.stdout.write(
      [
        `MySQLClusters run ${bed.mysql}; their image is ${bed.images.first} or ${bed.images.second}. In another terminal:`,
        '',
        `  export KUBECONFIG=${bed.controlPlane.adminKubeconfig}`,
        `  ${bed.controlPlane.binaries.kubectl} get mysqlclusters,pods --all-namespaces`,
        '',
        `Cluster test in namespace default has its agents' certificate. Logs: ${bed.moco.logFile}, ${controller.logFile}.`,
        'Ctrl-C stops everything and removes it.',
        '',
      ].join('\n'),
    );
    await bed.prepareCluster('default', 'test');
    await interrupted;
  } finally {
    await bed.close();
  }
}

const missing = await whatIsMissing(members);
if (missing === null) {
  try {
    await run();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof Unavailable ? unusable : 1;
  }
} else {
  process.stderr.write(`${missing}\n`);
  process.exitCode = unusable;
}
