import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The sources of the plugin, which are the same for every platform. */
export interface Sources {
  readonly program: string;
  readonly licence: string;
  readonly licences: string;
}

/**
 * Bundles the program and writes its licences into a directory. dist is not touched, because it may come from a
 * different build.
 */
export async function makeSources(directory: string): Promise<Sources> {
  const build = await mkdtemp(join(tmpdir(), 'moco-rollout-build-'));
  try {
    for (const name of ['src', 'node_modules', 'package.json', 'package-lock.json']) {
      await symlink(join(root, name), join(build, name));
    }
    for (const script of ['build.ts', 'licences.ts']) {
      await run(process.execPath, [join(root, 'hack', script)], { cwd: build });
    }
    await mkdir(directory, { recursive: true });
    const sources: Sources = {
      program: join(directory, 'cli.cjs'),
      licence: join(root, 'LICENSE'),
      licences: join(directory, 'licences.txt'),
    };
    await cp(join(build, 'dist/cli.cjs'), sources.program);
    await cp(join(build, 'dist/licences.txt'), sources.licences);
    return sources;
  } finally {
    await rm(build, { recursive: true });
  }
}
