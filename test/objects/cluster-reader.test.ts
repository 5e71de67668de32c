import { Readable } from 'node:stream';
import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { jobs, podDisruptionBudgets, pods, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { projectCluster } from '../../src/moco/projections.ts';
import { ClusterReader, type LiveObjects, mostReads } from '../../src/objects/cluster-reader.ts';
import { budget, emergencyBackup, mysqlCluster, pod, revisionBefore, statefulSet } from '../controller/moco-objects.ts';
import { ObjectServer } from '../controller/object-server.ts';
import { answer, FakeWorld, status } from '../kube/fake-world.ts';

const forever = new AbortController().signal;
const label = { metadata: { labels: { changed: 'true' } } };

/** A cluster of three, what a first view of it has shown, and the requests of a second one. */
class Scene {
  readonly requests: string[] = [];
  readonly world: FakeWorld = new FakeWorld(async (request) => {
    this.requests.push(kindOf(request.path));
    return this.server.exchange(request);
  });
  readonly server: ObjectServer = new ObjectServer(() => this.world.wall());
  readonly reader = new ClusterReader(new ApiClient({ world: this.world, qps: 1000, burst: 1000 }), forever);

  constructor() {
    this.server.create(clusterKind, mysqlCluster());
    this.server.create(statefulSets, statefulSet({ current: revisionBefore }));
    this.server.create(podDisruptionBudgets, budget());
    this.server.create(rolloutKind, { metadata: { namespace: 'default', name: 'test' } });
    for (const ordinal of [0, 1, 2]) {
      const role = ordinal === 0 ? 'primary' : 'replica';
      this.server.create(pods, pod(ordinal, { revision: revisionBefore, role }));
    }
  }

  async firstView(): Promise<LiveObjects> {
    const cluster = projectCluster(this.server.get(clusterKind, 'test'));
    if (cluster === null) throw new Error('expected a MySQLCluster, got none');
    const nothing = { cluster, statefulSet: null, pods: [], budgets: [], jobs: [], jobsUnreadable: null };
    const view = await this.reader.readAll(nothing);
    if (view === null) throw new Error('expected a view of the cluster, got none');
    this.requests.length = 0;
    return view;
  }
}

/** `pods` and the like: the plural in a path of an object in a namespace. */
const kindOf = (path: string): string => /\/namespaces\/[^/]+\/([^/?]+)/.exec(path)?.[1] ?? path;

const changes: readonly { readonly what: string; readonly happens: (server: ObjectServer) => unknown }[] = [
  { what: 'the MySQLCluster has changed', happens: (server) => server.change(clusterKind, 'test', label) },
  { what: 'the StatefulSet has changed', happens: (server) => server.change(statefulSets, 'moco-test', label) },
  { what: 'the MySQLRollout has changed', happens: (server) => server.change(rolloutKind, 'test', label) },
  {
    what: 'the PodDisruptionBudget has changed',
    happens: (server) => server.change(podDisruptionBudgets, 'moco-test', label),
  },
  { what: 'a pod has changed', happens: (server) => server.change(pods, 'moco-test-1', label) },
  { what: 'a pod is gone', happens: (server) => server.remove(pods, 'moco-test-2') },
  { what: 'the StatefulSet is gone', happens: (server) => server.remove(statefulSets, 'moco-test') },
  { what: 'the budget is gone', happens: (server) => server.remove(podDisruptionBudgets, 'moco-test') },
  { what: 'the MySQLRollout is gone', happens: (server) => server.remove(rolloutKind, 'test') },
  {
    what: 'a pod has been replaced',
    happens: (server) => {
      server.remove(pods, 'moco-test-1');
      server.create(pods, pod(1, { revision: revisionBefore, role: 'replica' }));
    },
  },
];
/** What a read resolves to, or rejects with once it is not tried again. */
async function outcomeOf(world: FakeWorld, reading: Promise<unknown>): Promise<unknown> {
  let outcome: { readonly value: unknown } | null = null;
  const reported = reading.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { value: error }),
  );
  await world.until(() => outcome !== null, 'an outcome', 1000);
  return (await reported).value;
}

