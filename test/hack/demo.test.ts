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

  it('shows a rollout, a bad revision that halts, and its correction, and names the next step', async () => {
    const { code, stdout, stderr } = await demo('--speed=max');
    expect(code, stderr).to.equal(0);
    const [, good = '', bad = '', corrected = ''] = stdout.split(
      /^A new image|^An image that crashes|^Its correction/m,
    );
    const rolledOut = /Progressing +0\/3[^]* 1\/3[^]* 2\/3[^]* AwaitingSwitchover[^]* UpToDate +3\/3/;
    expect(good).to.match(rolledOut);
    expect(bad)
      .to.match(/Failing +1\/3 +UpdateRevisionFailing[^]*2 down/)
      .and.not.match(/UpToDate[^]* 2\/3/);
    expect(corrected)
      .to.match(/Progressing +0\/3 .*2 down Next/)
      .and.match(rolledOut);
    expect(corrected.split('\n').slice(-4).join('\n')).to.contain('make demo-cluster');
  });

  it('refuses a speed that is none with one sentence and exit code 2', async () => {
    expect(await demo('--speed=fast')).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: "error: option '--speed <number>' argument 'fast' is invalid. Expected a number from 1 to 1000 or max.\n",
    });
  });
});
