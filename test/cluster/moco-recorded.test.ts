import { expect } from 'chai';
import { mutatingWebhookConfigurations } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import { beginBackup } from '../support/moco/backup-job.ts';
import { type MocoStandIn, startMoco } from '../support/moco/driver.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { MySQLCluster, Pod, StatefulSet } from '../support/moco/objects.ts';
import { same } from '../support/moco/same.ts';
import { type Nodes, startNodes } from '../support/nodes/driver.ts';
import { type AlwaysOnDelete, startAlwaysOnDelete } from './moco-always-on-delete.ts';
import { type Installed, installed, list, patch, read } from './moco-fixture.ts';
import { playedHistory, recordedHistory, recordedKinds, type Segment } from './moco-history.ts';
import { History } from './rollout-history.ts';

/** In the order in which they were recorded, on one cluster. */
const recordings = [
  'create',
  'partition-rollout',
  'partition-bad-image',
  'foreign-annotation',
  'force',
  'on-delete',
  'volume-growth',
  'backup',
  'stops',
];

/** What the recording's cluster had: with the same template the StatefulSet controller finds the same revision names. */
const serverIDBase = 422_750_025;

const namespace = 'default';
/** The recording's next action came while things were still moving. */
const unfinished = 'force-rolling-update on, image mysql:8.4.10';

/** A tenth of the real ones, more or less: what is compared is the order. */
const partition = { notReconciled: 500, notReady: 1500, afterStep: 500, available: 500 };

