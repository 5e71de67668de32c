import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../hack/demo.ts', import.meta.url));

function demo(flag: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return run(process.execPath, [program, flag]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('make demo', () => {
  it('writes a line for each event into a pipe: a rollout, a bad revision, its correction, and what the StatefulSet does', async () => {
    const { code, stdout, stderr } = await demo('--speed=max');
    expect(code, stderr).to.equal(0);
    const [, good = '', bad = '', corrected = '', beside = ''] = stdout.split(
      /^A new image|^An image that crashes|^Its correction|^The same rollout/m,
    );
    const rolledOut =
      / rolls out\n[^]* is being evicted\n[^]* works at the new revision\n[^]* AwaitingSwitchover: [^]* is the primary\n[^]* up to date: all 3 members\n/;
    expect(good).to.match(rolledOut);
    expect(bad)
      .to.match(
        /moco-test-2 starts at the new revision\n[^]* UpdateRevisionFailing: the new revision fails on moco-test-2/,
      )
      .and.not.match(/works at the new revision/);
    expect(corrected)
      .to.match(/^.*\n\n.*moco-test-2 is being deleted\n/)
      .and.match(/ AwaitingSwitchover: [^]* up to date: all 3 members\n/);
    expect(beside).to.match(/1 of 3 works, COMMITS BLOCK/);
    expect(beside).to.match(/moco-rollout +quorum kept: at least 2 of 3 worked/);
    expect(beside).to.match(/StatefulSet's own rolling update +QUORUM LOST: at least 1 of 3 worked/);
    for (const part of [good, bad, corrected]) {
      const lines = part
        .split('\n')
        .filter((one) => one !== '')
        .slice(1);
      expect(lines.filter((one) => one.length > 250)).to.deep.equal([]);
      expect(lines.filter((one) => !/^\+(?:\d+m)?\d+s +\S/.test(one))).to.deep.equal([]);
      const all = lines.map((one) => one.replace(/^\S+ +/, ''));
      const said = all.slice(all.indexOf('test rolls out') + 1);
      expect(said.filter((one, at) => said.indexOf(one) !== at)).to.deep.equal([]);
    }
    expect(stdout.split('\n').slice(-4).join('\n')).to.contain('make demo-cluster');
  });

  it('refuses a speed that is none with one sentence and exit code 2', async () => {
    expect(await demo('--speed=fast')).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: "error: option '--speed <number>' argument 'fast' is invalid. Expected a number from 1 to 1000 or max.\n",
    });
  });
});
