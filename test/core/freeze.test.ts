import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { StepKind } from '../../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';

type Mode = RolloutPolicy['mode'];

/** A cluster in each phase of its life, and the step that a freeze leaves it in each mode: none unless it says one. */
const phases: Readonly<
  Record<string, { readonly given: () => ClusterBuilder; readonly steps?: Partial<Record<Mode, StepKind>> }>
> = {
  'that is up to date': { given: () => cluster(3) },
  'whose template has just changed': { given: () => stale() },
  'in the middle of a rollout': { given: () => stale().members(member(2).updated()) },
  'with a stale member that is down': {
    given: () => stale().members(member(1).down('ErrImagePull')),
  },
  'with a failing revision': {
    given: () => stale().members(member(2).updated().lagging().crashLooping()),
  },
  'without a quorum': {
    given: () => stale().members(member(1).down('ErrImagePull'), member(2).down('ErrImagePull')),
  },
  'whose primary alone is left': { given: () => three(member(0).stale()) },
  'with a switchover under way': {
    given: () => three(member(0).stale().demotedByUs()),
    steps: { OnDelete: 'undemote', Partition: 'undemote', MOCO: 'undemote' },
  },
  'that is released': { given: () => stale().released() },
  'that was never adopted': { given: () => stale().atPartition(3) },
  'that was adopted and is at RollingUpdate again': {
    given: () => stale().atPartition(3).wasAdopted(),
    steps: { OnDelete: 'setStrategy' },
  },
  'with a single stale member': { given: () => stale(1) },
};

describe('a freeze', () => {
  for (const mode of ['OnDelete', 'Partition', 'MOCO'] as const) {
    for (const [phase, { given, steps = {} }] of Object.entries(phases)) {
      const step = steps[mode] ?? 'none';
      it(`${step === 'none' ? 'takes no step' : `takes the step ${step} alone`} in mode ${mode} for a cluster ${phase}`, () => {
        const policy = { ...defaultPolicy, mode, paused: true };
        expect(decide(given().facts(), policy).step.kind).to.equal(step);
      });
    }
  }
});
