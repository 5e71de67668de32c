import { setTimeout as delay } from 'node:timers/promises';
import { clusterKind } from '../../../src/moco/names.ts';
import { until } from '../../support/control-plane/until.ts';
import { imageNames } from '../image/archives.ts';
import { clusterName, type RealityCluster } from './reality-cluster.ts';
import { failing, gapsOfTrouble, type Scenario, usual } from './scenario.ts';
import { inPlace as wayInPlace } from './way.ts';

// Images of containers beside mysqld, updated in place: on the nodes, slow to pull, and missing. The program changes a pod in
// place only where the node reports the image. A node reports what it had up to half a minute ago.

const stopped = 'moco.cybozu.com/reconciliation-stopped';
const reportedWithinMilliseconds = 180_000;
/**
 * The images of a container share their layers, so all that a node pulls are a manifest and a configuration, of some hundred
 * bytes each. The agent is away for longer than mysqld's liveness probe tolerates.
 */
const bytesPerSecond = 20;
const missingMilliseconds = 60_000;

interface Sidecar {
  readonly container: string;
  /** Of moco-controller. */
  readonly flag: string;
  readonly image: string;
}

const [, agentImage] = imageNames.agent;
const [, slowLogImage] = imageNames.slowLog;
const [, exporterImage] = imageNames.exporter;
const agent: Sidecar = { container: 'agent', flag: '--agent-image', image: agentImage };
const slowLog: Sidecar = { container: 'slow-log', flag: '--fluent-bit-image', image: slowLogImage };
const exporter: Sidecar = { container: 'mysqld-exporter', flag: '--mysqld-exporter-image', image: exporterImage };

const inPlace = {
  ...usual,
  way: wayInPlace(),
  spec: { collectors: ['engine_innodb_status'] },
  // moco-controller starts anew.
  isAlone: true,
} satisfies Omit<Scenario, 'slug' | 'title'>;

/** Every image there, whoever looks at the nodes' word. */
async function isThere({ bed }: RealityCluster, { image }: Sidecar): Promise<void> {
  await bed.importImage(image);
  await untilReported({ bed }, image);
}

/** The nodes say that they have it, and have to pull it. */
async function seemsThere(cluster: RealityCluster, sidecar: Sidecar): Promise<void> {
  await isThere(cluster, sidecar);
  for (const node of cluster.bed.cluster.nodes) await node.removeImage(sidecar.image);
  cluster.note(`removes ${sidecar.image} from every node`);
}

/** Until every node reports the image, or none does. */
export async function untilReported(
  { bed }: Pick<RealityCluster, 'bed'>,
  image: string,
  reported = true,
): Promise<void> {
  const path = 'jsonpath={range .items[*]}{.status.images[*].names}{"\\n"}{end}';
  let lines: readonly string[] = [];
  await until(
    `${reported ? 'every node' : 'no node'} reports ${image}`,
    async () => {
      lines = (await bed.cluster.kubectl('get', 'nodes', `--output=${path}`)).trim().split('\n');
      return lines.every((line) => line.includes(`"${image}"`) === reported);
    },
    { milliseconds: reportedWithinMilliseconds, got: () => lines.join('; ') },
  );
}

/** As an upgrade of MOCO does; its new flag counts from the moment when everything is prepared. */
async function upgrade(
  cluster: RealityCluster,
  { flag, image, container }: Sidecar,
  prepare: () => Promise<void>,
): Promise<void> {
  const { bed, namespace } = cluster;
  const annotate = (value: string): Promise<string> =>
    bed.cluster.kubectl('annotate', '--namespace', namespace, clusterKind.plural, clusterName, `${stopped}${value}`);
  await annotate('=true');
  await bed.moco.setFlags([`${flag}=${image}`]);
  await prepare();
  cluster.note(`moco-controller has ${flag}=${image}`);
  await annotate('-');
  // It keeps the slow-log that there is for as long as nothing of the cluster changes. A Service is no part of the pods.
  if (container === slowLog.container) {
    await cluster.patchSpec({
      primaryServiceTemplate: { metadata: { annotations: { 'example.com/changed': 'true' } } },
    });
  }
}

/** Member 2 is the first; in place, its pod stays. */
function podOfFirst(cluster: RealityCluster): string {
  return cluster.pods.find(({ metadata }) => metadata.name === cluster.podName(2))?.metadata.uid ?? '';
}

function present(slug: string, sidecar: Sidecar): Scenario {
  return {
    ...inPlace,
    slug,
    title: `${sidecar.container} is updated in place, the image is there`,
    expectations: { ...usual.expectations, order: [] },
    change: async (cluster) => {
      const { updateRevision } = cluster.sight;
      await upgrade(cluster, sidecar, () => isThere(cluster, sidecar));
      await cluster.untilRolledOut(updateRevision);
    },
  };
}

/** The others are replaced: their nodes do not report the image any more, or mysqld has restarted. */
function slow(slug: string, sidecar: Sidecar): Scenario {
  return {
    ...inPlace,
    slug,
    title: `${sidecar.container} is updated in place, the image is slow to pull`,
    expectations: { ...failing, order: null, gaps: gapsOfTrouble },
    change: async (cluster) => {
      const { updateRevision } = cluster.sight;
      const registry = await cluster.bed.registry();
      registry.pace(bytesPerSecond);
      const before = podOfFirst(cluster);
      try {
        await upgrade(cluster, sidecar, () => seemsThere(cluster, sidecar));
        await cluster.untilRolledOut(updateRevision);
      } finally {
        registry.pace(null);
      }
      if (podOfFirst(cluster) !== before) throw new Error('Expected member 2 to keep its pod, it has another one');
    },
  };
}

export const imagesOnNodes: readonly Scenario[] = [
  present('in-place-slow-log', slowLog),
  present('in-place-exporter', exporter),
  slow('slow-agent', agent),
  slow('slow-slow-log', slowLog),
  {
    ...inPlace,
    slug: 'missing-exporter',
    title: 'mysqld-exporter is updated in place, the image is missing, and there after a minute',
    // Nodes get the image, and report it, one after the other: a member whose node does not is replaced.
    expectations: { ...failing, order: null, gaps: usual.expectations.gaps },
    change: async (cluster) => {
      const { updateRevision } = cluster.sight;
      await cluster.bed.registry();
      await upgrade(cluster, exporter, () => seemsThere(cluster, exporter));
      await cluster.until('the rollout to stop', ({ status }) => status?.hold?.rule === 'UpdateRevisionFailing');
      cluster.note('the rollout says that the revision fails');
      await delay(missingMilliseconds);
      await isThere(cluster, exporter);
      cluster.note('the image is there');
      await cluster.untilRolledOut(updateRevision);
    },
  },
];
