import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const inject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));

/**
 * The name by which Node finds a program in its own executable: see "Single executable applications" in its
 * documentation.
 */
const blobName = 'NODE_SEA_BLOB';
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const executableMode = 0o755;

/**
 * Combines a program and a copy of Node into one file. `node` may be for a different Linux architecture, because only
 * this process's own Node is run. Both must have the same version, because the format of the blob depends on it. On a
 * Mac, `node` must be for macOS, and is signed again ("ad hoc").
 */
export async function makeExecutable(program: string, node: string, target: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-plugin-'));
  try {
    const configuration = {
      // The blob contains this name. With an absolute path, builds would differ.
      main: 'program.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // Compiled code would run only on the same kind of machine, and would differ between builds.
      useCodeCache: false,
      useSnapshot: false,
      // NODE_OPTIONS in a user's shell is meant for the user's own Node.
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

/** If the injection fails, the file is an ordinary Node, which would interpret the plugin's arguments as its own. */
async function requireFused(target: string): Promise<void> {
  if (!(await readFile(target)).includes(`${fuse}:1`)) {
    throw new Error(`expected ${target} to contain the program, found a Node without it`);
  }
}
