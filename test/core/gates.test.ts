import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide, decideBy } from '../../src/core/decide.ts';
import { type EffectKind, effectKinds, effects } from '../../src/core/effects.ts';
import { closed, type Gates, gates, guardsOf, needsSlot } from '../../src/core/gates.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { rulesOf } from '../../src/core/rules/catalogue.ts';
import { survey } from '../../src/core/situation.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { stepIdentity } from '../../src/core/step.ts';
import { cluster, stale, three } from './cluster-builder.ts';
import { happenings } from './happenings.ts';
import { member, revisionAfter } from './member-builder.ts';
import { aCluster, exampleStates } from './near-examples.ts';
import { unmetNeeds } from './needs.ts';
import { decideCase, evicts, holds, play, updatesInPlace, when } from './table.ts';

const cpu = [{ name: 'mysqld', limits: { cpu: '2' }, requests: {}, restarts: false }];
const kinds = Object.keys(effectKinds) as readonly EffectKind[];
const twoAway = stale(5)
  .members(member(4).updated().starting(), member(3).updated().starting())
  .mysqlCluster({ healthy: true, syncedReplicas: 5 })
  .budgets({ disruptionsAllowed: 1 });
const cases: readonly (readonly [ClusterSnapshot, RolloutPolicy])[] = [
  // MOCO's status is late.
  [twoAway.facts(), { ...defaultPolicy, maxUnavailable: 2 }],
  [
    three(member(2).stale().changeable('slow-log')).backupJobs({}).facts(),
    { ...defaultPolicy, ...updatesInPlace('IfPossible') },
  ],
  [
    three(
      member(2)
        .stale()
        .resizing({ awaited: ['mysqld'] }),
      member(1).stale().changeable(),
    ).facts(),
    { ...defaultPolicy, ...updatesInPlace('IfPossible') },
  ],
  [three(member(2).stale().tiedToCordonedNode()).facts(), defaultPolicy],
  [stale().members(member(2).stale().down('ErrImagePull').preventDelete()).facts(), defaultPolicy],
  ...exampleStates,
  ...fc.sample(aCluster, 6000),
];

describe('no step with an effect', () => {
  it('is done while a gate of that effect holds and is not overridden, and what happens was declared', () => {
    for (const [snapshot, policy] of cases) {
      const decision = decide(snapshot, policy);
      if (decision.step.kind !== 'none') expect(closed(survey(snapshot, policy), decision.step)).to.equal(null);
      const declared = decision.effects.map(({ kind, member }) => `${kind} ${member?.ordinal}`);
      const happened = happenings(snapshot, decision.step).map(({ kind, member }) => `${kind} ${member.ordinal}`);
      expect(declared).to.include.members(happened);
      expect(unmetNeeds(snapshot, policy, decision.step)).to.deep.equal([]);
    }
  });
});

/** As if the effect had been forgotten: no gate is asked for it. */
const forgotten = (effect: EffectKind): Gates => ({ ...gates, [effect]: [] });

/** Effects on a member that a step can have, seen in the facts by `needs.ts` in other words. */
const onMembers = [
  'brings',
  'changesInPlace',
  'removes',
  'freesClaims',
  'mustReturn',
  'risks',
  'stops',
  'reduces',
  'takesHealthy',
  'leavesService',
  'movesPrimary',
  'losesRelayLog',
] as const satisfies readonly EffectKind[];

describe('a forgotten effect', () => {
  for (const effect of [...onMembers, 'interrupts'] as const) {
    it(`is found: ${effect}`, () => {
      const guards = guardsOf(forgotten(effect));
      const found = cases.some(([snapshot, policy]) => {
        const { step } = decideBy(guards, snapshot, policy);
        return unmetNeeds(snapshot, policy, step).length > 0;
      });
      expect(found).to.equal(true);
    });
  }

  for (const effect of onMembers) {
    it(`is found by what happens: ${effect}`, () => {
      const happens = cases.some(([snapshot, policy]) =>
        happenings(snapshot, decide(snapshot, policy).step).some(({ kind }) => kind === effect),
      );
      expect(happens).to.equal(true);
    });
  }
});

describe('the table of gates', () => {
  it('has the rules that stop every step for each step that is written or that ends a rollout', () => {
    for (const kind of ['writes', 'acts', 'awaitsMoco'] as const) {
      expect(gates[kind], kind).to.include.members(rulesOf('untouchable'));
    }
  });

  it('names each rule once for an effect', () => {
    for (const kind of kinds) expect(new Set(gates[kind]).size, kind).to.equal(gates[kind].length);
  });
});

const kindsOf = (given: ReturnType<typeof cluster>, settings = {}): readonly EffectKind[] => {
  const { step } = decideCase({ given, settings });
  return [...new Set(effects(survey(given.facts(), { ...defaultPolicy, ...settings }), step).map(({ kind }) => kind))];
};

