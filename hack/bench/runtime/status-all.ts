import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const commandLine = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url));
const tries = 5;
const mostBytes = 64 * 1024 * 1024;

/** How many milliseconds a person waits for `kubectl moco-rollout status -A`, start-up included, in ascending order. */
export async function measureStatusAll(kubeconfigPath: string, clusters: number): Promise<readonly number[]> {
  const milliseconds: number[] = [];
  for (let times = 0; times < tries; times += 1) {
    const start = performance.now();
    const { stdout } = await run(
      process.execPath,
      [commandLine, 'status', '--all-namespaces', `--kubeconfig=${kubeconfigPath}`],
      { maxBuffer: mostBytes },
    );
    milliseconds.push(performance.now() - start);
    const lines = stdout.split('\n').length;
    if (lines < clusters) throw new Error(`expected a line for each of ${clusters} clusters, got ${lines} lines`);
  }
  return milliseconds.toSorted((a, b) => a - b);
}
