import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { releaseChart } from '../../../hack/release/chart.ts';
import { chartDirectory } from '../../config/manifests.ts';
import { root } from '../../docs/markdown.ts';

interface Values {
  image: { repository: string; digest: string };
  prometheusRule: { runbookBaseUrl: string };
}

interface Chart {
  maintainers: readonly object[];
  annotations: Readonly<Record<string, string>>;
}

describe('the chart as it is released', () => {
  const published = {
    repository: 'somewhere/moco-rollout',
    digest: 'sha256:0',
    page: 'https://forge.example/x',
    tag: 'v1',
  };
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-chart-'));
    await releaseChart(published, directory);
  });

  after(() => rm(directory, { recursive: true, force: true }));

  it('installs the published image and links to the runbooks of its version, and changes no other value', async () => {
    const read = async (path: string): Promise<Values> =>
      parse(await readFile(join(path, 'values.yaml'), 'utf8')) as Values;
    const expected = await read(chartDirectory);
    expected.image.repository = published.repository;
    expected.image.digest = published.digest;
    expected.prometheusRule.runbookBaseUrl = 'https://forge.example/x/blob/v1/docs/runbooks';
    expect(await read(directory)).to.deep.equal(expected);
  });

  it('says where it comes from, in whole addresses of files that exist', async () => {
    const text = await readFile(join(directory, 'Chart.yaml'), 'utf8');
    const chart = parse(text) as Chart;
    expect(chart).to.deep.include({ home: published.page, sources: [published.page] });
    expect(chart.maintainers).to.deep.equal([{ name: 'moco-rollout', url: published.page }]);
    expect(parse(chart.annotations['artifacthub.io/images'] ?? '')).to.deep.equal([
      { name: 'moco-rollout', image: 'somewhere/moco-rollout@sha256:0' },
    ]);
    const addresses = [...text.matchAll(/https:\/\/forge\.example\/x\/(?:blob|raw)\/v1\/(\S+)/g)];
    expect(addresses).to.have.length(3);
    for (const [, path = ''] of addresses) expect((await lstat(join(root, path))).isFile(), path).to.equal(true);
  });

  it('keeps the comments of the values', async () => {
    const comments = async (path: string): Promise<readonly string[]> =>
      (await readFile(join(path, 'values.yaml'), 'utf8')).split('\n').filter((line) => line.trim().startsWith('#'));
    expect(await comments(directory)).to.deep.equal(await comments(chartDirectory));
  });

  it('has every file of the chart, and no symbolic link', async () => {
    const files = await readdir(directory, { recursive: true });
    expect(files).to.include.members(['Chart.yaml', 'files/crd/moco-rollout.io_mysqlrollouts.yaml']);
    for (const file of files) expect((await lstat(join(directory, file))).isSymbolicLink(), file).to.equal(false);
  });
});
