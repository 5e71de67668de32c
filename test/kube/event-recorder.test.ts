import { expect } from 'chai';
import type { Exchange } from '../../src/base/world.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import type { Occurrence } from '../../src/kube/event.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { FakeLog } from './fake-log.ts';
import { answer, FakeWorld, inTurn, refused, reset, says, silence, status } from './fake-world.ts';

const regarding = {
  apiVersion: 'moco.cybozu.com/v1beta2',
  kind: 'MySQLCluster',
  namespace: 'ns',
  name: 'test',
  uid: 'u',
};

const evicted: Occurrence = {
  regarding,
  related: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'moco-test-2', uid: 'p' },
  type: 'Normal',
  reason: 'Evicted',
  action: 'HealthyReplica',
  note: 'evicted moco-test-2',
};

interface Written {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly note: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly [field: string]: unknown;
}

describe('an event recorder', () => {
  let world: FakeWorld;
  let log: FakeLog;
  let recorder: EventRecorder;
  let network: Exchange;

  beforeEach(() => {
    network = says(201);
    world = new FakeWorld((request) => network(request));
    log = new FakeLog();
    const client = new ApiClient({ world, qps: 1000, burst: 1000 });
    recorder = new EventRecorder({ client, world, component: 'moco-rollout', instance: 'pod-1', log });
  });

  afterEach(async () => {
    const closing = recorder.close(0);
    await world.advance(0);
    await closing;
    expect(world.pendingTimers, 'timers left over').to.equal(0);
  });

  const bodies = (): readonly Written[] => world.requests.map(({ body }) => JSON.parse(body ?? 'null') as Written);
  const said = (): readonly string[] => world.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);

  it('writes events.k8s.io/v1', async () => {
    recorder.record(evicted);
    expect(world.requests).to.have.length(0);
    await world.advance(0);
    expect(world.requests[0]).to.include({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/ns/events' });
    const { metadata, ...event } = bodies()[0] as Written;
    expect(metadata.name).to.match(/^test\.[0-9a-f]+$/);
    expect(event).to.deep.equal({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2026-07-01T12:00:00.000000Z',
      reportingController: 'moco-rollout',
      reportingInstance: 'pod-1',
      regarding,
      related: evicted.related,
      type: 'Normal',
      reason: 'Evicted',
      action: 'HealthyReplica',
      note: 'evicted moco-test-2',
    });
  });

  it('counts repetitions in one Event', async () => {
    recorder.record(evicted);
    await world.advance(1_000);
    recorder.record(evicted);
    await world.advance(1_000);
    recorder.record({ ...evicted });
    await world.advance(0);
    const [first, ...patches] = bodies();
    const { name } = first?.metadata ?? {};
    expect(said()).to.deep.equal(['POST events', `PATCH ${name}`, `PATCH ${name}`]);
    expect(patches).to.deep.equal([
      { series: { count: 2, lastObservedTime: '2026-07-01T12:00:01.000000Z' } },
      { series: { count: 3, lastObservedTime: '2026-07-01T12:00:02.000000Z' } },
    ]);
    expect(world.requests[1]?.headers['content-type']).to.equal('application/merge-patch+json');
  });

  it('writes repetitions that are still queued once', async () => {
    for (let times = 0; times < 100; times += 1) recorder.record(evicted);
    await world.advance(0);
    expect(bodies().map(({ series }) => series?.count)).to.deep.equal([100]);
  });

  it('writes different Events for different contents', async () => {
    for (const more of [
      {},
      { note: 'another note' },
      { reason: 'Other' },
      { action: 'Other' },
      { type: 'Warning' as const },
      { regarding: { ...regarding, uid: 'other' } },
      { related: regarding },
    ]) {
      recorder.record({ ...evicted, ...more });
    }
    await world.advance(0);
    expect(new Set(bodies().map(({ metadata }) => metadata.name)).size).to.equal(7);
  });

  it('writes a new Event after six minutes', async () => {
    recorder.record(evicted);
    await world.advance(360_000);
    recorder.record(evicted);
    await world.advance(0);
    expect(said()).to.deep.equal(['POST events', 'POST events']);
    expect(bodies()[1]).to.not.have.property('series');
  });

  it('keeps counting as long as it repeats', async () => {
    for (let times = 0; times < 5; times += 1) {
      recorder.record(evicted);
      await world.advance(300_000);
    }
    expect(bodies().at(-1)?.series?.count).to.equal(5);
  });

  it('creates an Event again that was deleted meanwhile', async () => {
    recorder.record(evicted);
    await world.advance(0);
    network = ({ method }) => Promise.resolve(method === 'PATCH' ? answer(404, status(404, 'NotFound')) : answer(201));
    recorder.record(evicted);
    await world.advance(0);
    expect(said().map((line) => line.split(' ')[0])).to.deep.equal(['POST', 'PATCH', 'POST']);
    expect(bodies()[2]?.series?.count).to.equal(2);
  });

  it('writes an Event for each of two objects, and counts each in its own series', async () => {
    const occurrence = { ...evicted, alsoRegarding: { kind: 'Pod', namespace: 'default', name: 'moco-test-1' } };
    recorder.record(occurrence);
    await world.advance(0);
    recorder.record(occurrence);
    await world.advance(0);
    const [first, second] = bodies();
    expect(first?.['regarding']).to.deep.equal(evicted.regarding);
    expect(second?.['regarding']).to.deep.equal(occurrence.alsoRegarding);
    for (const body of [first, second])
      expect(body).to.include({ note: evicted.note }).and.not.to.have.property('alsoRegarding');
    expect(said().map((line) => line.split(' ')[0])).to.deep.equal(['POST', 'POST', 'PATCH', 'PATCH']);
  });

  it('stores Events about cluster-scoped objects in `default`', async () => {
    recorder.record({ ...evicted, regarding: { kind: 'Node', name: 'n' } });
    await world.advance(0);
    expect(world.requests[0]?.path).to.equal('/apis/events.k8s.io/v1/namespaces/default/events');
  });

  it('cuts long texts at whole characters', async () => {
    recorder.record({
      ...evicted,
      note: '🐬'.repeat(300),
      reason: 'R'.repeat(200),
      regarding: { ...regarding, name: 'n'.repeat(253) },
    });
    recorder.record({ ...evicted, note: 'ü'.repeat(512) });
    await world.advance(0);
    const [long, fitting] = bodies();
    expect(long?.note).to.equal(`${'🐬'.repeat(255)}…`);
    expect(long?.['reason']).to.have.length(128);
    expect(long?.metadata.name.length).to.equal(253);
    expect(fitting?.note).to.equal('ü'.repeat(512));
  });

  for (const [what, first] of [
    ['the connection is refused', refused],
    ['the connection breaks', reset],
    ['the server fails', says(500)],
    ['the server has no time', says(429)],
  ] as const) {
    it(`retries under the same name when ${what}`, async () => {
      network = inTurn(first, says(201));
      recorder.record(evicted);
      await world.advance(5_000);
      expect(bodies().map(({ metadata }) => metadata.name)).to.have.length(2);
      expect(new Set(bodies().map(({ metadata }) => metadata.name)).size).to.equal(1);
      expect(log.lines).to.deep.equal([]);
    });
  }

  it('treats an existing Event as its own whose answer was lost', async () => {
    network = inTurn(reset, says(409, status(409, 'AlreadyExists')));
    recorder.record(evicted);
    await world.advance(5_000);
    recorder.record(evicted);
    await world.advance(0);
    expect(said().map((line) => line.split(' ')[0])).to.deep.equal(['POST', 'POST', 'PATCH']);
  });

  for (const code of [403, 404, 422]) {
    it(`drops an Event that is answered ${code}, logs it, and continues`, async () => {
      network = says(code);
      recorder.record(evicted);
      await world.advance(60_000);
      network = says(201);
      recorder.record({ ...evicted, note: 'other' });
      await world.advance(0);
      expect(world.requests).to.have.length(2);
      expect(log.of('warn')).to.deep.equal(['Failed to write an Event; dropped it']);
    });
  }

  it('does not warn of a namespace that is being deleted', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace shop is being terminated' }];
    network = says(403, status(403, 'Forbidden', { details: { causes } }));
    recorder.record(evicted);
    await world.advance(0);
    expect(log.of('warn')).to.deep.equal([]);
    expect(log.of('debug')).to.deep.equal(['Failed to write an Event; dropped it']);
  });

  it('drops an Event after its last retry', async () => {
    network = reset;
    recorder.record(evicted);
    await world.advance(120_000);
    expect(world.requests).to.have.length(5);
    expect(log.of('warn')).to.deep.equal(['Failed to write an Event; dropped it']);
  });

  it('writes at most 50 at once and 10 a second, and queues at most 2,000', async () => {
    for (let number = 0; number < 2_400; number += 1) recorder.record({ ...evicted, note: `number ${number}` });
    await world.advance(2_000);
    expect(world.requests).to.have.length(70);
    expect(log.of('warn')).to.have.length(400);
  });

  it('never throws, not even when closed', async () => {
    const closing = recorder.close(1_000);
    await world.advance(0);
    await closing;
    recorder.record(evicted);
    await world.advance(10_000);
    expect(world.requests).to.have.length(0);
  });

  it('writes pending Events when closed, within the grace period', async () => {
    for (let number = 0; number < 30; number += 1) recorder.record({ ...evicted, note: `number ${number}` });
    const closing = recorder.close(5_000);
    await world.advance(1_000);
    await closing;
    expect(world.requests).to.have.length(30);
  });

  it('closes after the grace period, whatever is pending', async () => {
    network = silence;
    recorder.record(evicted);
    const closing = recorder.close(5_000);
    await world.advance(5_000);
    await closing;
    expect(world.pendingTimers).to.equal(0);
  });
});
