import { expect } from 'chai';
import type { RolloutStatus } from '../../src/controller/rollout-resource.ts';
import { pods } from '../../src/kube/resource.ts';
import { demoteAnnotation, demotedForAnnotation } from '../../src/moco/names.ts';
import { previousStatuses } from '../config/previous-release.ts';
import { Bench } from './bench.ts';
import { revisionAfter } from './moco-objects.ts';

/** What the previous release has written, found by this one. */
describe('a status that the previous release has left behind', () => {
  let statuses: Readonly<Record<string, RolloutStatus>>;

  before(async () => {
    statuses = await previousStatuses();
  });

  function recorded(name: string): RolloutStatus {
    const status = statuses[name];
    if (status === undefined) throw new Error(`expected a status "${name}" among ${Object.keys(statuses).join(', ')}`);
    return status;
  }

  /** With the step that may be on its way about the pod that is there. */
  function underWay(bench: Bench, name: string): void {
    const status = recorded(name);
    const { intent } = status;
    expect(intent?.pods, name).to.have.length(1);
    const [target = { name: '' }] = intent?.pods ?? [];
    const { uid, resourceVersion } = bench.server.get(pods, target.name).metadata;
    bench.changeRollout({ status: { ...status, intent: { ...intent, pods: [{ ...target, uid, resourceVersion }] } } });
  }

  it('has its eviction made void before this one evicts', async () => {
    const bench = new Bench();
    underWay(bench, 'an eviction that may be on its way');
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
  });

  it('has its demotion made void before this one demotes', async () => {
    const bench = new Bench();
    for (const ordinal of [1, 2]) bench.replace(ordinal);
    underWay(bench, 'a demotion that may be on its way');
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['void 0', 'demote 0']);
  });

  it('has its switchover waited for, and no second one asked for', async () => {
    const bench = new Bench();
    for (const ordinal of [1, 2]) bench.replace(ordinal);
    const annotations = { [demoteAnnotation]: 'true', [demotedForAnnotation]: revisionAfter };
    bench.changePod(0, { metadata: { annotations } });
    const status = recorded('a switchover that is waited for');
    bench.changeRollout({ status });
    await bench.start().work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('AwaitingSwitchover');
    expect(bench.status.rollout?.tries?.askedAt).to.equal(status.rollout?.tries?.askedAt);
    expect(bench.status.rollout?.startedAt).to.equal(status.rollout?.startedAt);
  });

  it('of whatever step has the pods that it names made void: so it is with one of a version to come', async () => {
    const bench = new Bench();
    underWay(bench, 'an eviction that may be on its way');
    bench.changeRollout({ status: { intent: { step: 'reboot', rule: 'MemberOutdated' } } });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
  });

  it('has its history kept', async () => {
    const bench = new Bench({ stale: false });
    const status = recorded('a rollout that has ended');
    bench.changeRollout({ status });
    await bench.start().work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.history).to.deep.equal(status.history);
    expect(bench.status.history).to.have.length(1);
  });
});
