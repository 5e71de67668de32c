import { access, constants, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UnknownProgram } from './binary-edit.ts';
import { debianMysql } from './debian-packages.ts';
import type { Bind, Image } from './image.ts';
import { agentPrograms } from './moco-agent.ts';
import { agentRoot, debianRoot, mysqlPath, ownRoot, versionOf } from './root-directory.ts';
import { Unavailable } from './unavailable.ts';

/** The tags of `mysql` that there are. */
const versions = ['8.4.4', '8.4.5', '8.4.6'] as const;
const mysqlName = 'mysql';
const agentName = 'moco-agent';
/** Its own defaults. */
const agentPorts = { address: 9080, 'probe-address': 9081, 'metrics-address': 8080 };
/** mysqld reads its address in my.cnf. */
const none = (): readonly string[] => [];
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Of MOCO's my.cnf; MySQL 9.7 does not start with them. */
export const unknownTo97 = ['temptable_use_mmap', 'innodb_log_file_size', 'innodb_log_files_in_group'];

export interface ImagesOptions {
  /** Where what has been fetched is kept. */
  readonly cache: string;
  /** Where the root directories go, on the file system of `cache`. */
  readonly directory: string;
  /** The directory of an unpacked MySQL 8.4; without it Debian's 9.7 is used under other names. */
  readonly mysqlHome: string | undefined;
}

/** What containers are started from: MySQL, and MOCO's agent with its init containers. */
export class Images {
  /** A sentence on which MySQL it is. */
  readonly mysql: string;
  readonly #mysql: ReadonlyMap<string, Image>;
  readonly #agent: Image;

  private constructor(mysql: string, images: ReadonlyMap<string, Image>, agent: Image) {
    this.mysql = mysql;
    this.#mysql = images;
    this.#agent = agent;
  }

  /** Fetches and builds what is missing. Throws {@link Unavailable} where that can't be. */
  static async open(options: ImagesOptions): Promise<Images> {
    const { directory, mysqlHome } = options;
    await mkdir(directory, { recursive: true });
    const agent = await agentImage(join(directory, agentName));
    if (mysqlHome !== undefined) {
      const image = await ownImage(join(directory, mysqlName), resolve(mysqlHome));
      const images = new Map(versions.map((version) => [`${mysqlName}:${version}`, image]));
      return new Images(`the MySQL of MYSQL_HOME, ${mysqlHome}`, images, agent);
    }
    const { ownVersion, images } = await debianImages(options);
    const sentence = `Debian's MySQL ${ownVersion} with its version and its plugins renamed to those of 8.4`;
    return new Images(sentence, images, agent);
  }

  /** `null` for one that nothing is known of: its containers have no process. */
  of(name: string): Image | null {
    if (/(^|\/)moco-agent:/.test(name)) return this.#agent;
    return this.#mysql.get(name) ?? null;
  }

  /** MySQL in a version that isn't here. */
  isMissing(name: string): boolean {
    return name.startsWith(`${mysqlName}:`) && !this.#mysql.has(name);
  }
}

async function agentImage(root: string): Promise<Image> {
  await agentRoot(root, await agentPrograms());
  const listenFlags = (address: string): readonly string[] =>
    Object.entries(agentPorts).map(([flag, port]) => `--${flag}=${address}:${port}`);
  return { root, binds: [], entrypoint: ['/moco-agent'], listenFlags, path: '/bin', unknownVariables: [] };
}

async function ownImage(root: string, mysqlHome: string): Promise<Image> {
  const program = join(mysqlHome, 'bin/mysqld');
  await access(program, constants.X_OK).catch(() => {
    throw new Unavailable(
      `Expected MYSQL_HOME to be the directory of an unpacked MySQL 8.4, found no program ${program}`,
    );
  });
  await mkdir(root, { recursive: true });
  const binds: readonly Bind[] = await ownRoot(root, mysqlHome);
  const path = `/${mysqlPath}/bin:${systemPath}`;
  return { root, binds, entrypoint: [`/${mysqlPath}/bin/mysqld`], listenFlags: none, path, unknownVariables: [] };
}

async function debianImages({
  cache,
  directory,
}: ImagesOptions): Promise<{ ownVersion: string; images: ReadonlyMap<string, Image> }> {
  const unpacked = await debianMysql(cache);
  const ownVersion = await versionOf(unpacked);
  const images = new Map<string, Image>();
  try {
    for (const version of versions) {
      const root = join(directory, `${mysqlName}-${version}`);
      await debianRoot(root, unpacked, version);
      const entrypoint = ['/usr/sbin/mysqld'];
      images.set(`${mysqlName}:${version}`, {
        root,
        binds: [],
        entrypoint,
        listenFlags: none,
        path: systemPath,
        unknownVariables: unknownTo97,
      });
    }
  } catch (error) {
    if (!(error instanceof UnknownProgram)) throw error;
    throw new Unavailable(
      `${error.message}: Debian's package has changed since its names were last looked at; set MYSQL_HOME to the directory of an unpacked MySQL 8.4`,
      { cause: error },
    );
  }
  return { ownVersion, images };
}
