import { glob, readFile } from 'node:fs/promises';

// Which test files exist, and which of them may run in parallel.

/** A group of files that this many processes run in parallel. */
export interface Lane {
  readonly files: readonly string[];
  readonly workers: number;
  /** Whether the processes of this lane give way to the other lanes, because tests in those lanes have deadlines. */
  readonly yields?: boolean;
}

/** The folder whose tests `make soak` runs. */
const soakFolder = 'test/soak/';
const waiting = ['test/browser/', 'test/cluster/', soakFolder];
/** The slowest files first. This order applies until durations are recorded. */
const longComputing = [
  'test/verification/explorer/base.test.ts',
  'test/verification/simulation/simulation.test.ts',
  'test/verification/simulation/',
  'test/verification/explorer/',
  'test/image/',
  'test/docs/commands.test.ts',
  'test/controller/crash-points.test.ts',
  'test/controller/whole-rollout-writes.test.ts',
  'test/core/rollout-model.test.ts',
  'test/config/prometheus.test.ts',
  'test/admission/clients.test.ts',
  'test/telemetry/log-fields.test.ts',
  'test/verification/fleet/',
  'test/verification/mistakes/catalogue.test.ts',
  'test/controller/every-pass.test.ts',
  'test/controller/rate-limit.test.ts',
  'test/cli/commands/check.test.ts',
  'test/cli/commands/plan-fleet.test.ts',
  'test/cli/commands/release.test.ts',
  'test/plan/simulated-fleet.test.ts',
  'test/cli/settings.test.ts',
  'test/base/text.test.ts',
  'test/hack/demo.test.ts',
  'test/core/properties.test.ts',
  'test/controller/in-place.test.ts',
  'test/controller/disrupt/adopt.test.ts',
  'test/cli/commands/report-fleet.test.ts',
  'test/kube/connection.test.ts',
  'test/cli/commands/status.test.ts',
  'test/cli/commands/sequence.test.ts',
  'test/admission/server.test.ts',
  'test/kube/reflector.test.ts',
  'test/plan/rollout-plan.test.ts',
];

/** What test files share if they run in the same process. A file shares the resource if it matches the pattern. */
const shared = {
  'moco-controller': /\b(realMocoScene|useAdoptedCluster|mocoGrounds|sharedInstallation)\b/,
  'the stand-in for MOCO': /\b(useRollouts|useControlPlane)\(\)/,
};

const isIn = (folders: readonly string[]) => (file: string) => folders.some((folder) => file.startsWith(folder));
const isSoak = isIn([soakFolder]);
const isWaiting = isIn(waiting);
/** Whether a file may start the controller or the plugin as a separate process. */
export const startsPrograms = isWaiting;
const isLongComputing = isIn(longComputing);

export async function testFiles(unitOnly: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob('test/**/*.test.ts')) if (!isSoak(file)) found.push(file);
  const gone = [...waiting, ...longComputing].find((place) => place !== soakFolder && !found.some(isIn([place])));
  if (gone !== undefined)
    throw new Error(`expected tests at ${gone}, which hack/tests/test-files.ts names; there are none`);
  found.sort();
  return unitOnly ? found.filter((file) => !isWaiting(file) && !isLongComputing(file)) : found;
}

/**
 * Phases that run one after another, each with parallel lanes. Unit tests come first, so that fast failures show early.
 * Next, the explorer and the simulation, which use every core that is free, run in parallel with tests of control
 * planes, which mostly wait. Files that share a control plane run in one process, so that it is started only once.
 */
export async function phases(files: readonly string[], cores: number): Promise<readonly (readonly Lane[])[]> {
  const lanes = Object.fromEntries([...Object.keys(shared), 'own'].map((name) => [name, [] as string[]]));
  for (const file of files.filter(isWaiting)) lanes[await sharedBy(file)]?.push(file);
  const { own = [], ...others } = lanes;
  const unit = files.filter((file) => !isWaiting(file) && !isLongComputing(file));
  return [
    [lane(unit, Math.ceil(cores * 1.5))],
    [
      { ...lane(files.filter(isLongComputing).toSorted(byPlace), cores), yields: true },
      lane(own, Math.ceil(cores / 2)),
      ...Object.values(others).map((sharing) => lane(sharing, 1)),
    ],
  ].map((phase) => phase.filter(({ workers }) => workers > 0));
}

async function sharedBy(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  return Object.entries(shared).find(([, pattern]) => pattern.test(text))?.[0] ?? 'own';
}

/** Orders files by the list above. */
function byPlace(one: string, other: string): number {
  const place = (file: string): number => longComputing.findIndex((folder) => file.startsWith(folder));
  return place(one) - place(other);
}

function lane(files: readonly string[], workers: number): Lane {
  return { files, workers: Math.min(files.length, workers) };
}
