import { expect } from 'chai';
import type { AuditEvent } from '../../support/control-plane/audit-log.ts';
import type { Change } from '../witness/moment.ts';
import type { WitnessedKind, WitnessedObject } from '../witness/objects.ts';
import { type Evidence, judge, type Verdict } from './judge.ts';

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
    this.#asked.push({ actor, namespace, revision: this.#revision, atMilliseconds: this.#now });
  }

  request(verb: 'delete' | 'evict', ordinal: number, { code = 200, actor = 'a', ...asking }: Asking = {}): void {
    const name = `moco-x-${ordinal}`;
    const uid = asking.uid === undefined ? `${name}-uid` : asking.uid;
    const preconditions = uid === null ? {} : { uid, resourceVersion: '1' };
    this.#ask(
      verb === 'delete' ? 'delete' : 'create',
      { resource: 'pods', name, ...(verb === 'evict' && { subresource: 'eviction' }) },
      verb === 'delete' ? { preconditions } : { deleteOptions: { preconditions } },
      code,
      actor,
    );
  }

  #ask(
    verb: string,
    target: Pick<NonNullable<AuditEvent['objectRef']>, 'resource' | 'subresource' | 'name'>,
    requestObject: object,
    code: number,
    actor: string,
  ): void {
    const timestamp = new Date(this.#now).toISOString();
    this.#audit.push({
      auditID: String(this.#audit.length),
      stage: 'ResponseComplete',
      level: 'Request',
      verb,
      requestURI: '/',
      user: { username: 'system:serviceaccount:moco-rollout-system:moco-rollout' },
      userAgent: `moco-rollout/0 ${actor}`,
      objectRef: { ...target, namespace },
      responseStatus: { code },
      requestObject,
      requestReceivedTimestamp: timestamp,
      stageTimestamp: timestamp,
    });
  }

  /** A patch of the StatefulSet, and its effects. */
  setPartition(partition: number, { code = 200, actor = 'a' }: Asking = {}): void {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { partition } };
    const metadata = { uid: 'moco-x-uid', resourceVersion: String(this.#revision) };
    this.#ask(
      'patch',
      { resource: 'statefulsets', name: 'moco-x' },
      { metadata, spec: { updateStrategy: strategy } },
      code,
      actor,
    );
    if (code < 300) {
      const spec = { replicas: 3, updateStrategy: strategy };
      this.put('StatefulSet', 'moco-x', { spec, status: { updateRevision: 'new' } });
    }
  }

  demote(ordinal: number, actor: string): void {
    const annotations = { 'moco.cybozu.com/demote': 'true', 'moco-rollout.io/demoted-for': 'new' };
    const name = `moco-x-${ordinal}`;
    this.#ask('patch', { resource: 'pods', name }, { metadata: { annotations } }, 200, actor);
    this.pod(ordinal, { annotations });
  }

  found(more: Partial<Evidence> = {}): readonly string[] {
    return this.verdict(more).witness.findings.map(({ kind, law }) => `${kind} ${law}`);
  }

  verdict(more: Partial<Evidence> = {}): Verdict {
    return judge({
      namespace,
      cluster,
      changes: this.#changes,
      audit: this.#audit,
      asked: this.#asked,
      mostSwitchovers: 1,
      ended: true,
      driver: 'moco',
      withoutGate: new Set(),
      ...more,
    });
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

/** By default the correct eviction of a healthy replica. */
function evicting(asking: Asking = {}, ordinal = 2, verb: 'delete' | 'evict' = 'evict'): Scene {
  const scene = new Scene();
  scene.ask();
  scene.request(verb, ordinal, asking);
  scene.pod(ordinal, { terminating: true });
  return scene;
}

describe('the judge of chaos', () => {
  it('accepts the eviction of a healthy replica', () => {
    expect(evicting().found()).to.deep.equal([]);
  });

  it('finds a member that was deleted and should have been evicted, and a primary that was evicted', () => {
    expect(evicting({}, 2, 'delete').found()).to.deep.equal(['violation I4']);
    expect(evicting({}, 0).found()).to.deep.equal(['violation I3']);
  });

  it('counts disruptions that were carried out and answered with an error, and no refused ones', () => {
    expect(evicting({ code: 500 }, 2, 'delete').found()).to.deep.equal(['violation I4']);
    expect(evicting({ code: 409 }, 2, 'delete').found()).to.deep.equal([]);
  });

  it('finds a write without preconditions, and one without a confirmation', () => {
    expect(evicting({ uid: null }).found()).to.deep.equal(['violation I9']);
    expect(evicting({ actor: 'another' }).found()).to.deep.equal(['violation I9']);
  });

  it('reports a race if the reason ceased after the confirmation', () => {
    const scene = new Scene();
    scene.ask();
    scene.pod(2, { revision: 'new' });
    scene.request('evict', 2);
    scene.pod(2, { revision: 'new', terminating: true });
    expect(scene.found()).to.deep.equal(['race I5']);
  });

  it('finds two members that two processes disrupted at the same time', () => {
    const scene = new Scene();
    scene.ask('a');
    scene.ask('b');
    scene.request('evict', 2, { actor: 'a' });
    scene.pod(2, { terminating: true });
    scene.request('evict', 1, { actor: 'b' });
    scene.pod(1, { terminating: true });
    expect(scene.found()).to.include('violation I1');
  });

  it('finds a member that was disrupted while it was terminating', () => {
    const scene = evicting();
    scene.ask('b');
    scene.request('evict', 2, { actor: 'b' });
    expect(scene.found()).to.deep.equal(['violation terminating']);
  });

  it('finds a demotion that outlived the rollout, and a needless switchover', () => {
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

  it('finds a disruption beside a demotion of ours that existed before the confirmation', () => {
    const scene = new Scene();
    scene.pod(1, { annotations: { 'moco-rollout.io/demoted-for': 'new' } });
    scene.ask();
    scene.request('evict', 2);
    scene.pod(2, { terminating: true });
    expect(scene.found({ ended: false })).to.deep.equal(['violation I12']);
    const another = new Scene();
    another.ask();
    another.pod(1, { annotations: { 'moco-rollout.io/demoted-for': 'new' } });
    another.request('evict', 2);
    another.pod(2, { terminating: true });
    expect(another.found({ ended: false })).to.deep.equal([]);
  });

  it('accepts that the annotation of a demotion disappears with its pod, but not a new demotion', () => {
    const found = (annotations: Readonly<Record<string, string>>): readonly string[] => {
      const scene = new Scene();
      scene.pod(2, { annotations });
      scene.ask();
      scene.request('evict', 2);
      scene.pod(2, { annotations, terminating: true });
      return scene.found();
    };
    const mark = { 'moco-rollout.io/demoted-for': 'new' };
    expect(found(mark)).to.deep.equal([]);
    expect(found({ ...mark, 'moco.cybozu.com/demote': 'true' })).to.deep.equal(['violation I12']);
  });

  it('counts a partition that replaces a member, but not a refused one or one above an updated member', () => {
    const own = { driver: 'own', withoutGate: new Set(['a']) } as const;
    const scene = new Scene();
    scene.setPartition(3);
    scene.ask();
    scene.setPartition(2, { code: 409 });
    expect(scene.verdict(own)).to.include({ disruptions: 0 });
    scene.setPartition(2);
    expect(scene.found(own)).to.deep.equal([]);
    expect(scene.verdict(own)).to.include({ disruptions: 1, needless: 0 });
    const updated = new Scene();
    updated.pod(2, { revision: 'new' });
    updated.ask();
    updated.setPartition(2);
    expect(updated.verdict(own)).to.include({ disruptions: 0 });
  });

  it('finds a partition that replaces a member while another one is unavailable', () => {
    const scene = new Scene();
    scene.pod(1, { terminating: true });
    scene.ask();
    scene.setPartition(2);
    expect(scene.found({ driver: 'own' })).to.deep.equal(['violation I2', 'violation budget']);
  });

  it('finds every write to objects of MOCO by a process whose gate is off', () => {
    const withoutGate = new Set(['a']);
    expect(evicting().found({ withoutGate })).to.deep.equal(['violation I10']);
    expect(evicting().found({ withoutGate, driver: 'own' })).to.deep.equal(['violation I10']);
    const scene = new Scene();
    scene.demote(0, 'a');
    expect(scene.found({ withoutGate, ended: false })).to.deep.equal(['violation I10']);
    expect(scene.found({ ended: false })).to.deep.equal([]);
    const beside = new Scene();
    beside.ask();
    beside.setPartition(2);
    expect(beside.found({ withoutGate })).to.deep.equal(['violation I10']);
  });
});