describe('the effects of a step', () => {
  const ifPossible = updatesInPlace('IfPossible');

  it('on a member that is down are those of another pod alone', () => {
    expect(kindsOf(stale().members(member(2).down('ErrImagePull')))).to.deep.equal([
      'writes',
      'acts',
      'brings',
      'removes',
      'freesClaims',
    ]);
  });

  it('on a stale member that waits to start include an interruption, and not a risk', () => {
    for (const given of [member(2).stale().awaitingNode(), member(2).stale().preparing(60)]) {
      expect(kindsOf(stale().members(given)))
        .to.include('interrupts')
        .and.not.to.include('risks');
    }
  });

  it('on a replica that runs include what it has received', () => {
    const given = stale().members(member(2).lagging());
    expect(kindsOf(given)).to.include.members(['stops', 'risks', 'losesRelayLog']);
    expect(kindsOf(given)).not.to.include.members(['reduces', 'takesHealthy', 'leavesService']);
  });

  it('on a healthy replica are all but a move of the primary', () => {
    const given = kindsOf(stale());
    expect(given).to.include.members(['stops', 'risks', 'reduces', 'leavesService', 'losesRelayLog']);
    expect(given).not.to.include('movesPrimary');
  });

  it('on a member that the partition is lowered past are those of its end', () => {
    for (const one of [
      member(2),
      member(2).lagging(),
      member(2).impaired('slow-log'),
      member(2).down('ErrImagePull'),
    ]) {
      const { step, effects: whole } = decideCase({ given: stale().members(one) });
      expect(step.kind).to.be.oneOf(['evict', 'delete']);
      const lowered = decideCase({ given: stale().atPartition(3).members(one), settings: { mode: 'Partition' } });
      expect(lowered.step.kind).to.equal('setPartition');
      expect(lowered.effects.map(({ kind }) => kind)).to.deep.equal(whole.map(({ kind }) => kind));
    }
  });

  it('on an impaired primary include a failover', () => {
    const given = three(member(0).stale().impaired('slow-log'));
    expect(kindsOf(given)).to.include.members(['movesPrimary', 'reduces', 'stops']);
  });

  it('of a resize are those of a restart in place, and of a label its label alone', () => {
    const resizes = three(member(2).stale().resizable(cpu));
    expect(kindsOf(resizes, ifPossible)).to.include.members(['brings', 'risks', 'reduces', 'leavesService']);
    const labels = three(member(2).stale().changeable());
    expect(kindsOf(labels, ifPossible)).to.deep.equal(['writes', 'acts', 'proceeds', 'brings', 'changesInPlace']);
  });
});

/** Defects of the kind that a step passed the gates of what it does. */
describe('a resize', () => {
  const ifPossible = updatesInPlace('IfPossible');
  const resizable = () => three(...[0, 1, 2].map((ordinal) => member(ordinal).stale().resizable(cpu)));
  const holdOf = (given: ReturnType<typeof cluster>, settings = {}) =>
    decideCase({ given, settings: { ...ifPossible, ...settings } }).hold?.rule;

  it('waits for its slot, outside a blackout, for a failing check, a backup, and until the cluster is Healthy', () => {
    expect(holdOf(resizable().queued(1, 1))).to.equal('AwaitingFleetSlot');
    expect(holdOf(resizable().maintenance(null, [-60, 60]))).to.equal('Blackout');
    const failing = { kind: 'failing', series: { labels: {}, value: '1', others: 0 } } as const;
    expect(holdOf(resizable().check('errant', failing))).to.equal('CheckFailing');
    expect(holdOf(resizable().backupJobs({}))).to.equal('BackupRunning');
    expect(holdOf(resizable().unhealthy())).to.equal('ClusterNotHealthy');
  });

  it('of the primary waits for approval', () => {
    const given = three(member(0).stale().resizable(cpu));
    expect(holdOf(given, { primaryUpdatePolicy: 'Manual' })).to.equal('AwaitingApproval');
  });

  it('waits for a member that crash-loops at the new resources', () => {
    const given = resizable().members(member(2).updated().crashLooping());
    expect(holdOf(given)).to.equal('UpdateRevisionFailing');
  });

  it('is one at a time whatever the user overrides', () => {
    const given = resizable().members(member(2).stale().resizing({}));
    expect(holdOf(given, { overrides: [{ rule: 'AwaitingResize', remainingSeconds: 60 }] })).to.equal('AwaitingResize');
  });
});

