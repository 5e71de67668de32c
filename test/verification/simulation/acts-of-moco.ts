import { mysqldContainer, roleLabel } from '../../../src/moco/names.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { withContainerFault } from '../../support/nodes/fault-script.ts';
import { isReady, participates } from '../witness/member.ts';
import { act, type Lasting, type OfMember } from './act.ts';
import { podName } from './acts-of-people.ts';
import { imageOf, type Simulation } from './simulation.ts';

// MOCO's own troubles, and what is wrong with MySQL: appliers, receivers, replicas that can't be configured, agents.

type Strikes = (struck: boolean) => void;

/** With a lag of this no replica is ready. */
const behindSeconds = 100;
/** How long a failover is given. */
const failoverGraceMilliseconds = 180_000;
/** After a dry run that was refused the next one may come so late. */
const dryRunsWithinMilliseconds = 330_000;
const lookMilliseconds = 5_000;
const longMilliseconds = 120_000;
/** After this time a person has looked at a cluster without a primary. */
const personMilliseconds = 600_000;

const primaryOf = ({ cluster }: Simulation): number => Number(record(cluster?.['status'])['currentPrimaryIndex'] ?? 0);

/** Every replica applies a long DDL, which the primary has made before. */
function backlog(simulation: Simulation, { forMilliseconds }: Lasting, strikes: Strikes): void {
  const { moco, clock, members, situations, mocoGoesOn } = simulation;
  const replicas = members.map((_, ordinal) => ordinal).filter((ordinal) => ordinal !== primaryOf(simulation));
  moco.setFaults({
    backlog: replicas,
    lagSeconds: Object.fromEntries(replicas.map((ordinal) => [ordinal, behindSeconds])),
  });
  mocoGoesOn.look();
  clock.after(forMilliseconds, () => {
    const { primaryUnavailableSince: since, cluster } = simulation.moment;
    const isFailed = cluster?.status?.conditions?.some(({ reason }) => reason === 'Failed') === true;
    const isLong = since !== null && clock.nowMilliseconds - since >= failoverGraceMilliseconds;
    if (isFailed && isLong) situations.find('failoverWaitsForApplier');
    if (replicas.length > 0) strikes(true);
    moco.setFaults({ backlog: [], lagSeconds: {} });
    mocoGoesOn.look();
  });
}

