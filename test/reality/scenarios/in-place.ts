import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { inPlaceFlag, installInPlace, pull } from '../../support/stage/in-place.ts';
import type { Program } from './program.ts';
import { isAtRest, type RealityCluster } from './reality-cluster.ts';
import { type Scenario, usual } from './scenario.ts';
import { onDelete } from './way.ts';

const anyGaps = { most: Number.POSITIVE_INFINITY, longestMilliseconds: Number.POSITIVE_INFINITY };
let agents = 0;

/** The same agent under a name that no cluster has had. */
const anotherAgent = (): string => `example/moco-agent:in-place-${++agents}`;

/** What runs in the containers of that name, with the process of each. */
function processes({ bed, namespace }: RealityCluster, container: string): readonly string[] {
  return bed
    .containers()
    .filter((one) => one.namespace === namespace && one.container === container)
    .map(({ pod, pid }) => `${pod} ${pid}`)
    .toSorted();
}

async function allowInPlace({ bed }: RealityCluster, program: Program): Promise<void> {
  await installInPlace(bed);
  await program.restartWith([inPlaceFlag]);
}

/** A MOCO upgrade that changes nothing but the agent. Every agent has to run anew, and no mysqld. */
async function upgradeAgent(cluster: RealityCluster): Promise<void> {
  const { bed, sight } = cluster;
  const [mysqlds, old] = [mysqldContainer, agentContainer].map((name) => processes(cluster, name));
  const image = anotherAgent();
  await pull(bed, image);
  cluster.note(`starts moco-controller with the agent ${image}`);
  await bed.moco.kill();
  await bed.moco.start([`--agent-image=${image}`]);
  // The pods are ready from the moment that they have the image's name. Only the program says when they run it.
  await cluster.until('the rollout to end', (now) => now.updateRevision !== sight.updateRevision && isAtRest(now));
  const [kept, fresh] = [mysqldContainer, agentContainer].map((name) => processes(cluster, name));
  if (kept?.join() !== mysqlds?.join()) {
    throw new Error(`Expected the processes of mysqld to stay ${mysqlds?.join(', ')}, they are ${kept?.join(', ')}`);
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
  way: {
    ...onDelete,
    slug: 'in-place',
    title: 'moco-rollout in place',
    settings: { ...onDelete.settings, inPlace: { mode: 'IfPossible', primary } },
  },
  expectations: { ...usual.expectations, order: [], gaps },
  before: allowInPlace,
  change: upgradeAgent,
  // The program and moco-controller start anew.
  isAlone: true,
}));
