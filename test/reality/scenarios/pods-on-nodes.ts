import { setTimeout as delay } from 'node:timers/promises';
import { mysqldContainer } from '../../../src/moco/names.ts';
import { pauseImage } from '../../support/cluster/node-files.ts';
import { repairErrant } from './errant.ts';
import { firstIsBack, someoneGoes } from './moments.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { failing, gapsOfTrouble, type Scenario, usual } from './scenario.ts';
import { SmallVolume } from './small-volume.ts';
import { inPlace } from './way.ts';

// What a kubelet does with one pod: it gives it other resources, or rejects it, or says that its memory was not enough.

const inTheWayMilliseconds = 60_000;
const badMilliseconds = 20_000;

const podTemplate = ({ bed }: RealityCluster, image: 'first' | 'second', cpu: string, more: object = {}): object => ({
  podTemplate: {
    spec: {
      containers: [
        { name: mysqldContainer, image: bed.images[image], resources: { requests: { cpu, memory: '512Mi' } } },
      ],
      ...more,
    },
  },
});

/** MOCO computes the buffer pool, and so my.cnf, from the request: only the limit changes without a restart. */
const withMemoryLimit = ({ bed }: RealityCluster, memory: string): object => {
  const resources = { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory } };
  return { podTemplate: { spec: { containers: [{ name: mysqldContainer, image: bed.images.first, resources }] } } };
};

/** With pods that have resources. */
async function begin(cluster: RealityCluster, spec: object): Promise<void> {
  await cluster.patchSpec(spec);
  await cluster.until('pods with resources', (sight) => sight.complete);
  await cluster.untilAtRest();
}

const resized = {
  ...usual,
  way: inPlace(),
  before: (cluster: RealityCluster) => begin(cluster, podTemplate(cluster, 'first', '100m')),
  expectations: { ...usual.expectations, order: [], gaps: { most: 0, longestMilliseconds: 0 } },
  isAlone: true,
} satisfies Omit<Scenario, 'slug' | 'title'>;

export const podsOnNodes: readonly Scenario[] = [
  {
    ...resized,
    slug: 'resize',
    title: 'mysqld gets more CPU in its running pod',
    change: (cluster) => cluster.patchSpec(podTemplate(cluster, 'first', '150m')),
  },
  {
    ...resized,
    slug: 'resize-memory',
    title: 'mysqld gets a higher memory limit in its running pod',
    before: (cluster) => begin(cluster, withMemoryLimit(cluster, '1Gi')),
    change: (cluster) => cluster.patchSpec(withMemoryLimit(cluster, '1536Mi')),
  },
  {
    ...resized,
    slug: 'resize-deferred',
    title: 'mysqld gets more CPU, for which a node has no room for a minute',
    change: async (cluster) => {
      const { bed, namespace } = cluster;
      const node = cluster.nodeOf(2).name;
      const free = await freeMillicores(cluster, node);
      const requests = { cpu: `${free - 50}m` };
      const containers = [{ name: 'filler', image: pauseImage, resources: { requests } }];
      const overrides = JSON.stringify({ spec: { nodeName: node, containers } });
      await bed.cluster.kubectl('run', 'filler', '-n', namespace, `--image=${pauseImage}`, `--overrides=${overrides}`);
      cluster.note(`a pod takes all but 50m of ${node}`);
      await cluster.patchSpec(podTemplate(cluster, 'first', '300m'));
      await cluster.until('a resize to be awaited', ({ status }) => status?.hold?.rule === 'AwaitingResize');
      await delay(inTheWayMilliseconds);
      await bed.cluster.kubectl('delete', 'pod', 'filler', '--namespace', namespace, '--grace-period=1');
      cluster.note('the pod is gone');
    },
  },
  {
    ...resized,
    slug: 'resize-infeasible',
    title: 'mysqld gets more CPU than any node has, corrected',
    // Its pod is replaced, can be nowhere, and is replaced again.
    expectations: { ...failing, order: [2, 2] },
    change: async (cluster) => {
      await cluster.patchSpec(podTemplate(cluster, 'first', '64'));
      await cluster.until('a member to fail', ({ members }) => members.some(({ state }) => state === 'down'));
      await delay(badMilliseconds);
      await cluster.patchSpec(podTemplate(cluster, 'first', '150m'));
    },
  },
  {
    ...usual,
    slug: 'rejected',
    title: 'a pod is rejected by its node, corrected',
    expectations: { ...failing, order: null },
    change: async (cluster) => {
      const sysctls = [{ name: 'kernel.msgmax', value: '65536' }];
      await cluster.patchSpec(
        podTemplate(cluster, 'second', '100m', { securityContext: { fsGroup: 10_000, sysctls } }),
      );
      await someoneGoes(cluster);
      await cluster.until('the revision to fail', ({ status }) => status?.hold?.rule === 'UpdateRevisionFailing');
      cluster.note('the rollout says that the revision fails');
      await delay(badMilliseconds);
      await cluster.patchSpec(podTemplate(cluster, 'second', '100m', { securityContext: null }));
    },
    isAlone: true,
  },
  ...(['replica', 'primary'] as const).map(
    (which): Scenario => ({
      ...usual,
      slug: `oom-${which}`,
      title: `mysqld of the ${which} is killed by the kernel in the middle, its memory is not enough`,
      expectations: { ...failing, order: null, gaps: gapsOfTrouble },
      meanwhile: async (cluster) => {
        await firstIsBack(cluster);
        await cluster.runOutOfMemory(which === 'primary' ? cluster.sight.primary : 1);
        await repairErrant(cluster);
      },
    }),
  ),
  {
    ...usual,
    slug: 'full-disk',
    title: 'the disk of a replica is full for a minute in the middle',
    expectations: { ...failing, order: null, gaps: gapsOfTrouble },
    change: async (cluster) => {
      const volume = await SmallVolume.below(cluster, 1);
      await cluster.setImage(cluster.bed.images.second);
      await firstIsBack(cluster);
      await volume.fill();
      cluster.note('the volume of member 1 is full');
      await delay(inTheWayMilliseconds);
      await volume.free();
      cluster.note('the volume of member 1 has room again');
    },
    isAlone: true,
  },
  {
    ...usual,
    slug: 'first-image',
    title: 'the first image of a cluster is missing, corrected',
    expectations: failing,
    spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image: 'mysql:missing' }] } } },
    created: async (cluster) => {
      await cluster.until('a member to fail', ({ members }) => members.some(({ state }) => state === 'down'));
      await delay(badMilliseconds);
      await cluster.setImage(cluster.bed.images.first);
    },
  },
];

/** What the scheduler has left of a node. */
async function freeMillicores({ bed }: RealityCluster, node: string): Promise<number> {
  const json = async <T>(...what: readonly string[]): Promise<T> =>
    JSON.parse(await bed.cluster.kubectl('get', ...what, '--output=json')) as T;
  const { status } = await json<{ status: { allocatable: { cpu: string } } }>('node', node);
  const selector = `--field-selector=spec.nodeName=${node}`;
  const { items } = await json<{ items: readonly PodWithRequests[] }>('pods', '--all-namespaces', selector);
  const used = items.flatMap(({ spec }) =>
    spec.containers.map(({ resources }) => millicores(resources?.requests?.cpu)),
  );
  return millicores(status.allocatable.cpu) - used.reduce((sum, one) => sum + one, 0);
}

interface PodWithRequests {
  readonly spec: {
    readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[];
  };
}

function millicores(cpu = '0'): number {
  return cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
}
