import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../control-plane/until.ts';

const root = '/sys/fs/cgroup';
const controllersOfNodes = ['cpuset', 'cpu', 'io', 'memory', 'pids'];
/** At a time, so that the kernel finds something to take back. */
const keptOfMemory = 0.9;
const mostSteps = 50;

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

/**
 * Lowers the memory limit of a container's cgroup until the kernel can take nothing more from it. Whatever the container
 * asks for next, the kernel ends one of its processes. A container that starts again has its own limit.
 */
export async function exhaustMemory(containerID: string): Promise<void> {
  const unified = await isUnified();
  const [usage, limit] = unified
    ? ['memory.current', 'memory.max']
    : ['memory.usage_in_bytes', 'memory.limit_in_bytes'];
  const cgroup = await cgroupNamed(unified ? root : join(root, 'memory'), containerID);
  if (cgroup === null) throw new Error(`Expected a cgroup of container ${containerID}, found none`);
  for (let step = 0; step < mostSteps; step++) {
    const used = Number(await readFile(join(cgroup, usage), 'utf8').catch(() => '0'));
    if (used === 0) return;
    const isTaken = await writeFile(join(cgroup, limit), String(Math.floor(used * keptOfMemory))).then(
      () => true,
      () => false,
    );
    if (!isTaken) break;
  }
  const used = Number(await readFile(join(cgroup, usage), 'utf8').catch(() => '0'));
  await writeFile(join(cgroup, limit), String(used)).catch(() => undefined);
}

async function cgroupNamed(directory: string, name: string): Promise<string | null> {
  for (const one of await directoriesIn(directory)) {
    if (one === name) return join(directory, one);
    const found = await cgroupNamed(join(directory, one), name);
    if (found !== null) return found;
  }
  return null;
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
  const isGone = (): Promise<boolean> =>
    rmdir(cgroup).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        last = error;
        return error.code === 'ENOENT';
      },
    );
  await until(`the cgroup ${cgroup} is empty`, isGone, { got: () => String(last) });
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
