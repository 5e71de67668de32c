import { agentContainer, mysqldContainer, revisionHashLabel, roleLabel, rolePrimary } from '../../../src/moco/names.ts';
import type { Member, Moment } from './moment.ts';
import type { WitnessedContainer, WitnessedPod } from './objects.ts';

// The witness's own classification of a member by its pod. It shares no code with the program under test.

const stopped: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

const impairedAfterMilliseconds = 60_000;
/** How long MOCO may take to set a role, as for a failover: timestamps of objects have whole seconds. */
const roleGraceMilliseconds = 179_000;

export const replicasOf = ({ cluster }: Moment): number => cluster?.spec.replicas ?? 0;
export const majorityOf = (moment: Moment): number => Math.floor(replicasOf(moment) / 2) + 1;
export const primaryOf = ({ cluster }: Moment): number => cluster?.status?.currentPrimaryIndex ?? 0;
export const revisionOf = ({ metadata }: WitnessedPod): string => metadata.labels?.[revisionHashLabel] ?? '';
export const updateRevisionOf = ({ statefulSet }: Moment): string => statefulSet?.status?.updateRevision ?? '';
export const isUpdated = (moment: Moment, { pod }: Member): boolean => revisionOf(pod) === updateRevisionOf(moment);
type Template = Pick<WitnessedPod, 'spec'>;

const specOfMysqld = ({ spec }: Template): WitnessedPod['spec']['containers'][number] | undefined =>
  spec.containers.find(({ name }) => name === mysqldContainer);

export const runsImageOf = (template: Template, { pod }: Member): boolean =>
  specOfMysqld(pod)?.image === specOfMysqld(template)?.image;

/** mysqld has what the template names. It has more: requests follow from limits. */
export function hasResourcesOf(template: Template | undefined, { pod }: Member): boolean {
  const wanted = template && specOfMysqld(template)?.resources;
  const given = specOfMysqld(pod)?.resources;
  return (['limits', 'requests'] as const).every((list) =>
    Object.entries(wanted?.[list] ?? {}).every(([name, quantity]) => given?.[list]?.[name] === quantity),
  );
}

export const isPrimary = (moment: Moment, { ordinal }: Member): boolean => ordinal === primaryOf(moment);
export const isTerminating = ({ pod }: Member): boolean => pod.metadata.deletionTimestamp !== undefined;

const containers = ({ pod }: Member): readonly WitnessedContainer[] => pod.status?.containerStatuses ?? [];
const initContainers = ({ pod }: Member): readonly WitnessedContainer[] => pod.status?.initContainerStatuses ?? [];
const mysqldOf = (member: Member): WitnessedContainer | undefined =>
  containers(member).find(({ name }) => name === mysqldContainer);
const waitsWithoutEffect = ({ state }: WitnessedContainer): boolean => stopped.has(state?.waiting?.reason ?? '');

function isErrant({ cluster }: Moment, { ordinal }: Member): boolean {
  return cluster?.status?.errantReplicaList?.includes(ordinal) ?? false;
}

export function isReady({ pod }: Member): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Kubernetes calls a pod Ready if each of its containers is. */
export const contradictsItself = (member: Member): boolean => isReady(member) && mysqldOf(member)?.ready !== true;

/** The scheduler finds no node for the pod, because only one node has its volume. */
export const awaitsItsNode = ({ pod }: Member): boolean =>
  (pod.status?.conditions ?? []).some(
    ({ type, status, message = '' }) =>
      type === 'PodScheduled' && status === 'False' && message.includes('volume node affinity conflict'),
  );

/** The node controller has spoken, and no container of the pod. */
export function isUnreachable(member: Member): boolean {
  const all = containers(member);
  return !isReady(member) && all.length > 0 && all.every(({ ready }) => ready === true);
}

export function participates(moment: Moment, member: Member): boolean {
  const serves = mysqldOf(member)?.ready === true || leadsFromElsewhere(moment, member);
  return !isTerminating(member) && !isErrant(moment, member) && serves && !isUnreachable(member);
}

