import { expect } from 'chai';
import { hasNeverStarted } from '../../src/core/member.ts';
import { cluster, stale, three } from './cluster-builder.ts';
import { type MemberBuilder, member } from './member-builder.ts';
import { deletes, evicts, holds, play, when } from './table.ts';

const inconsistent = (problem: string) => holds({ rule: 'SnapshotInconsistent', problem });
const allOf = (change: (one: MemberBuilder) => MemberBuilder) =>
  stale().members(...[0, 1, 2].map((ordinal) => change(member(ordinal))));

describe('nothing is done on facts that contradict each other', () => {
  play({
    'when a pod is Ready and its container statuses are missing, however long': when(
      allOf((one) => one.unreported(600)),
      inconsistent('pod moco-test-0 is Ready, but its container mysqld is not'),
    ),
    'when a pod has no container of the name mysqld': when(
      allOf((one) => one.withContainer('mysqld', 'mysql')),
      inconsistent('pod moco-test-0 has no container mysqld'),
    ),
    'when a pod is Ready and the status of a sidecar is missing': when(
      stale().members(member(1).container('slow-log', { state: 'waiting', reason: null, ready: false })),
      inconsistent('pod moco-test-1 is Ready, but its container slow-log is not'),
    ),
    'when a pod runs and is not Ready, and nothing is reported of its mysqld': when(
      stale().members(member(2).unreported().but({ ready: false })),
      inconsistent('pod moco-test-2 is Running, but nothing is reported about its container mysqld'),
    ),
    'but a pod that is pending may have no container statuses yet': when(
      stale().members(member(2).unreported(61).but({ ready: false, phase: 'Pending' })),
      deletes('MemberDown', 2),
    ),
    'but a pod that terminates may be reported in any way': when(
      stale().members(member(2).unreported().terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
  });
});

describe('a pod that is no member', () => {
  play({
    'is left alone when its ordinal is not below replicas': when(
      three(member(7).stale().unschedulable()),
      holds({ rule: 'Scaling', wanted: 3, statefulSet: 3, pods: 4 }),
    ),
    'is left alone when the StatefulSet does not control it, and holds nothing then': when(
      stale().members(member(7).stale().unschedulable().ofNobody()),
      evicts('ReplicaHealthy', 2),
    ),
    'has no data that count as those of a member': when(
      three(member(7).stale().down('CrashLoopBackOff').ofNobody()),
      'idle',
    ),
    'has the name of a member, which counts as missing': when(
      stale().members(member(1).down('CrashLoopBackOff').ofNobody()),
      holds({
        rule: 'MemberMissing',
        members: [1],
        message: 'the StatefulSet does not control the pod moco-test-1',
      }),
    ),
  });
});

describe('a budget that MOCO did not create', () => {
  const closed = { name: 'freeze-nodes', closed: true, disruptionsAllowed: 0 };
  play({
    'is no backup': when(
      cluster(1).templateChanged().budgets(closed),
      holds({
        rule: 'BlockedByPDB',
        budget: 'freeze-nodes',
        cause: 'closedByOthers',
        healthy: 1,
        needed: 1,
        message: null,
      }),
    ),
    'is named, beside that of MOCO': when(
      stale().budgets({}, closed),
      holds({ rule: 'BlockedByPDB', budget: 'freeze-nodes', cause: 'several', healthy: 3, needed: 2, message: null }),
    ),
    'does not keep a member from its repair': when(
      three(member(2).stale().lagging(3600)).mysqlCluster({ healthy: false }).budgets({}, closed),
      deletes('MemberNotParticipating', 2),
    ),
  });
});

describe('mysqld has never started', () => {
  const cases: Readonly<Record<string, readonly [MemberBuilder, boolean]>> = {
    'when its image cannot be pulled': [member(1).down('ImagePullBackOff'), true],
    'not when it has run before in this pod, and its image is gone since': [
      member(1).down('ImagePullBackOff').container('mysqld', { hasRun: true }),
      false,
    ],
    'not when it has been restarted, whatever else is reported': [
      member(1).down('ImagePullBackOff', 3).container('mysqld', { hasRun: false }),
      false,
    ],
    'while an init container is at work': [
      member(1).creating(5).initContainer('moco-init', { state: 'running', reason: null }),
      true,
    ],
    'not while it only waits beside a sidecar that runs': [member(1).creating(5).besideSidecar(), false],
    'while a sidecar that comes before it has not started': [
      member(1).creating(5).besideSidecar().initContainer('istio-proxy', { state: 'waiting', hasRun: false }),
      true,
    ],
    'not when the pod has no such container': [member(1).creating(5).withContainer('mysqld', 'mysql'), false],
  };
  for (const [sentence, [given, expected]] of Object.entries(cases)) {
    it(sentence, () => expect(hasNeverStarted(given.facts(0, 'revision'))).to.equal(expected));
  }
});
