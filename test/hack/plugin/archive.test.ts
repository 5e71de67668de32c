import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { archiveOf } from '../../../hack/plugin/archive.ts';

const run = promisify(execFile);
const files = [
  { name: 'LICENSE', content: Buffer.from('do as you like\n'), isExecutable: false },
  { name: 'program', content: Buffer.alloc(1_234, 'x'), isExecutable: true },
  { name: 'whole-blocks', content: Buffer.alloc(1_024, 'y'), isExecutable: false },
];

describe("an archive of kubectl's plugin", () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'archive-'));
  });

  after(() => rm(directory, { recursive: true, force: true }));

  it('is unpacked by tar, with names, contents and modes', async () => {
    await writeFile(join(directory, 'some.tar.gz'), archiveOf(files));
    const { stderr } = await run('tar', ['-xzf', 'some.tar.gz'], { cwd: directory });
    expect(stderr).to.equal('');
    for (const { name, content, isExecutable } of files) {
      expect(await readFile(join(directory, name))).to.deep.equal(content);
      expect(((await stat(join(directory, name))).mode & 0o111) !== 0, name).to.equal(isExecutable);
    }
  });

  it('contains neither times nor owners', async () => {
    await writeFile(join(directory, 'some.tar.gz'), archiveOf(files));
    const { stdout } = await run('tar', ['-tvzf', 'some.tar.gz', '--numeric-owner'], {
      cwd: directory,
      env: { ...process.env, TZ: 'UTC' },
    });
    expect(stdout.trim().split('\n')).to.have.length(files.length);
    for (const line of stdout.trim().split('\n')) expect(line).to.match(/ 0\/0 .* 1970-01-01 00:00 /);
    expect(archiveOf(files).subarray(4, 10)).to.deep.equal(Buffer.from([0, 0, 0, 0, 0, 255]));
  });
});
