import type { RolloutStatus } from '../../api/rollout-status.ts';
import type { World } from '../../base/world.ts';
import type { Decision } from '../../core/decision.ts';
import type { MemberState } from '../../core/member.ts';
import { isRequestedByUser } from '../../core/rules/catalogue.ts';
import { isSwitchedOver, unreported } from '../facts/last-step.ts';
import { whileOutstanding } from '../questions/questions.ts';
import { type ObservedFacts, waitedOnRequest } from './collect-facts.ts';
import type { Memory, Seen } from './memory.ts';

// When facts were first seen, so that times in the status do not depend on when the status is written.

/**
 * Records the update revision at every observation, because it may change several times before the status is written,
 * and because MOCO may revert a change immediately.
 */
export function revisionSeen(
  before: Seen['updateRevision'],
  value: string,
  world: Pick<World, 'wall' | 'monotonic'>,
): Seen['updateRevision'] {
  if (value === '' || before?.value === value) return before;
  const changed = { atMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
  return { value, changed: before === null ? null : changed };
}

/** When facts were first seen. The status may be written later, but it must contain these times. */
export const firstSeen = (
  facts: ObservedFacts,
  decision: Decision,
  memory: Memory,
  now: string,
  nowMilliseconds: number,
): Pick<Seen, 'holding' | 'earlier' | 'back' | 'switchedOverAt' | 'begun' | 'moved' | 'completed'> => ({
  ...holdingAfter(decision, memory.seen, facts.rollout?.status?.hold, now, nowMilliseconds),
  back: backAfter(facts, decision, memory.seen, now),
  switchedOverAt: switchedOverAfter(facts, memory, now),
  ...progressAfter(facts, decision, memory, now),
  completed: completedAfter(facts, decision, memory.seen, now),
});

/** Remembers that a rollout is complete, even if the next one begins before the status is written. */
function completedAfter(
  { objects, rollout }: ObservedFacts,
  { complete }: Decision,
  { completed }: Seen,
  now: string,
): Seen['completed'] {
  const revision = objects.statefulSet?.updateRevision ?? '';
  if (complete) return completed?.revision === revision ? completed : { revision, at: now };
  return completed?.revision === rollout?.status?.rollout?.revision ? completed : null;
}

/**
 * The current hold does not end when a step becomes due or while the step is confirmed, because the hold continues if
 * the step is not performed. If a hold covers an earlier one, the earlier one does not end.
 */
function holdingAfter(
  { hold, step, beneath }: Decision,
  { holding, earlier }: Seen,
  shown: RolloutStatus['hold'],
  since: string,
  sinceMilliseconds: number,
): Pick<Seen, 'holding' | 'earlier'> {
  if (hold === null) return step.kind === 'none' ? { holding: null, earlier: [] } : { holding, earlier };
  if (whileOutstanding(hold.rule) === 'the previous hold') return { holding, earlier };
  const isCovered = shown !== undefined && beneath.some(({ rule }) => rule === shown.rule);
  const known = [
    ...(holding === null ? [] : [holding]),
    ...earlier,
    ...(isCovered ? [{ rule: shown.rule, since: shown.since, sinceMilliseconds }] : []),
  ];
  return {
    holding: known.find(({ rule }) => rule === hold.rule) ?? { rule: hold.rule, sinceMilliseconds, since },
    earlier: beneath.flatMap(({ rule }) => known.find((one) => one.rule === rule) ?? []),
  };
}

function backAfter({ objects }: ObservedFacts, { members }: Decision, { back }: Seen, now: string): Seen['back'] {
  const revision = objects.statefulSet?.updateRevision ?? '';
  const known = back.revision === revision || revision === '' ? back : { revision, at: new Map() };
  const at = members.flatMap(({ ordinal, updated, participating }): (readonly [number, string])[] => {
    const since = known.at.get(ordinal) ?? (participating ? now : undefined);
    return updated && since !== undefined ? [[ordinal, since]] : [];
  });
  return { revision: known.revision, at: new Map(at) };
}

function switchedOverAfter({ objects, rollout }: ObservedFacts, memory: Memory, now: string): Seen['switchedOverAt'] {
  const before = rollout?.status ?? {};
  const isOver =
    before.rollout !== undefined &&
    before.rollout.revision === objects.statefulSet?.updateRevision &&
    isSwitchedOver(before.rollout, unreported(before, memory), objects);
  return isOver ? (memory.seen.switchedOverAt ?? now) : null;
}

/**
 * A rollout makes progress when another member reaches the update revision or participates, when a step is done, or
 * when a user resumes the rollout. A container that keeps crashing is not progress.
 */
function progressAfter(
  { objects, rollout }: ObservedFacts,
  decision: Decision,
  memory: Memory,
  now: string,
): Pick<Seen, 'begun' | 'moved'> {
  const before = rollout?.status ?? {};
  const { begun, moved } = memory.seen;
  const revision = objects.statefulSet?.updateRevision ?? '';
  // MOCO is re-creating the StatefulSet: the new update revision is not known yet.
  if (revision === '') return { begun, moved };
  const isRecorded = before.rollout?.revision === revision;
  if (!isRecorded && (decision.complete || decision.stale === 0)) return { begun: null, moved: null };
  const begunAt = isRecorded ? null : begun?.revision === revision ? begun : { revision, at: now };
  const ended = unreported(before, memory);
  const resumed = waitedOnRequest(before) && !(decision.hold && isRequestedByUser(decision.hold.rule));
  const shape = signature(decision.members);
  const isSame = !resumed && ended?.result !== 'done' && shape === signature(before.members ?? []);
  if (isSame) return { begun: begunAt, moved: null };
  const seen = `${shape}\n${ended?.result === 'done' ? ended.lastStep.at : ''} ${resumed}`;
  const isKnown = moved?.seen === seen && moved.revision === revision;
  return { begun: begunAt, moved: isKnown ? moved : { revision, seen, at: now } };
}

interface SignedMember {
  readonly ordinal: number;
  readonly revision?: string | null;
  readonly role: string;
  readonly state: string;
}

function signature(members: readonly SignedMember[]): string {
  return members
    .map(({ ordinal, revision, role, state }) => `${ordinal} ${revision ?? ''} ${role} ${participates.has(state)}`)
    .join('\n');
}

const participates: ReadonlySet<string> = new Set<MemberState>(['participating', 'impaired']);
