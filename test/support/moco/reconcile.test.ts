import { expect } from 'chai';
import { mergePatch } from '../merge-patch.ts';
import type { ClusterView } from './cluster-view.ts';
import type { CronJob, KubernetesObject, MySQLCluster, StatefulSet } from './objects.ts';
import { reconcile } from './reconcile.ts';
import { recordedObjects } from './recorded-objects.ts';
import { defaultSettings } from './settings.ts';
import { emptyView } from './story.ts';
import type { Write } from './write.ts';

const now = Date.parse('2026-11-21T08:00:00Z');

/** A view in which everything but the StatefulSet is as MOCO wants it, as far as these tests care. */
function view(change: Partial<ClusterView> = {}): ClusterView {
  return { ...emptyView(recordedObjects.cluster), statefulSet: recordedObjects.statefulSet, ...change };
}

function writes(of: ClusterView): string[] {
  return reconcile(of, defaultSettings, now).writes.map(({ verb, kind, name }) => `${verb} ${kind} ${name}`);
}

function ofStatefulSet(of: ClusterView): string[] {
  return writes(of).filter((write) => /StatefulSet|Claim/.test(write));
}

function write(of: ClusterView, kind: string): Write | undefined {
  return reconcile(of, defaultSettings, now).writes.find((candidate) => candidate.kind === kind);
}

function changed(change: object): MySQLCluster {
  return mergePatch(recordedObjects.cluster, change) as MySQLCluster;
}

