import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ImageConfig, writeImageArchive } from '../../support/cluster/image-archive.ts';
import { mocoImage } from '../../support/cluster/moco.ts';
import { type ClusterPrograms, clusterPrograms } from '../../support/cluster/programs.ts';
import { Unavailable } from '../../support/cluster/requirements.ts';
import { makeOnce } from '../../support/control-plane/build-lock.ts';
import { realMocoFiles } from '../../support/real-moco/build.ts';
import { UnknownProgram } from './binary-edit.ts';
import { debianExporter, debianMysql } from './debian-packages.ts';
import { agentPrograms } from './moco-agent.ts';
import { agentRoot, debianRoot, versionOf, writeServer } from './root-directory.ts';

const cache = fileURLToPath(new URL('../../../.cache/', import.meta.url));
const fingerprintCharacters = 12;
const keptSets = 3;
/** MOCO's images say this, and its pods run as nobody else. */
const mocoUser = '10000:10000';
const registry = 'ghcr.io/cybozu-go';

/** Names of the images that there are; the second of each is for rollouts. */
export const imageNames = {
  mysql: ['docker.io/library/mysql:8.4.4', 'docker.io/library/mysql:8.4.5'],
  agent: [`${registry}/moco-agent:0.16.0`, `${registry}/moco-agent:0.16.1`],
  slowLog: [`${registry}/moco/fluent-bit:5.0.2.1`, `${registry}/moco/fluent-bit:5.0.2.2`],
  exporter: [`${registry}/moco/mysqld_exporter:0.19.0.1`, `${registry}/moco/mysqld_exporter:0.19.0.2`],
  controller: [`${mocoImage.name}:${mocoImage.tag}`],
} as const;

/** Variables of MOCO's my.cnf with which MySQL 9.7 does not start. */
const unknownTo97 = ['temptable_use_mmap', 'innodb_log_file_size', 'innodb_log_files_in_group'];
/** What of Debian's packages no mysqld needs. */
const unneeded = ['usr/bin', 'usr/share/doc', 'usr/share/man', 'usr/share/perl', 'usr/share/perl5'];

interface Sources {
  readonly programs: ClusterPrograms;
  readonly agent: Readonly<Record<string, string>>;
  readonly controller: string;
  /** Debian's packages of MySQL. */
  readonly unpacked: string;
  /** Debian's prometheus-mysqld-exporter. */
  readonly exporter: string;
}

/**
 * Archives of the images of MOCO and MySQL by their names, made of programs that run here: moco-controller, moco-agent and
 * moco-init of their Go modules, mysqld of Debian's packages under the names of 8.4, Debian's exporter. Instead of fluent-bit
 * there is a program that only waits. Made once and kept in `.cache`. Throws `Unavailable` where MySQL can't be had.
 */
export async function imageArchives(): Promise<ReadonlyMap<string, string>> {
  const { controller } = await realMocoFiles();
  const sources = {
    programs: await clusterPrograms(),
    agent: await agentPrograms(),
    controller,
    unpacked: await debianMysql(join(cache, 'reality')),
    exporter: await debianExporter(join(cache, 'debian')),
  };
  const directory = join(cache, 'cluster-images', await fingerprint(sources));
  const isMade = (): Promise<boolean> =>
    access(directory).then(
      () => true,
      () => false,
    );
  await makeOnce({
    path: directory,
    doing: 'makes images',
    isMade,
    make: async (progress) => {
      progress.begin('Making images of MOCO and MySQL');
      const unfinished = await mkdtemp(join(dirname(directory), '.unfinished-'));
      try {
        await make(unfinished, sources).catch(asUnavailable);
        await rename(unfinished, directory);
        await forgetOlder(dirname(directory));
      } finally {
        await rm(unfinished, { recursive: true, force: true });
      }
    },
  });
  const names = Object.values(imageNames).flat();
  return new Map(names.map((name) => [name, archiveIn(directory, name)]));
}

/** Sets of 800 MB that were made of earlier sources, or of other versions of Kubernetes. */
async function forgetOlder(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]+$/.test(name));
  const sets = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), madeAt: (await stat(join(folder, name))).mtimeMs })),
  );
  const newestFirst = sets.toSorted((one, other) => other.madeAt - one.madeAt);
  for (const { path } of newestFirst.slice(keptSets)) await rm(path, { recursive: true, force: true });
}

