import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArchivedFile, archiveOf } from './archive.ts';
import { makeExecutable } from './executable.ts';
import { executableName, type Packed } from './krew.ts';
import { nodeDirectory } from './node-package.ts';
import type { Platform } from './platforms.ts';
import type { Sources } from './sources.ts';

/**
 * Writes the plugin for a platform to `<outdir>/<platform>/`, and next to it an archive that also contains the
 * licences.
 */
export async function packageFor(platform: Platform, sources: Sources, outdir: string): Promise<Packed> {
  const directory = join(outdir, platform.name);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const executable = join(directory, executableName);
  const files: ArchivedFile[] = [
    await archived('LICENSE', sources.licence),
    await archived('licences.txt', sources.licences),
  ];
  if (platform.node === null) {
    await copyFile(sources.program, executable);
    await chmod(executable, 0o755);
    // Without this file, Node would read the package.json of a parent directory here, and would not run the plugin as
    // CommonJS. There is no such package.json where the plugin is installed.
    await writeFile(join(directory, 'package.json'), '{}\n');
  } else {
    const node = platform.node === 'own' ? ownNode : await nodeDirectory(platform.node);
    await makeExecutable(sources.program, join(node, 'bin/node'), executable);
    files.push(await archived('LICENSE.node', join(node, 'LICENSE')));
  }
  files.push({ name: executableName, content: await readFile(executable), isExecutable: true });
  const archive = archiveOf(files);
  const file = `${executableName}-${platform.name}.tar.gz`;
  await writeFile(join(outdir, file), archive);
  return { platform, file, sha256: createHash('sha256').update(archive).digest('hex') };
}

/** The directory of the running Node. Node's own packages and npm's packages have the same layout. */
const ownNode = dirname(dirname(process.execPath));

async function archived(name: string, path: string): Promise<ArchivedFile> {
  return { name, content: await readFile(path), isExecutable: false };
}
