import { expect } from 'chai';
import type { HoldRule } from '../../src/core/decision.ts';
import { type ClusterBuilder, stale } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { decideCase, evicts, holds, play, setsStrategy, when } from './table.ts';

const rolling = (): ClusterBuilder => stale().atPartition(3);
/** Adopted, and found at RollingUpdate again. */
const backAtRolling = (): ClusterBuilder => rolling().statefulSet({ labelled: true });
const notOnDelete = (labelled: boolean) => holds({ rule: 'StrategyNotOnDelete', labelled });
const notInForce = holds({
  rule: 'AdmissionNotInForce',
  mode: 'OnDelete',
  finding: 'a dry run left it at RollingUpdate',
});

describe('a StatefulSet that is to be at OnDelete and is not', () => {
  play({
    'is adopted at once the first time': when(rolling(), setsStrategy),
    'is adopted at once with the label, too': when(backAtRolling(), setsStrategy),
    'is adopted before Kubernetes has observed it, since adoption reads no revision': when(
      rolling().statefulSet({ observed: false, updateRevision: '' }),
      setsStrategy,
    ),
    'is adopted while another program writes it again and again': when(rolling().contended(), setsStrategy),
    'says who writes it again and again between two adoptions, and looks again soon': when(
      backAtRolling().contended().adopted(9),
      holds({
        rule: 'StatefulSetNotObserved',
        contention: { writesPerSecond: 1, managers: ['moco-controller'], fields: [] },
      }),
      {},
      10,
    ),
    'is adopted outside of the maintenance windows': when(rolling().maintenance([]), setsStrategy),
    'is not adopted for the first time while only repairs may go on': when(rolling(), holds({ rule: 'Paused' }), {
      paused: true,
      repairWhilePaused: true,
    }),
    'loses no member before its first adoption, not even one that is down, while only repairs are allowed': when(
      rolling().members(member(2).stale().down('ErrImagePull')),
      holds({ rule: 'Paused' }),
      { paused: true, repairWhilePaused: true },
    ),
    'is adopted again while it is paused if its label shows that it was adopted': when(backAtRolling(), setsStrategy, {
      paused: true,
    }),
    'is adopted again after 30 s at the earliest': when(backAtRolling().adopted(29), notOnDelete(true), {}, 1),
    'is adopted again 30 s after the first time': when(backAtRolling().adopted(30), setsStrategy),
    'is adopted a third time after 60 s at the earliest': when(
      backAtRolling().adopted(95, 59),
      notOnDelete(true),
      {},
      1,
    ),
    'is adopted a third time 60 s after the second': when(backAtRolling().adopted(95, 60), setsStrategy),
    'is adopted at most every 5 minutes if it is reverted again and again': when(
      backAtRolling().adopted(1700, 1400, 1100, 800, 500, 299),
      notOnDelete(true),
      {},
      1,
    ),
    'is adopted at most every 5 minutes however often it returns to RollingUpdate': when(
      backAtRolling().adopted(1700, 1400, 1100, 800, 500, 300),
      setsStrategy,
    ),
    'is adopted after 30 s again if all adoptions but one were half an hour ago': when(
      backAtRolling().adopted(1900, 1850, 1800, 30),
      setsStrategy,
    ),
    'waits as long after adoptions of which one was not quite half an hour ago': when(
      rolling().adopted(1799, 30),
      notOnDelete(false),
    ),
    'is not tried for 2 minutes after the third in a row': when(
      rolling().admissionProblem(119, { tries: 3 }),
      notInForce,
      {},
      1,
    ),
    'is tried again 2 minutes after the third': when(rolling().admissionProblem(120, { tries: 3 }), setsStrategy),
    'is tried every 5 minutes however often it failed': when(
      rolling().admissionProblem(300, { tries: 1000 }),
      setsStrategy,
    ),
    'is not blocked by a dry run for the other mode': when(
      rolling().admissionProblem(0, { mode: 'Partition' }),
      setsStrategy,
    ),
    'waits for the pause of a dry run, whatever adoptions there were': when(
      backAtRolling().adopted(60).admissionProblem(10),
      notInForce,
    ),
  });
});

describe('a StatefulSet that is not adopted', () => {
  const held: Partial<Record<HoldRule, ClusterBuilder>> = {
    SettingsInvalid: rolling().but({ settingsProblem: 'spec.partition is -1' }),
    StatefulSetDeleting: rolling().statefulSet({ deleting: true }),
    Released: rolling().released(),
    ReconciliationStopped: rolling().mysqlCluster({ reconciliationStopped: true }),
    ClusteringStopped: rolling().mysqlCluster({ clusteringStopped: true }),
    Offline: rolling().mysqlCluster({ offline: true }),
    ForcedRollingUpdate: rolling().mysqlCluster({ forcedRollingUpdate: true }),
  };
  for (const [rule, given] of Object.entries(held)) {
    it(`is held by ${rule}`, () => expect(decideCase({ given }).hold?.rule).to.equal(rule));
  }
});

describe('a StatefulSet that is at OnDelete with the label', () => {
  play({
    'is not blocked by an earlier dry run': when(stale().admissionProblem(0), evicts('ReplicaHealthy', 2)),
  });
});

describe('a partition of the own driver', () => {
  play({
    'is not lowered for 30 s after a dry run that did not return partition = replicas': when(
      rolling().admissionProblem(29, { mode: 'Partition' }),
      holds({ rule: 'AdmissionNotInForce', mode: 'Partition', finding: 'a dry run left it at RollingUpdate' }),
      { mode: 'Partition' },
      1,
    ),
  });
});
