import { expect } from 'chai';
import type { AuditEvent } from '../../support/control-plane/audit-log.ts';
import { hear } from './hear.ts';
import type { Change } from './moment.ts';
import type { WitnessedKind, WitnessedObject } from './objects.ts';
import type { Witness } from './witness.ts';

const namespace = 'one';
const cluster = 'x';
const user = 'controller';
const began = Date.parse('2026-07-01T12:00:00Z');

interface Asking {
  readonly uid?: string | null;
  readonly code?: number;
  readonly actor?: string;
}

/** A cluster of three whose member 0 is primary, all of it stale; a millisecond for each revision of the store. */
class Scene {
  readonly #changes: Change[] = [];
  readonly #audit: AuditEvent[] = [];
  #revision = 0;

  constructor() {
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'new' }] } };
    this.put('MySQLCluster', cluster, { spec: { replicas: 3, podTemplate }, status: { currentPrimaryIndex: 0 } });
    this.put('StatefulSet', 'moco-x', { spec: { replicas: 3 }, status: { updateRevision: 'new' } });
    for (const ordinal of [0, 1, 2]) this.pod(ordinal);
  }

  pod(ordinal: number, { revision = 'old', terminating = false, annotations = {} } = {}): void {
    const labels = {
      'controller-revision-hash': revision,
      'moco.cybozu.com/role': ordinal === 0 ? 'primary' : 'replica',
    };
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'mysqld', ready: true, started: true, restartCount: 0, state: { running: {} } }],
    };
    const body = { spec: { containers: [{ name: 'mysqld', image: revision }] }, status };
    const metadata = { labels, annotations, ...(terminating && { deletionTimestamp: '2026-07-01T12:00:01Z' }) };
    this.put('Pod', `moco-x-${ordinal}`, body, metadata);
  }

  /** A process begins to ask at the store's present revision. */
  ask(actor = 'a'): void {
    this.#request('get', { resource: 'statefulsets', name: 'moco-x' }, {}, 200, actor);
  }

  request(verb: 'delete' | 'evict', ordinal: number, { code = 200, actor = 'a', ...asking }: Asking = {}): void {
    const name = `moco-x-${ordinal}`;
    const uid = asking.uid === undefined ? `${name}-uid` : asking.uid;
    const preconditions = uid === null ? {} : { uid, resourceVersion: '1' };
    if (verb === 'delete') this.#request(verb, { resource: 'pods', name }, { preconditions }, code, actor);
    else {
      const target = { resource: 'pods', name, subresource: 'eviction' };
      this.#request('create', target, { deleteOptions: { preconditions } }, code, actor);
    }
  }

  /** A patch of the StatefulSet, and its effects. */
  setPartition(partition: number, { code = 200, actor = 'a' }: Asking = {}): void {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { partition } };
    const metadata = { uid: 'moco-x-uid', resourceVersion: String(this.#revision) };
    const body = { metadata, spec: { updateStrategy: strategy } };
    this.#request('patch', { resource: 'statefulsets', name: 'moco-x' }, body, code, actor);
    if (code >= 300) return;
    const spec = { replicas: 3, updateStrategy: strategy };
    this.put('StatefulSet', 'moco-x', { spec, status: { updateRevision: 'new' } });
  }

  #request(
    verb: string,
    target: Pick<NonNullable<AuditEvent['objectRef']>, 'resource' | 'subresource' | 'name'>,
    requestObject: object,
    code: number,
    actor: string,
  ): void {
    const timestamp = new Date(began + this.#revision).toISOString();
    this.#audit.push({
      auditID: String(this.#audit.length),
      stage: 'ResponseComplete',
      level: 'Request',
      verb,
      requestURI: '/',
      user: { username: user, extra: { 'authentication.kubernetes.io/credential-id': [actor] } },
      objectRef: { ...target, namespace },
      responseStatus: { code },
      requestObject,
      requestReceivedTimestamp: timestamp,
      stageTimestamp: timestamp,
    });
  }

  get witness(): Witness {
    return hear(this.#changes, this.#audit, user, { minReadySeconds: 0 });
  }

  get found(): readonly string[] {
    return this.witness.findings.map(({ kind, law }) => `${kind} ${law}`);
  }

  get disruptions(): number {
    return this.witness.measures(`${namespace}/${cluster}`, 0).disruptions;
  }

  put(kind: WitnessedKind, name: string, object: object, metadata: object = {}): void {
    this.#revision += 1;
    const labels = {
      'app.kubernetes.io/instance': cluster,
      'app.kubernetes.io/name': 'mysql',
      ...(metadata as { labels?: object }).labels,
    };
    const identity = {
      ...object,
      metadata: { namespace, name, uid: `${name}-uid`, resourceVersion: String(this.#revision), ...metadata, labels },
    } as WitnessedObject;
    this.#changes.push({
      revision: this.#revision,
      atMilliseconds: began + this.#revision,
      kind,
      object: identity,
      identity,
    });
  }
}