function asUnavailable(error: unknown): never {
  if (!(error instanceof UnknownProgram)) throw error;
  const needs = "only Debian's MySQL 9.7 for x86-64 can be given the names of 8.4; run this where apt-get has it";
  throw new Unavailable(`${error.message}: ${needs}`, { cause: error });
}

function archiveIn(directory: string, name: string): string {
  return join(directory, `${name.replaceAll(/[/:]/g, '_')}.tar`);
}

async function make(directory: string, { programs, agent, controller, unpacked, exporter }: Sources): Promise<void> {
  const roots = join(directory, 'roots');
  const root = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const at = join(roots, name);
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(at, path)), { recursive: true });
      await copyFile(source, join(at, path));
    }
    return at;
  };
  const archive = async (name: string, layers: readonly string[], config: ImageConfig): Promise<void> => {
    // A release is another image than the one before even where its programs are the same.
    const labelled = { ...config, Labels: { 'org.opencontainers.image.ref.name': name } };
    await writeImageArchive({ layers, names: [name], config: labelled, archive: archiveIn(directory, name) });
  };
  await mkdir(roots);
  const waiting = await root('waiting', { pause: programs.pause });
  for (const name of imageNames.slowLog) {
    await archive(name, [waiting], { Entrypoint: ['/pause'] });
  }
  const mocoController = await root('controller', { 'moco-controller': controller });
  for (const name of imageNames.controller) {
    await archive(name, [mocoController], { User: mocoUser, Entrypoint: ['/moco-controller'] });
  }
  const mocoAgent = join(roots, 'agent');
  await agentRoot(mocoAgent, agent);
  for (const name of imageNames.agent) {
    await archive(name, [mocoAgent], { User: mocoUser, Env: ['PATH=/bin'], Entrypoint: ['/moco-agent'] });
  }
  const libraries = await mysqlLibraries(join(roots, 'mysql'), unpacked, programs);
  const mysqldExporter = await root('exporter', { 'usr/bin/mysqld_exporter': exporter });
  for (const name of imageNames.exporter) {
    await archive(name, [libraries, mysqldExporter], { User: mocoUser, Entrypoint: ['/usr/bin/mysqld_exporter'] });
  }
  for (const name of imageNames.mysql) {
    const server = await root(name.replace(/^.*:/, 'mysql-'), { 'usr/sbin/mysqld': programs.mysqld });
    await writeServer(join(server, 'usr/sbin/mysqld.bin'), unpacked, name.replace(/^.*:/, ''));
    await archive(name, [libraries, server], {
      User: mocoUser,
      Env: ['PATH=/usr/sbin:/usr/bin', `MYSQLD_UNKNOWN_VARIABLES=${unknownTo97.join(',')}`],
      Entrypoint: ['mysqld'],
    });
  }
  await rm(roots, { recursive: true });
}

/** Everything of the image but the server. */
async function mysqlLibraries(root: string, unpacked: string, programs: ClusterPrograms): Promise<string> {
  await debianRoot(root, unpacked, '8.4.0');
  for (const path of ['usr/sbin', ...unneeded]) await rm(join(root, path), { recursive: true, force: true });
  await mkdir(join(root, 'usr/bin'));
  // MOCO's preStop runs it.
  await copyFile(programs.pause, join(root, 'usr/bin/sleep'));
  await writeFile(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  return root;
}

/** Of all that the images are made of. */
async function fingerprint({ programs, agent, controller, unpacked }: Sources): Promise<string> {
  const hash = createHash('sha256');
  const directory = fileURLToPath(new URL('.', import.meta.url));
  const sources = (await readdir(directory)).filter((file) => file !== 'main.ts' && !file.endsWith('.test.ts'));
  for (const file of sources.toSorted()) hash.update(await readFile(join(directory, file)));
  hash.update(JSON.stringify([programs.directory, agent, controller, await versionOf(unpacked)]));
  return hash.digest('hex').slice(0, fingerprintCharacters);
}
