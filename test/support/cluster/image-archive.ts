import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** What an image says besides its files, as the OCI image configuration has it. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly WorkingDir?: string;
}

/** Makes an archive, as `docker save` does, of a directory that is the root of an image. */
export async function writeImageArchive(
  root: string,
  { name, config, archive }: { readonly name: string; readonly config: ImageConfig; readonly archive: string },
): Promise<void> {
  const work = await mkdtemp(join(dirname(archive), '.image-'));
  try {
    const layer = join(work, 'layer.tar');
    const owner = ['--numeric-owner', '--owner=0', '--group=0', '--sort=name', '--mtime=@0'];
    await run('tar', ['--directory', root, ...owner, '--create', '--file', layer, '.']);
    const hash = createHash('sha256');
    await pipeline(createReadStream(layer), hash);
    const rootfs = { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] };
    const architecture = architectures[process.arch] ?? process.arch;
    await writeFile(join(work, 'config.json'), JSON.stringify({ architecture, os: 'linux', config, rootfs }));
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest));
    const whole = join(work, 'whole.tar');
    await run('tar', ['--directory', work, '--create', '--file', whole, 'config.json', 'manifest.json', 'layer.tar']);
    await rename(whole, archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
