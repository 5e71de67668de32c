import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../control-plane/until.ts';

const root = '/sys/fs/cgroup';
const controllersOfNodes = ['cpuset', 'cpu', 'io', 'memory', 'pids'];
/** A process that was killed leaves its cgroup a moment later. */
const deadlineMilliseconds = 10_000;

/** Makes a cgroup of that name below the root of every hierarchy. */
export async function makeCgroup(name: string): Promise<void> {
  if (await isUnified()) {
    const offered = (await readFile(join(root, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    const wanted = controllersOfNodes.filter((controller) => offered.includes(controller));
    await writeFile(join(root, 'cgroup.subtree_control'), wanted.map((controller) => `+${controller}`).join(' '));
  }
  for (const hierarchy of await hierarchies()) {
    const cgroup = join(hierarchy, name);
    await mkdir(cgroup, { recursive: true });
    // With cgroups v1 one without processors and memory takes no process.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const everything = await readFile(join(hierarchy, file), 'utf8').catch(() => '');
      if (everything !== '') await writeFile(join(cgroup, file), everything);
    }
  }
}

/** Removes every cgroup whose name begins so, and those below. Their processes have to be gone or going. */
export async function removeCgroups(prefix: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const name of await directoriesIn(hierarchy)) {
      if (name.startsWith(prefix)) await removeTree(join(hierarchy, name));
    }
  }
}

async function removeTree(cgroup: string): Promise<void> {
  for (const name of await directoriesIn(cgroup)) await removeTree(join(cgroup, name));
  let last: unknown;
  await until(
    () =>
      rmdir(cgroup).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          last = error;
          return error.code === 'ENOENT' ? true : undefined;
        },
      ),
    deadlineMilliseconds,
    () => `Expected the cgroup ${cgroup} to be empty within ${deadlineMilliseconds} ms: ${String(last)}`,
  );
}

/** With cgroups v2 the one, with v1 one a controller. */
async function hierarchies(): Promise<readonly string[]> {
  if (await isUnified()) return [root];
  return (await directoriesIn(root)).map((name) => join(root, name));
}

function isUnified(): Promise<boolean> {
  return access(join(root, 'cgroup.controllers')).then(
    () => true,
    () => false,
  );
}

/** Links are other names of the same. */
async function directoriesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
