import { expect } from 'chai';
import type { Change } from '../../verification/witness/moment.ts';
import type { WitnessedKind, WitnessedObject } from '../../verification/witness/objects.ts';
import { entriesOf, timelineOf } from './timeline.ts';

const noon = Date.UTC(2026, 0, 2, 12, 0, 0, 7);

function change(kind: WitnessedKind, name: string, more: object, isDeleted = false): Change {
  const { metadata = {}, ...rest } = more as { metadata?: object };
  const identity = { metadata: { name, uid: name, resourceVersion: '1', ...metadata }, ...rest } as WitnessedObject;
  return { revision: 1, atMilliseconds: noon, kind, object: isDeleted ? null : identity, identity };
}

const textOf = (one: Change): string => entriesOf([one])[0]?.text ?? '';

describe('the timeline of a rollout', () => {
  it('says what a pod is able to do, and what was asked of it', () => {
    const pod = change('Pod', 'moco-test-0', {
      metadata: {
        deletionTimestamp: '2026-01-02T12:00:00Z',
        labels: { 'moco.cybozu.com/role': 'primary', 'controller-revision-hash': 'moco-test-6d5f7c9b8' },
        annotations: { 'moco.cybozu.com/demote': 'true', 'moco.cybozu.com/prevent-delete': 'true' },
      },
      spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.4' }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [
          { name: 'mysqld', ready: false, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } },
          { name: 'agent', ready: true, started: true, state: { running: {} } },
        ],
      },
    });
    expect(textOf(pod)).to.equal(
      'terminating, not ready, primary, demote, prevent-delete, revision 7c9b8, mysql:8.4.4, Running, mysqld CrashLoopBackOff after 2 restarts, agent ready',
    );
  });

  it("says what MOCO, the StatefulSet's controller, the budget and this program say", () => {
    const conditions = [{ type: 'Healthy', status: 'False', reason: 'Degraded' }];
    const status = { currentPrimaryIndex: 1, syncedReplicas: 2, errantReplicas: 1, conditions };
    expect(textOf(change('MySQLCluster', 'test', { spec: { replicas: 3 }, status }))).to.equal(
      '3 replicas, primary 1, 2 synced, 1 errant, Healthy=False',
    );
    const set = {
      spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
      status: { currentRevision: 'moco-test-aaaaa', updateRevision: 'moco-test-bbbbb', updatedReplicas: 1 },
    };
    expect(textOf(change('StatefulSet', 'moco-test', set))).to.equal(
      '3 replicas, RollingUpdate, partition 2, revision aaaaa to bbbbb, 1 updated, 0 ready',
    );
    const budget = { spec: { maxUnavailable: 1 }, status: { currentHealthy: 3, disruptionsAllowed: 1 } };
    expect(textOf(change('PodDisruptionBudget', 'moco-test', budget))).to.equal(
      'maxUnavailable 1, 3 healthy, 1 may be disrupted',
    );
    const rollout = {
      phase: 'Progressing',
      hold: { rule: 'AwaitingSwitchover', message: 'waiting', since: '' },
      members: [{ ordinal: 0, role: 'primary', updated: false, state: 'participating', verdict: 'next' }],
      conditions: [{ type: 'Stalled', status: 'False', reason: 'Progressing' }],
    };
    expect(textOf(change('MySQLRollout', 'test', { status: rollout }))).to.equal(
      'Progressing, held by AwaitingSwitchover: waiting, 0 participating next, Stalled=False Progressing',
    );
  });

  it('leaves out changes that change nothing of it, and says what is gone', () => {
    const budget = change('PodDisruptionBudget', 'moco-test', {});
    const gone = change('PodDisruptionBudget', 'moco-test', {}, true);
    expect(entriesOf([budget, budget, gone]).map(({ text }) => text)).to.deep.equal([
      'maxUnavailable none, 0 healthy, 0 may be disrupted',
      'is gone',
    ]);
  });

  it('has a line for each entry, in order of time', () => {
    const entries = [
      { atMilliseconds: noon + 1000, what: 'load', text: 'no write' },
      { atMilliseconds: noon, what: 'Pod moco-test-0', text: 'ready' },
    ];
    expect(timelineOf(entries)).to.equal(
      '12:00:00.007  Pod moco-test-0  ready\n12:00:01.007  load             no write\n',
    );
  });
});
