import { type Parsed, runProgram } from '../../hack/bench/program/run-program.ts';
import { ClusterUnavailable } from '../support/cluster/cluster.ts';
import { whatClusterLacks } from '../support/cluster/requirements.ts';
import { Unavailable } from './image/unavailable.ts';

const cannotRunExitCode = 2;
/** mysqld takes up to 590 MB; Kubernetes, its nodes and controllers 2 GB. */
const gigabytesPerMember = 0.6;
const gigabytesBeside = 2.5;

/** Runs it on a machine that can: where something is missing it says what, and ends with status 2. */
export async function runWhereItCan<Options>(
  asked: Parsed<Options>,
  members: number,
  run: (options: Options) => Promise<void>,
): Promise<void> {
  const gigabytes = Math.ceil(gigabytesBeside + members * gigabytesPerMember);
  const lacking = asked.kind === 'options' ? await whatClusterLacks(gigabytes) : null;
  await runProgram(lacking === null ? asked : { kind: 'usage-error', message: lacking }, async (options) => {
    try {
      await run(options);
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof ClusterUnavailable)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exit(cannotRunExitCode);
    }
  });
}
