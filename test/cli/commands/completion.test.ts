import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { runWith } from '../fake-cluster.ts';

const scriptName = 'kubectl_complete-moco_rollout';

describe('completion install', () => {
  let directory: string;
  let place: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'completion-'));
    place = join(directory, 'with-plugin');
    const others = ['before', 'after'].map((name) => join(directory, name));
    for (const one of [place, ...others]) await mkdir(one);
    await writeFile(join(place, 'kubectl-moco_rollout'), '');
    path = [others[0], '', place, others[1]].join(delimiter);
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('writes an executable script beside the plugin, also when repeated', async () => {
    for (let time = 0; time < 2; time++) {
      const { status, out, err } = await runWith({ PATH: path }, ['completion', 'install']);
      expect([status, err]).to.deep.equal([0, '']);
      expect(out).to.contain(join(place, scriptName));
    }
    const file = join(place, scriptName);
    expect((await stat(file)).mode & 0o777).to.equal(0o755);
    const written = await runWith({}, ['completion']);
    expect(await readFile(file, 'utf8')).to.equal(written.out);
    expect(written.out).to.match(/^#!\/bin\/sh\n[^]*\nexec kubectl moco-rollout __complete "\$@"\n$/);
  });

  it('writes to the given directory', async () => {
    const { status } = await runWith({}, ['completion', 'install', '--directory', directory]);
    expect(status).to.equal(0);
    expect(await readFile(join(directory, scriptName), 'utf8')).to.contain('__complete');
  });

  it('does not overwrite another program’s file', async () => {
    await writeFile(join(place, scriptName), '#!/bin/sh\necho mine\n');
    const { status, err } = await runWith({ PATH: path }, ['completion', 'install']);
    expect([status, err]).to.deep.equal([
      1,
      `error: ${join(place, scriptName)} already exists and is not this program's: move it away first\n`,
    ]);
  });

  it('reports errors with one sentence', async () => {
    const none = await runWith({ PATH: join(directory, 'after') }, ['completion', 'install']);
    expect(none).to.include({ status: 1 });
    expect(none.err).to.equal(
      'error: expected kubectl-moco_rollout in a directory of PATH, found none: put it there, or use --directory\n',
    );
    const nowhere = await runWith({}, ['completion', 'install', '--directory', join(directory, 'nowhere')]);
    expect(nowhere.status).to.equal(1);
    expect(nowhere.err).to.match(
      /^error: cannot write .* \(ENOENT\): use --directory with another directory of PATH\n$/,
    );
    const misspelt = await runWith({}, ['completion', 'instal']);
    expect(misspelt.status).to.equal(2);
    expect(misspelt.err).to.contain('expected `completion` or `completion install`, got `instal`');
  });
});
