import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const reproducible = ['--numeric-owner', '--owner=0', '--group=0', '--sort=name', '--mtime=@0'];
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** What an image says besides its files, as the OCI image configuration has it. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

export interface ImageArchive {
  /** Directories, a layer each: a later one adds to those before, and its files win. */
  readonly layers: readonly string[];
  readonly names: readonly string[];
  readonly config: ImageConfig;
  /** Path of the archive. */
  readonly archive: string;
}

/** Makes an archive, as `docker save` does. The same files give the same layers, which nodes keep once. */
export async function writeImageArchive({ layers, names, config, archive }: ImageArchive): Promise<void> {
  const work = await mkdtemp(join(dirname(archive), '.image-'));
  try {
    const files = layers.map((_, index) => `layer-${index}.tar`);
    const hashes: string[] = [];
    for (const [index, directory] of layers.entries()) {
      const layer = join(work, files[index] ?? '');
      await run('tar', ['--directory', directory, ...reproducible, '--create', '--file', layer, '.']);
      const hash = createHash('sha256');
      await pipeline(createReadStream(layer), hash);
      hashes.push(`sha256:${hash.digest('hex')}`);
    }
    const rootfs = { type: 'layers', diff_ids: hashes };
    const architecture = architectures[process.arch] ?? process.arch;
    await writeFile(join(work, 'config.json'), JSON.stringify({ architecture, os: 'linux', config, rootfs }));
    const manifest = [{ Config: 'config.json', RepoTags: names, Layers: files }];
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest));
    const whole = join(work, 'whole.tar');
    await run('tar', ['--directory', work, '--create', '--file', whole, 'config.json', 'manifest.json', ...files]);
    await rename(whole, archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
