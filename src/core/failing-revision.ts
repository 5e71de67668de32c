import { type Evidence, provenForSeconds, stoppedInPlace, wasEndedByNode } from './member.ts';
import { type Member, type Situation, toRestore } from './situation.ts';
import type { ContainerFacts, MemberFacts } from './snapshot.ts';

// Whether the update revision works, fails, or is still unproven.

export interface FailingMember {
  readonly member: number;
  readonly evidence: Evidence;
  /**
   * The name of the failing container, if the template does not contain it because admission has added it to the pod.
   */
  readonly injected?: string;
}

/**
 * A failed update stops the rollout. No other member gets the revision, not even a member that is down, because that
 * member may still come back at the old revision. Once one updated member has worked for minReadySeconds, the revision
 * is verified. A failure is remembered until the member works at the revision, because its pod may be recreated before
 * a person has looked at the failure.
 */
export function failingMember(situation: Situation): FailingMember | null {
  if (isVerified(situation)) return null;
  const [restored] = toRestore(situation);
  if (restored !== undefined) return { member: restored, evidence: { kind: 'restored' } };
  const { takenDown, failing: earlier } = situation.snapshot.memory;
  for (const member of situation.members) {
    if (!member.updated || works(member) || takenDown.includes(member.ordinal)) continue;
    const evidence = failure(situation, member);
    if (evidence !== null) return { member: member.ordinal, evidence, ...injectedIn(member, evidence) };
  }
  const hasRecovered = situation.members.some(
    (member) => member.ordinal === earlier?.member && member.updated && works(member),
  );
  if (earlier === null || hasRecovered) return null;
  const { member, message, injected } = earlier;
  return { member, evidence: { kind: 'earlier', message }, ...(injected !== undefined && { injected }) };
}

function injectedIn({ facts }: Member, evidence: Evidence): Pick<FailingMember, 'injected'> {
  const container = containerOf(evidence);
  const isInjected = [...facts.containers, ...facts.initContainers].some(
    ({ name, injected }) => injected && name === container,
  );
  return isInjected && container !== null ? { injected: container } : {};
}

const works = ({ state, unsettled }: Member): boolean => state === 'participating' && unsettled?.for !== 'containers';

/**
 * Whether an updated member has participated for minReadySeconds, now or earlier in this rollout. A role that is moving
 * to another member says nothing about the revision. Every sidecar must have been ready once, because a sidecar that is
 * never ready keeps the pod from being Ready.
 */
export function isVerified({ snapshot, policy, members, deadlines }: Situation): boolean {
  return (
    snapshot.memory.verified ||
    members.some((member) => {
      const seconds = member.updated && works(member) && sidecarsWork(member) ? provenForSeconds(member.facts) : null;
      return seconds !== null && deadlines.reached(seconds, policy.minReadySeconds);
    })
  );
}

const sidecarsWork = ({ facts: { containers } }: Member): boolean =>
  containers.every(({ part, ready, readySinceRestart }) => part === 'mysqld' || ready || readySinceRestart);

/**
 * A failure that the revision itself may have caused. A node that is missing, or that terminates the pod, is not the
 * revision's fault.
 */
function failure({ policy, deadlines, members }: Situation, member: Member): Evidence | null {
  if (member.state === 'terminating' || member.state === 'unreachable' || wasEndedByNode(member.facts)) return null;
  const stopped = stoppedInPlace(member.facts) ?? member.crashLoop;
  if (stopped !== null) return stopped;
  if (member.state === 'impaired') return isImpairedAtBoth(members, member) ? null : member.evidence;
  if (member.state !== 'down' || member.evidence?.kind === 'unschedulable') return null;
  return isSlow({ policy, deadlines }, member) ? null : member.evidence;
}

/**
 * Whether the only evidence against a member that is down is that its mysqld is not running, for less than
 * progressDeadlineSeconds so far.
 */
export function isSlow({ policy, deadlines }: Pick<Situation, 'policy' | 'deadlines'>, member: Member): boolean {
  const { evidence, facts } = member;
  if (evidence?.kind !== 'idle' || hasFailed(facts)) return false;
  return !deadlines.reached(facts.mysqldIdleForSeconds, policy.progressDeadlineSeconds);
}

/** The same sidecar fails on a stale member, so the new revision is not the reason. */
function isImpairedAtBoth(members: readonly Member[], { evidence }: Member): boolean {
  const container = containerOf(evidence);
  return members.some(({ updated, state, evidence: other }) => {
    return !updated && state === 'impaired' && containerOf(other) === container;
  });
}

const containerOf = (evidence: Evidence | null): string | null =>
  evidence !== null && 'container' in evidence ? evidence.container : null;

/**
 * Whether mysqld, or an init container before it, has run and failed. Until then the member is only slow, for example
 * because its node pulls an image or attaches a volume.
 */
function hasFailed({ containers, initContainers }: MemberFacts): boolean {
  return [...initContainers, ...containers.filter(({ part }) => part === 'mysqld')].some(ranAndFailed);
}

function ranAndFailed({ state, reason, restarts }: ContainerFacts): boolean {
  const completed = state === 'terminated' && reason === 'Completed';
  return !completed && (state === 'terminated' || restarts > 0);
}
