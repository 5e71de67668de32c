import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { MySQLRollout } from '../../../src/api/rollout.ts';
import { type Cluster, ClusterUnavailable, startCluster } from '../../support/cluster/cluster.ts';
import { writeImageArchive } from '../../support/cluster/image-archive.ts';
import { installMoco } from '../../support/cluster/moco.ts';
import { ownImage } from '../../support/cluster/own-image.ts';
import { Registry } from '../../support/cluster/registry.ts';
import { smallMySQLCluster } from '../../support/cluster/small-mysql-cluster.ts';
import { goTool } from '../../support/go-tools/build.ts';
import { imageArchives, imageNames } from '../image/archives.ts';
import { Unavailable } from '../image/unavailable.ts';
import { ClusterLoad } from '../load/cluster-load.ts';

// `node test/reality/prepull/main.ts`, as root on Linux: how long a member is away while an image takes 30 s to fetch,
// with and without the setting prepull, and what an image and a configuration that can not be had do to a cluster. Three
// real nodes, MOCO, mysqld and this program as users install it.

if (process.argv.includes('--help')) {
  console.log('usage: test/reality/prepull/main.ts [--help]');
  process.exit(0);
}

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const layerBytes = 19_500_000;
const pullSeconds = 30;
const programImage = 'docker.io/library/moco-rollout:prepull';
const longestMilliseconds = 600_000;
const [runningImage] = imageNames.mysql;
const mysqlImage = (name: string): string => `docker.io/library/mysql:8.4.4-${name}`;

/** The same image with a layer of its own, which no node has. */
async function imageLike(cluster: Cluster, archive: string, name: string): Promise<string> {
  const directory = join(cluster.directory, 'image', name);
  await mkdir(directory, { recursive: true });
  await run('tar', ['--directory', directory, '--extract', '--file', archive]);
  const [{ Config, Layers }] = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'));
  const { config } = JSON.parse(await readFile(join(directory, Config), 'utf8'));
  const layers: string[] = [];
  for (const layer of Layers) {
    const files = join(directory, `files-${layers.length}`);
    await mkdir(files);
    await run('tar', ['--directory', files, '--extract', '--file', join(directory, layer)]);
    layers.push(files);
  }
  const own = join(directory, 'own');
  await mkdir(own);
  await writeFile(join(own, 'weight'), randomBytes(layerBytes));
  const made = join(directory, 'image.tar');
  await writeImageArchive({ layers: [...layers, own], names: [mysqlImage(name)], config, archive: made });
  return made;
}

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A cluster with everything installed. */
class Place {
  readonly cluster: Cluster;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  async apply(object: object): Promise<void> {
    const file = join(this.cluster.directory, 'applied.yaml');
    await writeFile(file, stringify(object));
    await this.cluster.apply(file);
  }

  async setting(spec: object): Promise<void> {
    await this.cluster.kubectl('patch', 'mysqlrollout', 'test', '--type=merge', `--patch=${JSON.stringify({ spec })}`);
  }

  async rollout(): Promise<MySQLRollout> {
    return JSON.parse(await this.cluster.kubectl('get', 'mysqlrollout', 'test', '--output=json'));
  }

  async members(): Promise<readonly Item[]> {
    const flags = ['--selector=app.kubernetes.io/created-by=moco', '--output=json'];
    return (JSON.parse(await this.cluster.kubectl('get', 'pods', ...flags)) as { items: Item[] }).items;
  }

  /** The first status that fits. */
  async until(what: string, fits: (rollout: MySQLRollout) => boolean): Promise<MySQLRollout> {
    const end = performance.now() + longestMilliseconds;
    for (;;) {
      const rollout = await this.rollout();
      if (fits(rollout)) return rollout;
      if (performance.now() > end) throw new Error(`Expected that ${what}, got ${JSON.stringify(rollout.status)}`);
      await delay(500);
    }
  }

  async completed(entries: number): Promise<MySQLRollout> {
    return this.until('the rollout ends', ({ status: { history = [] } = {} }) => {
      return history.length > entries && history.at(-1)?.outcome === 'Complete';
    });
  }
}

const seconds = (from: string | undefined, to: string | undefined): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;

/** Rolls an image out and says how long members were away for it. */
async function measured(place: Place, title: string, spec: object): Promise<void> {
  const before = (await place.rollout()).status?.history?.length ?? 0;
  await place.apply(spec);
  const { status } = await place.completed(before);
  const { startedAt, finishedAt, memberDurations = [], heldFor = [] } = status?.history?.at(-1) ?? {};
  const away = memberDurations.map(({ ordinal, seconds: one }) => `member ${ordinal} ${one} s`);
  const waited = heldFor.find(({ rule }) => rule === 'PreflightRunning')?.seconds ?? 0;
  console.log(`${title}: away ${away.join(', ')}; preflight ${waited} s; rollout ${seconds(startedAt, finishedAt)} s`);
}

