import { mysqldContainer, roleLabel } from '../../../src/moco/names.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { withContainerFault } from '../../support/nodes/fault-script.ts';
import { isReady, participates } from '../witness/member.ts';
import type { Moment } from '../witness/moment.ts';
import { podName } from './acts-of-people.ts';
import type { Happening } from './happening.ts';
import { clusterName, imageOf, namespace, type Simulation } from './simulation.ts';

// What is wrong with MySQL: appliers, receivers, replicas that can't be configured, and agents.

type Of<Kind extends Happening['kind']> = Extract<Happening, { readonly kind: Kind }>;

/** With a lag of this no replica is ready. */
const behindSeconds = 100;
/** How long a failover is given. */
const failoverGraceMilliseconds = 180_000;
const lookMilliseconds = 5_000;
const longMilliseconds = 120_000;
/** After that somebody has looked at a cluster without a primary. */
const personMilliseconds = 600_000;

const momentOf = ({ witness }: Simulation): Moment => witness.latest(`${namespace}/${clusterName}`);
const primaryOf = ({ cluster }: Simulation): number => Number(record(cluster?.['status'])['currentPrimaryIndex'] ?? 0);

/** Every replica applies a long DDL, which the primary has made before. */
export function backlog(simulation: Simulation, { forMilliseconds }: Of<'backlog'>): void {
  const { moco, clock, members, situations, failoverGoesOn } = simulation;
  const replicas = members.map((_, ordinal) => ordinal).filter((ordinal) => ordinal !== primaryOf(simulation));
  moco.setFaults({
    backlog: replicas,
    lagSeconds: Object.fromEntries(replicas.map((ordinal) => [ordinal, behindSeconds])),
  });
  failoverGoesOn.look();
  clock.after(forMilliseconds, () => {
    const { primaryUnavailableSince: since, cluster } = momentOf(simulation);
    const isFailed = cluster?.status?.conditions?.some(({ reason }) => reason === 'Failed') === true;
    const isLong = since !== null && clock.nowMilliseconds - since >= failoverGraceMilliseconds;
    if (isFailed && isLong) situations.find('failoverWaitsForApplier');
    if (replicas.length > 0) simulation.struck('backlog');
    moco.setFaults({ backlog: [], lagSeconds: {} });
    failoverGoesOn.look();
  });
}

/** A replica is Ready, and others wait for its acknowledgement. */
export function receiverBehind(simulation: Simulation, { ordinal, forMilliseconds }: Of<'receiverBehind'>): void {
  const { moco, clock, situations } = simulation;
  const end = clock.nowMilliseconds + forMilliseconds;
  let isSeen = false;
  moco.setFaults({ unreceived: [ordinal] });
  const look = (): void => {
    if (clock.nowMilliseconds >= end) return moco.setFaults({ unreceived: [] });
    const { members } = momentOf(simulation);
    const primary = members.find((member) => member.ordinal === primaryOf(simulation));
    const replica = members.find((member) => member.ordinal === ordinal && member !== primary);
    if (replica !== undefined && isReady(replica)) {
      if (!isSeen) simulation.struck('receiverBehind');
      isSeen = true;
      situations.find('receiverBehind');
      if (primary !== undefined && isReady(primary) && !moco.acceptsCommits) situations.find('commitsBlock');
    }
    clock.after(Math.min(lookMilliseconds, end - clock.nowMilliseconds), look);
  };
  look();
}

/**
 * A replica does not replicate any more, and MOCO fails to configure it. That ends with its pod; otherwise a person looks
 * at it once it has the image that the user wants, or once nobody has led for a while.
 */
export function breakReplica(simulation: Simulation, { ordinal }: Of<'breakReplica'>): void {
  const { moco, clock, situations, wanted } = simulation;
  const pod = simulation.members.find(({ metadata }) => metadata.name === podName(ordinal));
  if (pod === undefined || ordinal === primaryOf(simulation)) return;
  const { uid } = pod.metadata;
  let isSeen = false;
  moco.setFaults({ unconfigurable: [...moco.faults.unconfigurable, uid] });
  const look = (): void => {
    const moment = momentOf(simulation);
    const now = simulation.members.find(({ metadata }) => metadata.uid === uid);
    const since = moment.primaryUnavailableSince ?? clock.nowMilliseconds;
    if (now === undefined || imageOf(now) === wanted.image || clock.nowMilliseconds - since >= personMilliseconds) {
      return moco.setFaults({ unconfigurable: moco.faults.unconfigurable.filter((one) => one !== uid) });
    }
    if (!isSeen) simulation.struck('breakReplica');
    isSeen = true;
    const isLeft = moment.members.some(
      (member) => participates(moment, member) && member.pod.metadata.labels?.[roleLabel] === undefined,
    );
    if (isLeft) situations.find('leftWithoutRole');
    clock.after(lookMilliseconds, look);
  };
  clock.after(lookMilliseconds, look);
}

/** No probe of mysqld is answered any more, in any member, until its pod is replaced. MOCO asks mysqld itself. */
export function agentsDie(simulation: Simulation, { forMilliseconds }: Of<'agentsDie'>): void {
  const { kubelets, clock, situations, members } = simulation;
  const names = members.map(({ metadata }) => metadata.name);
  for (const name of names) kubelets.fault(namespace, name, withContainerFault(mysqldContainer, 'notReady'));
  clock.after(longMilliseconds, () => {
    const moment = momentOf(simulation);
    const runs = moment.members.every(({ pod }) => pod.status?.containerStatuses?.every(({ state }) => state?.running));
    if (!runs || moment.members.some((member) => participates(moment, member))) return;
    situations.find('agentsDead');
    simulation.struck('agentsDie');
  });
  clock.after(forMilliseconds, () => {
    for (const name of names) kubelets.heal(namespace, name);
  });
}
