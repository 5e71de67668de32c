import type { Decision } from '../../core/decision.ts';
import type { MemberState } from '../../core/member.ts';
import { isRequestedByUser } from '../../core/rules/catalogue.ts';
import type { World } from '../../kube/world.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { type ObservedFacts, waitedOnRequest } from '../facts/collect-facts.ts';
import { writesSeen } from '../facts/contention.ts';
import { isSwitchedOver, unreported } from '../facts/ended-step.ts';
import { unseen } from '../facts/own-writes.ts';
import { type ClusterState } from '../memory/cluster-memory.ts';

/** Remembers what the objects show of writes, by this program and by others. `live` objects show all own writes. */
export function noteObjects(
  objects: ClusterObjects,
  source: 'live' | 'cached',
  state: ClusterState,
  world: Pick<World, 'wall' | 'monotonic'>,
): void {
  const { statefulSet } = objects;
  const now = world.monotonic();
  if (source === 'cached') state.ownWrites = unseen(state.ownWrites, objects, now);
  noteRevision(state, statefulSet?.updateRevision ?? '', world);
  state.specWrites = writesSeen(state.specWrites, statefulSet, now);
}

/**
 * Changes of the update revision may follow each other before the status is written, and MOCO may revert one at once.
 */
function noteRevision(state: ClusterState, value: string, world: Pick<World, 'wall' | 'monotonic'>): void {
  const before = state.updateRevision;
  if (value === '' || before?.value === value) return;
  const changed = { atMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
  state.updateRevision = { value, changed: before === null ? null : changed };
}

/** Remembers when facts were first seen. The status may be written later, but it must contain these times. */
export function noteFirstSeen(
  facts: ObservedFacts,
  decision: Decision,
  state: ClusterState,
  now: string,
  nowMilliseconds: number,
): void {
  noteHold(decision, state, now, nowMilliseconds);
  noteMembersBack(facts, decision, state, now);
  noteSwitchedOver(facts, state, now);
  noteProgress(facts, decision, state, now);
  noteComplete(facts, decision, state, now);
}

/** A complete rollout is remembered even if a newer one begins before the status is written. */
function noteComplete(
  { objects, rollout }: ObservedFacts,
  { complete }: Decision,
  state: ClusterState,
  now: string,
): void {
  const revision = objects.statefulSet?.updateRevision ?? '';
  if (complete) {
    if (state.completed?.revision !== revision) state.completed = { revision, at: now };
  } else if (state.completed?.revision !== rollout?.status?.rollout?.revision) {
    state.completed = null;
  }
}

/**
 * A due step does not end the hold before it, nor does what is read for it: that hold continues if the step is not
 * done.
 */
function noteHold({ hold, step }: Decision, state: ClusterState, since: string, sinceMilliseconds: number): void {
  if (hold === null && step.kind === 'none') state.holding = null;
  if (hold === null || hold.rule === 'ComebackUnknown' || state.holding?.rule === hold.rule) return;
  state.holding = { rule: hold.rule, sinceMilliseconds, since };
}

function noteMembersBack({ objects }: ObservedFacts, { members }: Decision, state: ClusterState, now: string): void {
  const revision = objects.statefulSet?.updateRevision ?? '';
  const known = state.back.revision === revision || revision === '' ? state.back : { revision, at: new Map() };
  const back = members.flatMap(({ ordinal, updated, participating }): (readonly [number, string])[] => {
    const since = known.at.get(ordinal) ?? (participating ? now : undefined);
    return updated && since !== undefined ? [[ordinal, since]] : [];
  });
  state.back = { revision: known.revision, at: new Map(back) };
}

function noteSwitchedOver({ objects, rollout }: ObservedFacts, state: ClusterState, now: string): void {
  const before = rollout?.status ?? {};
  const isOver =
    before.rollout !== undefined &&
    before.rollout.revision === objects.statefulSet?.updateRevision &&
    isSwitchedOver(before.rollout, unreported(before, state), objects);
  state.switchedOverAt = isOver ? (state.switchedOverAt ?? now) : null;
}

/**
 * A rollout makes progress when another member reaches the update revision or participates, a step is done, or a user
 * resumes it. A container that crashes repeatedly is not progress.
 */
function noteProgress({ objects, rollout }: ObservedFacts, decision: Decision, state: ClusterState, now: string): void {
  const before = rollout?.status ?? {};
  const revision = objects.statefulSet?.updateRevision ?? '';
  // MOCO is re-creating the StatefulSet: the new update revision is not known yet.
  if (revision === '') return;
  if (before.rollout?.revision === revision) {
    state.begun = null;
  } else if (decision.complete || decision.stale === 0) {
    state.begun = null;
    state.moved = null;
    return;
  } else if (state.begun?.revision !== revision) {
    state.begun = { revision, at: now };
  }
  const ended = unreported(before, state);
  const resumed = waitedOnRequest(before) && !(decision.hold && isRequestedByUser(decision.hold.rule));
  const shape = signature(decision.members);
  if (!resumed && ended?.result !== 'done' && shape === signature(before.members ?? [])) {
    state.moved = null;
    return;
  }
  const seen = `${shape}\n${ended?.result === 'done' ? ended.lastStep.at : ''} ${resumed}`;
  if (state.moved?.seen !== seen || state.moved.revision !== revision) state.moved = { revision, seen, at: now };
}

interface Member {
  readonly ordinal: number;
  readonly revision?: string | null;
  readonly role: string;
  readonly state: string;
}

function signature(members: readonly Member[]): string {
  return members
    .map(({ ordinal, revision, role, state }) => `${ordinal} ${revision ?? ''} ${role} ${participates.has(state)}`)
    .join('\n');
}

const participates: ReadonlySet<string> = new Set<MemberState>(['participating', 'impaired']);
