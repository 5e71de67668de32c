import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { releaseChart } from '../../../hack/release/chart.ts';
import { chartDirectory } from '../../config/manifests.ts';

interface Values {
  image: { repository: string; digest: string };
  prometheusRule: { runbookBaseUrl: string };
}

describe('the chart as it is released', () => {
  const published = { repository: 'somewhere/moco-rollout', digest: 'sha256:0', runbooks: 'somewhere/runbooks' };
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
    expected.prometheusRule.runbookBaseUrl = published.runbooks;
    expect(await read(directory)).to.deep.equal(expected);
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
