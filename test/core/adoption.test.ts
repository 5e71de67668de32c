import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';

interface Case {
  readonly given: ClusterBuilder;
  readonly wishes?: Partial<RolloutPolicy>;
  /** The step, or the rule that holds. */
  readonly decides: string;
  readonly lookAgainInSeconds?: number;
}

const rolling = (): ClusterBuilder => cluster(3).atPartition(3);
/** Adopted, and found at RollingUpdate again. */
const backAtRolling = (): ClusterBuilder => rolling().statefulSet({ labelled: true });

const cases: Readonly<Record<string, Case>> = {
  'is adopted at once the first time': { given: rolling(), decides: 'setStrategy' },
  'is adopted at once with the label, too': { given: backAtRolling(), decides: 'setStrategy' },
  'is adopted while it is paused': { given: rolling(), wishes: { paused: true }, decides: 'setStrategy' },
  'is not adopted by another mode': { given: rolling(), wishes: { mode: 'Observe' }, decides: 'none' },
  'is adopted again after 30 s at the earliest': {
    given: backAtRolling().adopted(29),
    decides: 'StrategyNotOnDelete',
    lookAgainInSeconds: 1,
  },
  'is adopted again 30 s after the first time': { given: backAtRolling().adopted(30), decides: 'setStrategy' },
  'is adopted a third time after 60 s at the earliest': {
    given: backAtRolling().adopted(95, 59),
    decides: 'StrategyNotOnDelete',
    lookAgainInSeconds: 1,
  },
  'is adopted a third time 60 s after the second': { given: backAtRolling().adopted(95, 60), decides: 'setStrategy' },
  'is adopted at most every 5 minutes where it keeps coming back': {
    given: backAtRolling().adopted(1700, 1400, 1100, 800, 500, 299),
    decides: 'StrategyNotOnDelete',
    lookAgainInSeconds: 1,
  },
  'is adopted every 5 minutes however often it comes back': {
    given: backAtRolling().adopted(1700, 1400, 1100, 800, 500, 300),
    decides: 'setStrategy',
  },
  'is adopted after 30 s again where all but one adoption was half an hour ago': {
    given: backAtRolling().adopted(1900, 1850, 1800, 30),
    decides: 'setStrategy',
  },
  'waits as long where it comes back without the label': {
    given: rolling().adopted(29),
    decides: 'StrategyNotOnDelete',
  },
  'is not asked about for 30 s after a dry run that came back otherwise': {
    given: rolling().admissionProblem(29),
    decides: 'AdmissionNotInForce',
    lookAgainInSeconds: 1,
  },
  'is asked about again 30 s after it': { given: rolling().admissionProblem(30), decides: 'setStrategy' },
  'is not asked about for 2 minutes after the third in a row': {
    given: rolling().admissionProblem(119, { tries: 3 }),
    decides: 'AdmissionNotInForce',
    lookAgainInSeconds: 1,
  },
  'is asked about again 2 minutes after the third': {
    given: rolling().admissionProblem(120, { tries: 3 }),
    decides: 'setStrategy',
  },
  'is asked about every 5 minutes however often it was in vain': {
    given: rolling().admissionProblem(300, { tries: 1000 }),
    decides: 'setStrategy',
  },
  'is not held by what the other mode was shown': {
    given: rolling().admissionProblem(0, { mode: 'Partition' }),
    decides: 'setStrategy',
  },
  'waits for the pause of a dry run, whatever adoptions there were': {
    given: backAtRolling().adopted(60).admissionProblem(10),
    decides: 'AdmissionNotInForce',
  },
};

describe('a StatefulSet that is to be at OnDelete and is not', () => {
  for (const [sentence, { given, wishes, decides, lookAgainInSeconds }] of Object.entries(cases)) {
    it(sentence, () => {
      const decision = decide(given.facts(), { ...defaultPolicy, ...wishes });
      expect(decision.hold?.rule ?? decision.step.kind).to.equal(decides);
      if (lookAgainInSeconds !== undefined) expect(decision.lookAgainInSeconds).to.equal(lookAgainInSeconds);
    });
  }
});

describe('a StatefulSet that is at OnDelete with the label', () => {
  it('is held by nothing that a dry run has shown before', () => {
    const stale = cluster(3).templateChanged();
    const decision = decide(stale.admissionProblem(0).facts(), defaultPolicy);
    expect(decision.hold?.rule).not.to.equal('AdmissionNotInForce');
  });
});

describe('a partition of the own driver', () => {
  const wishes = { ...defaultPolicy, mode: 'Partition' } as const;

  it('is not lowered for 30 s after a dry run that was not answered with partition = replicas', () => {
    const given = cluster(3).atPartition(3).admissionProblem(29, { mode: 'Partition' });
    const decision = decide(given.facts(), wishes);
    expect(decision.hold).to.deep.equal({
      rule: 'AdmissionNotInForce',
      mode: 'Partition',
      finding: 'a dry run came back at RollingUpdate',
    });
    expect(decision.lookAgainInSeconds).to.equal(1);
  });
});
