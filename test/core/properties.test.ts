import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide, decideBy } from '../../src/core/decide.ts';
import type { Decision, HoldRule } from '../../src/core/decision.ts';
import { explainHold } from '../../src/core/rules/catalogue.ts';
import { explainEvidence, explainStep } from '../../src/core/sentences.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { seed } from '../support/seed.ts';
import { absurdSnapshot, anyPolicy } from './arbitrary-snapshot.ts';
import { Coverage, guardsWithout, neverAlone } from './coverage.ts';
import { violations } from './invariants.ts';
import { aCluster, nearAnExample, type State, stateOf } from './near-examples.ts';
import { everyExample } from './rules/every-example.ts';

// The tests draw samples until everything is covered. A failure prints how to repeat it. PROPERTY_RUNS sets a fixed
// number of samples instead.
const { PROPERTY_RUNS, REPLAY_PATH } = process.env;
const batch = Number(PROPERTY_RUNS ?? 1500);
/** Far more than it takes to reach everything: what is rarer than this is not covered. */
const mostBatches = 100;
const isWhole = PROPERTY_RUNS === undefined && REPLAY_PATH === undefined;
const batches = isWhole ? mostBatches : 1;

const here = 'hack/node.sh hack/run-tests.ts test/core/properties.test.ts';

function always(states: fc.Arbitrary<State>, holds: (state: State) => void, index = 0): void {
  fc.assert(fc.property(states, holds), {
    numRuns: batch,
    seed: seed + index,
    ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
    reporter: (run) => {
      if (!run.failed) return;
      const replay = `SEED=${run.seed} REPLAY_PATH=${run.counterexamplePath} ${here}`;
      throw new Error(`${fc.defaultReportMessage(run)}\n\n${String(run.errorInstance)}\nRepeat it with: ${replay}`);
    },
  });
}

function isRight(snapshot: ClusterSnapshot, policy: State[1]): Decision {
  const before = JSON.stringify(snapshot);
  const decision = decide(snapshot, policy);
  expect(violations(snapshot, policy, decision).join('; ')).to.equal('');
  expect(JSON.stringify(decide(snapshot, policy))).to.equal(JSON.stringify(decision));
  expect(JSON.stringify(snapshot)).to.equal(before);
  for (const sentence of sentencesOf(decision)) expect(sentence).not.to.match(/undefined|\[object/);
  return decision;
}

describe('every decision', () => {
  it('keeps the invariants, is deterministic, and has sentences, in samples that reach everything', () => {
    const coverage = new Coverage();
    const states = fc.oneof(aCluster, nearAnExample);
    for (let index = 0; index < batches && (index === 0 || coverage.unreached.length > 0); index++) {
      always(
        states,
        (state) => {
          coverage.add(state, isRight(...state));
        },
        index,
      );
    }
    if (!isWhole) return;
    expect(
      coverage.unreached,
      `No sample reached these steps, or showed what breaks without these rules and needs (SEED=${seed} ${here}): state` +
        ' in needs.ts or invariants.ts what a step needs, or draw their facts in arbitrary-snapshot.ts or near-examples.ts',
    ).to.deep.equal([]);
  });

  it('for facts of any kind keeps the invariants, is deterministic, and has sentences', () => {
    always(fc.tuple(absurdSnapshot, anyPolicy), (state) => void isRight(...state));
  });

  it('a requeue after exactly requeueAfterSeconds sees every change by time', () => {
    always(aCluster, ([snapshot, policy]) => {
      const now = decide(snapshot, policy);
      const wait = now.requeueAfterSeconds ?? 100_000;
      const later = decide(older(snapshot, wait / 2), policy);
      expect({ step: later.step, hold: later.hold }).to.deep.equal({ step: now.step, hold: now.hold });
    });
  });

  for (const rule of neverAlone) {
    it(`${rule} never holds alone: another rule holds in its place, and the invariants object without both`, () => {
      const [, { applies }] = everyExample.find(([name]) => name === rule) ?? expect.fail(`no example of ${rule}`);
      const [facts, policy] = stateOf(applies);
      const off: HoldRule[] = [rule];
      for (let { hold } = decideBy(guardsWithout(...off), facts, policy); hold !== null; ) {
        off.push(hold.rule);
        ({ hold } = decideBy(guardsWithout(...off), facts, policy));
      }
      expect(off.length).to.be.greaterThan(1);
      expect(violations(facts, policy, decideBy(guardsWithout(...off), facts, policy))).not.to.deep.equal([]);
    });
  }
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
