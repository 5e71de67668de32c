import { expect } from 'chai';
import type { Hold } from '../../src/core/decision.ts';
import type { CheckReading } from '../../src/core/on-demand-facts.ts';
import { backupRunning, cluster, lastOne, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import {
  type Case,
  decideCase,
  deletes,
  demotes,
  evicts,
  holds,
  lowers,
  notYet,
  play,
  takesBack,
  tooYoung,
  when,
} from './table.ts';

const next = evicts('ReplicaHealthy', 2);
const passing: CheckReading = { kind: 'passing' };
const failing: CheckReading = { kind: 'failing', series: { labels: { pod: 'a' }, value: '41', others: 0 } };
const unknown: CheckReading = { kind: 'unknown', message: 'ECONNREFUSED' };
const fails: Hold = {
  rule: 'CheckFailing',
  checks: [{ check: 'delay', labels: { pod: 'a' }, value: '41', others: 0 }],
};
const pending: Hold = { rule: 'CheckPending', checks: ['delay'] };
const unavailable = (message: string): Hold => ({ rule: 'CheckUnavailable', checks: [{ check: 'delay', message }] });
const off = (...rules: readonly ('CheckFailing' | 'CheckUnavailable')[]) => ({
  overrides: rules.map((rule) => ({ rule, remainingSeconds: 60 })),
});

describe('a check before a working member is replaced', () => {
  play({
    'lets the step begin if it has just passed': when(stale().check('delay', passing), next),
    'has to have passed within five seconds': when(stale().check('delay', passing, { ageSeconds: 5 }), holds(pending)),
    'has to have been asked': when(stale().check('delay', null), holds(pending)),
    'holds while it fails, whatever the others say': when(
      stale().check('other', passing).check('delay', failing).check('third', null),
      holds(fails),
    ),
    'fails until an answer says otherwise': when(stale().check('delay', failing, { ageSeconds: 59 }), holds(fails)),
    'does not fail because of the answer to an earlier step': when(
      stale().check('delay', failing, { ageSeconds: 60 }),
      holds(pending),
    ),
    'holds without an answer': when(stale().check('delay', unknown), holds(unavailable('ECONNREFUSED'))),
    'is asked again half a minute after it had no answer': when(
      stale().check('delay', unknown, { ageSeconds: 30 }),
      holds(pending),
    ),
    'names every check without an answer': when(
      stale().check('delay', unknown).check('b', passing).check('c', unknown),
      holds({
        rule: 'CheckUnavailable',
        checks: [
          { check: 'delay', message: 'ECONNREFUSED' },
          { check: 'c', message: 'ECONNREFUSED' },
        ],
      }),
    ),
    'holds a demotion': when(lastOne().check('delay', failing), holds(fails)),
    'is asked before the replicas, and lets them be asked': when(
      lastOne().check('delay', passing).delay(1, { kind: 'delay', seconds: 0 }),
      demotes(0),
    ),
    'holds the eviction of a single member': when(stale(1).check('delay', failing), holds(fails)),
    'holds the deletion of an impaired member, which works': when(
      three(member(1).stale().impaired('slow-log')).check('delay', failing),
      holds(fails),
    ),
    'holds a lower partition': when(stale().atPartition(3).check('delay', failing), holds(fails), {
      mode: 'Partition',
    }),
    'holds no lower partition that replaces no member': when(
      three(member(0).stale()).atPartition(3).check('delay', failing),
      lowers('AlreadyUpdated', 2),
      { mode: 'Partition' },
    ),
  });
});

describe('a failing check', () => {
  play({
    'does not keep a member that is down': when(
      stale().members(member(1).stale().down('ImagePullBackOff')).check('delay', failing),
      deletes('MemberDown', 1),
    ),
    'does not prevent the withdrawal of a demotion': when(
      lastOne().members(member(0).stale().demotedByUs(90, '7966559688')).check('delay', failing),
      takesBack(0, 'TimedOut'),
    ),
    'is not asked for while another rule holds': when(
      stale().backupJobs({}).check('delay', null),
      holds(backupRunning),
    ),
  });
});

describe('an override of checks', () => {
  play({
    'lets a failing check be': when(stale().check('delay', failing), next, off('CheckFailing')),
    'of CheckFailing does not make up for an answer': when(
      stale().check('delay', unknown),
      holds(unavailable('ECONNREFUSED')),
      off('CheckFailing'),
    ),
    'makes up for an answer': when(stale().check('delay', unknown, { ageSeconds: 29 }), next, off('CheckUnavailable')),
    'of CheckUnavailable waits until Prometheus has been asked': when(
      stale().check('delay', unknown, { ageSeconds: 30 }),
      holds(pending),
      off('CheckUnavailable'),
    ),
    'of CheckUnavailable does not let a failing check be': when(
      stale().check('delay', failing),
      holds(fails),
      off('CheckUnavailable'),
    ),
    'of both asks for nothing': when(stale().check('delay', null), next, off('CheckFailing', 'CheckUnavailable')),
  });
});

describe('checks while an updated member participates for minReadySeconds', () => {
  const settling = () => three(member(2).updated().participatingFor(3), member(1).stale());
  const settles = tooYoung(2, 5);
  play({
    'hold if one fails': when(settling().check('delay', failing), holds(fails)),
    'change nothing while they pass': when(settling().check('delay', passing), settles),
    'change nothing without an answer, since no step is due': when(
      settling().check('delay', unknown, { unknownForSeconds: 900 }),
      settles,
    ),
    'change nothing while a member does not participate': when(
      three(member(2).updated().lagging(), member(1).stale()).check('delay', failing),
      notYet(2, 'running'),
    ),
  });
});

describe('checks of a cluster that a later stage waits for', () => {
  const watched = () => cluster(3).laterStageWaits();
  play({
    'hold if one fails': when(watched().check('delay', failing), holds(fails)),
    'do not hold if no later stage waits': when(cluster(3).check('delay', failing), 'idle'),
    'continue without an answer for a while': when(
      watched().check('delay', unknown, { unknownForSeconds: 299 }),
      'idle',
    ),
    'hold after five minutes without an answer': when(
      watched().check('delay', unknown, { unknownForSeconds: 300 }),
      holds(unavailable('ECONNREFUSED')),
    ),
  });

  const pass = (given: Case['given'], settings = {}): boolean => decideCase({ given, settings }).checksPass;

  it('pass once all of them have passed, whatever the age of the answer', () => {
    expect(pass(watched().check('delay', passing, { ageSeconds: 59 }))).to.equal(true);
    expect(pass(watched().check('delay', passing, { ageSeconds: 60 }))).to.equal(false);
    expect(pass(watched().check('delay', passing).check('b', null))).to.equal(false);
    expect(pass(watched().check('delay', passing).check('b', unknown))).to.equal(false);
    expect(pass(watched().check('b', failing))).to.equal(false);
  });

  it('pass if they are overridden, or if there are none', () => {
    expect(pass(watched().check('b', failing), off('CheckFailing'))).to.equal(true);
    expect(pass(watched().check('b', unknown), off('CheckUnavailable'))).to.equal(true);
    expect(pass(watched().check('b', null), off('CheckFailing', 'CheckUnavailable'))).to.equal(true);
    expect(pass(watched())).to.equal(true);
    expect(pass(cluster(3).check('b', failing))).to.equal(true);
  });

  it('leave the rollout complete, whatever they say', () => {
    expect(decideCase({ given: watched().check('delay', failing) }).complete).to.equal(true);
  });
});

describe('checks are asked', () => {
  const asks = (given: Case['given']): boolean => decideCase({ given }).asks.some(({ kind }) => kind === 'checks');
  const requeue = (given: Case['given']): number | null => decideCase({ given }).requeueAfterSeconds;

  it('before a step if they have not just passed', () => {
    expect(asks(stale().check('delay', null))).to.equal(true);
    expect(asks(stale().check('delay', passing, { ageSeconds: 5 }))).to.equal(true);
    expect(asks(stale().check('delay', passing, { ageSeconds: 4 }))).to.equal(false);
  });

  it('every half minute while one holds', () => {
    for (const reading of [failing, unknown]) {
      expect(asks(stale().check('delay', reading, { ageSeconds: 29 }))).to.equal(false);
      expect(requeue(stale().check('delay', reading, { ageSeconds: 29 }))).to.equal(1);
      expect(asks(stale().check('delay', reading, { ageSeconds: 30 }))).to.equal(true);
    }
  });

  it('every half minute while they are watched', () => {
    const watched = cluster(3).laterStageWaits();
    expect(asks(watched.check('delay', passing, { ageSeconds: 29 }))).to.equal(false);
    expect(requeue(watched)).to.equal(1);
    expect(asks(cluster(3).laterStageWaits().check('delay', passing, { ageSeconds: 30 }))).to.equal(true);
    expect(asks(cluster(3).laterStageWaits().check('delay', null))).to.equal(true);
  });

  it('while nothing depends on them, not at all', () => {
    expect(asks(cluster(3).check('delay', null))).to.equal(false);
    expect(asks(stale().backupJobs({}).check('delay', null))).to.equal(false);
  });
});