describe('an impaired primary', () => {
  const impaired = () => stale().members(member(0).impaired('slow-log'));
  const holdOf = (given: ReturnType<typeof cluster>, settings = {}) => decideCase({ given, settings }).hold?.rule;

  it('goes before healthy replicas, which cannot be evicted while its pod is not ready', () => {
    expect(decideCase({ given: impaired() }).step).to.deep.include({ kind: 'delete', rule: 'MemberImpaired' });
  });

  it('goes by the gates of a primary that moves', () => {
    expect(holdOf(impaired(), { primaryUpdatePolicy: 'Manual' })).to.equal('AwaitingApproval');
    expect(holdOf(impaired().delay(1, { kind: 'delay', seconds: 3000 }))).to.equal('ReplicasBehind');
    expect(holdOf(impaired(), { pinnedOrdinals: [2] })).to.equal('PrimaryWaitsForPinned');
    const only = updatesInPlace('Only');
    expect(holdOf(impaired(), only)).to.equal('RestartNeeded');
    expect(holdOf(impaired().members(member(1).demotedBySomebody(1000)))).to.equal('ForeignDemote');
  });

  it('goes with approval', () => {
    const settings = { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter } as const;
    expect(decideCase({ given: impaired(), settings }).step.kind).to.equal('delete');
  });
});

describe('a replica that MOCO cannot configure', () => {
  const broken = (updated: ReturnType<typeof member>) =>
    three(member(0).stale(), updated, member(2).stale().lagging(86_400)).unhealthy().memory({ verified: true });

  it('is replaced although another one has no role because of it', () => {
    const { step } = decideCase({ given: broken(member(1).updated().unlabelled(86_400)) });
    expect(step).to.deep.include({ kind: 'delete', rule: 'MemberNotParticipating' });
  });

  it('waits for the roles while they may be on their way', () => {
    const { hold } = decideCase({ given: broken(member(1).updated().unlabelled(100)) });
    expect(hold?.rule).to.equal('RolesNotSettled');
  });
});

describe('members that are unreachable or lead without participating', () => {
  it('wait for a backup', () => {
    const lost = stale().members(member(1).unreachable()).backupJobs({});
    expect(decideCase({ given: lost }).hold?.rule).to.equal('BackupRunning');
    const leads = stale().members(member(0).agentDead()).primaryUnavailableFor(180).backupJobs({});
    expect(decideCase({ given: leads }).hold?.rule).to.equal('BackupRunning');
  });

  it('wait for another one to settle', () => {
    const lost = stale().members(member(1).unreachable(), member(2).updated().participatingFor(1));
    expect(decideCase({ given: lost }).hold?.rule).to.equal('UpdatedMemberNotParticipating');
  });
});

describe('containers that restart in place', () => {
  const given = () => three(member(2).stale().changeable('slow-log'));
  play({
    'wait for a backup that only a closed PodDisruptionBudget shows': when(
      given().budgets({ closed: true }),
      holds({ rule: 'BackupRunning', budget: 'moco-test' }),
      updatesInPlace('IfPossible'),
    ),
    'wait while Jobs cannot be read': when(
      given().but({ backupsUnreadable: 'no' }),
      holds({ rule: 'BackupsUnreadable', message: 'no' }),
      updatesInPlace('IfPossible'),
    ),
  });
});

describe('a slot of the fleet', () => {
  it('is needed by what keeps a member from its work, or puts it at risk', () => {
    expect(needsSlot(['writes', 'acts', 'rolls', 'reduces'])).to.equal(true);
    expect(needsSlot(['writes', 'comesUpdated'])).to.equal(true);
    expect(needsSlot(['brings', 'removes', 'interrupts'])).to.equal(true);
    expect(needsSlot(['writes', 'acts', 'brings', 'removes'])).to.equal(false);
    expect(needsSlot(['writes', 'acts', 'reduces', 'stops', 'movesPrimary'])).to.equal(false);
  });
});

describe('a write that has failed', () => {
  const eviction = { step: `evict uid-2 ${revisionAfter}`, tries: 10 };
  play({
    'waits 29 s more after 1 s, however often it failed': when(
      stale().stepFailed({ ...eviction, sinceLastTrySeconds: 29 }),
      holds({ rule: 'StepRefused', message: 'it is denied' }),
      {},
      1,
    ),
    'is tried again after 30 s': when(
      stale().stepFailed({ ...eviction, sinceLastTrySeconds: 30 }),
      evicts('ReplicaHealthy', 2),
    ),
    'holds no other step': when(
      stale().stepFailed({ ...eviction, step: `evict uid-1 ${revisionAfter}` }),
      evicts('ReplicaHealthy', 2),
    ),
    'holds nothing once no step is due': when(cluster(3).stepFailed({}), 'idle'),
  });
  const ifPossible = updatesInPlace('IfPossible');

  for (const [cause, rule] of [
    ['tooSlow', 'ConfirmationTooSlow'],
    ['refused', 'StepRefused'],
  ] as const) {
    it(`is tried again before another member is replaced: ${rule}`, () => {
      const given = () => three(member(2).stale(), member(1).stale().changeable());
      const label = decideCase({ given: given(), settings: ifPossible }).step;
      expect(label).to.include({ kind: 'updateInPlace', rule: 'NothingRestarts' });
      const step = stepIdentity(label, revisionAfter);
      const { step: next, hold } = decideCase({ given: given().stepFailed({ cause, step }), settings: ifPossible });
      expect(next.kind).to.equal('none');
      expect(hold?.rule).to.equal(rule);
    });
  }
});
