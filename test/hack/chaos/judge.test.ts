import { expect } from 'chai';
import { type Evidence, judge } from '../../../hack/chaos/judge.ts';
import type { AuditEvent } from '../../../hack/control-plane/audit-log.ts';
import type { Change } from '../../witness/moment.ts';
import type { WitnessedKind, WitnessedObject } from '../../witness/objects.ts';

const namespace = 'one';
const cluster = 'x';
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
  readonly #asked: { actor: string; namespace: string; revision: number; atMilliseconds: number }[] = [];
  #revision = 0;

  constructor() {
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'new' }] } };
    this.put('MySQLCluster', cluster, { spec: { replicas: 3, podTemplate }, status: { currentPrimaryIndex: 0 } });
    this.put('StatefulSet', 'moco-x', { spec: { replicas: 3 }, status: { updateRevision: 'new' } });
    for (const ordinal of [0, 1, 2]) this.pod(ordinal);
  }

  pod(ordinal: number, { revision = 'old', leaving = false, annotations = {} } = {}): void {
    const labels = {
      'controller-revision-hash': revision,
      'moco.cybozu.com/role': ordinal === 0 ? 'primary' : 'replica',
    };
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'mysqld', ready: true, started: true, restartCount: 0, state: { running: {} } }],
    };
    const body = { spec: { containers: [{ name: 'mysqld', image: revision }] }, status };
    const metadata = { labels, annotations, ...(leaving && { deletionTimestamp: '2026-07-01T12:00:01Z' }) };
    this.put('Pod', `moco-x-${ordinal}`, body, metadata);
  }

  /** A process begins to ask at the store's present revision. */
  ask(actor = 'a'): void {
    this.#asked.push({ actor, namespace, revision: this.#revision, atMilliseconds: this.#now });
  }

  request(verb: 'delete' | 'evict', ordinal: number, { code = 200, actor = 'a', ...asking }: Asking = {}): void {
    const name = `moco-x-${ordinal}`;
    const uid = asking.uid === undefined ? `${name}-uid` : asking.uid;
    const preconditions = uid === null ? {} : { uid, resourceVersion: '1' };
    const timestamp = new Date(this.#now).toISOString();
    this.#audit.push({
      auditID: String(this.#audit.length),
      stage: 'ResponseComplete',
      level: 'Request',
      verb: verb === 'delete' ? 'delete' : 'create',
      requestURI: '/',
      user: { username: 'system:serviceaccount:moco-rollout-system:moco-rollout' },
      userAgent: `moco-rollout/0 ${actor}`,
      objectRef: { resource: 'pods', namespace, name, ...(verb === 'evict' && { subresource: 'eviction' }) },
      responseStatus: { code },
      requestObject: verb === 'delete' ? { preconditions } : { deleteOptions: { preconditions } },
      requestReceivedTimestamp: timestamp,
      stageTimestamp: timestamp,
    });
  }

  found(more: Partial<Evidence> = {}): readonly string[] {
    const { witness } = judge({
      namespace,
      cluster,
      changes: this.#changes,
      audit: this.#audit,
      asked: this.#asked,
      mostSwitchovers: 1,
      ended: true,
      ...more,
    });
    return witness.findings.map(({ kind, law }) => `${kind} ${law}`);
  }

  put(kind: WitnessedKind, name: string, object: object, metadata: object = {}): void {
    this.#revision += 1;
    const labels = { 'app.kubernetes.io/instance': cluster, ...(metadata as { labels?: object }).labels };
    const identity = {
      ...object,
      metadata: { namespace, name, uid: `${name}-uid`, resourceVersion: String(this.#revision), ...metadata, labels },
    } as WitnessedObject;
    this.#changes.push({ revision: this.#revision, atMilliseconds: this.#now, kind, object: identity, identity });
  }

  get #now(): number {
    return began + this.#revision;
  }
}

/** The eviction of a healthy replica, as it should be, unless told otherwise. */
function evicting(asking: Asking = {}, ordinal = 2, verb: 'delete' | 'evict' = 'evict'): Scene {
  const scene = new Scene();
  scene.ask();
  scene.request(verb, ordinal, asking);
  scene.pod(ordinal, { leaving: true });
  return scene;
}

describe('the judge of chaos', () => {
  it('has nothing against the eviction of a healthy replica', () => {
    expect(evicting().found()).to.deep.equal([]);
  });

  it('finds a member that was deleted and should have been evicted, and a primary that was evicted', () => {
    expect(evicting({}, 2, 'delete').found()).to.deep.equal(['violation I4']);
    expect(evicting({}, 0).found()).to.deep.equal(['violation I3']);
  });

  it('counts what was done and answered with an error, and not what was refused', () => {
    expect(evicting({ code: 500 }, 2, 'delete').found()).to.deep.equal(['violation I4']);
    expect(evicting({ code: 409 }, 2, 'delete').found()).to.deep.equal([]);
  });

  it('finds a write without preconditions, and one whose author has confirmed nothing', () => {
    expect(evicting({ uid: null }).found()).to.deep.equal(['violation I9']);
    expect(evicting({ actor: 'another' }).found()).to.deep.equal(['violation I9']);
  });

  it('calls it a race where the reason went away after it had been confirmed', () => {
    const scene = new Scene();
    scene.ask();
    scene.pod(2, { revision: 'new' });
    scene.request('evict', 2);
    scene.pod(2, { revision: 'new', leaving: true });
    expect(scene.found()).to.deep.equal(['race I5']);
  });

  it('finds two members that were taken by two processes beside each other', () => {
    const scene = new Scene();
    scene.ask('a');
    scene.ask('b');
    scene.request('evict', 2, { actor: 'a' });
    scene.pod(2, { leaving: true });
    scene.request('evict', 1, { actor: 'b' });
    scene.pod(1, { leaving: true });
    expect(scene.found()).to.include('violation I1');
  });

  it('finds a member that was taken while it left already', () => {
    const scene = evicting();
    scene.ask('b');
    scene.request('evict', 2, { actor: 'b' });
    expect(scene.found()).to.deep.equal(['violation leaving']);
  });

  it('finds a demotion that outlived the rollout, and a primary that moved more often than it had to', () => {
    const scene = new Scene();
    scene.pod(1, { annotations: { 'moco-rollout.io/demoted-for': 'new' } });
    expect(scene.found()).to.deep.equal(['violation I12']);
    expect(scene.found({ ended: false })).to.deep.equal([]);
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'new' }] } };
    for (const currentPrimaryIndex of [1, 0]) {
      scene.put('MySQLCluster', cluster, { spec: { replicas: 3, podTemplate }, status: { currentPrimaryIndex } });
    }
    expect(scene.found({ ended: false })).to.deep.equal(['violation I8']);
  });
});