/** Waits for a hold and checks that nobody was touched for it. */
async function held(place: Place, rule: string, before: readonly Item[]): Promise<void> {
  const { status } = await place.until(`${rule} holds`, (rollout) => rollout.status?.hold?.rule === rule);
  await delay(5000);
  const after = await place.members();
  const isReady = ({ status: { conditions = [] } }: Item): boolean =>
    conditions.some((one) => one.type === 'Ready' && one.status === 'True');
  const same = before.filter(({ metadata }) => after.some((one) => one.metadata.uid === metadata.uid && isReady(one)));
  console.log(`${rule}: ${same.length} of ${before.length} members as before and ready; ${status?.hold?.message}`);
}

async function play(cluster: Cluster, registry: Registry): Promise<void> {
  const place = new Place(cluster);
  const pace = Math.round(layerBytes / pullSeconds);
  await place.apply(smallMySQLCluster(runningImage));
  await cluster.kubectl('wait', '--for=create', '--timeout=600s', 'service/moco-test-primary', 'secret/moco-test');
  const load = await ClusterLoad.start(cluster, { namespace: 'default', name: 'test', writers: 4 });
  try {
    await place.until('the cluster is adopted', ({ status }) => status?.strategy === 'OnDelete');
    await cluster.kubectl('wait', 'mysqlcluster/test', '--for=condition=Healthy', '--timeout=300s');
    registry.pace(pace);
    // More revisions follow each other here than anybody would have.
    const until = new Date(Date.now() + 7_200_000).toISOString().replace(/\.\d+/, '');
    await place.setting({ overrides: [{ rule: 'RevisionFlapping', until, reason: 'a measurement' }] });
    await measured(place, `without prepull, ${pullSeconds} s an image`, smallMySQLCluster(mysqlImage('a')));
    await place.setting({ prepull: 'Nodes' });
    await measured(place, `with prepull: Nodes, ${pullSeconds} s an image`, smallMySQLCluster(mysqlImage('b')));
    registry.pace(null);
    const before = await place.members();
    await place.apply(smallMySQLCluster(mysqlImage('missing')));
    await held(place, 'ImageUnavailable', before);
    await place.setting({ prepull: 'NodesAndConfiguration' });
    await place.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'own', namespace: 'default' },
      data: { no_such_variable: '1' },
    });
    await place.apply(smallMySQLCluster(mysqlImage('d'), { mysqlConfigMapName: 'own' }));
    await held(place, 'ConfigurationRefused', before);
    await measured(place, 'with prepull: NodesAndConfiguration, corrected', smallMySQLCluster(mysqlImage('d')));
    registry.pace(0);
    await place.setting({ prepull: 'Nodes', prepullTimeoutSeconds: 60 });
    await place.apply(smallMySQLCluster(mysqlImage('e')));
    const limited = await place.until('the limit is over', ({ status }) =>
      (status?.preflight?.nodes ?? []).some(({ result }) => result === 'TimedOut'),
    );
    console.log(`a registry that stands still: ${JSON.stringify(limited.status?.preflight?.nodes)}`);
    registry.pace(null);
    await place.until('the rollout ends', ({ status }) => status?.phase === 'UpToDate');
    const pods = await cluster.kubectl('get', 'pods', '--selector=moco-rollout.io/preflight', '--output=name');
    console.log(`pods that are left: ${pods.trim() === '' ? 'none' : pods}`);
    const { acknowledged, members, gaps } = await load.stop();
    const missing = members.map(({ member, missing: rows }) => `${member} ${rows.length}`);
    const longest = gaps.kept.map(({ milliseconds }) => milliseconds).toSorted((a, b) => b - a);
    console.log(
      `rows missing of ${acknowledged}: ${missing.join(', ')}; longest write gaps ${longest.slice(0, 6).join(', ')} ms`,
    );
  } finally {
    load.kill();
  }
}

try {
  const archives = await imageArchives();
  const archiveOf = (name: string): string => {
    const archive = archives.get(name);
    if (archive === undefined) throw new Error(`Expected an archive of ${name}`);
    return archive;
  };
  const { agent, slowLog, controller } = imageNames;
  const images = [runningImage, agent[0], slowLog[0], ...controller].map(archiveOf);
  const cluster = await startCluster({ images });
  try {
    const certificates = await installMoco(cluster);
    await cluster.importImage(await ownImage(cluster.directory, [programImage]));
    const served = ['a', 'b', 'd', 'e'].map(
      async (name) => [mysqlImage(name), await imageLike(cluster, archiveOf(runningImage), name)] as const,
    );
    const registry = await Registry.start(cluster, new Map(await Promise.all(served)));
    const chart = [
      'upgrade',
      '--install',
      'moco-rollout',
      'config/helm/moco-rollout',
      '--namespace',
      'moco-rollout-system',
    ];
    const values = 'image.tag=prepull,featureGates.UpdateStrategyOnDelete=true,prepull.namespaces={default}';
    const env = { ...process.env, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig };
    await run(await goTool('helm'), [...chart, '--create-namespace', '--set', values, '--wait', '--timeout', '5m'], {
      cwd: root,
      env,
    });
    await play(cluster, registry);
    await registry.stop();
    await certificates.stop();
  } finally {
    await cluster.stop();
  }
} catch (error) {
  if (!(error instanceof Unavailable) && !(error instanceof ClusterUnavailable)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
