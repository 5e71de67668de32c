import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programInPath } from '../../program-in-path.ts';
import { Unavailable } from '../../support/cluster/requirements.ts';
import { makeOnce } from '../../support/control-plane/build-lock.ts';

const run = promisify(execFile);
/** mysqld and the libraries that it needs. */
const withDependencies = 'mysql-server-core';
/** The plugins for semi-synchronous replication; what it depends on is for a service that nobody starts here. */
const alone = 'mysql-server';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const fetchScript = fileURLToPath(new URL('../../../hack/debian-packages.sh', import.meta.url));
const outputBytes = 16 * 1024 * 1024;

/**
 * A directory with Debian's unstable packages of MySQL, unpacked: fetched once, by apt, from the mirror that this
 * machine is configured for. The machine's own lists and packages stay as they are.
 */
export async function debianMysql(cache: string): Promise<string> {
  const unpacked = join(cache, 'debian');
  await makeOnce({
    path: unpacked,
    doing: 'fetches MySQL',
    isMade: () => exists(unpacked),
    make: async (progress) => {
      progress.begin("Fetching Debian's unstable packages of MySQL");
      const directory = join(cache, 'apt');
      try {
        await unpack(await fetchPackages(directory), `${unpacked}.unfinished`);
        await rename(`${unpacked}.unfinished`, unpacked);
      } finally {
        await rm(directory, { recursive: true, force: true });
        await rm(`${unpacked}.unfinished`, { recursive: true, force: true });
      }
    },
  });
  return unpacked;
}

/** The path of prometheus-mysqld-exporter: that of this machine, or one that is fetched out of Debian's package once. */
export async function debianExporter(cache: string): Promise<string> {
  const name = 'prometheus-mysqld-exporter';
  const found = (): string | undefined => programInPath(name, cache);
  if (found() === undefined) await run(fetchScript, [name]);
  const path = found();
  if (path === undefined) throw new Unavailable(`Expected ${name} or Debian's package of it, found neither`);
  return path;
}

/** Downloads into a directory of its own. Resolves to the paths of the packages. */
async function fetchPackages(directory: string): Promise<readonly string[]> {
  await rm(directory, { recursive: true, force: true });
  for (const name of ['lists/partial', 'archives/partial', 'nothing']) {
    await mkdir(join(directory, name), { recursive: true });
  }
  const sources = join(directory, 'sources.list');
  await writeFile(sources, `deb [signed-by=${keyring}] ${await mirror()} unstable main\n`);
  // No package counts as installed: the root directory needs all of them.
  await writeFile(join(directory, 'status'), '');
  const settings = {
    'Dir::State::lists': join(directory, 'lists'),
    'Dir::State::status': join(directory, 'status'),
    'Dir::Cache': directory,
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': join(directory, 'nothing'),
    'Dir::Etc::preferencesparts': join(directory, 'nothing'),
    // It writes only here, and may not be able to read the way here as another user.
    'APT::Sandbox::User': 'root',
    // Lists that can't be fetched are only warned of otherwise.
    'APT::Update::Error-Mode': 'any',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await apt([...options, 'update'], directory);
  await apt(
    [...options, 'install', '--yes', '--no-install-recommends', '--download-only', withDependencies],
    directory,
  );
  await apt([...options, 'download', alone], join(directory, 'archives'));
  const archives = join(directory, 'archives');
  return (await readdir(archives)).filter((name) => name.endsWith('.deb')).map((name) => join(archives, name));
}

/** The address of the Debian mirror in apt's own configuration. */
async function mirror(): Promise<string> {
  const targets = await apt(['indextargets', '--format', '$(SITE)', 'Created-By: Packages'], '/');
  const found = targets.split('\n').find((site) => /\/debian\/?$/.test(site));
  if (found === undefined) {
    throw new Unavailable(
      'Expected apt to be configured with a mirror of Debian to fetch MySQL from, found none: run this on Debian',
    );
  }
  return found;
}

async function apt(flags: readonly string[], directory: string): Promise<string> {
  try {
    const { stdout } = await run('apt-get', flags, {
      cwd: directory,
      maxBuffer: outputBytes,
      env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    });
    return stdout;
  } catch (error) {
    const { stderr = '', code } = error as { stderr?: string; code?: string | number };
    const why = code === 'ENOENT' ? 'there is no such program' : `it said ${JSON.stringify(firstError(stderr))}`;
    throw new Unavailable(
      `Expected apt-get to fetch Debian's unstable packages of MySQL, but ${why}: connect this machine to a mirror of Debian`,
      { cause: error },
    );
  }
}

function firstError(text: string): string {
  return /^E: (.*)$/m.exec(text)?.[1] ?? text.trim();
}

async function unpack(packages: readonly string[], directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const path of packages) await run('dpkg', ['-x', path, directory]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
