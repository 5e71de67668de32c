import { isApproved, type Member, type Situation, unknownApproval } from '../situation.ts';
import { type Asked, after, asksFor, rule } from './rule.ts';

/** Rules that must not hold when a rollout moves the primary. */
export const primary = {
  AwaitingApproval: rule<{
    readonly member: number;
    readonly revision: string;
    /** The revision that a person has approved, if it is not a revision of this cluster. */
    readonly unknown?: string;
  }>({
    holds: (asked) => {
      const { situation, members } = asked;
      const primary = members.find((member) => member.primary);
      if (primary === undefined || situation.policy.primaryUpdatePolicy === 'Automatic') return null;
      if (isApproved(situation) || !isRevisionKnown(asked)) return null;
      const unknown = unknownApproval(situation);
      return { member: primary.ordinal, revision: situation.updateRevision, ...(unknown !== null && { unknown }) };
    },
    sentence: ({ member, revision, unknown }, name) =>
      `the primary ${name(member)} is waiting for approval of revision ${revision}` +
      (unknown === undefined ? '' : `; the approved revision ${unknown} is not a revision of this cluster`),
    meaning: 'Only the primary is left, and `primaryUpdatePolicy: Manual` makes it wait for approval.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco-rollout approve NAME`. The update costs one switchover.',
    requestedBy: '`primaryUpdatePolicy: Manual`',
    phase: 'AwaitingApproval',
    assumed: null,
  }),
  SwitchoverFailing: rule<{ readonly member: number; readonly tries: number; readonly retries: boolean }>({
    holds: ({ situation, members: [member] }) => (member === undefined ? null : switchoverFailing(situation, member)),
    sentence: ({ member, tries, retries }, name) =>
      `the switchover away from ${name(member)} has failed ${tries === 1 ? 'once' : `${tries} times`}; ${retries ? 'it will be tried again' : 'it will not be tried again for this revision'}`,
    meaning: 'MOCO did not move the primary in time.',
    details: 'Each attempt blocks writes for a while.',
    endedBy: ['time', 'a person'],
    ends: 'By itself, if an attempt succeeds: the controller tries again after 5, 15 and 45 minutes. After that, it tries again only once you run `kubectl moco-rollout approve NAME`. The log of moco-controller shows what blocks the switchover.',
    overridable: true,
    alarms: true,
    phase: 'Failing',
    assumed: after('requeue', (snapshot, { retries }) =>
      retries ? { ...snapshot, memory: { ...snapshot.memory, switchoverTries: 0 } } : null,
    ),
  }),
};

/**
 * Until Kubernetes has observed the newest template, the update revision is unknown. A demotion continues meanwhile.
 */
export function isRevisionKnown(asked: Asked): boolean {
  const { statefulSet } = asked.situation.snapshot;
  return !asksFor(asked, 'keepsDemotion') || (statefulSet?.observed === true && !statefulSet.deleting);
}

/**
 * Each attempt blocks writes for a while. So the pause grows with each attempt, and after the last one a person has to
 * act.
 */
const retryDelaysSeconds: readonly number[] = [5 * 60, 15 * 60, 45 * 60];
const lastRetryDelaySeconds = 45 * 60;

function switchoverFailing(
  situation: Situation,
  { ordinal: member }: Member,
): { readonly member: number; readonly tries: number; readonly retries: boolean } | null {
  const { snapshot, deadlines } = situation;
  const { switchoverTries: tries, sinceLastTrySeconds } = snapshot.memory;
  if (tries === 0) return null;
  const delaySeconds = retryDelaysSeconds[tries - 1];
  if (delaySeconds === undefined && !isApproved(situation)) return { member, tries, retries: false };
  return deadlines.reached(sinceLastTrySeconds, delaySeconds ?? lastRetryDelaySeconds)
    ? null
    : { member, tries, retries: true };
}
