import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { imageConfig } from '../dockerfile.ts';
import { writeImageArchive } from './image-archive.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Builds the image of moco-rollout without an engine: the file system as the Dockerfile has it made, and what the
 * Dockerfile says besides.
 *
 * @param names of the image, such as `registry/moco-rollout:0.1.0`
 * @returns the path of the archive, in `directory`
 */
export async function ownImage(directory: string, names: readonly string[]): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'moco-rollout-image-'));
  try {
    const [bundle, tree] = [join(work, 'dist'), join(work, 'tree')];
    await run(process.execPath, ['hack/build.ts', bundle], { cwd: root });
    await run('hack/image/tree.sh', [process.execPath, bundle, tree], { cwd: root });
    const archive = join(directory, 'moco-rollout.tar');
    await writeImageArchive({ layers: [tree], names, config: await imageConfig(), archive });
    return archive;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
