import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { renamedPlugin, renamedPlugins, renamedServer } from './renamed-mysql.ts';

const run = promisify(execFile);
/** moco-init looks for MySQL here. */
const mysqlPath = 'usr/local/mysql';
const server = 'usr/sbin/mysqld';
const plugins = 'usr/lib/mysql/plugin';
const executable = 0o755;

const files: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0::/:/bin/sh\nmysql:x:10000:10000::/:/bin/sh\n',
  'etc/group': 'root:x:0:\nmysql:x:10000:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  'etc/resolv.conf': '',
  // Each pod's own is mounted over it.
  'etc/hosts': '',
};

/** Makes `root` a root directory with Debian's mysqld, which calls itself `version`. `unpacked` stays as it is. */
export async function debianRoot(root: string, unpacked: string, version: string): Promise<void> {
  await run('cp', ['--archive', '--link', unpacked, root]);
  for (const name of ['lib', 'lib64', 'bin', 'sbin'])
    await symlink(`usr/${name}`, join(root, name)).catch(ignoreExisting);
  await writeServer(join(root, server), unpacked, version);
  for (const plugin of renamedPlugins) {
    const bytes = renamedPlugin(await readFile(join(unpacked, plugins, plugin.from)), plugin);
    await replace(join(root, plugins, plugin.to), bytes);
  }
  await rm(join(root, 'etc'), { recursive: true });
  await furnish(root);
  await mkdir(dirname(join(root, mysqlPath)), { recursive: true });
  await symlink('/usr', join(root, mysqlPath));
}

/** Writes Debian's mysqld, which calls itself `version`. */
export async function writeServer(path: string, unpacked: string, version: string): Promise<void> {
  const bytes = await readFile(join(unpacked, server));
  // A file that is linked has to be replaced, not written over.
  await replace(path, renamedServer(bytes, await versionOf(unpacked), version));
}

/** The version that Debian's mysqld gives itself, such as 9.7.4. */
export async function versionOf(unpacked: string): Promise<string> {
  const bytes = await readFile(join(unpacked, server), 'latin1');
  return /MySQL (\d+\.\d+\.\d+)/.exec(bytes)?.[1] ?? 'none';
}

/** Makes `root` the root directory of MOCO's agent: programs that need nothing else. */
export async function agentRoot(root: string, programs: Readonly<Record<string, string>>): Promise<void> {
  await furnish(root);
  for (const [name, path] of Object.entries(programs)) {
    const target = join(root, name);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(path, target);
  }
}

async function furnish(root: string): Promise<void> {
  for (const name of ['proc', 'dev', 'tmp', 'run', 'etc']) await mkdir(join(root, name), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content);
}

async function replace(path: string, bytes: Buffer): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, bytes, { mode: executable });
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