const backupPolicy = { spec: { backupPolicyName: 'daily' } };

describe('the Events about a StatefulSet', () => {
  it('are read up to a limit, and one of them is chosen by its time', async () => {
    const scene = new Scene();
    const statefulSetOf = async () => {
      const { statefulSet: found } = (await scene.firstView()).objects;
      if (found === null) throw new Error('expected a StatefulSet, got none');
      return found;
    };
    const items = [
      { note: 'old', deprecatedLastTimestamp: '2026-07-01T12:00:00Z' },
      { note: 'new', deprecatedLastTimestamp: '2026-07-01T12:00:01Z' },
    ];
    scene.server.script('GET', /\/events$/, () => answer(200, { items }));
    expect(await scene.reader.readCreateFailure(await statefulSetOf())).to.equal('new');
    expect(scene.world.requests.at(-1)?.path).to.contain('limit=100');
    scene.server.always('GET', /\/events$/, () => answer(200, { items: [{ note: 'x'.repeat(17 * 1024 * 1024) }] }));
    const outcome = await outcomeOf(scene.world, scene.reader.readCreateFailure(await statefulSetOf()));
    expect(outcome).to.be.instanceOf(ApiError).with.property('reason', 'UnreadableAnswer');
  });
});

describe('reads of a confirmation', () => {
  it('are in parallel and done once if nothing has changed', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    expect(await scene.reader.readNewest(known)).to.deep.equal(known);
    expect(scene.requests).to.have.lengthOf(7);
  });

  it('include a list of Jobs where the cluster has a backup policy or a Job is known, and nowhere else', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    scene.server.create(jobs, emergencyBackup);
    const listed = async (view: LiveObjects): Promise<readonly string[] | null> => {
      scene.requests.length = 0;
      const newest = await scene.reader.readNewest(view);
      return scene.requests.includes('jobs') ? (newest?.objects.jobs.map(({ name }) => name) ?? []) : null;
    };
    expect(await listed(known)).to.equal(null);
    scene.server.change(clusterKind, 'test', backupPolicy);
    expect(await listed(known), 'a policy that the cache does not know').to.deep.equal(['emergency-backup']);
    expect(scene.requests.length).to.be.at.most(mostReads(known.objects));
    const now = await scene.firstView();
    expect(await listed(now)).to.deep.equal(['emergency-backup']);
    expect(scene.requests, 'once').to.have.lengthOf(8);
    scene.server.change(clusterKind, 'test', { spec: { backupPolicyName: null } });
    const { jobs: active } = now.objects;
    expect(await listed({ ...known, objects: { ...known.objects, jobs: active } })).to.deep.equal(['emergency-backup']);
  });

  it('say why Jobs may not be listed', async () => {
    const scene = new Scene();
    scene.server.change(clusterKind, 'test', backupPolicy);
    const known = await scene.firstView();
    scene.server.always('GET', /\/jobs$/, () => answer(403, status(403, 'Forbidden')));
    const newest = await scene.reader.readNewest(known);
    expect(newest?.objects).to.deep.include({ jobs: [], jobsUnreadable: '403 Forbidden: Forbidden it is' });
  });

  for (const { what, happens } of changes) {
    it(`are repeated in order if ${what}`, async () => {
      const scene = new Scene();
      const known = await scene.firstView();
      happens(scene.server);
      const newest = await scene.reader.readNewest(known);
      const inOrder = scene.requests.slice(7);
      expect(inOrder.slice(0, 3)).to.have.members(['statefulsets', 'mysqlrollouts', 'poddisruptionbudgets']);
      expect(inOrder.slice(3, -1)).to.have.members(['pods', 'pods', 'pods']);
      expect(inOrder.at(-1)).to.equal('mysqlclusters');
      expect(newest).to.deep.equal(await scene.reader.readAll(known.objects));
      expect(scene.requests.length, 'the requests that the rate limit reserves').to.be.at.most(
        7 + mostReads(known.objects),
      );
    });
  }

  it('are repeated in order if a Job has been created', async () => {
    const scene = new Scene();
    scene.server.change(clusterKind, 'test', backupPolicy);
    const known = await scene.firstView();
    scene.server.create(jobs, emergencyBackup);
    const newest = await scene.reader.readNewest(known);
    expect(scene.requests.slice(8 + 3, -1)).to.have.members(['jobs', 'pods', 'pods', 'pods']);
    expect(newest?.objects.jobs.map(({ name }) => name)).to.deep.equal(['emergency-backup']);
  });

  it('never combine an old StatefulSet with a new pod', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    const versions: unknown[] = [];
    scene.server.before('GET', /\/pods\/moco-test-1$/, () => {
      for (const changed of [
        scene.server.change(statefulSets, 'moco-test', label),
        scene.server.change(pods, 'moco-test-1', label),
      ]) {
        versions.push((changed['metadata'] as { resourceVersion: string }).resourceVersion);
      }
    });
    const newest = await scene.reader.readNewest(known);
    const { statefulSet: read, pods: members } = newest?.objects ?? known.objects;
    expect([read?.resourceVersion, members[1]?.resourceVersion]).to.deep.equal(versions);
  });

  it('are repeated in order if another process has written a MySQLRollout that the cache does not know', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    const before = known.rollout as MySQLRollout;
    const older = { ...before, metadata: { ...before.metadata, resourceVersion: '1' } };
    const newest = await scene.reader.readNewest({ ...known, rollout: older });
    expect(newest?.rollout).to.deep.equal(before);
    expect(scene.requests).to.have.lengthOf(14);
  });

  it('fail at a list of Jobs that is larger than the backups of any cluster, and do not treat it as empty', async () => {
    const scene = new Scene();
    scene.server.change(clusterKind, 'test', backupPolicy);
    const known = await scene.firstView();
    for (const annotations of [{ long: 'x'.repeat(17 * 1024 * 1024) }, { many: '[],'.repeat(500_001) }]) {
      scene.server.always('GET', /\/jobs$/, () =>
        answer(200, {
          items: [{ ...emergencyBackup, metadata: { namespace: 'default', name: 'large', annotations } }],
        }),
      );
      const outcome = await outcomeOf(scene.world, scene.reader.readNewest(known));
      expect(outcome).to.be.instanceOf(ApiError).with.property('reason', 'UnreadableAnswer');
    }
  });

  it('fail at an object that is larger than etcd accepts, before they have read all of it', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    let sent = 0;
    scene.server.always('GET', /\/pods\/moco-test-1$/, () => ({
      ...answer(200, {}),
      body: (async function* endless() {
        const piece = Buffer.alloc(1024 * 1024, 'x');
        for (; ; sent += piece.length) yield piece;
      })(),
    }));
    const outcome = await outcomeOf(scene.world, scene.reader.readNewest(known));
    expect(outcome).to.be.instanceOf(ApiError).with.property('reason', 'UnreadableAnswer');
    expect(sent / (1024 * 1024)).to.be.at.most(4 * 17);
  });

  it('find no MySQLCluster if it has been deleted', async () => {
    const scene = new Scene();
    const known = await scene.firstView();
    scene.server.remove(clusterKind, 'test');
    expect(await scene.reader.readNewest(known)).to.equal(null);
  });
});

describe('an object of a kind that the API server does not serve any more', () => {
  const readerOf = (groups: readonly string[] | null): ClusterReader => {
    const list = { kind: 'APIGroupList', groups: groups?.map((name) => ({ name, versions: [] })) };
    const world = new FakeWorld(({ path }) =>
      Promise.resolve(
        path === '/apis' && groups !== null
          ? answer(200, list)
          : { status: 404, headers: {}, body: Readable.from([Buffer.from('404 page not found')]) },
      ),
    );
    return new ClusterReader(new ApiClient({ world, qps: 1000, burst: 1000 }), forever);
  };
  const place = { namespace: 'default', name: 'test' };

  it('is absent', async () => {
    expect(await readerOf(['apps']).read(rolloutKind, place)).to.equal(null);
  });

  it('is unknown if only a page says so', async () => {
    const error: unknown = await readerOf(null)
      .read(rolloutKind, place)
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError);
  });
});
