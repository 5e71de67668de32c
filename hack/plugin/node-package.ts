import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { NodePackage } from './platforms.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const cacheDirectory = join(root, '.cache/plugin');

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/**
 * The directory of a Node as npm packages it: from node_modules on a machine of that platform, otherwise downloaded
 * once into .cache and verified against package-lock.json. Rejects with a sentence if the checksum differs.
 */
export async function nodeDirectory(wanted: NodePackage): Promise<string> {
  const installed = join(root, 'node_modules', wanted.name);
  if (await isThere(join(installed, 'bin/node'))) return installed;
  const directory = join(cacheDirectory, `${wanted.name}-${wanted.version}`);
  if (!(await isThere(directory))) await fetch(wanted, directory);
  return directory;
}

async function fetch({ name, version }: NodePackage, directory: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const locked = packages[`node_modules/${name}`];
  if (locked?.version !== version || locked.integrity === undefined) {
    throw new Error(`expected package-lock.json to contain ${name} ${version} with a checksum, found none`);
  }
  await mkdir(cacheDirectory, { recursive: true });
  const archive = join(cacheDirectory, `${name}-${version}.tgz`);
  await run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', cacheDirectory], { cwd: root });
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (integrity !== locked.integrity) {
    throw new Error(`expected ${name} ${version} to be ${locked.integrity} as in package-lock.json, got ${integrity}`);
  }
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  await run('tar', ['-xzf', archive, '-C', unfinished, '--strip-components=1']);
  await rename(unfinished, directory);
  await rm(archive);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
