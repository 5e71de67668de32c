import { expect } from 'chai';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { path, pods } from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { realWorld, type World } from '../../src/kube/world.ts';
import { clusterNameLabel, roleLabel } from '../../src/moco/names.ts';
import { until as poll } from '../support/control-plane/until.ts';
import { type Nodes, type NodesOptions, startNodes } from '../support/nodes/driver.ts';
import type { Pod } from '../support/nodes/objects.ts';
import { realEnd } from '../support/nodes/settings.ts';
import { ObjectClient } from '../support/object-client.ts';
import { freshNamespace, useOwnControlPlane } from './control-plane-fixture.ts';

const deadlineMilliseconds = 360_000;
const conditionMilliseconds = 90_000;

describe('nodes on a real API server', function () {
  this.timeout(deadlineMilliseconds);
  const controlPlane = useOwnControlPlane();
  const watching = new AbortController();
  let connection: Connection;
  let world: World;
  let client: ObjectClient;
  let namespace: string;
  let nodes: Nodes;

  before(async () => {
    connection = connect({ kubeconfigPath: await controlPlane().kubeconfigForUser('nodes') });
    world = realWorld(connection.exchange);
    client = new ObjectClient({ world, qps: 1000, burst: 1000 });
  });

  after(() => {
    watching.abort();
    return connection?.close();
  });

  beforeEach(async () => {
    namespace = await freshNamespace(controlPlane(), 'nodes');
    nodes = await start();
  });

  afterEach(() => nodes.stop());

  function start(options: Partial<NodesOptions> = {}): Promise<Nodes> {
    return startNodes({ client, world, namespaces: [namespace], ...options });
  }

  const kubectl = (...flags: readonly string[]): Promise<string> => controlPlane().kubectl('-n', namespace, ...flags);

  async function apply(object: object): Promise<void> {
    await client.call({
      method: 'PATCH',
      path: pathOf(object as { kind: string; metadata: { name: string } }),
      query: { fieldManager: 'test', force: true },
      contentType: 'application/apply-patch+yaml',
      body: object,
      priority: 'disrupt',
    });
  }

  function pathOf({ kind, metadata: { name } }: { kind: string; metadata: { name: string } }): string {
    switch (kind) {
      case 'StatefulSet':
        return `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`;
      case 'ValidatingAdmissionPolicy':
        return `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${name}`;
      default:
        return `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${name}`;
    }
  }

  /** Every version of a pod of this name from now on. */
  async function versionsOf(name: string): Promise<readonly Pod[]> {
    const versions: Pod[] = [];
    const store = new Store<Stored & { readonly pod: Pod }>({});
    store.subscribe(({ after }) => {
      if (after?.name === name) versions.push(after.pod);
    });
    const project = (raw: unknown): Stored & { readonly pod: Pod } => {
      const object = raw as Pod;
      return { ...object.metadata, pod: object };
    };
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const reflector = new Reflector({ client, world, log, path: path(pods, { namespace }), store, project });
    void reflector.run(watching.signal);
    await reflector.synced;
    return versions;
  }

  function statefulSet(mysqld: object = {}): Promise<void> {
    const labels = { app: 'test' };
    return apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'test', namespace },
      spec: {
        replicas: 2,
        serviceName: 'test',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            initContainers: [{ name: 'prepare', image: 'agent:1' }],
            containers: [
              { name: 'mysqld', image: 'mysql:1', ...mysqld },
              { name: 'agent', image: 'agent:1' },
            ],
          },
        },
      },
    });
  }

  async function podsNow(): Promise<readonly Pod[]> {
    return (await client.list<{ items: Pod[] }>(pods, { namespace }, { priority: 'disrupt' })).items;
  }

  function pod(name: string): Promise<Pod> {
    return client.call({ method: 'GET', path: path(pods, { namespace, name }), priority: 'disrupt' });
  }

  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;

  async function until<T>(sentence: string, ask: () => Promise<T | undefined>): Promise<T> {
    return poll(ask, conditionMilliseconds, () => `Expected that ${sentence} within ${conditionMilliseconds} ms`);
  }

  async function podOnce(name: string, sentence: string, holds: (candidate: Pod) => boolean): Promise<Pod> {
    return until(`${name} ${sentence}`, async () =>
      (await podsNow()).find((one) => one.metadata.name === name && holds(one)),
    );
  }

  async function allReady(count = 2): Promise<readonly Pod[]> {
    return until(`${count} pods are ready`, async () => {
      const all = await podsNow();
      return all.length === count && all.every(isReady) ? all : undefined;
    });
  }

  it('terminate a pod as a real kubelet does: agent first, mysqld after its preStop hook, grace period 0 last', async () => {
    await nodes.stop();
    nodes = await start({ settings: realEnd });
    await statefulSet({ lifecycle: { preStop: { exec: { command: ['sleep', '20'] } } } });
    const before = (await allReady()).find(({ metadata }) => metadata.name === 'test-1');
    const versions = await versionsOf('test-1');
    await kubectl('delete', 'pod', 'test-1', '--wait=false');
    await until('it has been replaced', async () => {
      const uid = versions.at(-1)?.metadata.uid;
      return uid !== undefined && uid !== before?.metadata.uid ? uid : undefined;
    });
    const own = versions.filter(({ metadata }) => metadata.uid === before?.metadata.uid);
    const terminating = own.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const course = terminating.map((one) =>
      [
        `within ${one.metadata.deletionGracePeriodSeconds} s`,
        isReady(one) ? 'ready' : 'not ready',
        ...(one.status?.containerStatuses ?? []).map(({ name, state }) => `${name} ${Object.keys(state).join()}`),
      ].join(', '),
    );
    expect(course.filter((line, index) => line !== course[index - 1])).to.deep.equal([
      'within 30 s, ready, mysqld running, agent running',
      'within 30 s, not ready, mysqld running, agent terminated',
      'within 30 s, not ready, mysqld terminated, agent terminated',
      'within 0 s, not ready, mysqld terminated, agent terminated',
    ]);
    const [endsAt = 0, last = 0] = [terminating[0], terminating.at(-1)].map((one) =>
      Date.parse(one?.metadata.deletionTimestamp ?? ''),
    );
    const requestedAt = endsAt - 30_000;
    const seconds = (terminating.at(-1)?.status?.containerStatuses ?? []).map(
      ({ state }) => (Date.parse(state.terminated?.finishedAt ?? '') - requestedAt) / 1000,
    );
    expect(seconds[0], 'mysqld').to.be.at.least(20);
    expect(seconds[1], 'agent').to.be.within(5, 19);
    // It moves back, and not into the past.
    expect((last - requestedAt) / 1000, 'the last deletionTimestamp').to.be.within(20, 29);
  });

  it('ask the databases before mysqld is ready, and again when they change', async () => {
    let serves = false;
    let tell = (): void => undefined;
    await nodes.stop();
    nodes = await start({
      databases: {
        mysqldReady: () => serves,
        onDatabasesChange: (callback) => {
          tell = () => callback(namespace, 'test');
          return () => undefined;
        },
      },
    });
    await statefulSet();
    await podOnce('test-0', 'has started', ({ status }) => status?.containerStatuses?.[0]?.started === true);
    expect(isReady(await pod('test-0'))).to.equal(false);
    await kubectl('label', 'pods', '--all', `${clusterNameLabel}=test`);
    serves = true;
    tell();
    await kubectl('label', 'pod', 'test-0', `${roleLabel}=primary`);
    await podOnce('test-0', 'is ready', isReady);
    expect(isReady(await pod('test-1'))).to.equal(false);
    await kubectl('label', 'pod', 'test-1', `${roleLabel}=replica`);
    await allReady();
    serves = false;
    tell();
    await podOnce('test-0', 'is no longer ready', (one) => !isReady(one));
  });

  it('report only Ready=False for a lost node, and finish no deletion there until it returns', async () => {
    await statefulSet();
    await allReady();
    nodes.loseNode(namespace, 'test-0');
    const lost = await podOnce('test-0', 'is not ready', (one) => !isReady(one));
    expect(lost.status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? null).to.equal(null);
    expect(lost.status?.containerStatuses?.map(({ ready }) => ready)).to.deep.equal([true, true]);
    await kubectl('delete', 'pod', 'test-0', '--wait=false');
    await kubectl('delete', 'pod', 'test-1', '--wait=true');
    expect((await pod('test-0')).metadata.uid).to.equal(lost.metadata.uid);
    nodes.returnNode(namespace, 'test-0');
    await podOnce('test-0', 'has been replaced', (one) => one.metadata.uid !== lost.metadata.uid && isReady(one));
  });

  it('keep a pod terminating whose final deletion an admission policy refuses', async () => {
    const policy = `refuse-${namespace}`;
    await apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policy },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }],
        },
        validations: [{ expression: "!('keep' in oldObject.metadata.?annotations.orValue({}))" }],
      },
    });
    await apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ['Deny'] },
    });
    await statefulSet();
    const before = (await allReady()).find(({ metadata }) => metadata.name === 'test-1');
    await kubectl('annotate', 'pod', 'test-1', 'keep=true');
    await until('the policy is in force', () =>
      kubectl('delete', 'pod', 'test-1', '--dry-run=server').then(
        () => undefined,
        () => true,
      ),
    );
    await client.call({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/test-1/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'test-1', namespace } },
      priority: 'disrupt',
    });
    const refused = async () =>
      (await controlPlane().audit()).filter(
        ({ objectRef, verb, responseStatus, user }) =>
          objectRef?.namespace === namespace &&
          user.username === 'nodes' &&
          verb === 'delete' &&
          responseStatus?.code === 422,
      );
    await until('the last deletion has been refused twice', async () =>
      (await refused()).length > 1 ? true : undefined,
    );
    const hanging = await pod('test-1');
    expect(hanging.metadata.deletionTimestamp).to.be.a('string');
    expect(hanging.status?.containerStatuses?.[0]?.state.terminated?.reason).to.equal('Completed');
    await kubectl('annotate', 'pod', 'test-1', 'keep-');
    await podOnce('test-1', 'has been replaced', (one) => one.metadata.uid !== before?.metadata.uid && isReady(one));
  });

  it('adopt running pods without restarting them', async () => {
    await statefulSet();
    const before = await allReady();
    await nodes.stop();
    nodes = await start();
    nodes.restartOnce(namespace, 'test-1', 'agent');
    const after = await podOnce('test-1', 'has restarted its agent', ({ status }) =>
      Boolean(
        status?.containerStatuses?.some(
          ({ name, restartCount, ready }) => name === 'agent' && restartCount === 1 && ready,
        ),
      ),
    );
    const same = await pod('test-0');
    expect(same.status?.containerStatuses).to.deep.equal(
      before.find(({ metadata }) => metadata.name === 'test-0')?.status?.containerStatuses,
    );
    expect(after.status?.containerStatuses?.find(({ name }) => name === 'mysqld')?.restartCount).to.equal(0);
  });
});

function ignore(): void {}
