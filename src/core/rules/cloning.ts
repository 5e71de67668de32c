import { mayClone } from '../clone.ts';
import { recovered } from '../expected.ts';
import { mysqldOf } from '../member.ts';
import { type CloneReading, cloneAgainSeconds, freshCloneSeconds, type LastClone } from '../on-demand-facts.ts';
import { withoutFullStop } from '../sentences.ts';
import type { Member, Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

// A replica that clones copies the whole database, and a restart makes it begin again. Its agent reports whether it
// clones, and with ReplicationFacts mysqld how far it is.

interface Clone {
  readonly member: number;
  /** MySQL reports that the clone has not completed, but the agent does not run it. */
  readonly unfinished: boolean;
  /** Only if mysqld reports its progress. */
  readonly progress?: ShownProgress;
}

/** As people see it, so that a message does not change with every byte. */
interface ShownProgress {
  readonly stage: string;
  /** In steps of ten. */
  readonly percent: number;
  readonly estimatedBytes: number;
  /** The progress has not changed for `stillSeconds`. */
  readonly isStill: boolean;
}

/**
 * A clone that makes no progress for this long is mentioned in the message. The alert fires at the progress deadline.
 */
const stillSeconds = 300;

interface UnknownClone {
  readonly member: number;
  /** Why its agent does not report it; `null` if the agent was not asked recently enough. */
  readonly message: string | null;
}

/** A replica that copies its data is left alone: otherwise the copy would start over. */
export const cloning = {
  Cloning: rule<Clone>({
    holds: ({ situation, members }) =>
      firstOf(members, (member) => {
        const { clone } = member.facts;
        if (!mayClone(member) || clone === null) return null;
        const unfinished = clone.reading.kind === 'unfinished';
        const isOver = unfinished && isOverdue(situation, member);
        if ((clone.reading.kind !== 'cloning' && !unfinished) || isOver) return null;
        situation.deadlines.reached(clone.ageSeconds, cloneAgainSeconds);
        return { member: member.ordinal, unfinished, ...shownProgress(clone, situation) };
      }),
    asks: ({ member }, situation) => askAgain([member], situation, cloneAgainSeconds),
    sentence: ({ member, unfinished, progress }, name) =>
      unfinished
        ? `${name(member)} has begun to copy the data of another member and has not finished`
        : `${name(member)} copies the data of another member, and would start again if it were restarted${explainProgress(progress)}`,
    meaning: 'A replica clones: it copies the data of another member.',
    details:
      'Its agent reports this. Copying a large database takes hours. A restart makes the copy start over, which puts load on the other member once more. The wait has no time limit. If the agent no longer runs the clone, but MySQL does not report it as completed, the wait ends after progressDeadlineSeconds. With the feature gate ReplicationFacts its mysqld reports the progress of the clone, and the progress deadline counts from the last advance. Meanwhile no other member is replaced beyond maxUnavailable.',
    endedBy: ['the members', 'MOCO', 'a person'],
    ends: 'By itself, when the copy is complete: mysqld then restarts once. `SELECT STAGE, STATE, ESTIMATE, DATA FROM performance_schema.clone_progress` on the member shows how far along it is. If there is no progress, look at the logs of its agent and of moco-controller. `override NAME Cloning` replaces the member anyway.',
    overridable: true,
    overriding: 'moco-rollout then deletes the pod of the replica, and its copy starts over',
    assumed: after('member', recovered),
  }),
};

/** Among the last rules: its agent is asked only once nothing else holds. */
export const cloneUnread = {
  CloneUnknown: rule<UnknownClone>({
    holds: ({ situation, members }) =>
      firstOf(members, (member) => {
        const { clone } = member.facts;
        if (!mayClone(member)) return null;
        if (clone === null || !(clone.ageSeconds < freshCloneSeconds)) return { member: member.ordinal, message: null };
        if (clone.reading.kind !== 'unknown' || isOverdue(situation, member)) return null;
        situation.deadlines.reached(clone.ageSeconds, freshCloneSeconds);
        return { member: member.ordinal, message: clone.reading.message };
      }),
    asks: ({ member }, situation) => askAgain([member], situation, freshCloneSeconds),
    sentence: ({ member, message }, name) =>
      message === null
        ? `the agent of ${name(member)} has not said yet whether it copies the data of another member`
        : `it is unknown whether ${name(member)} copies the data of another member: ${withoutFullStop(message)}`,
    meaning: 'A replica runs but is not ready, and its agent has not reported whether it is cloning.',
    details:
      'A replica that is cloning looks like one that is behind. Its agent is asked right before the replica would be restarted. If the agent does not answer, the wait ends once mysqld has not been ready for progressDeadlineSeconds.',
    endedBy: ['the members', 'time', 'a person'],
    ends: 'By itself, within seconds. If the agent does not answer, look at its container.',
    overridable: true,
    overriding: 'moco-rollout then deletes the pod of the replica although it may be cloning, and the copy starts over',
    brief: true,
    awaits: 'clones',
    assumed: after('moment', (snapshot, { member }) => ({
      ...snapshot,
      members: snapshot.members.map((one) => (one.ordinal === member ? { ...one, clone: notCloning } : one)),
    })),
  }),
};

function shownProgress(
  { reading, unchangedForSeconds = 0 }: LastClone,
  { deadlines }: Situation,
): { readonly progress?: ShownProgress } {
  if (reading.kind !== 'cloning' || reading.progress === undefined) return {};
  const { stage, copiedBytes, estimatedBytes } = reading.progress;
  const share = estimatedBytes === 0 ? 0 : Math.min(1, copiedBytes / estimatedBytes);
  const isStill = deadlines.reached(unchangedForSeconds, stillSeconds);
  return { progress: { stage, percent: Math.floor(share * 10) * 10, estimatedBytes, isStill } };
}

function explainProgress(progress: ShownProgress | undefined): string {
  if (progress === undefined) return '';
  const { stage, percent, estimatedBytes, isStill } = progress;
  const size = `${(estimatedBytes / 2 ** 30).toFixed(1)} GiB`;
  const inStage = stage === '' ? '' : ` (stage ${stage})`;
  const still = isStill ? `; nothing has advanced for ${stillSeconds / 60} minutes` : '';
  return `; at least ${percent} % of ${size} is copied${inStage}${still}`;
}

/** Seconds since the clone of the member last advanced; `null` if it is not cloning, or if its progress is unknown. */
export const cloneAdvancedForSeconds = ({ members }: Situation, ordinal: number): number | null =>
  members.find((member) => member.ordinal === ordinal)?.facts.clone?.unchangedForSeconds ?? null;

const notCloning = {
  reading: { kind: 'notCloning' } satisfies CloneReading,
  ageSeconds: 0,
  unknownForSeconds: 0,
} as const;

const isOverdue = ({ policy, deadlines }: Situation, { facts }: Member): boolean =>
  deadlines.reached(mysqldOf(facts)?.notReadyForSeconds ?? 0, policy.progressDeadlineSeconds);

function askAgain(ordinals: readonly number[], { members }: Situation, afterSeconds: number) {
  const due = members.filter(
    ({ ordinal, facts: { clone } }) =>
      ordinals.includes(ordinal) && !(clone !== null && clone.ageSeconds < afterSeconds),
  );
  return due.length === 0 ? [] : [{ kind: 'clones' as const, members: due.map(({ ordinal }) => ordinal) }];
}

function firstOf<Found>(members: readonly Member[], find: (member: Member) => Found | null): Found | null {
  for (const member of members) {
    const found = find(member);
    if (found !== null) return found;
  }
  return null;
}
