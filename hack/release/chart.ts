import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { type Document, parseDocument, stringify } from 'yaml';
import { withArguments } from '../program/run-program.ts';

// The released chart: symbolic links are replaced by files, and its values and addresses are those of the published
// image.

const source = fileURLToPath(new URL('../../config/helm/moco-rollout', import.meta.url));
const released = fileURLToPath(new URL('../../dist/chart/moco-rollout', import.meta.url));

export interface Published {
  /** The image without a tag. */
  readonly repository: string;
  readonly digest: string;
  /** The project's page, without a trailing slash. */
  readonly page: string;
  /** The tag of this version, such as `v0.1.0`. */
  readonly tag: string;
}

/** Writes the chart into `directory`. An existing directory is replaced. */
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
    // Artifact Hub expects YAML inside a string.
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
  const command = new Command('hack/release/chart.ts')
    .requiredOption('--repository <repository>', 'repository of the image, without a tag')
    .requiredOption('--digest <digest>', 'digest of the image, such as sha256:DIGITS')
    .requiredOption('--page <url>', "the project's page, without a trailing slash")
    .requiredOption('--tag <tag>', 'tag of this version, such as v0.1.0');
  await releaseChart(withArguments(command).opts<Published>(), released);
  console.log('dist/chart/moco-rollout');
}
