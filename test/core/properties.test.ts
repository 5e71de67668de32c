import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import { explainEvidence, explainHold, explainStep, phase } from '../../src/core/explain.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { absurdSnapshot, anyPolicy, plausibleSnapshot } from './arbitrary-snapshot.ts';
import { violations } from './invariants.ts';

/** More of them with PROPERTY_RUNS; a failure prints its seed and path, which SEED and REPLAY_PATH set. */
const { PROPERTY_RUNS, SEED, REPLAY_PATH } = process.env;
const parameters: fc.Parameters<unknown> = {
  numRuns: Number(PROPERTY_RUNS ?? 2000),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
};

const always = (
  snapshots: fc.Arbitrary<ClusterSnapshot>,
  holds: (snapshot: ClusterSnapshot, policy: RolloutPolicy) => void,
): void => fc.assert(fc.property(snapshots, anyPolicy, holds), parameters);

const kinds = { 'clusters as they can be': plausibleSnapshot, 'facts of any kind': absurdSnapshot };

for (const [kind, snapshots] of Object.entries(kinds)) {
  describe(`for ${kind}`, () => {
    it('no decision breaks an invariant', () => {
      always(snapshots, (snapshot, policy) => {
        expect(violations(snapshot, policy, decide(snapshot, policy))).to.deep.equal([]);
      });
    });

    it('the same facts give the same decision, and are left as they were', () => {
      always(snapshots, (snapshot, policy) => {
        const before = structuredClone(snapshot);
        const decision = decide(snapshot, policy);
        expect(decide(before, policy)).to.deep.equal(decision);
        expect(snapshot).to.deep.equal(before);
      });
    });

    it('every decision can be said', () => {
      always(snapshots, (snapshot, policy) => {
        const decision = decide(snapshot, policy);
        const name = (ordinal: number): string => `moco-test-${ordinal}`;
        const sentences = [
          explainStep(decision.step),
          phase(decision),
          ...(decision.hold ? [explainHold(decision.hold, name)] : []),
          ...decision.members.flatMap(({ evidence }) => (evidence ? [explainEvidence(evidence)] : [])),
        ];
        for (const sentence of sentences) expect(sentence).not.to.match(/undefined|\[object/);
      });
    });
  });
}

describe('for clusters as they can be', () => {
  it('looking again when told to, and not before, is enough to see what time changes', () => {
    always(plausibleSnapshot, (snapshot, policy) => {
      const now = decide(snapshot, policy);
      const wait = now.lookAgainInSeconds ?? 100_000;
      const later = decide(older(snapshot, wait / 2), policy);
      expect({ step: later.step, hold: later.hold }).to.deep.equal({ step: now.step, hold: now.hold });
    });
  });

  it('every kind of step and nearly every rule is reached', () => {
    const reached = new Set<string>();
    const seen = fc.sample(fc.tuple(plausibleSnapshot, anyPolicy), { numRuns: 6000, seed: 1 });
    for (const [snapshot, policy] of seen) {
      const { step, hold } = decide(snapshot, policy);
      reached.add(hold?.rule ?? ('rule' in step ? step.rule : step.kind));
    }
    const steps = 'MemberDown MemberUnreachable MemberNotParticipating PrimaryNotParticipating NobodyParticipates';
    const gentle = 'MemberImpaired ReplicaHealthy PrimaryLast SingleMember undemote setStrategy promoteRevision none';
    const waits = 'AwaitingFailover AwaitingSwitchover RolesNotSettled BlockedByPDB UpdateRevisionFailing';
    expect([...reached]).to.include.members(`${steps} ${gentle} ${waits}`.split(' '));
  });
});

/** The same facts, so many seconds later, with nothing else changed. */
function older(snapshot: ClusterSnapshot, seconds: number): ClusterSnapshot {
  const age = <T extends number | null>(before: T): T => (before === null ? before : ((before + seconds) as T));
  const { cluster, memory } = snapshot;
  return {
    ...snapshot,
    cluster: { ...cluster, primaryAwayForSeconds: age(cluster.primaryAwayForSeconds) },
    members: snapshot.members.map((one) => ({
      ...one,
      leavingForSeconds: age(one.leavingForSeconds),
      settledForSeconds: age(one.settledForSeconds),
      mysqldIdleForSeconds: one.mysqldIdleForSeconds === 0 ? 0 : age(one.mysqldIdleForSeconds),
      demoteForSeconds: one.demote ? age(one.demoteForSeconds) : 0,
      containers: one.containers.map((container) => ({
        ...container,
        notReadyForSeconds: container.ready ? 0 : age(container.notReadyForSeconds),
      })),
    })),
    budgets: snapshot.budgets.map((budget) => ({ ...budget, refusedForSeconds: age(budget.refusedForSeconds) })),
    memory: {
      ...memory,
      sinceProgressSeconds: age(memory.sinceProgressSeconds),
      sinceLastTrySeconds: age(memory.sinceLastTrySeconds),
      recentRevisionAgesSeconds: memory.recentRevisionAgesSeconds.map(age),
    },
  };
}
