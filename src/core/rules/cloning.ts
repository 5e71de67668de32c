import { mayClone } from '../clone.ts';
import { recovered } from '../expected.ts';
import { mysqldOf } from '../member.ts';
import { type Uncloneable, uncloneable } from '../mysqld-data.ts';
import { type CloneReading, cloneAgainSeconds, freshCloneSeconds, type LastClone } from '../on-demand-facts.ts';
import { withoutFullStop } from '../sentences.ts';
import type { Member, Situation } from '../situation.ts';
import { asksAboutRecreation, readAgain } from './recreatable.ts';
import { after, rule } from './rule.ts';

// A replica that is cloning copies the whole database, and a restart would make the copy start over. The replica's
// agent reports whether it is cloning, and with ReplicationFacts its mysqld reports the progress.

interface Clone {
  readonly member: number;
  /** MySQL reports that the clone has not completed, but the agent is not running a clone. */
  readonly unfinished: boolean;
  /** Absent unless mysqld reports its progress. */
  readonly progress?: ShownProgress;
}

/** The progress as people see it. It is rounded, so that a message does not change with every byte. */
interface ShownProgress {
  readonly stage: string;
  /** A multiple of ten. */
  readonly percent: number;
  readonly estimatedBytes: number;
  /** The progress has not changed for `stillSeconds`. */
  readonly isStill: boolean;
}

/**
 * If a clone makes no progress for this long, the hold's sentence says so. The alert fires only at the progress
 * deadline.
 */
const stillSeconds = 300;

interface UnknownClone {
  readonly member: number;
  /**
   * Why the replica's agent does not report whether the replica clones; `null` if the agent was merely not asked
   * recently.
   */
  readonly message: string | null;
}

/** A replica that is copying its data is left alone, because otherwise the copy would start over. */
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
        ? `${name(member)} began to copy the data of another member and has not finished`
        : `${name(member)} is copying the data of another member; a restart would make it start over${explainProgress(progress)}`,
    meaning: 'A replica is cloning: it is copying the data of another member.',
    details:
      'Its agent reports the clone. Copying a large database takes hours. A restart would make the copy start over, which would put load on the other member again. The wait has no time limit. If the agent no longer runs the clone, but MySQL does not report it as completed, the wait ends after progressDeadlineSeconds. With the feature gate ReplicationFacts, mysqld reports the progress of the clone, and the progress deadline starts again whenever the clone advances. Meanwhile no other member is replaced beyond maxUnavailable.',
    endedBy: ['the members', 'MOCO', 'a person'],
    ends: 'By itself, when the copy is complete: mysqld then restarts once. To see how far along it is, run `SELECT STAGE, STATE, ESTIMATE, DATA FROM performance_schema.clone_progress` on the member. If there is no progress, look at the logs of its agent and of moco-controller. `kubectl moco-rollout override NAME Cloning` replaces the member anyway.',
    overridable: true,
    overriding: 'moco-rollout then deletes the pod of the replica, and its copy starts over',
    assumed: after('member', recovered),
  }),
  CloneImpossible: rule<{ readonly member: number } & Uncloneable>({
    holds: ({ situation, step, members }) =>
      firstOf(members, (member) => {
        const versions = needsClone(situation, member) ? uncloneable(situation, step, member) : null;
        return versions && { member: member.ordinal, ...versions };
      }),
    asks: ({ member }, situation) => [
      ...asksAboutRecreation([member], situation),
      ...situation.members.flatMap((one) =>
        one.ordinal === member && mayClone(one) ? askAgain([member], situation, cloneAgainSeconds) : [],
      ),
    ],
    sentence: ({ member, donor, mysqld }, name) =>
      `${name(member)} would have to be cloned, but mysqld ${mysqld} cannot clone the primary, which runs ${donor}`,
    meaning: 'A replica would come back without its data, and its next mysqld cannot clone the primary.',
    details:
      'This is so if a claim of the replica no longer keeps its data, or if the replica has not finished the clone from which it gets them. MySQL clones only within a series, and before 8.0.37 only within a patch release. The versions come from image tags, or from MySQL itself; without either, nothing is held. If `ClaimTerminating` or `Cloning` is overridden, this rule still holds.',
    endedBy: ['a person', 'the members'],
    ends: 'By itself, once the replica has its data again. If it has lost them, put the previous template back (`kubectl moco-rollout undo NAME` prints the patch) and delete the pod, so that MOCO clones the replica at the version of the primary. Change the version of MySQL afterwards.',
    overridable: true,
    overriding:
      'moco-rollout then replaces the replica, which comes back empty and stays down until it is restored from a backup, or until the primary runs a version that it can clone',
    alarms: true,
    assumed: null,
  }),
};

/**
 * Whether the member's next pod would have a volume without data, so that the member needs a clone. A pod that no node
 * accepts has nothing mounted that could still keep the data. Also sets the deadline at which the reading is too old.
 */
function needsClone(situation: Situation, member: Member): boolean {
  const { recreatable, clone } = member.facts;
  if (recreatable.kind === 'asked' && recreatable.claims.length > 0) {
    readAgain(situation, member);
    return true;
  }
  if (!mayClone(member) || clone === null) return false;
  if (clone.reading.kind !== 'cloning' && clone.reading.kind !== 'unfinished') return false;
  situation.deadlines.reached(clone.ageSeconds, cloneAgainSeconds);
  return true;
}

/** One of the last rules, because the agent of a replica is asked only once nothing else holds. */
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
        ? `the agent of ${name(member)} has not reported yet whether the member is copying another member's data`
        : `it is unknown whether ${name(member)} is copying the data of another member: ${withoutFullStop(message)}`,
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
  const still = isStill ? `; it has made no progress for ${stillSeconds / 60} minutes` : '';
  return `; at least ${percent}% of ${size} has been copied${inStage}${still}`;
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
