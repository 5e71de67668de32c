import { Unavailable, whatClusterLacks } from '../support/cluster/requirements.ts';

const cannotRunExitCode = 2;
/** mysqld takes up to 590 MB; Kubernetes, its nodes and controllers 2 GB. */
const gigabytesPerMember = 0.6;
const gigabytesBeside = 2.5;

/** Runs it on a machine that can: where something is missing it says what, and ends with status 2. */
export async function runWhereItCan(members: number, run: () => Promise<void>): Promise<void> {
  try {
    const lacking = await whatClusterLacks(Math.ceil(gigabytesBeside + members * gigabytesPerMember));
    if (lacking !== null) throw new Unavailable(lacking);
    await run();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(cannotRunExitCode);
  }
}
