import type { LastStep } from '../../src/controller/rollout-resource.ts';
import { milliseconds } from '../../src/moco/timestamp.ts';
import { roughly } from './durations.ts';
import { lasted, type Measure } from './measure.ts';
import { isBack, isUpdated, type MemberSight, type Sight, shortRevision } from './sight.ts';

/** What a frame shows, in words and numbers. */
export interface Scene {
  readonly name: string;
  readonly phase: string;
  readonly complete: boolean;
  readonly updated: number;
  readonly total: number;
  readonly revision: string;
  readonly elapsedMilliseconds: number;
  /** From 0 to 1: a member counts for more the further it is. */
  readonly progress: number;
  readonly note: Note;
  readonly members: readonly MemberScene[];
}

/** Why it waits, or what was done last. */
export interface Note {
  readonly label: 'waiting' | 'step' | 'last step' | 'done' | 'started';
  /** The rule that it is known by; empty for none. */
  readonly title: string;
  readonly sentence: string;
  readonly forMilliseconds: number | null;
}

export interface MemberScene {
  readonly name: string;
  readonly role: string;
  readonly revision: string;
  readonly freshness: 'stale' | 'updated' | '';
  readonly state: MemberSight['state'];
  readonly verdict: string;
  readonly tone: 'good' | 'moving' | 'next' | 'waiting';
}

/** `nowMilliseconds` is of the monotonic clock, as the moments of sight and measure are. */
export function sceneOf(sight: Sight, measure: Measure, nowMilliseconds: number): Scene {
  const { name, updateRevision, members } = sight;
  const updated = members.filter((member) => isDone(member, sight)).length;
  const complete = sight.complete && updated === members.length;
  const ends = measure.absences.map(({ toMilliseconds }) => toMilliseconds ?? nowMilliseconds);
  const until = complete && ends.length > 0 ? Math.max(...ends) : nowMilliseconds;
  return {
    name,
    phase: complete ? 'Complete' : 'Progressing',
    complete,
    updated,
    total: members.length,
    revision: shortRevision(updateRevision),
    elapsedMilliseconds: Math.max(0, until - measure.beganMilliseconds),
    progress: members.reduce((sum, member) => sum + progressOf(member, sight), 0) / members.length,
    note: complete ? completed : noteOf(sight, nowMilliseconds),
    members: members.map((member) => memberScene(member, sight, measure, nowMilliseconds)),
  };
}

const isDone = (member: MemberSight, sight: Sight): boolean => isUpdated(member, sight) && isBack(member);

function progressOf(member: MemberSight, sight: Sight): number {
  if (isDone(member, sight)) return 1;
  if (isUpdated(member, sight)) return 2 / 3;
  return member.leaving || member.uid === null ? 1 / 3 : 0;
}

const completed: Note = {
  label: 'done',
  title: '',
  sentence: 'every member is at the newest revision and participates',
  forMilliseconds: null,
};

function noteOf({ status, wallMilliseconds, atMilliseconds, updateRevision }: Sight, nowMilliseconds: number): Note {
  const current = status?.updateRevision === updateRevision;
  const since = (timestamp: string): number => {
    const ageAtSight = wallMilliseconds - (milliseconds(timestamp) ?? wallMilliseconds);
    return Math.max(0, ageAtSight + nowMilliseconds - atMilliseconds);
  };
  if (current && status.intent !== undefined) {
    const { step, pods, rule, at } = status.intent;
    const sentence = stepSentence({ step, pods: pods.map(({ name }) => name) });
    return { label: 'step', title: rule, sentence, forMilliseconds: since(at) };
  }
  if (current && status.hold !== undefined) {
    const { rule, message, since: from } = status.hold;
    return { label: 'waiting', title: rule, sentence: message, forMilliseconds: since(from) };
  }
  if (current && status.lastStep !== undefined && status.rollout !== undefined && status.rollout.disruptions > 0) {
    const { rule, at } = status.lastStep;
    return { label: 'last step', title: rule, sentence: stepSentence(status.lastStep), forMilliseconds: since(at) };
  }
  return {
    label: 'started',
    title: '',
    sentence: 'the template has changed, and every member is asked to follow it',
    forMilliseconds: null,
  };
}

/** What was done to whom, in a few words. */
export function stepSentence({ step, pods }: Pick<LastStep, 'step' | 'pods'>): string {
  const names = pods.join(', ');
  switch (step) {
    case 'evict':
      return `evicted ${names}`;
    case 'delete':
      return `deleted ${names}`;
    case 'demote':
      return `asked MOCO to move the primary away from ${names}`;
    case 'undemote':
      return `took the demotion of ${names} back`;
    case 'setStrategy':
      return 'set the update strategy of the StatefulSet to OnDelete';
    case 'handBack':
      return 'gave the StatefulSet back to rolling updates by partition';
    case 'setPartition':
      return names === '' ? 'lowered the partition' : `lowered the partition below ${names}`;
    case 'promoteRevision':
      return 'made the update revision the current one';
    case 'none':
      return 'nothing';
  }
}

function memberScene(member: MemberSight, sight: Sight, measure: Measure, nowMilliseconds: number): MemberScene {
  const { ordinal, name, revision, state } = member;
  return {
    name,
    role: member.role ?? (ordinal === sight.primary ? 'primary' : sight.primary < 0 ? '' : 'replica'),
    revision: revision === null ? '' : shortRevision(revision),
    freshness: revision === null ? '' : isUpdated(member, sight) ? 'updated' : 'stale',
    state,
    ...verdictOf(member, sight, measure, nowMilliseconds),
  };
}

type Verdict = Pick<MemberScene, 'verdict' | 'tone'>;

/** What the pod itself shows comes first; the controller's verdict is a moment older. */
function verdictOf(member: MemberSight, sight: Sight, measure: Measure, nowMilliseconds: number): Verdict {
  const { ordinal, leaving, uid } = member;
  const absence = measure.absences.findLast((candidate) => candidate.ordinal === ordinal);
  const away = absence === undefined ? '' : roughly(lasted(absence) ?? nowMilliseconds - absence.fromMilliseconds);
  if (leaving || uid === null) return { verdict: `being replaced, away for ${away}`, tone: 'moving' };
  if (isUpdated(member, sight)) {
    if (!isBack(member)) return { verdict: `starting, away for ${away}`, tone: 'moving' };
    return { verdict: absence === undefined ? 'updated' : `updated in ${away}`, tone: 'good' };
  }
  return staleVerdict(member, sight);
}

function staleVerdict({ ordinal, demoted }: MemberSight, { status, primary, members, updateRevision }: Sight): Verdict {
  const own = status?.updateRevision === updateRevision ? status.members?.[String(ordinal)]?.verdict : undefined;
  const isPrimary = ordinal === primary && members.length > 1;
  if (demoted) return { verdict: 'next, once another is primary', tone: 'next' };
  switch (own) {
    case 'Next':
      return { verdict: isPrimary ? 'next, by a switchover first' : 'next', tone: 'next' };
    case 'KeptBack':
      return { verdict: 'kept back by the partition', tone: 'waiting' };
    default:
      return { verdict: isPrimary ? 'last, after a switchover' : 'waits for its turn', tone: 'waiting' };
  }
}
