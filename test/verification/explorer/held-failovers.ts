import { decide } from '../../../src/core/decide.ts';
import type { Decision } from '../../../src/core/decision.ts';
import type { Decide } from './decisions.ts';

/**
 * A controller that leaves a failover alone. A running member is only restarted while the primary participates, or another
 * replica does, which proves that the primary answers. Where nobody participates the primary goes first, and alone.
 */
export const holdsFailovers: Decide = (snapshot, policy) => {
  const decision = decide(snapshot, policy);
  const { step } = decision;
  if (step.kind !== 'delete' || step.rule === 'MemberDown' || snapshot.cluster.replicas === 1) return decision;
  if (provesPrimary(decision)) return decision;
  const primary = decision.members.find(({ role }) => role === 'primary');
  const targets = step.targets.filter(({ ordinal }) => ordinal === primary?.ordinal);
  if (primary?.state === 'running' && targets.length > 0) return { ...decision, step: { ...step, targets } };
  const { failoverGraceSeconds: graceSeconds } = policy;
  const hold = { rule: 'AwaitingFailover', primary: snapshot.cluster.primaryIndex, graceSeconds } as const;
  return { ...decision, step: { kind: 'none' }, hold };
};

function provesPrimary({ step, members }: Decision): boolean {
  const targets = 'targets' in step ? step.targets.map(({ ordinal }) => ordinal) : [];
  return members.some(({ ordinal, role, participating }) =>
    role === 'primary' ? participating : participating && targets.length === 1 && !targets.includes(ordinal),
  );
}
