import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const script = fileURLToPath(new URL('../../hack/release/verify-node.sh', import.meta.url));
const version = '24.0.0';
const archive = `node-v${version}-linux-x64.tar.xz`;
const list = 'SHASUMS256.txt.asc';

/** What stands for nodejs.org, with a releaser of its own. */
class Releases {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  get #home(): string {
    return join(this.directory, 'home');
  }

  async gpg(...flags: readonly string[]): Promise<void> {
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    await run('gpg', ['--batch', '--quiet', '--homedir', this.#home, ...flags]);
  }

  async publish(): Promise<void> {
    const dist = join(this.directory, `v${version}`);
    const top = `node-v${version}-linux-x64`;
    await mkdir(join(this.directory, top, 'bin'), { recursive: true });
    await mkdir(dist);
    await writeFile(join(this.directory, top, 'bin/node'), 'the Node that was released');
    await run('tar', ['-C', this.directory, '-cJf', join(dist, archive), top]);
    const sum = createHash('sha256').update(await readFile(join(dist, archive)));
    const sums = join(this.directory, 'sums');
    await writeFile(sums, `${sum.digest('hex')}  ${archive}\n`);
    await this.gpg('--passphrase', '', '--quick-gen-key', 'releaser@example.com', 'ed25519', 'sign', 'never');
    await this.gpg('--output', join(dist, list), '--clear-sign', sums);
    await this.gpg('--output', join(this.directory, 'keys'), '--export');
    await run('gpgconf', ['--homedir', this.#home, '--kill', 'all']);
  }

  /** Resolves to what is said about this Node. */
  async judge(node: string): Promise<string> {
    const file = join(this.directory, 'own');
    await writeFile(file, node);
    const env = {
      PATH: process.env['PATH'],
      NODE_DIST: `file://${this.directory}`,
      NODE_VERSION: version,
      NODE_KEYRING: join(this.directory, 'keys'),
    };
    return run('sh', [script, file, 'linux-x64'], { env }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => `refused: ${stderr}`,
    );
  }
}

describe('the Node of a release', () => {
  let releases: Releases;

  beforeEach(async () => {
    releases = new Releases(await mkdtemp(join(tmpdir(), 'moco-rollout-node-')));
    await releases.publish();
  });

  afterEach(() => rm(releases.directory, { recursive: true, force: true }));

  it('is the one in the archive with the signed sum', async () => {
    expect(await releases.judge('the Node that was released')).to.contain(
      'is the Node 24.0.0 that its project has signed',
    );
  });

  it('is refused if it is another one', async () => {
    expect(await releases.judge('another Node')).to.match(
      /^refused: .*to be Node 24\.0\.0 of .*, got a different one/s,
    );
  });

  it('is refused if the list was changed', async () => {
    const file = join(releases.directory, `v${version}`, list);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/[0-9a-f]{64}/, '0'.repeat(64)));
    expect(await releases.judge('the Node that was released')).to.match(/^refused: .*(BAD|bad) signature/s);
  });
});
