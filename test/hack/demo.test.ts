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

describe('make demo', function () {
  this.timeout(60_000);

  it('shows a rollout, a bad revision that halts, its correction, and what the StatefulSet would have done', async () => {
    const { code, stdout, stderr } = await demo('--speed=max');
    expect(code, stderr).to.equal(0);
    const [, good = '', bad = '', corrected = '', beside = ''] = stdout.split(
      /^A new image|^An image that crashes|^Its correction|^The same rollout/m,
    );
    const rolledOut =
      /Progressing, 0 of 3[^]* 1 of 3[^]* 2 of 3[^]* AwaitingSwitchover[^]* primary: [^]* UpToDate, 3 of 3 updated/;
    expect(good).to.match(rolledOut);
    expect(bad)
      .to.match(/moco-test-2: fails at the new revision[^]* UpdateRevisionFailing: /)
      .and.not.match(/2 of 3 updated/);
    expect(corrected)
      .to.match(/moco-test-2: fails at the old revision/)
      .and.match(rolledOut);
    expect(beside).to.match(/1 of 3 works, COMMITS BLOCK/);
    expect(beside).to.match(/moco-rollout +quorum kept: at least 2 of 3 worked/);
    expect(beside).to.match(/StatefulSet's own rolling update +QUORUM LOST: at least 1 of 3 worked/);
    for (const part of [good, bad, corrected]) {
      const lines = part.split('\n').filter((one) => one.startsWith('20'));
      expect(lines.filter((one) => one.length > 250)).to.deep.equal([]);
      const said = lines.map((one) => one.slice('2026-07-01T12:00:00Z'.length));
      expect(said.filter((one, at) => one === said[at - 1])).to.deep.equal([]);
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
