import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Document, parseDocument, stringify } from 'yaml';

// The chart as it is released: files in place of symbolic links, values that install the published image, and
// addresses.

const usage =
  'usage: hack/release/chart.ts --repository REPOSITORY --digest sha256:DIGITS --page URL --tag TAG [--help]';
const source = fileURLToPath(new URL('../../config/helm/moco-rollout', import.meta.url));
const released = fileURLToPath(new URL('../../dist/chart/moco-rollout', import.meta.url));

export interface Published {
  /** Of the image, without a tag. */
  readonly repository: string;
  readonly digest: string;
  /** The project's page at its forge, without a slash at its end. */
  readonly page: string;
  /** Of this version, such as `v0.1.0`. */
  readonly tag: string;
}

/** Writes the chart into `directory`, which is replaced. */
export async function releaseChart({ repository, digest, page, tag }: Published, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await cp(source, directory, { recursive: true, dereference: true });
  const files = `${page}/blob/${tag}`;
  await change(join(directory, 'values.yaml'), (values) => {
    values.setIn(['image', 'repository'], repository);
    values.setIn(['image', 'digest'], digest);
    values.setIn(['prometheusRule', 'runbookBaseUrl'], `${files}/docs/runbooks`);
  });
  await change(join(directory, 'Chart.yaml'), (chart) => {
    chart.set('home', page);
    chart.set('sources', [page]);
    chart.set('icon', `${page}/raw/${tag}/docs/drawings/icon.svg`);
    chart.setIn(['maintainers', 0, 'url'], page);
    // Artifact Hub wants YAML in a text.
    const text = (key: string, value: readonly object[]): void =>
      chart.setIn(['annotations', `artifacthub.io/${key}`], stringify(value));
    text('images', [{ name: 'moco-rollout', image: `${repository}@${digest}` }]);
    text('links', [
      { name: 'Documentation', url: `${files}/docs/README.md` },
      { name: 'Changelog', url: `${files}/CHANGELOG.md` },
      { name: 'support', url: `${page}/issues` },
    ]);
  });
}

async function change(file: string, edit: (document: Document) => void): Promise<void> {
  const document: Document = parseDocument(await readFile(file, 'utf8'));
  edit(document);
  await writeFile(file, document.toString({ lineWidth: 0 }));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      digest: { type: 'string' },
      page: { type: 'string' },
      tag: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const { repository, digest, page, tag, help } = values;
  if (help === true) {
    console.log(usage);
  } else if (repository === undefined || digest === undefined || page === undefined || tag === undefined) {
    console.error(
      `expected --repository, --digest, --page and --tag, got ${process.argv.slice(2).join(' ') || 'none'}\n${usage}`,
    );
    process.exitCode = 2;
  } else {
    await releaseChart({ repository, digest, page, tag }, released);
    console.log('dist/chart/moco-rollout');
  }
}
