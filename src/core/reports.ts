import type { Procedure } from './candidates/line.ts';
import { Deadlines } from './deadlines.ts';
import type { MemberReport, Outcome, VerdictKind } from './decision.ts';
import { comesBack } from './lost-members.ts';
import type { Member, Situation } from './situation.ts';
import { notYetReplaced } from './statefulset-controller.ts';

/** A verdict for every member by ordinal, including the missing ones. */
export function reports(situation: Situation, procedure: Procedure, outcome: Outcome): readonly MemberReport[] {
  const next = nextOrdinals(situation, procedure, outcome);
  const rule = outcome.hold?.rule ?? null;
  // What is only shown sets no deadline.
  const shown = { ...situation, deadlines: new Deadlines() };
  const present = situation.members.map((member): MemberReport => {
    const verdict = verdictOf(situation, member, next);
    return {
      ordinal: member.ordinal,
      name: member.facts.name,
      role: member.primary ? 'primary' : 'replica',
      revision: member.facts.revision,
      updated: member.updated,
      ready: member.facts.ready,
      participating: member.participates,
      state: member.state,
      evidence: member.evidence ?? member.crashLoop,
      verdict,
      comesBack: comesBack(shown, member.ordinal),
      rule:
        verdict === 'BelowPartition' || verdict === 'Pinned'
          ? 'PartitionReached'
          : verdict === 'Next' || verdict === 'Waiting'
            ? rule
            : null,
    };
  });
  const missing = situation.missing.map(
    (ordinal): MemberReport => ({
      ordinal,
      name: null,
      role: ordinal === situation.snapshot.cluster.primaryIndex ? 'primary' : 'replica',
      revision: null,
      updated: false,
      ready: false,
      participating: false,
      state: 'missing',
      evidence: null,
      verdict: 'Missing',
      comesBack: comesBack(shown, ordinal),
      rule: null,
    }),
  );
  return [...present, ...missing].toSorted((a, b) => a.ordinal - b.ordinal);
}

function verdictOf({ snapshot }: Situation, member: Member, next: readonly number[]): VerdictKind {
  if (member.state === 'terminating') return 'Terminating';
  if (member.unsettled !== null) return 'Starting';
  if (member.updated) return snapshot.memory.updatedOutOfBand.includes(member.ordinal) ? 'UpdatedOutOfBand' : 'Updated';
  if (!member.due) return member.pinned ? 'Pinned' : 'BelowPartition';
  return next.includes(member.ordinal) ? 'Next' : 'Waiting';
}

/**
 * The members of the step that is next, or, while one without members is held, of the first line that takes some. While
 * one is held in the other modes, whom the StatefulSet controller has still to replace.
 */
function nextOrdinals(situation: Situation, procedure: Procedure, { candidate, hold }: Outcome): readonly number[] {
  const leftToKubernetes = hold === null || situation.policy.mode === 'OnDelete' ? null : notYetReplaced(situation);
  if (leftToKubernetes !== null) return [leftToKubernetes.ordinal];
  if ('targets' in candidate && candidate.kind !== 'undemote') return candidate.targets.map(({ ordinal }) => ordinal);
  if (hold === null && candidate.kind !== 'undemote') return [];
  // What is only shown sets no deadline.
  const shown = { ...situation, deadlines: new Deadlines() };
  for (const { candidates } of Object.values(procedure)) {
    const next = candidates(shown).find((step) => step.kind !== 'undemote' && 'targets' in step);
    if (next !== undefined && 'targets' in next) return next.targets.map(({ ordinal }) => ordinal);
  }
  return [];
}
