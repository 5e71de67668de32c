import { expect } from 'chai';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { type Restoring, restoring } from '../../src/plan/rollout-plan.ts';
import { type ClusterBuilder, cluster } from '../core/cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from '../core/member-builder.ts';

const asked: Partial<RolloutPolicy> = { restore: { revision: revisionAfter, ordinals: [2] } };

const failing = (): ClusterBuilder =>
  cluster(3)
    .members(member(0).stale(), member(1).stale(), member(2).down('CrashLoopBackOff'))
    .memory({ waiting: [0, 1], from: revisionBefore });

const of = (given: ClusterBuilder, settings: Partial<RolloutPolicy> = {}): Restoring =>
  restoring(given.facts(), { ...defaultPolicy, ...asked, ...settings }, 2);

describe('the simulated restore of a member', () => {
  it('ends at the current revision, which the stale members have', () => {
    expect(of(failing().statefulSet({ currentRevision: revisionBefore }))).to.deep.equal({
      revision: revisionBefore,
      stopsAt: null,
    });
  });

  it('ends at the revision of the stale members where another one is current', () => {
    expect(of(failing().statefulSet({ currentRevision: revisionAfter })).revision).to.equal(revisionBefore);
  });

  it('is done while the rollout is paused', () => {
    expect(of(failing(), { paused: true }).revision).to.equal(revisionBefore);
  });

  it('names the hold that only a person ends', () => {
    const { revision, stopsAt } = of(failing().released());
    expect([revision, stopsAt?.rule]).to.deep.equal([null, 'Released']);
  });

  it('is not done where no earlier revision is known', () => {
    const all = cluster(3)
      .members(...[0, 1, 2].map((ordinal) => member(ordinal).down('CrashLoopBackOff')))
      .statefulSet({ currentRevision: revisionAfter });
    expect(of(all).revision).to.equal(null);
  });

  it('is not done for a member that participates', () => {
    expect(of(failing().members(member(2))).revision).to.equal(null);
  });
});
