import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const inject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));

/** Where Node looks for a program inside of itself: "Single executable applications" in its documentation. */
const blobName = 'NODE_SEA_BLOB';
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const executableMode = 0o755;

/**
 * Puts a program into a copy of a Node, so that both are one file. `node` may be for another Linux machine than this
 * one: only this process's own Node is run, which has to be of the same version, since the blob is in its format. On a
 * Mac it is one for macOS, and is signed again: "ad hoc", by nobody.
 */
export async function makeExecutable(program: string, node: string, target: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-plugin-'));
  try {
    const configuration = {
      // The blob has this name in it: with the whole path no two builds would be the same.
      main: 'program.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // Compiled code would be for this kind of machine alone, and never the same twice.
      useCodeCache: false,
      useSnapshot: false,
      // What NODE_OPTIONS of somebody's shell says is meant for their own Node.
      execArgvExtension: 'none',
    };
    await writeFile(join(directory, 'sea.json'), JSON.stringify(configuration));
    await copyFile(program, join(directory, 'program.cjs'));
    await run(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: directory });
    await copyFile(node, target);
    await chmod(target, executableMode);
    const isMac = process.platform === 'darwin';
    if (isMac) await run('codesign', ['--remove-signature', target]);
    const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
    await run(process.execPath, [
      inject,
      target,
      blobName,
      join(directory, 'blob'),
      '--sentinel-fuse',
      fuse,
      ...segment,
    ]);
    if (isMac) await run('codesign', ['--sign', '-', target]);
    await requireFused(target);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** An injection that went nowhere leaves a plain Node behind, which would take the plugin's arguments for its own. */
async function requireFused(target: string): Promise<void> {
  if (!(await readFile(target)).includes(`${fuse}:1`)) {
    throw new Error(
      `expected ${target} to carry the program after it was put in, found a Node that does not know of it`,
    );
  }
}
