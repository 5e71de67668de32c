import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';

interface Case {
  readonly given: ClusterBuilder;
  readonly settings?: Partial<RolloutPolicy>;
  /** The step, or the rule that holds. */
  readonly decides: string;
  readonly requeueAfterSeconds?: number;
}

const rolling = (): ClusterBuilder => cluster(3).atPartition(3);
/** Adopted, and found at RollingUpdate again. */
const backAtRolling = (): ClusterBuilder => rolling().statefulSet({ labelled: true });

const cases: Readonly<Record<string, Case>> = {
  'is adopted at once the first time': { given: rolling(), decides: 'setStrategy' },
  'is adopted at once with the label, too': { given: backAtRolling(), decides: 'setStrategy' },
  'is adopted before Kubernetes has observed it, since adoption reads no revision': {
    given: rolling().statefulSet({ observed: false, updateRevision: '' }),
    decides: 'setStrategy',
  },
  'is adopted while somebody writes it again and again': { given: rolling().contended(), decides: 'setStrategy' },
  'says who writes it again and again between two adoptions, and looks again soon': {
    given: backAtRolling().contended().adopted(9),
    decides: 'StatefulSetNotObserved',
    requeueAfterSeconds: 10,
  },
  'is not adopted for the first time while it is paused': {
    given: rolling(),
    settings: { paused: true },
    decides: 'Paused',
  },
  'is not adopted for the first time while only repairs may go on': {
    given: rolling(),
    settings: { paused: true, repairWhilePaused: true },
    decides: 'Paused',
  },
  'loses no member before its first adoption, not even one that is down, while only repairs are allowed': {
    given: rolling().members(member(2).stale().down('ErrImagePull')),
    settings: { paused: true, repairWhilePaused: true },
    decides: 'Paused',
  },
  'is adopted again while it is paused if its label shows that it was adopted': {
    given: backAtRolling(),
    settings: { paused: true },
    decides: 'setStrategy',
  },
  'is adopted again while it is paused if MOCO re-created the StatefulSet without the label': {
    given: rolling().wasAdopted(),
    settings: { paused: true },
    decides: 'setStrategy',
  },
  'is adopted again after 30 s at the earliest': {
    given: backAtRolling().adopted(29),
    decides: 'StrategyNotOnDelete',
    requeueAfterSeconds: 1,
  },
  'is adopted again 30 s after the first time': { given: backAtRolling().adopted(30), decides: 'setStrategy' },
  'is adopted a third time after 60 s at the earliest': {
    given: backAtRolling().adopted(95, 59),
    decides: 'StrategyNotOnDelete',
    requeueAfterSeconds: 1,
  },
  'is adopted a third time 60 s after the second': { given: backAtRolling().adopted(95, 60), decides: 'setStrategy' },
  'is adopted at most every 5 minutes if it is reverted again and again': {
    given: backAtRolling().adopted(1700, 1400, 1100, 800, 500, 299),
    decides: 'StrategyNotOnDelete',
    requeueAfterSeconds: 1,
  },
  'is adopted at most every 5 minutes however often it returns to RollingUpdate': {
    given: backAtRolling().adopted(1700, 1400, 1100, 800, 500, 300),
    decides: 'setStrategy',
  },
  'is adopted after 30 s again if all adoptions but one were half an hour ago': {
    given: backAtRolling().adopted(1900, 1850, 1800, 30),
    decides: 'setStrategy',
  },
  'waits as long after adoptions of which one was not quite half an hour ago': {
    given: rolling().adopted(1799, 30),
    decides: 'StrategyNotOnDelete',
  },
  'waits as long if it is reverted without the label': { given: rolling().adopted(29), decides: 'StrategyNotOnDelete' },
  'is not tried for 30 s after a dry run with another result': {
    given: rolling().admissionProblem(29),
    decides: 'AdmissionNotInForce',
    requeueAfterSeconds: 1,
  },
  'is tried again 30 s after that': { given: rolling().admissionProblem(30), decides: 'setStrategy' },
  'is not tried for 2 minutes after the third in a row': {
    given: rolling().admissionProblem(119, { tries: 3 }),
    decides: 'AdmissionNotInForce',
    requeueAfterSeconds: 1,
  },
  'is tried again 2 minutes after the third': {
    given: rolling().admissionProblem(120, { tries: 3 }),
    decides: 'setStrategy',
  },
  'is tried every 5 minutes however often it failed': {
    given: rolling().admissionProblem(300, { tries: 1000 }),
    decides: 'setStrategy',
  },
  'is not blocked by a dry run for the other mode': {
    given: rolling().admissionProblem(0, { mode: 'Partition' }),
    decides: 'setStrategy',
  },
  'waits for the pause of a dry run, whatever adoptions there were': {
    given: backAtRolling().adopted(60).admissionProblem(10),
    decides: 'AdmissionNotInForce',
  },
};

describe('a StatefulSet that is to be at OnDelete and is not', () => {
  for (const [sentence, { given, settings, decides, requeueAfterSeconds }] of Object.entries(cases)) {
    it(sentence, () => {
      const decision = decide(given.facts(), { ...defaultPolicy, ...settings });
      expect(decision.hold?.rule ?? decision.step.kind).to.equal(decides);
      if (requeueAfterSeconds !== undefined) expect(decision.requeueAfterSeconds).to.equal(requeueAfterSeconds);
    });
  }
});

describe('a StatefulSet that is at OnDelete with the label', () => {
  it('is not blocked by an earlier dry run', () => {
    const stale = cluster(3).templateChanged();
    const decision = decide(stale.admissionProblem(0).facts(), defaultPolicy);
    expect(decision.hold?.rule).not.to.equal('AdmissionNotInForce');
  });
});

describe('a partition of the own driver', () => {
  const settings = { ...defaultPolicy, mode: 'Partition' } as const;

  it('is not lowered for 30 s after a dry run that did not return partition = replicas', () => {
    const given = cluster(3).atPartition(3).admissionProblem(29, { mode: 'Partition' });
    const decision = decide(given.facts(), settings);
    expect(decision.hold).to.deep.equal({
      rule: 'AdmissionNotInForce',
      mode: 'Partition',
      finding: 'a dry run left it at RollingUpdate',
    });
    expect(decision.requeueAfterSeconds).to.equal(1);
  });
});
