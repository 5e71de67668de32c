import { setTimeout as delay } from 'node:timers/promises';
import type { RolloutSpec } from '../../../src/api/rollout.ts';
import { mysqldContainer } from '../../../src/moco/names.ts';
import { imageNames } from '../image/archives.ts';
import { untilReported } from './images-on-nodes.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { failing, type Scenario, usual } from './scenario.ts';
import { onDelete, type Way } from './way.ts';

// The image of mysqld has to be pulled by every node, with and without the setting `preflight`.

const [, image] = imageNames.mysql;
/** Of the server's layer of 66 MB, which is what a node that has the other image pulls: half a minute. */
const bytesPerSecond = 2_200_000;
const stuckSeconds = 60;
const badMilliseconds = 20_000;
const ownConfiguration = 'own';

const preflighting = (settings: RolloutSpec): Way => ({
  ...onDelete,
  slug: 'preflight',
  settings: { ...onDelete.settings, ...settings },
});

/** No node has the image, or says so, and the program may fetch it. */
async function isMissing({ bed, namespace }: RealityCluster): Promise<void> {
  await bed.configure({ preflight: { namespaces: [namespace] } });
  await bed.registry();
  for (const node of bed.cluster.nodes) await node.removeImage(image);
  await untilReported({ bed }, image, false);
}

/** While the registry serves at this pace. */
async function rollOutAt(cluster: RealityCluster, pace: number, until: () => Promise<void>): Promise<void> {
  const registry = await cluster.bed.registry();
  registry.pace(pace);
  try {
    await cluster.setImage(cluster.bed.images.second);
    await until();
  } finally {
    registry.pace(null);
  }
}

/** Nobody is touched while it holds: the order of those that go says so. */
async function untilHeld(cluster: RealityCluster, rule: string): Promise<void> {
  await cluster.until(`the hold ${rule}`, ({ status }) => status?.hold?.rule === rule);
  cluster.note(`the rollout is held by ${rule}`);
  await delay(badMilliseconds);
}

async function slow(cluster: RealityCluster): Promise<void> {
  const { updateRevision } = cluster.sight;
  await rollOutAt(cluster, bytesPerSecond, () => cluster.untilRolledOut(updateRevision));
  await judgePulls(cluster);
}

/** A node that still had the layers would show nothing. */
async function judgePulls({ bed, namespace }: RealityCluster): Promise<void> {
  const messages = '--output=jsonpath={range .items[*]}{.message}{"\\n"}{end}';
  const all = await bed.cluster.kubectl(
    'get',
    'events',
    '--namespace',
    namespace,
    '--field-selector=reason=Pulled',
    messages,
  );
  const pulls = all
    .split('\n')
    .filter((message) => message.startsWith(`Successfully pulled image "${bed.images.second}"`));
  const slowly = pulls.filter((message) => /" in (\d+m|[2-9]\d\.)/.test(message));
  const { length } = bed.cluster.nodes;
  if (slowly.length < length)
    throw new Error(`Expected ${length} nodes to pull for 20 s or longer, got ${pulls.join('; ')}`);
}

export const fetchedImages: readonly Scenario[] = (
  [
    {
      slug: 'slow-image',
      title: 'nodes need half a minute to pull the image of mysqld',
      way: onDelete,
      change: slow,
    },
    {
      slug: 'slow-image-preflight',
      title: 'the same with `preflight: Nodes`',
      way: preflighting({ preflight: 'Nodes' }),
      change: slow,
    },
    {
      slug: 'missing-image-preflight',
      title: 'the image of mysqld is missing with `preflight: Nodes`, corrected',
      way: preflighting({ preflight: 'Nodes' }),
      expectations: failing,
      change: async (cluster) => {
        await cluster.setImage(cluster.bed.images.missing);
        await untilHeld(cluster, 'ImageUnavailable');
        await cluster.setImage(cluster.bed.images.second);
      },
    },
    {
      slug: 'refused-configuration-preflight',
      title: 'mysqld does not know a variable, with `preflight: NodesAndConfiguration`, corrected',
      way: preflighting({ preflight: 'NodesAndConfiguration' }),
      expectations: failing,
      change: async (cluster) => {
        const { bed, namespace } = cluster;
        const literal = '--from-literal=no_such_variable=1';
        await bed.cluster.kubectl('create', 'configmap', ownConfiguration, '--namespace', namespace, literal);
        const podTemplate = { spec: { containers: [{ name: mysqldContainer, image: bed.images.second }] } };
        await cluster.patchSpec({ mysqlConfigMapName: ownConfiguration, podTemplate });
        await untilHeld(cluster, 'ConfigurationRefused');
        await cluster.patchSpec({ mysqlConfigMapName: null });
      },
    },
    {
      slug: 'stuck-image-preflight',
      title: 'the registry stands still for longer than `preflightTimeoutSeconds`',
      way: preflighting({ preflight: 'Nodes', preflightTimeoutSeconds: stuckSeconds }),
      change: (cluster) =>
        rollOutAt(cluster, 0, () =>
          cluster.until('the limit to be over', ({ status }) =>
            (status?.preflight?.nodes ?? []).some(({ result }) => result === 'TimedOut'),
          ),
        ),
    },
  ] satisfies readonly (Pick<Scenario, 'slug' | 'title' | 'way' | 'change'> & Partial<Scenario>)[]
).map((one) => ({ ...usual, before: isMissing, isAlone: true, ...one }));
