import { expect } from 'chai';
import { mergePatch } from '../merge-patch.ts';
import { reconciledStatus, replaceStatus } from './cluster-status.ts';
import { withConditions } from './conditions.ts';
import type { Condition, MySQLCluster, StatefulSet } from './objects.ts';
import { recordedObjects } from './recorded-objects.ts';
import { emptyView } from './story.ts';

const now = Date.parse('2026-11-21T08:00:00.789Z');
const { cluster, statefulSet } = recordedObjects;

function statusOf(of: MySQLCluster, set: StatefulSet | null, succeeded = true): Record<string, unknown> {
  const write = reconciledStatus({ ...emptyView(of), statefulSet: set }, succeeded, now);
  return (write?.body['status'] ?? of.status) as Record<string, unknown>;
}

function condition(status: Record<string, unknown>, type: string): Condition | undefined {
  return (status['conditions'] as Condition[]).find((candidate) => candidate.type === type);
}

describe('test/support/moco: the status that reconciling writes', () => {
  it('equals the real one if nothing has changed', () => {
    expect(reconciledStatus({ ...emptyView(cluster), statefulSet }, true, now)).to.equal(null);
  });

  it('advances reconcileInfo even if the reconciliation failed', () => {
    const changed = mergePatch(cluster, { metadata: { generation: 2 } }) as MySQLCluster;
    const status = statusOf(changed, statefulSet, false);
    expect(status['reconcileInfo']).to.deep.equal({ generation: 2, reconcileVersion: 1 });
    expect(condition(status, 'ReconcileSuccess')).to.deep.equal({
      type: 'ReconcileSuccess',
      status: 'False',
      reason: 'ReconcileFailed',
      message: 'reconcile failed',
      observedGeneration: 2,
      lastTransitionTime: '2026-11-21T08:00:00Z',
    });
  });

  const notReady: Record<string, object> = {
    'a pod is not available': { status: { availableReplicas: 2 } },
    'the current revision lags': { status: { currentRevision: 'moco-test-old' } },
    'the newest generation is not observed': { metadata: { generation: 7 } },
  };
  for (const [reason, change] of Object.entries(notReady)) {
    it(`reports StatefulSetReady=False if ${reason}`, () => {
      const status = statusOf(cluster, mergePatch(statefulSet, change) as StatefulSet);
      expect(condition(status, 'StatefulSetReady')).to.include({
        status: 'False',
        reason: 'StatefulSetNotReady',
        message: 'StatefulSet is not ready',
      });
    });
  }

  it('reports a missing StatefulSet', () => {
    expect(condition(statusOf(cluster, null), 'StatefulSetReady')).to.include({
      status: 'False',
      reason: 'StatefulSetNotFound',
    });
  });

  it('drops a foreign field and keeps a foreign condition', () => {
    const foreign: Condition = {
      type: 'moco-rollout.io/RolloutComplete',
      status: 'True',
      reason: 'Complete',
      message: '',
      lastTransitionTime: '2026-11-21T07:00:00Z',
    };
    const conditions = [...(cluster.status?.conditions ?? []), foreign];
    const wanted = { ...cluster.status, conditions, rollout: 'mine' };
    const written = replaceStatus(cluster, wanted);
    const status = written?.body['status'] as Record<string, unknown>;
    expect(status).not.to.have.property('rollout');
    expect(condition(status, foreign.type)).to.deep.equal(foreign);
  });

  it('omits zero values, as the types of the real one do', () => {
    const written = replaceStatus(cluster, { ...cluster.status, syncedReplicas: 0, errantReplicas: 0 });
    expect(written?.body['status']).not.to.have.any.keys('syncedReplicas', 'errantReplicas');
  });
});

describe('test/support/moco: a condition', () => {
  it('keeps its lastTransitionTime while its status stays', () => {
    const before: Condition = {
      type: 'Healthy',
      status: 'False',
      reason: 'Degraded',
      message: '',
      lastTransitionTime: '2026-11-21T07:00:00Z',
    };
    const wanted = { type: 'Healthy', status: 'False' as const, reason: 'Failed', message: '' };
    expect(withConditions({ conditions: [before] }, [wanted], now)).to.deep.equal([{ ...before, reason: 'Failed' }]);
    expect(
      withConditions({ conditions: [before] }, [{ ...wanted, status: 'True' }], now)[0]?.lastTransitionTime,
    ).to.equal('2026-11-21T08:00:00Z');
  });
});