/** The primary of a cluster that replicates from elsewhere is not ready while that is away. Its replicas follow it. */
function leadsFromElsewhere(moment: Moment, member: Member): boolean {
  const mysqld = mysqldOf(member);
  return (
    moment.cluster?.spec.replicationSourceSecretName !== undefined &&
    isPrimary(moment, member) &&
    member.pod.metadata.labels?.[roleLabel] === rolePrimary &&
    mysqld?.state?.running !== undefined &&
    mysqld.started === true
  );
}

/** Participating, with nothing about it that a restart could cure. */
export function isWell(moment: Moment, member: Member): boolean {
  return participates(moment, member) && !isImpaired(moment, member);
}

function isImpaired({ atMilliseconds }: Moment, member: Member): boolean {
  const others = containers(member).filter(({ name, ready }) => name !== mysqldContainer && ready !== true);
  return (
    initContainers(member).some(waitsWithoutEffect) ||
    others.some(
      (container) =>
        waitsWithoutEffect(container) ||
        atMilliseconds - (member.notReadySince.get(container.name) ?? atMilliseconds) >= impairedAfterMilliseconds,
    )
  );
}

export const runs = (member: Member): boolean => mysqldOf(member)?.state?.running !== undefined;

/** The kubelet has said that it will not make it, or could not. */
export function isResizeRefused({ pod }: Member): boolean {
  return (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type.startsWith('PodResize') && (reason === 'Infeasible' || reason === 'Error'),
  );
}

/** Its mysqld may still acknowledge commits, even while its probe says otherwise. */
export function canAcknowledge(moment: Moment, member: Member): boolean {
  if (isTerminating(member) || isUnreachable(member) || isErrant(moment, member) || crashes(member)) return false;
  if (isUpdated(moment, member)) return participates(moment, member);
  const mysqld = mysqldOf(member);
  return mysqld?.state?.running !== undefined && mysqld.started === true;
}

/** For how long its mysqld has not been ready. */
export function behindMilliseconds({ atMilliseconds }: Moment, { notReadySince }: Member): number {
  return atMilliseconds - (notReadySince.get(mysqldContainer) ?? atMilliseconds);
}

/** Its mysqld has been ready since it last started. */
export function wasReady(member: Member): boolean {
  const { restartCount = 0 } = mysqldOf(member) ?? {};
  return (member.readyAtRestart.get(mysqldContainer) ?? -1) >= restartCount;
}

/** MOCO has configured its mysqld since the pod was created. */
export const hasRole = ({ pod }: Member): boolean => pod.metadata.labels?.[roleLabel] !== undefined;

/** A container that matters has restarted and not been ready since. */
export function crashes(member: Member): boolean {
  const essential = containers(member).filter(({ name }) => name === mysqldContainer || name === agentContainer);
  return [...initContainers(member), ...essential].some(
    ({ name, ready, restartCount = 0 }) =>
      ready !== true && restartCount > 0 && (member.readyAtRestart.get(name) ?? -1) < restartCount,
  );
}

/** MOCO has looked at this incarnation of the pod and finished with it. */
export function isSettled(moment: Moment, member: Member): boolean {
  return hasItsRole(moment, member) || isPassedOver(moment, member);
}

function hasItsRole(moment: Moment, member: Member): boolean {
  return member.pod.metadata.labels?.[roleLabel] === (isPrimary(moment, member) ? 'primary' : 'replica');
}

/** MOCO reports Healthy with a replica without a role, after the time to set one. */
function isPassedOver(moment: Moment, member: Member): boolean {
  const { cluster, participatingSince, atMilliseconds } = moment;
  const healthy = cluster?.status?.conditions?.find(({ type }) => type === 'Healthy');
  const since = participatingSince.get(member.pod.metadata.uid) ?? atMilliseconds;
  return (
    member.pod.metadata.labels?.[roleLabel] === undefined &&
    !isPrimary(moment, member) &&
    healthy?.status === 'True' &&
    atMilliseconds - since >= roleGraceMilliseconds
  );
}

/** Clients reach a primary that accepts writes, according to the objects. */
export function hasWritablePrimary(moment: Moment): boolean {
  return moment.members.some(
    (member) => isPrimary(moment, member) && hasItsRole(moment, member) && isReady(member) && !isTerminating(member),
  );
}
