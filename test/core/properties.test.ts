import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { explainHold } from '../../src/core/rules/catalogue.ts';
import { explainEvidence, explainStep } from '../../src/core/sentences.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { absurdSnapshot, anyPolicy, plausibleSnapshot } from './arbitrary-snapshot.ts';
import { violations } from './invariants.ts';

/** More of them with PROPERTY_RUNS; a failure prints its seed and path, which SEED and REPLAY_PATH set. */
const { PROPERTY_RUNS, SEED, REPLAY_PATH } = process.env;
const parameters: fc.Parameters<unknown> = {
  numRuns: Number(PROPERTY_RUNS ?? 1500),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
};

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 120_000;

const always = (
  snapshots: fc.Arbitrary<ClusterSnapshot>,
  holds: (snapshot: ClusterSnapshot, policy: RolloutPolicy) => void,
): void => fc.assert(fc.property(snapshots, anyPolicy, holds), parameters);

const kinds = { 'clusters as they can be': plausibleSnapshot, 'facts of any kind': absurdSnapshot };

describe('every decision', () => {
  for (const [kind, snapshots] of Object.entries(kinds)) {
    it(`for ${kind} keeps the invariants, is deterministic, and has sentences`, () => {
      always(snapshots, (snapshot, policy) => {
        const before = JSON.stringify(snapshot);
        const decision = decide(snapshot, policy);
        expect(violations(snapshot, policy, decision).join('; ')).to.equal('');
        expect(JSON.stringify(decide(snapshot, policy))).to.equal(JSON.stringify(decision));
        expect(JSON.stringify(snapshot)).to.equal(before);
        for (const sentence of sentencesOf(decision)) expect(sentence).not.to.match(/undefined|\[object/);
      });
    }).timeout(patienceMilliseconds);
  }

  it('a requeue after exactly requeueAfterSeconds sees every change by time', () => {
    always(plausibleSnapshot, (snapshot, policy) => {
      const now = decide(snapshot, policy);
      const wait = now.requeueAfterSeconds ?? 100_000;
      const later = decide(older(snapshot, wait / 2), policy);
      expect({ step: later.step, hold: later.hold }).to.deep.equal({ step: now.step, hold: now.hold });
    });
  }).timeout(patienceMilliseconds);
});

function sentencesOf({ step, hold, members }: Decision): readonly string[] {
  const evidence = members.flatMap((one) => (one.evidence ? [explainEvidence(one.evidence)] : []));
  return [explainStep(step), ...(hold ? [explainHold(hold, (ordinal) => `moco-test-${ordinal}`)] : []), ...evidence];
}

/** The same facts, so many seconds later, with nothing else changed. */
function older(snapshot: ClusterSnapshot, seconds: number): ClusterSnapshot {
  const age = <T extends number | null>(before: T): T => (before === null ? before : ((before + seconds) as T));
  const { cluster, memory, mysql } = snapshot;
  return {
    ...snapshot,
    cluster: {
      ...cluster,
      primaryUnavailableForSeconds: age(cluster.primaryUnavailableForSeconds),
      primarySettledForSeconds: age(cluster.primarySettledForSeconds),
    },
    members: snapshot.members.map((one) => ({
      ...one,
      terminatingForSeconds: age(one.terminatingForSeconds),
      participatingForSeconds: age(one.participatingForSeconds),
      revisionForSeconds: age(one.revisionForSeconds),
      mysqldIdleForSeconds: one.mysqldIdleForSeconds === 0 ? 0 : age(one.mysqldIdleForSeconds),
      mysqldStartedForSeconds: age(one.mysqldStartedForSeconds),
      demoteForSeconds: one.demote ? age(one.demoteForSeconds) : 0,
      inPlace:
        one.inPlace?.kind === 'possible'
          ? {
              ...one.inPlace,
              resize: one.inPlace.resize && { ...one.inPlace.resize, forSeconds: age(one.inPlace.resize.forSeconds) },
            }
          : one.inPlace,
      restartInPlace: one.restartInPlace && {
        ...one.restartInPlace,
        doneForSeconds: one.restartInPlace.awaited.length === 0 ? age(one.restartInPlace.doneForSeconds) : 0,
      },
      containers: one.containers.map((container) => ({
        ...container,
        notReadyForSeconds: container.ready ? 0 : age(container.notReadyForSeconds),
      })),
    })),
    mysql: mysql && {
      ...mysql,
      ageSeconds: age(mysql.ageSeconds),
      members: mysql.members.map((one) => ({
        ...one,
        unknownForSeconds: one.said.kind === 'unknown' ? age(one.unknownForSeconds) : 0,
      })),
      waitedForWritesSeconds: mysql.waitedForWritesSeconds === 0 ? 0 : age(mysql.waitedForWritesSeconds),
    },
    policyGone: snapshot.policyGone && { ...snapshot.policyGone, sinceSeconds: age(snapshot.policyGone.sinceSeconds) },
    budgets: snapshot.budgets.map((budget) => ({ ...budget, refusedForSeconds: age(budget.refusedForSeconds) })),
    memory: {
      ...memory,
      sinceProgressSeconds: age(memory.sinceProgressSeconds),
      sinceLastTrySeconds: age(memory.sinceLastTrySeconds),
      recentRevisions: memory.recentRevisions.map((one) => ({ ...one, ageSeconds: age(one.ageSeconds) })),
    },
  };
}
