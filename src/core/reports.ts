import type { MemberReport, Step, VerdictKind } from './decision.ts';
import { isProtected } from './protected.ts';
import { dueMembers, type Member, type Outcome, type Situation } from './situation.ts';

/** A verdict for every member by ordinal, including the missing ones. */
export function reports(situation: Situation, outcome: Outcome | null): readonly MemberReport[] {
  const next = nextOrdinals(situation, outcome?.step ?? null);
  const rule = outcome?.hold?.rule ?? null;
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

/** The targets of the step, or, while a hold blocks, the member that is taken first afterwards. */
function nextOrdinals(situation: Situation, step: Step | null): readonly number[] {
  if (step !== null && 'targets' in step && step.kind !== 'undemote') return step.targets.map(({ ordinal }) => ordinal);
  const [first] = dueMembers(situation).toSorted(
    (a, b) => turn(a) - turn(b) || Number(isProtected(a)) - Number(isProtected(b)) || b.ordinal - a.ordinal,
  );
  return first ? [first.ordinal] : [];
}

/** The place of a due member in the procedure. Equal members go in descending ordinal. */
function turn(member: Member): number {
  switch (member.state) {
    case 'down':
      return 0;
    case 'unreachable':
      return 1;
    case 'running':
      return member.primary ? 6 : 2;
    case 'impaired':
      return member.primary ? 4 : 3;
    case 'participating':
    case 'terminating':
      return member.primary ? 6 : 5;
  }
}