/** By default the correct eviction of a healthy replica. */
function evicting(asking: Asking = {}, ordinal = 2, verb: 'delete' | 'evict' = 'evict'): Scene {
  const scene = new Scene();
  scene.ask();
  scene.request(verb, ordinal, asking);
  scene.pod(ordinal, { terminating: true });
  return scene;
}

describe('the witness of a real API server', () => {
  it('accepts the eviction of a healthy replica', () => {
    expect(evicting().found).to.deep.equal([]);
  });

  it('finds a member that was deleted and should have been evicted, and a primary that was evicted', () => {
    expect(evicting({}, 2, 'delete').found).to.deep.equal(['violation I4']);
    expect(evicting({}, 0).found).to.deep.equal(['violation I3']);
  });

  it('counts disruptions that were carried out and answered with an error, and no refused ones', () => {
    expect(evicting({ code: 500 }, 2, 'delete').found).to.deep.equal(['violation I4']);
    expect(evicting({ code: 409 }, 2, 'delete').found).to.deep.equal([]);
  });

  it('finds a write without preconditions, and one without a confirmation by its own process', () => {
    expect(evicting({ uid: null }).found).to.deep.equal(['violation I9']);
    expect(evicting({ actor: 'another' }).found).to.deep.equal(['violation I9']);
  });

  it('reports a race if the reason ceased after the confirmation', () => {
    const scene = new Scene();
    scene.ask();
    scene.pod(2, { revision: 'new' });
    scene.request('evict', 2);
    scene.pod(2, { revision: 'new', terminating: true });
    expect(scene.found).to.deep.equal(['race I5']);
  });

  it('finds two members that two processes disrupted at the same time', () => {
    const scene = new Scene();
    scene.ask('a');
    scene.ask('b');
    scene.request('evict', 2, { actor: 'a' });
    scene.pod(2, { terminating: true });
    scene.request('evict', 1, { actor: 'b' });
    scene.pod(1, { terminating: true });
    expect(scene.found).to.include('violation I1');
  });

  it('finds a member that was disrupted while it was terminating', () => {
    const scene = evicting();
    scene.ask('b');
    scene.request('evict', 2, { actor: 'b' });
    expect(scene.found).to.deep.equal(['violation terminating']);
  });

  it('counts a partition that replaces a member, but not a refused one or one above an updated member', () => {
    const scene = new Scene();
    scene.setPartition(3);
    scene.ask();
    scene.setPartition(2, { code: 409 });
    expect(scene.disruptions).to.equal(0);
    scene.setPartition(2);
    expect([scene.found, scene.disruptions]).to.deep.equal([[], 1]);
    const updated = new Scene();
    updated.pod(2, { revision: 'new' });
    updated.ask();
    updated.setPartition(2);
    expect(updated.disruptions).to.equal(0);
  });

  it('finds a partition that replaces a member while another one is unavailable', () => {
    const scene = new Scene();
    scene.pod(1, { terminating: true });
    scene.ask();
    scene.setPartition(2);
    expect(scene.found).to.deep.equal(['violation I2', 'violation budget']);
  });
});
