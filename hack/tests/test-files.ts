import { glob } from 'node:fs/promises';

/** Files that run side by side in so many processes. */
export interface Lane {
  readonly files: readonly string[];
  readonly workers: number;
}

/** What `make soak` runs. */
const soakFolder = 'test/soak/';
const waiting = ['test/browser/', 'test/cluster/', soakFolder];
const longComputing = [
  'test/admission/slow-clients.test.ts',
  'test/config/prometheus.test.ts',
  'test/controller/crash-points.test.ts',
  'test/controller/whole-rollout-writes.test.ts',
  'test/core/rollout-model.test.ts',
  'test/docs/commands.test.ts',
  'test/image/',
  'test/telemetry/log-fields.test.ts',
  'test/verification/explorer/',
  'test/verification/simulation/',
];

const isIn = (folders: readonly string[]) => (file: string) => folders.some((folder) => file.startsWith(folder));
const isSoak = isIn([soakFolder]);
const isWaiting = isIn(waiting);
const isLongComputing = isIn(longComputing);

export async function testFiles(unitOnly: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob('test/**/*.test.ts')) if (!isSoak(file)) found.push(file);
  found.sort();
  return unitOnly ? found.filter((file) => !isWaiting(file) && !isLongComputing(file)) : found;
}

/**
 * Phases that follow one another, each with lanes side by side. Unit tests come first: what fails fast is seen fast. Then
 * what explores and simulates computes in one process per two cores, beside tests of a control plane, which mostly wait.
 */
export function phases(files: readonly string[], cores: number): readonly (readonly Lane[])[] {
  const waiting = files.filter(isWaiting);
  const computing = files.filter(isLongComputing);
  const unit = files.filter((file) => !isWaiting(file) && !isLongComputing(file));
  const lanes = [
    [lane(unit, Math.ceil(cores * 1.5))],
    [lane(computing, Math.ceil(cores / 2)), lane(waiting, Math.ceil(cores * 1.5))],
  ];
  return lanes.map((phase) => phase.filter(({ workers }) => workers > 0)).filter((phase) => phase.length > 0);
}

function lane(files: readonly string[], workers: number): Lane {
  return { files, workers: Math.min(files.length, workers) };
}