const bigger = changed({
  spec: {
    volumeClaimTemplates: [
      {
        metadata: { name: 'mysql-data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      },
    ],
  },
});

describe('test/support/moco: reconciling', () => {
  it('creates every object of a new cluster, the StatefulSet before the budget', () => {
    expect(writes(view({ statefulSet: null }))).to.deep.equal([
      'apply ServiceAccount moco-test',
      'apply Service moco-test',
      'apply Service moco-test-primary',
      'apply Service moco-test-replica',
      'apply StatefulSet moco-test',
      'apply PodDisruptionBudget moco-test',
    ]);
  });

  it('does not apply a StatefulSet whose owned fields are as desired', () => {
    expect(ofStatefulSet(view())).to.deep.equal([]);
  });

  it('applies it if another writer has changed an owned field, such as the strategy’s type', () => {
    const updateStrategy = { type: 'OnDelete', rollingUpdate: null };
    const other = mergePatch(recordedObjects.statefulSet, { spec: { updateStrategy } }) as StatefulSet;
    expect(ofStatefulSet(view({ statefulSet: other }))).to.deep.equal(['apply StatefulSet moco-test']);
  });

  it('ignores fields that it does not own: a foreign annotation, the partition', () => {
    const other = mergePatch(recordedObjects.statefulSet, {
      metadata: { annotations: { x: '1' } },
      spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
    }) as StatefulSet;
    expect(ofStatefulSet(view({ statefulSet: other }))).to.deep.equal([]);
  });

  it('applies a changed template', () => {
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.9' }] } };
    expect(ofStatefulSet(view({ cluster: changed({ spec: { podTemplate } }) }))).to.deep.equal([
      'apply StatefulSet moco-test',
    ]);
  });

  it('deletes the StatefulSet without its pods for a changed claim template, waits, and creates it again', () => {
    const deletion = write(view({ cluster: bigger }), 'StatefulSet');
    expect(deletion).to.include({ verb: 'delete', orphan: true });
    expect(reconcile(view({ cluster: bigger }), defaultSettings, now).endsWithStatus).to.equal(false);
    const deleting = mergePatch(recordedObjects.statefulSet, { metadata: { deletionTimestamp: 'now' } }) as StatefulSet;
    const waiting = reconcile(view({ cluster: bigger, statefulSet: deleting }), defaultSettings, now);
    expect(waiting).to.deep.equal({ writes: [], endsWithStatus: false, clustering: 'none' });
    expect(ofStatefulSet(view({ cluster: bigger, statefulSet: null }))).to.deep.equal(['apply StatefulSet moco-test']);
  });

  describe('claims', () => {
    const claims = [0, 1, 2, 3].map((ordinal) => ({
      metadata: {
        name: `mysql-data-moco-test-${ordinal}`,
        namespace: 'default',
        uid: `claim-${ordinal}`,
        resourceVersion: '1',
      },
      spec: { storageClassName: 'std', resources: { requests: { storage: '1Gi' } } },
    }));
    const storageClasses = [{ metadata: { name: 'std' }, allowVolumeExpansion: true }];
    const growth = view({ cluster: bigger, claims, storageClasses });

    it('of members grow before the StatefulSet is deleted', () => {
      expect(ofStatefulSet(growth)).to.deep.equal([
        'patch PersistentVolumeClaim mysql-data-moco-test-0',
        'patch PersistentVolumeClaim mysql-data-moco-test-1',
        'patch PersistentVolumeClaim mysql-data-moco-test-2',
        'delete StatefulSet moco-test',
      ]);
    });

    const lost: Record<string, object> = {
      'the current revision lags': { status: { currentRevision: 'moco-test-old' } },
      'a pod is not ready': { status: { readyReplicas: 2 } },
      'the newest generation is not observed': { metadata: { generation: 7 } },
      'a partition has not run down': { status: { updatedReplicas: 2 } },
    };
    for (const [reason, change] of Object.entries(lost)) {
      it(`do not change if ${reason}, and the StatefulSet is deleted all the same`, () => {
        const statefulSet = mergePatch(recordedObjects.statefulSet, change) as StatefulSet;
        expect(ofStatefulSet({ ...growth, statefulSet })).to.deep.equal(['delete StatefulSet moco-test']);
      });
    }

    it('do not change if their class does not allow expansion', () => {
      expect(ofStatefulSet({ ...growth, storageClasses: [] })).to.deep.equal(['delete StatefulSet moco-test']);
    });
  });

  describe('the budget', () => {
    const budgetOf = (of: ClusterView): unknown => {
      const body = write(of, 'PodDisruptionBudget');
      return body?.verb === 'apply' ? (body.body['spec'] as { maxUnavailable: number }).maxUnavailable : body?.verb;
    };
    const active = (jobs: readonly object[]): CronJob => ({
      metadata: { name: 'moco-backup-test', namespace: 'default', uid: 'cron-1', resourceVersion: '1' },
      spec: { jobTemplate: { spec: {} } },
      status: { active: jobs },
    });

    it('allows half of the members, rounded down', () => {
      expect(budgetOf(view())).to.equal(1);
      expect(budgetOf(view({ cluster: changed({ spec: { replicas: 5 } }) }))).to.equal(2);
    });

    it('does not exist below three members or offline', () => {
      const { budget } = recordedObjects;
      expect(budgetOf(view({ cluster: changed({ spec: { replicas: 1 } }), budget }))).to.equal('delete');
      expect(budgetOf(view({ cluster: changed({ spec: { offline: true } }), budget }))).to.equal('delete');
      expect(budgetOf(view({ cluster: changed({ spec: { offline: true } }) }))).to.equal(undefined);
    });

    it('allows nothing while a backup runs', () => {
      const cluster = changed({ spec: { backupPolicyName: 'daily' } });
      expect(budgetOf(view({ cluster, backupCronJob: active([{}]) }))).to.equal(0);
      expect(budgetOf(view({ cluster, backupCronJob: active([]) }))).to.equal(1);
    });
  });

  it('writes only that reconciliation is inactive while it is stopped, once', () => {
    const cluster = changed({ metadata: { annotations: { 'moco.cybozu.com/reconciliation-stopped': 'true' } } });
    const stopping = reconcile(view({ cluster, statefulSet: null }), defaultSettings, now);
    expect(stopping.writes.map(({ verb }) => verb)).to.deep.equal(['replaceStatus']);
    expect(stopping.endsWithStatus).to.equal(false);
    const stopped = stopping.writes[0]?.verb === 'replaceStatus' ? stopping.writes[0].body : {};
    expect(writes(view({ cluster: stopped as unknown as MySQLCluster, statefulSet: null }))).to.deep.equal([]);
  });

  it('reports an unknown health while clustering is stopped, once', () => {
    const cluster = changed({ metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': 'true' } } });
    const stopping = write(view({ cluster }), 'MySQLCluster');
    const stopped = (stopping?.verb === 'replaceStatus' ? stopping.body : {}) as unknown as MySQLCluster;
    const statuses = Object.fromEntries(stopped.status?.conditions?.map(({ type, status }) => [type, status]) ?? []);
    expect(statuses).to.include({
      Available: 'Unknown',
      Healthy: 'Unknown',
      ClusteringActive: 'False',
      Initialized: 'True',
    });
    expect(write(view({ cluster: stopped }), 'MySQLCluster')).to.equal(undefined);
  });

  it('removes the finalizer of a cluster that is being deleted, and changes nothing else', () => {
    const cluster = changed({
      metadata: { deletionTimestamp: 'now', finalizers: ['other', 'moco.cybozu.com/mysqlcluster'] },
    });
    const letting = reconcile(view({ cluster, statefulSet: null }), defaultSettings, now);
    expect(letting.writes.map(({ verb, kind }) => `${verb} ${kind}`)).to.deep.equal(['patch MySQLCluster']);
    expect(letting.writes[0]).to.have.nested.property('body.metadata.finalizers').that.deep.equals(['other']);
    const gone = changed({ metadata: { deletionTimestamp: 'now', finalizers: ['other'] } });
    expect(writes(view({ cluster: gone, statefulSet: null }))).to.deep.equal([]);
  });

  it('starts clustering after every write, unless clustering is stopped', () => {
    const stopped = { 'moco.cybozu.com/clustering-stopped': 'true' };
    const unreconciled = { 'moco.cybozu.com/reconciliation-stopped': 'true' };
    const clusteringOf = (annotations: object): string =>
      reconcile(view({ cluster: changed({ metadata: { annotations } }) }), defaultSettings, now).clustering;
    expect(clusteringOf({})).to.equal('update');
    expect(clusteringOf(unreconciled)).to.equal('update');
    expect(clusteringOf(stopped)).to.equal('stop');
    expect(clusteringOf({ ...stopped, ...unreconciled })).to.equal('stop');
    const deleting = changed({ metadata: { deletionTimestamp: 'now' } });
    expect(reconcile(view({ cluster: deleting }), defaultSettings, now).clustering).to.equal('stop');
    expect(reconcile(view({ cluster: bigger }), defaultSettings, now).clustering).to.equal('none');
  });

  it('writes budget and backup job after the StatefulSet, so that neither is written if that is refused', () => {
    const cluster = changed({ spec: { backupPolicyName: 'daily' } });
    const last = writes(view({ cluster, statefulSet: null })).slice(-3);
    expect(last.map((line) => line.split(' ')[1])).to.deep.equal(['StatefulSet', 'PodDisruptionBudget', 'CronJob']);
  });

  it('creates the same Services and budget as the real one', () => {
    const applied = reconcile(view(), defaultSettings, now).writes;
    const live = new Map<string, KubernetesObject>(
      [...recordedObjects.services, recordedObjects.budget].map((object) => [nameOf(object), object]),
    );
    for (const { kind, name, ...rest } of applied) {
      const object = live.get(`${kind} ${name}`);
      if (object !== undefined && rest.verb === 'apply') {
        expect(mergePatch(object, rest.body), `${kind} ${name}`).to.deep.equal(object);
        live.delete(`${kind} ${name}`);
      }
    }
    expect([...live.keys()]).to.deep.equal([]);
  });
});

function nameOf(object: KubernetesObject): string {
  return `${(object as unknown as { kind: string }).kind} ${object.metadata.name}`;
}