describe('the stand-in for MOCO, compared with recordings of the real MOCO', () => {
  const actionsBegun: { readonly action: string; readonly after: number }[] = [];
  const recorded = recordedHistory(recordings);
  let environment: Installed;
  let history: History;
  let moco: MocoStandIn;
  let nodes: Nodes;
  let onDelete: AlwaysOnDelete | null = null;
  let endBackup: () => Promise<void> = async () => undefined;

  before(async () => {
    environment = await installed();
    const { client, world } = environment;
    // Members that come up together are not taken for a primary that is gone, as with the real one's patience of 9 s.
    moco = await startMoco({ client, world, partition, clustering: { silence: 3_000 } });
    nodes = await startNodes({
      client,
      world,
      databases: moco,
      settings: { stopMilliseconds: 2000, imageFault: (image) => (image === 'mysql:bad' ? 'imagePull' : null) },
    });
    history = await History.start(client, undefined, recordedKinds);
  });

  after(async () => {
    await history?.stop();
    await nodes?.stop();
    await moco?.stop();
    await environment?.stop();
    await onDelete?.stop();
  });

  const actions: Readonly<Record<string, () => Promise<unknown>>> = {
    'create MySQLCluster test, 3 replicas, image mysql:8.4.8': () => create(),
    'image mysql:8.4.9': () => image('mysql:8.4.9'),
    'image mysql:bad': () => image('mysql:bad'),
    'image mysql:8.4.9 (corrected)': () => image('mysql:8.4.9'),
    'by hand: partition 2': () =>
      patchStatefulSet({ spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } }, 'kubectl-patch'),
    'annotate the StatefulSet': () => patchStatefulSet({ metadata: { annotations: { x: '1' } } }, 'kubectl-annotate'),
    [unfinished]: async () => {
      await annotate({ 'moco.cybozu.com/force-rolling-update': 'true' });
      await until('the StatefulSet has the annotation', async () => {
        const { metadata } = await read<StatefulSet>(environment.client, 'StatefulSet', 'moco-test');
        return metadata.annotations?.['moco.cybozu.com/force-rolling-update'] === 'true';
      });
      await image('mysql:8.4.10');
      await until('the last pod is being replaced', async () => {
        const { metadata } = await read<Pod>(environment.client, 'Pod', 'moco-test-0');
        return metadata.deletionTimestamp !== undefined;
      });
    },
    'force off': async () => {
      // In the recording, too, the command took effect only when the last pod had been made anew.
      await until('the last pod is new', async () => {
        const pods = await list<Pod>(environment.client, 'Pod', 'statefulset.kubernetes.io/pod-name=moco-test-0');
        return pods.some(({ metadata }) => metadata.deletionTimestamp === undefined);
      });
      await annotate({ 'moco.cybozu.com/force-rolling-update': null });
    },
    'StatefulSet patched to {type: OnDelete, rollingUpdate: null}, the second webhook in force': async () => {
      onDelete = await startAlwaysOnDelete();
      const { client } = environment;
      await client.create(mutatingWebhookConfigurations, {}, onDelete.configuration, { priority: 'disrupt' });
      const patched = { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } };
      await until('the second webhook is in force', () =>
        patchStatefulSet(patched, 'kubectl-patch').then(
          () => true,
          () => false,
        ),
      );
    },
    'annotate the MySQLCluster three times': async () => {
      await annotate({ y: '1' });
      await annotate({ y: '2' });
      await annotate({ y: '3' });
    },
    'image mysql:8.4.11': () => image('mysql:8.4.11'),
    'evict moco-test-2': () => evict('moco-test-2'),
    'evict moco-test-1': () => evict('moco-test-1'),
    'evict moco-test-0 (currentPrimaryIndex is 0)': () => evict('moco-test-0'),
    'promote: statefulsets/status currentRevision': async () => {
      // A sync of the StatefulSet controller that is under way may write the old revision over it once.
      await until('the revision is promoted', async () => {
        const { status } = await read<StatefulSet>(environment.client, 'StatefulSet', 'moco-test');
        if (status?.currentRevision === status?.updateRevision) {
          return true;
        }
        const promoted = { status: { currentRevision: status?.updateRevision, currentReplicas: 3 } };
        await patchStatefulSet(promoted, 'kubectl-patch', 'status');
        return false;
      });
    },
    'claim template 2Gi': () => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
      return patchCluster({ spec: { volumeClaimTemplates: [{ metadata: { name: 'mysql-data' }, spec }] } });
    },
    'a backup job is active': async () => {
      endBackup = await beginBackup(environment.client, 'default', 'test');
      await annotate({ z: '1' });
    },
    'no backup job is active': async () => {
      await endBackup();
      await annotate({ z: '2' });
    },
    'reconciliation-stopped on, image mysql:8.4.12': async () => {
      await annotate({ 'moco.cybozu.com/reconciliation-stopped': 'true' });
      await until('MOCO says that it is stopped', async () => {
        const { status } = await read<MySQLCluster>(environment.client, 'MySQLCluster', 'test');
        return status?.conditions?.some(({ reason }) => reason === 'ReconciliationInactive') ?? false;
      });
      await image('mysql:8.4.12');
    },
    off: () => annotate({ 'moco.cybozu.com/reconciliation-stopped': null }),
    offline: () => patchCluster({ spec: { offline: true } }),
    online: () => patchCluster({ spec: { offline: false } }),
  };

  /** What the recording's operator did between two recordings, unrecorded. */
  const unrecorded: Readonly<Record<string, () => Promise<unknown>>> = {
    'a backup job is active': async () => {
      await patchCluster({ spec: { backupPolicyName: 'daily' } });
      await until('MOCO has made the CronJob', async () => {
        const { status } = await read<MySQLCluster>(environment.client, 'MySQLCluster', 'test');
        return status?.reconcileInfo?.generation === 8;
      });
    },
  };

  for (const expected of recorded) {
    it(`behaves like the real one after: ${expected.action}`, async () => {
      await unrecorded[expected.action]?.();
      const newest = history.record(namespace).at(-1)?.revision ?? 0;
      actionsBegun.push({ action: expected.action, after: newest });
      const act = actions[expected.action];
      expect(act, `what to do for "${expected.action}"`).not.to.equal(undefined);
      await act?.();
      const finished = expected.action !== unfinished;
      await until('things come to the same end', async () => !finished || endsAlike(current(), expected)).catch(
        () => undefined,
      );
      const played = current();
      expect(played?.action).to.equal(expected.action);
      expect(tracksOf(played, finished)).to.deep.equal(tracksOf(expected, finished));
      if (finished) {
        expect(endsOf(played, expected)).to.deep.equal(endsOf(expected, expected));
      }
    });
  }

  const current = (): Segment | undefined => playedHistory(history.record(namespace), actionsBegun).at(-1);

  async function create(): Promise<void> {
    const spec = {
      replicas: 3,
      serverIDBase,
      podTemplate: { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.8' }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'mysql-data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    };
    const body = { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', metadata: { name: 'test' }, spec };
    await environment.client.create(writtenKinds.MySQLCluster, { namespace: 'default' }, body, { priority: 'disrupt' });
  }

  function patchCluster(body: object): Promise<unknown> {
    return patch(environment.client, 'MySQLCluster', 'test', body);
  }

  function annotate(annotations: Readonly<Record<string, string | null>>): Promise<unknown> {
    return patchCluster({ metadata: { annotations } });
  }

  function image(name: string): Promise<unknown> {
    return patchCluster({ spec: { podTemplate: { spec: { containers: [{ name: 'mysqld', image: name }] } } } });
  }

  function patchStatefulSet(body: object, manager: string, subresource?: string): Promise<unknown> {
    return patch(environment.client, 'StatefulSet', 'moco-test', body, subresource, manager);
  }

  function evict(name: string): Promise<unknown> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } };
    const place = { namespace: 'default', name, subresource: 'eviction' };
    return environment.client.create(writtenKinds.Pod, place, body, { priority: 'disrupt' });
  }
});

function endsAlike(played: Segment | undefined, expected: Segment): boolean {
  return same(endsOf(played, expected), endsOf(expected, expected));
}

/** Of the objects that the recording shows by then. */
function endsOf(segment: Segment | undefined, expected: Segment): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...expected.ends.keys()].sort().map((name) => [name, segment?.ends.get(name) ?? null]));
}

/** Pods of a segment that was cut short are where chance has left them. */
function tracksOf(segment: Segment | undefined, finished: boolean): Readonly<Record<string, unknown>> {
  const names = [...(segment?.tracks.keys() ?? [])].filter((name) => finished || !name.startsWith('Pod/')).sort();
  return Object.fromEntries(names.map((name) => [name, segment?.tracks.get(name)]));
}