/** A replica is Ready, and others wait for its acknowledgement. */
function receiverBehind(
  simulation: Simulation,
  { ordinal, forMilliseconds }: OfMember & Lasting,
  strikes: Strikes,
): void {
  const { moco, clock, situations } = simulation;
  const end = clock.nowMilliseconds + forMilliseconds;
  let isSeen = false;
  moco.setFaults({ unreceived: [ordinal] });
  const look = (): void => {
    if (clock.nowMilliseconds >= end) return moco.setFaults({ unreceived: [] });
    const { members } = simulation.moment;
    const primary = members.find((member) => member.ordinal === primaryOf(simulation));
    const replica = members.find((member) => member.ordinal === ordinal && member !== primary);
    if (replica !== undefined && isReady(replica)) {
      if (!isSeen) strikes(true);
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
function breakReplica(simulation: Simulation, { ordinal }: OfMember, strikes: Strikes): void {
  const { moco, clock, situations, wanted } = simulation;
  const pod = simulation.members.find(({ metadata }) => metadata.name === podName(ordinal));
  if (pod === undefined || ordinal === primaryOf(simulation)) return;
  const { uid } = pod.metadata;
  let isSeen = false;
  moco.setFaults({ unconfigurable: [...moco.faults.unconfigurable, uid] });
  const look = (): void => {
    const moment = simulation.moment;
    const now = simulation.members.find(({ metadata }) => metadata.uid === uid);
    const since = moment.primaryUnavailableSince ?? clock.nowMilliseconds;
    if (now === undefined || imageOf(now) === wanted.image || clock.nowMilliseconds - since >= personMilliseconds) {
      return moco.setFaults({ unconfigurable: moco.faults.unconfigurable.filter((one) => one !== uid) });
    }
    if (!isSeen) strikes(true);
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
function agentsDie(simulation: Simulation, { forMilliseconds }: Lasting, strikes: Strikes): void {
  const { kubelets, clock, situations, members, namespace } = simulation;
  const names = members.map(({ metadata }) => metadata.name);
  for (const name of names) kubelets.fault(namespace, name, withContainerFault(mysqldContainer, 'notReady'));
  clock.after(longMilliseconds, () => {
    const moment = simulation.moment;
    const runs = moment.members.every(({ pod }) => pod.status?.containerStatuses?.every(({ state }) => state?.running));
    if (!runs || moment.members.some((member) => participates(moment, member))) return;
    situations.find('agentsDead');
    strikes(true);
  });
  clock.after(forMilliseconds, () => {
    for (const name of names) kubelets.heal(namespace, name);
  });
}

export const actsOfMoco = {
  /** `otherReplica`: a replica that doesn't lead keeps serving webhooks. */
  stopMoco: act<Lasting & { readonly otherReplica: boolean }>(
    'moco-controller is killed, and another process of it starts',
    ({ moco, clock, processes, situations, mocoGoesOn, ability }, { otherReplica, forMilliseconds }, strikes) => {
      // MOCO's webhook fails closed.
      const now = clock.nowMilliseconds;
      if (!otherReplica) ability.impede(now, now + forMilliseconds + dryRunsWithinMilliseconds);
      moco.stop({ otherReplica });
      clock.after(forMilliseconds, () => {
        strikes(true);
        if (!processes.some(({ isServing }) => isServing)) situations.find('mocoRestartsAlone');
        moco.start();
        mocoGoesOn.look();
      });
    },
  ),
  upstreamUnavailable: act<Lasting>(
    'what an intermediate primary replicates from is away',
    ({ cluster, moco, clock, situations }, { forMilliseconds }, strikes) => {
      if (record(cluster?.['spec'])['replicationSourceSecretName'] === undefined) return;
      strikes(true);
      situations.find('upstreamUnavailable');
      moco.setFaults({ upstreamUnavailable: true });
      clock.after(forMilliseconds, () => moco.setFaults({ upstreamUnavailable: false }));
    },
  ),
  switchover: act<Lasting & { readonly how: 'ignored' | 'failing' }>(
    'MOCO begins no switchover, or fails at every one',
    ({ moco, clock }, { how, forMilliseconds }) => {
      moco.setFaults({ switchover: how });
      clock.after(forMilliseconds, () => moco.setFaults({ switchover: 'working' }));
    },
  ),
  nextPrimary: act<OfMember & Lasting>(
    'a switchover or failover goes to a member that MOCO would not have chosen',
    ({ moco, clock }, { ordinal, forMilliseconds }) => {
      moco.setFaults({ nextPrimary: ordinal });
      clock.after(forMilliseconds, () => moco.setFaults({ nextPrimary: null }));
    },
  ),
  lag: act<OfMember & Lasting & { readonly seconds: number }>(
    'a replica lags behind',
    ({ members, moco, clock }, { ordinal, seconds, forMilliseconds }, strikes) => {
      strikes(ordinal < members.length);
      moco.setFaults({ lagSeconds: { [ordinal]: seconds } });
      clock.after(forMilliseconds, () => moco.setFaults({ lagSeconds: {} }));
    },
  ),
  errant: act<OfMember & Lasting>(
    "a replica has transactions that the primary doesn't have",
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const { moco, clock } = simulation;
      moco.setFaults({ errant: [ordinal] });
      clock.after(forMilliseconds, () => {
        const errant = record(simulation.cluster?.['status'])['errantReplicaList'];
        strikes(Array.isArray(errant) && errant.length > 0);
        moco.setFaults({ errant: [] });
      });
    },
  ),
  backlog: act<Lasting>('every replica applies a long DDL: it has received more than it has applied', backlog),
  receiverBehind: act<OfMember & Lasting>(
    'a replica that is ready has not received the newest transactions',
    receiverBehind,
  ),
  breakReplica: act<OfMember>('a replica does not replicate any more, and MOCO fails to configure it', breakReplica),
  agentsDie: act<Lasting>('no agent of any member answers any more, until its pod is replaced', agentsDie),
  staleStatus: act<Lasting & { readonly byMilliseconds: number }>(
    "MOCO's status is late",
    ({ moco, clock }, { byMilliseconds, forMilliseconds }, strikes) => {
      strikes(true);
      moco.setFaults({ statusLagMilliseconds: byMilliseconds });
      clock.after(forMilliseconds, () => moco.setFaults({ statusLagMilliseconds: 0 }));
    },
  ),
};
