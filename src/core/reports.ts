import { Deadlines } from './deadlines.ts';
import type { Decision, MemberReport, NextStep, Procedure, VerdictKind } from './decision.ts';
import { recreated } from './lost-members.ts';
import { type HoldRule, isAlarming, isRequestedByUser, isRoutine, rules } from './rules/catalogue.ts';
import type { RulePhase } from './rules/rule.ts';
import type { Member, Situation } from './situation.ts';
import { notYetReplaced } from './statefulset-controller.ts';

// Everything in a decision that is only shown to users: phases, verdicts, and the members of the next step.

export function reports(situation: Situation, procedure: Procedure, outcome: NextStep): readonly MemberReport[] {
  const next = nextOrdinals(situation, procedure, outcome);
  const rule = outcome.hold?.rule ?? null;
  // Facts that are only shown must not set a deadline.
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
      recreated: recreated(shown, member.ordinal),
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
      recreated: recreated(shown, ordinal),
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
 * The members of the next step. If the held step has no members, these are the members of the first line that has some.
 * In modes other than OnDelete, while a step is held, this is the next member that the StatefulSet controller has to
 * replace.
 */
function nextOrdinals(situation: Situation, procedure: Procedure, { candidate, hold }: NextStep): readonly number[] {
  const leftToKubernetes = hold === null || situation.policy.mode === 'OnDelete' ? null : notYetReplaced(situation);
  if (leftToKubernetes !== null) return [leftToKubernetes.ordinal];
  if ('targets' in candidate && candidate.kind !== 'undemote') return candidate.targets.map(({ ordinal }) => ordinal);
  if (hold === null && candidate.kind !== 'undemote') return [];
  // Facts that are only shown must not set a deadline.
  const shown = { ...situation, deadlines: new Deadlines() };
  for (const { candidates } of Object.values(procedure)) {
    const next = candidates(shown).find((step) => step.kind !== 'undemote' && 'targets' in step);
    if (next !== undefined && 'targets' in next) return next.targets.map(({ ordinal }) => ordinal);
  }
  return [];
}

/**
 * The state of a cluster as one term for people. Programs should read the conditions. `Waiting` is a wait that a user
 * requested, or that may need a person. `Blocked` needs a person. `Settling` means that every member is updated but not
 * all of them work yet.
 */
export type Phase = 'UpToDate' | 'Progressing' | 'Waiting' | 'Blocked' | 'Settling' | RulePhase;

export function phase({
  hold,
  stale,
  complete,
  progressDeadlineExceeded,
}: Pick<Decision, 'hold' | 'stale' | 'complete' | 'progressDeadlineExceeded'>): Phase {
  const ofRule = hold && rules[hold.rule].phase;
  // A pause does not change the phase of a rollout that is complete.
  if (ofRule && !(complete && ofRule === 'Paused')) return ofRule;
  if (complete) return 'UpToDate';
  if (progressDeadlineExceeded || (hold !== null && isBlocking(hold.rule))) return 'Blocked';
  if (stale === 0) return 'Settling';
  return hold === null || isOfProgress(hold.rule) ? 'Progressing' : 'Waiting';
}

/** Whether the rule waits for MOCO, Kubernetes or the members. Such waits end by themselves. */
const isOfProgress = (rule: HoldRule): boolean =>
  isRoutine(rule) || (!isRequestedByUser(rule) && !rules[rule].endedBy.includes('a person'));

const isBlocking = (rule: HoldRule): boolean =>
  isAlarming(rule) || (!isRequestedByUser(rule) && rules[rule].endedBy.every((who) => who === 'a person'));
