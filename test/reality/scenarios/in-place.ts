import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { untilReported } from './images-on-nodes.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { anyGaps, type Scenario, usual } from './scenario.ts';
import { inPlace as wayInPlace } from './way.ts';

/** Which containers of that name run, with their pods. */
function running({ pods }: RealityCluster, container: string): readonly string[] {
  return pods
    .flatMap(({ metadata, status }) => {
      const found = status?.containerStatuses?.find(({ name }) => name === container);
      return found?.state?.running === undefined ? [] : [`${metadata.name} ${found.containerID}`];
    })
    .toSorted();
}

/** A MOCO upgrade that changes nothing but the agent. Every agent has to run anew, and no mysqld. */
async function upgradeAgent(cluster: RealityCluster): Promise<void> {
  const { bed, sight, namespace } = cluster;
  const [mysqlds, old] = [mysqldContainer, agentContainer].map((name) => running(cluster, name));
  const [first, second] = bed.images.agents;
  const image = cluster.pods.some(({ spec }) => spec.containers.some((one) => one.image === second)) ? first : second;
  await bed.importImage(image);
  await untilReported({ bed }, image);
  cluster.note(`starts moco-controller with the agent ${image}`);
  await bed.moco.setFlags([`--agent-image=${image}`]);
  // The pods are ready from the moment that they have the image's name. Only the program says when they run it.
  await cluster.untilRolledOut(sight.updateRevision);
  const [kept, fresh] = [mysqldContainer, agentContainer].map((name) => running(cluster, name));
  if (kept?.join() !== mysqlds?.join()) {
    throw new Error(
      `Expected the containers of mysqld in ${namespace} to stay ${mysqlds?.join(', ')}, they are ${kept?.join(', ')}`,
    );
  }
  const same = fresh?.filter((one) => old?.includes(one)) ?? [];
  if (same.length > 0 || fresh?.length !== old?.length) {
    throw new Error(`Expected every agent to run anew, got ${fresh?.join(', ')} after ${old?.join(', ')}`);
  }
}

/** The primary before the update: by default it hands its role over first, since its agent answers its probes. */
const primaries = [
  {
    slug: 'in-place',
    title: 'the agent is updated in place',
    primary: 'AfterSwitchover',
    gaps: usual.expectations.gaps,
  },
  {
    slug: 'in-place-primary',
    title: 'the agent is updated in place, the primary’s too',
    primary: 'InPlace',
    gaps: anyGaps,
  },
] as const;

/** Nobody is taken away. */
export const inPlace: readonly Scenario[] = primaries.map(({ slug, title, primary, gaps }) => ({
  ...usual,
  slug,
  title,
  way: wayInPlace({ mode: 'IfPossible', primary }),
  expectations: { ...usual.expectations, order: [], gaps },
  change: upgradeAgent,
  // moco-controller starts anew.
  isAlone: true,
}));
