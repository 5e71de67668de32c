import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';

// The chart as it is released: files in place of symbolic links, and values that install the published image.

const usage = 'usage: hack/release/chart.ts --repository REPOSITORY --digest sha256:DIGITS --runbooks URL [--help]';
const source = fileURLToPath(new URL('../../config/helm/moco-rollout', import.meta.url));
const released = fileURLToPath(new URL('../../dist/chart/moco-rollout', import.meta.url));

export interface Published {
  /** Of the image, without a tag. */
  readonly repository: string;
  readonly digest: string;
  /** Where the pages of docs/runbooks of this version are. */
  readonly runbooks: string;
}

/** Writes the chart into `directory`, which is replaced. */
export async function releaseChart({ repository, digest, runbooks }: Published, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await cp(source, directory, { recursive: true, dereference: true });
  const file = join(directory, 'values.yaml');
  const values = parseDocument(await readFile(file, 'utf8'));
  values.setIn(['image', 'repository'], repository);
  values.setIn(['image', 'digest'], digest);
  values.setIn(['prometheusRule', 'runbookBaseUrl'], runbooks);
  await writeFile(file, values.toString({ lineWidth: 0 }));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      digest: { type: 'string' },
      runbooks: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const { repository, digest, runbooks, help } = values;
  if (help === true) {
    console.log(usage);
  } else if (repository === undefined || digest === undefined || runbooks === undefined) {
    console.error(
      `expected --repository, --digest and --runbooks, got ${process.argv.slice(2).join(' ') || 'none'}\n${usage}`,
    );
    process.exitCode = 2;
  } else {
    await releaseChart({ repository, digest, runbooks }, released);
    console.log('dist/chart/moco-rollout');
  }
}
