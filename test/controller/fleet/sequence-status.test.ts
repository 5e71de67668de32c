import { expect } from 'chai';
import { Registry } from 'prom-client';
import { projectSequence, type SequenceSpec, type SequenceStatus } from '../../../src/api/rollout-sequence.ts';
import { withoutRollout } from '../../../src/controller/fleet/fleet-standing.ts';
import { type StageFacts, Stages } from '../../../src/controller/fleet/sequence-stages.ts';
import { sequenceStatusOf } from '../../../src/controller/fleet/sequence-status.ts';
import { SequenceReconciler } from '../../../src/controller/sequence-reconciler.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { Occurrence } from '../../../src/kube/event.ts';
import { FleetMetrics } from '../../../src/telemetry/metrics.ts';
import { FakeWorld } from '../../kube/fake-world.ts';

const canary = { matchLabels: { tier: 'canary' } };
const spec: SequenceSpec = {
  settleDuration: '5m',
  stages: [{ name: 'canary', selector: canary, soakDuration: '1h' }, { name: 'rest' }],
};
const signal = new AbortController().signal;
const world = new FakeWorld(() => Promise.reject(new Error('expected no request, got one')));

/** A sequence with one canary and two other clusters, and the reconciler that writes its status. */
class Scene {
  readonly woken: string[] = [];
  readonly stages = new Stages(
    (key) => this.woken.push(key),
    () => undefined,
    () => world.wall(),
  );
  readonly written: SequenceStatus[] = [];
  readonly events: Occurrence[] = [];
  readonly registry = new Registry();
  isLeading = true;
  refusal: ApiError | null = null;
  readonly #reconciler: SequenceReconciler;
  #version = 1;

  constructor(sequence: unknown = spec) {
    this.put(sequence, {});
    for (const [key, tier] of Object.entries({ 'db/a': 'canary', 'db/b': 'most', 'db/c': 'most' })) {
      this.stages.noteCluster(key, { labels: { tier }, offline: false, updateRevision: '0' });
      this.complete(key, -100_000);
    }
    this.#reconciler = new SequenceReconciler({
      stages: this.stages,
      apiFor: () => ({ replaceStatus: (_kind, _record, { status }) => this.#write(status) }),
      world,
      recorder: { record: (event) => void this.events.push(event) },
      metrics: new FleetMetrics(this.registry),
      isLeading: () => this.isLeading,
    });
  }

  put(sequence: unknown, status: SequenceStatus, generation = 1): void {
    this.#version += 1;
    const metadata = { name: 'production', uid: 'u', resourceVersion: String(this.#version), generation };
    this.stages.noteSequence('production', projectSequence({ metadata, spec: sequence, status }));
  }

  /** `seconds` from now. */
  complete(key: string, seconds: number): void {
    this.#note(key, { complete: { revision: '0', since: Math.floor(world.wall() / 1000) + seconds } });
  }

  stale(key: string): void {
    this.#note(key, { waitingSince: world.wall(), queuedSince: world.wall(), wantsTurn: true });
  }

  isAsked(key: string): void {
    this.#note(key, { rolling: true, waitingSince: world.wall() });
  }

  rolls(key: string, failing = false): void {
    this.#note(key, { begun: true, rolling: true, failing });
  }

  /** The last written status is in the cache, and a second has passed. */
  async pass() {
    world.freeze(1000);
    const requeue = await this.#reconciler.reconcile('production', signal);
    const last = this.written.at(-1);
    if (last !== undefined && this.refusal === null) this.put(spec, last);
    return requeue;
  }

  get states() {
    return this.written.at(-1)?.stages?.map(({ state }) => state);
  }

  condition(type: string) {
    const { status, reason, message } = this.written.at(-1)?.conditions?.find((one) => one.type === type) ?? {};
    return [status, reason, message];
  }

  #note(key: string, facts: Partial<StageFacts>): void {
    this.stages.noteRollout(key, { ...withoutRollout, ...facts });
  }

  #write(status: SequenceStatus): Promise<void> {
    if (this.refusal !== null) return Promise.reject(this.refusal);
    this.written.push(status);
    return Promise.resolve();
  }
}

