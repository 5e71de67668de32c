import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { lookAtPodsSeconds, type Preflight, retryAfterSeconds } from '../../src/core/on-demand-facts.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { cluster, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';

const stale = () => cluster(3).templateChanged();
const missing = {
  nodeName: 'n-1',
  members: [2],
  result: 'ImageUnavailable',
  message: 'not found',
  againInSeconds: 40,
} as const satisfies Preflight['refusals'][number];
const waiting = { about: 'images', nodeName: 'n-2', forSeconds: 12, message: null } as const;

describe('the preflight of a revision', () => {
  it('takes nobody while a node has no result, and goes on after its limit', () => {
    const held = decide(
      stale()
        .preflight({ awaited: [waiting] })
        .facts(),
      defaultPolicy,
    );
    expect(held.step.kind).to.equal('none');
    expect(held.hold).to.deep.equal({
      rule: 'PreflightRunning',
      nodes: ['n-2'],
      checking: null,
      message: null,
      limitSeconds: 300,
    });
    expect(held.requeueAfterSeconds).to.equal(2);
    const over = stale().preflight({ awaited: [{ ...waiting, forSeconds: 300 }] });
    expect(decide(over.facts(), defaultPolicy).step.kind).to.equal('evict');
  });

  it('is looked at when its limit is over, whatever else holds the rollout', () => {
    const given = stale()
      .unhealthy()
      .preflight({ awaited: [{ ...waiting, forSeconds: 290 }] });
    const { hold, requeueAfterSeconds } = decide(given.facts(), defaultPolicy);
    expect([hold?.rule, requeueAfterSeconds]).to.deep.equal(['ClusterNotHealthy', 10]);
  });

  it('waits for a node that was asked last until its own time is over', () => {
    const given = stale().preflight({
      awaited: [
        { ...waiting, forSeconds: 300 },
        { ...waiting, nodeName: 'n-3' },
      ],
    });
    expect(decide(given.facts(), defaultPolicy).hold).to.include({ rule: 'PreflightRunning' });
    expect(decide(given.facts(), { ...defaultPolicy, prepullTimeoutSeconds: 12 }).step.kind).to.equal('evict');
  });

  it('holds for an image that a node can not get, however long it lasts, until somebody overrides it', () => {
    const given = stale().preflight({ refusals: [missing, { ...missing, nodeName: 'n-3' }] });
    const { step, hold, requeueAfterSeconds } = decide(given.facts(), defaultPolicy);
    expect(step.kind).to.equal('none');
    expect(hold).to.deep.equal({ rule: 'ImageUnavailable', nodeName: 'n-1', message: 'not found', others: 1 });
    expect(requeueAfterSeconds).to.equal(40);
    const overrides = [{ rule: 'ImageUnavailable', remainingSeconds: 600 }];
    expect(decide(given.facts(), { ...defaultPolicy, overrides }).step.kind).to.equal('evict');
  });

  it('holds a switchover, and a container that would restart in place', () => {
    const refused = { refusals: [{ ...missing, result: 'ConfigurationRefused' as const }] };
    const primary = three(member(0).stale()).preflight(refused);
    expect(decide(primary.facts(), defaultPolicy).hold).to.include({ rule: 'ConfigurationRefused' });
    const inPlace = stale().members(member(2).stale().changeable('agent')).preflight(refused);
    const policy = {
      ...defaultPolicy,
      inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' },
    } as const;
    expect(decide(inPlace.facts(), policy).hold).to.include({ rule: 'ConfigurationRefused' });
  });

  it('holds nobody who is down, and no change that restarts nothing', () => {
    const given = stale().preflight({ awaited: [waiting], refusals: [missing] });
    const down = given.members(member(2).stale().down('CrashLoopBackOff'));
    expect(decide(down.facts(), defaultPolicy).step).to.include({ kind: 'delete', rule: 'MemberDown' });
  });

  it('keeps nobody from being replaced who does not participate, except on a node that refuses', () => {
    const stuck = member(2).stale().errant();
    const given = stale()
      .members(stuck)
      .preflight({ awaited: [waiting], refusals: [{ ...missing, members: [1] }] });
    expect(decide(given.facts(), defaultPolicy).step).to.include({ kind: 'delete' });
    const own = stale()
      .members(stuck)
      .preflight({ refusals: [missing] });
    expect(decide(own.facts(), defaultPolicy).hold).to.include({ rule: 'ImageUnavailable' });
  });

  it('is asked about only once nothing else holds the step but what is asked then', () => {
    const given = stale().preflight({ awaited: [waiting] });
    expect(decide(given.unhealthy().facts(), defaultPolicy).hold).to.include({ rule: 'ClusterNotHealthy' });
    const checked = stale()
      .preflight({ awaited: [waiting] })
      .check('errant', null);
    expect(decide(checked.facts(), defaultPolicy).hold).to.include({ rule: 'PreflightRunning' });
  });

  it('is tried again after a minute, then after twice as long each time, at most ten minutes later', () => {
    const tries = [0];
    while ((tries.at(-1) ?? 0) < 3000) tries.push((tries.at(-1) ?? 0) + retryAfterSeconds(tries.at(-1) ?? 0));
    expect(tries).to.deep.equal([0, 60, 120, 240, 480, 960, 1560, 2160, 2760, 3360]);
  });

  it('looks at its pods the less often, the longer it lasts', () => {
    expect([0, 9, 10, 59, 60, 300].map(lookAtPodsSeconds)).to.deep.equal([1, 1, 2, 2, 5, 5]);
  });
});