describe('the status of a sequence', () => {
  it('has each stage, what it does, and which cluster stops the next one', async () => {
    const scene = new Scene();
    await scene.pass();
    expect([scene.states, scene.condition('Ready')]).to.deep.equal([
      ['Complete', 'Complete'],
      ['True', 'Complete', 'every cluster is up to date and healthy'],
    ]);
    for (const key of ['db/a', 'db/b', 'db/c']) scene.stale(key);
    await scene.pass();
    expect(scene.states).to.deep.equal(['Rolling', 'Waiting']);
    scene.isAsked('db/a');
    await scene.pass();
    expect(scene.written.at(-1)?.stages?.[0], 'its nodes are asked').to.include({ rolling: 1, waiting: 0 });
    scene.rolls('db/a');
    await scene.pass();
    const numbers = { clusters: 1, upToDate: 0, rolling: 1, waiting: 0, failing: 0 };
    expect(scene.written.at(-1)?.stages?.[0]).to.deep.equal({
      name: 'canary',
      state: 'Rolling',
      ...numbers,
      stoppedBy: 'db/a',
    });
    expect(scene.written.at(-1)).to.include({ stage: 'canary', clusters: 3, upToDateClusters: 0, rollingClusters: 1 });
    expect(scene.condition('Progressing')).to.deep.equal([
      'True',
      'Rolling',
      'stage canary: db/a is not up to date and healthy',
    ]);
  });

  it('says until when a stage soaks, changes at that time, and names the next cluster', async () => {
    const scene = new Scene();
    for (const key of ['db/b', 'db/c']) scene.stale(key);
    scene.complete('db/a', -3000);
    const requeue = await scene.pass();
    expect(scene.states).to.deep.equal(['Soaking', 'Waiting']);
    const until = scene.written.at(-1)?.stages?.[0]?.soakedUntil;
    expect(scene.condition('Ready')).to.deep.equal(['False', 'Soaking', `stage canary soaks until ${until}`]);
    expect(requeue.requeueAfterMilliseconds).to.be.within(590_000, 600_000);
    world.freeze(requeue.requeueAfterMilliseconds ?? 0);
    await scene.pass();
    expect(scene.states).to.deep.equal(['Complete', 'Rolling']);
    expect(scene.events.map(({ reason, note }) => [reason, note])).to.deep.equal([
      ['StageComplete', 'stage canary is complete: 1 clusters'],
    ]);
  });

  it('is stalled by a stage that fails, with one Event', async () => {
    const scene = new Scene();
    scene.stale('db/b');
    scene.rolls('db/a', true);
    await scene.pass();
    await scene.pass();
    expect([scene.states, scene.written.length]).to.deep.equal([['Failing', 'Waiting'], 1]);
    expect(scene.condition('Stalled').slice(0, 2)).to.deep.equal(['True', 'StageFailing']);
    expect(scene.condition('Progressing')[0]).to.equal('False');
    expect(scene.events.map(({ type, reason }) => [type, reason])).to.deep.equal([['Warning', 'StageFailing']]);
    expect(scene.events[0]?.regarding).to.include({ kind: 'MySQLRolloutSequence', name: 'production' });
  });

  it('names the clusters that another sequence selects as well', async () => {
    const scene = new Scene();
    const metadata = { name: 'another', uid: 'v', resourceVersion: '1', generation: 1 };
    const record = projectSequence({ metadata, spec: { selector: canary, stages: [{ name: 'all' }] } });
    scene.stages.noteSequence('another', record);
    await scene.pass();
    expect(scene.written.at(-1)?.conflicts).to.deep.equal(['db/a']);
    expect(scene.condition('Stalled')).to.deep.equal([
      'True',
      'SequenceConflict',
      '1 of the clusters are selected by a different sequence as well, including db/a',
    ]);
    expect(sequenceStatusOf({ record, counts: [], conflicts: ['db/a'], nowSeconds: 0 }).conflicts).to.deep.equal([
      'db/a',
    ]);
  });

  it('says which selectors select nothing', async () => {
    const scene = new Scene();
    scene.stages.noteCluster('db/a', null);
    await scene.pass();
    expect(scene.states).to.deep.equal(['Empty', 'Complete']);
    expect(scene.condition('Ready')).to.deep.equal([
      'True',
      'Complete',
      'every cluster is up to date and healthy; without clusters: canary',
    ]);
    scene.rolls('db/b');
    world.freeze(1000);
    await scene.pass();
    expect(scene.condition('Progressing')).to.deep.equal([
      'True',
      'Rolling',
      'stage rest: db/b, 1 of 2 clusters, is not up to date and healthy; without clusters: canary',
    ]);
    for (const key of ['db/b', 'db/c']) scene.stages.noteCluster(key, null);
    world.freeze(1000);
    await scene.pass();
    expect(scene.condition('Ready')).to.deep.equal(['False', 'NoClusters', 'the selectors select no cluster']);
    expect(scene.condition('Stalled')[0]).to.equal('False');
  });

  it('does not name the stage of the others if the selectors of the spec leave none', async () => {
    const [first] = spec.stages;
    const scene = new Scene({ stages: [first, { name: 'most', selector: { matchLabels: { tier: 'most' } } }] });
    await scene.pass();
    expect(scene.states).to.deep.equal(['Complete', 'Complete', 'Empty']);
    expect(scene.condition('Ready')).to.deep.equal(['True', 'Complete', 'every cluster is up to date and healthy']);
  });

  it('says what is invalid', async () => {
    const scene = new Scene({ stages: [] });
    await scene.pass();
    expect(scene.condition('Stalled')).to.deep.equal([
      'True',
      'SequenceInvalid',
      'MySQLRolloutSequence production is invalid: expected spec.stages to be a list of at least 1, got []',
    ]);
  });

  it('is written at most once a second, not at all if nothing has changed, and by the leader alone', async () => {
    const scene = new Scene();
    await scene.pass();
    await scene.pass();
    expect(scene.written.length).to.equal(1);
    scene.stale('db/a');
    await scene.pass();
    scene.rolls('db/a');
    world.freeze(-1000);
    const { requeueAfterMilliseconds } = await scene.pass();
    expect([scene.written.length, requeueAfterMilliseconds]).to.deep.equal([2, 1000]);
    scene.isLeading = false;
    await scene.pass();
    expect(scene.written.length).to.equal(2);
  });

  it('is left to the next pass if the sequence has changed, and retried if the API server refuses', async () => {
    const scene = new Scene();
    scene.refusal = new ApiError({ status: 409, reason: 'Conflict', message: 'it changed' });
    await scene.pass();
    expect(scene.events).to.deep.equal([]);
    scene.refusal = new ApiError({ status: 403, reason: 'Forbidden', message: 'no' });
    let error: unknown = null;
    await scene.pass().catch((refusal: unknown) => {
      error = refusal;
    });
    expect(error).to.equal(scene.refusal);
  });

  it('wakes the clusters that may begin, and none twice', async () => {
    const scene = new Scene();
    for (const key of ['db/b', 'db/c']) scene.stale(key);
    scene.rolls('db/a');
    await scene.pass();
    scene.woken.length = 0;
    scene.complete('db/a', -3600);
    await scene.pass();
    expect(scene.woken).to.deep.equal(['db/b', 'db/c']);
    scene.woken.length = 0;
    await scene.pass();
    expect(scene.woken).to.deep.equal([]);
    scene.rolls('db/b');
    scene.complete('db/b', 0);
    await scene.pass();
    expect(scene.woken).to.deep.equal(['db/c']);
  });

  it('has metrics, until the sequence is deleted', async () => {
    const scene = new Scene();
    scene.rolls('db/a');
    await scene.pass();
    const series = async () =>
      (await scene.registry.metrics()).split('\n').filter((line) => line.includes('sequence="production"'));
    expect(await series()).to.include.members([
      'moco_rollout_stage_clusters{sequence="production",stage="canary",state="Rolling"} 1',
      'moco_rollout_stage_clusters{sequence="production",stage="rest",state="UpToDate"} 2',
      'moco_rollout_stage_slots{sequence="production",stage="canary"} 1',
      'moco_rollout_sequence_stage{sequence="production",stage="canary",state="Rolling"} 1',
    ]);
    scene.complete('db/a', -100_000);
    await scene.pass();
    expect((await series()).filter((line) => line.startsWith('moco_rollout_sequence_stage'))).to.deep.equal([]);
    scene.stages.noteSequence('production', null);
    await scene.pass();
    expect(await series()).to.deep.equal([]);
  });
});
