import { expect } from 'chai';
import { type RolloutRecord, wholeRecord } from '../../../src/api/rollout.ts';
import { newRollout } from '../../../src/api/rollout-progress.ts';
import { projectSequence, sequenceKind } from '../../../src/api/rollout-sequence.ts';
import { type RolloutStatus } from '../../../src/api/rollout-status.ts';
import { timestampOf } from '../../../src/base/json.ts';
import { Fleet, type FleetLimits, noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import { yieldsSlot } from '../../../src/controller/fleet/fleet-standing.ts';
import { followFleet } from '../../../src/controller/fleet/follow-fleet.ts';
import type { HoldRule } from '../../../src/core/decision.ts';
import type { EffectKind } from '../../../src/core/effects.ts';
import type { ClusterRecord } from '../../../src/moco/records.ts';
import { Cache } from '../../../src/objects/cache.ts';
import { Bench, begin } from '../bench.ts';

const start = Date.parse('2026-07-01T12:00:00Z');
const at = (seconds: number): string => timestampOf(start + seconds * 1000);

/** A fleet that is notified about clusters one after another. */
class Watched {
  readonly woken: string[] = [];
  readonly fleet: Fleet;
  #version = 0;
  now = 100;

  constructor(limits: Partial<FleetLimits>) {
    const world = { wall: () => start + this.now * 1000 };
    this.fleet = new Fleet({ ...noFleetLimits, ...limits }, world, (key) => void this.woken.push(key));
  }

  notify(key: string, status: RolloutStatus, resourceVersion?: number): void {
    this.#version += 1;
    const metadata = { namespace: '', name: key, uid: key, resourceVersion: String(resourceVersion ?? this.#version) };
    this.fleet.note(key, { apiVersion: '', kind: '', metadata, status });
  }

  /** Its rollout was first seen then, and has not begun. */
  waits(key: string, since: number, hold?: HoldRule): void {
    this.notify(key, {
      rollout: { ...progress, startedAt: at(since) },
      ...(hold !== undefined && { hold: { rule: hold, message: '', since: at(since) } }),
    });
  }

  rolls(key: string, more: Partial<RolloutStatus> = {}): void {
    this.notify(key, { rollout: { ...progress, begunAt: at(0) }, ...more });
  }

  place(key: string): number | null {
    return this.fleet.factsFor(key, 'OnDelete', 'r').fleetQueue?.place ?? null;
  }

  left(key: string, mode: 'OnDelete' | 'Partition' = 'OnDelete'): number | null {
    const { fleetInterval: interval } = this.fleet.factsFor(key, mode, 'r');
    return interval && interval.seconds - interval.sinceSeconds;
  }
}

const progress = newRollout('r', at(0));
const evict = { step: 'evict', rule: 'ReplicaHealthy', effects: ['rolls', 'stops', 'reduces'] } as const;
/** By its rule, as the core has it. */
const effectsOf: Readonly<Record<string, readonly EffectKind[]>> = {
  MemberDown: ['brings', 'removes'],
  AlreadyUpdated: ['writes', 'acts', 'proceeds'],
};
const step = (kind: 'evict' | 'delete' | 'setPartition', rule: string, seconds: number, result = 'done') => ({
  lastStep: { step: kind, rule, pods: [], at: at(seconds), result, effects: effectsOf[rule] ?? evict.effects },
});

describe('the slots of a fleet', () => {
  it('go to the rollout that has been due longest, and are kept until it ends', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.waits('a', 20);
    watched.waits('b', 10);
    expect([watched.place('a'), watched.place('b')]).to.deep.equal([1, null]);
    watched.rolls('b');
    watched.waits('c', 5);
    expect([watched.place('a'), watched.place('b'), watched.place('c')]).to.deep.equal([2, null, 1]);
    expect(watched.woken).to.deep.equal([]);
    watched.notify('b', {});
    expect(watched.woken).to.deep.equal(['c']);
    expect([watched.place('a'), watched.place('c')]).to.deep.equal([1, null]);
  });

  it('are neither kept nor lost by a cluster that cannot roll out anyway', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.waits('a', 10, 'BlockedByPDB');
    watched.waits('b', 20, 'AwaitingFleetSlot');
    expect([watched.place('a'), watched.place('b')]).to.deep.equal([null, null]);
    watched.rolls('b');
    expect(watched.place('a')).to.equal(1);
  });

  it('are offered to the next cluster if the first cannot roll out after all, or is deleted', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.waits('a', 10);
    watched.waits('b', 20);
    watched.waits('c', 30);
    expect([watched.place('b'), watched.place('c')]).to.deep.equal([1, 2]);
    watched.waits('a', 10, 'BlockedByPDB');
    expect([watched.woken, watched.place('b')]).to.deep.equal([['b'], null]);
    watched.fleet.note('b', null);
    expect([watched.woken, watched.place('c')]).to.deep.equal([['b', 'c'], null]);
  });

  it('are given up by a rollout that has begun and waits, which is first in the queue once it can go on', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    const yielded = { ...progress, startedAt: at(5), begunAt: at(6), yieldedAt: at(50) };
    watched.rolls('a');
    watched.waits('b', 1, 'AwaitingFleetSlot');
    expect(watched.place('b')).to.equal(1);
    watched.notify('a', { rollout: yielded, hold: { rule: 'BlockedByPDB', message: '', since: at(50) } });
    expect([watched.place('b'), watched.woken]).to.deep.equal([null, ['b']]);
    watched.rolls('b');
    watched.waits('c', 10, 'AwaitingFleetSlot');
    expect([watched.place('a'), watched.place('c')], 'the obstacle is gone').to.deep.equal([1, 1]);
    watched.notify('a', { rollout: yielded, hold: { rule: 'AwaitingFleetSlot', message: '', since: at(60) } });
    expect([watched.place('a'), watched.place('c')]).to.deep.equal([1, 2]);
    watched.notify('b', {});
    expect([watched.place('a'), watched.place('c')]).to.deep.equal([null, 1]);
    watched.rolls('a');
    expect([watched.place('a'), watched.place('c')]).to.deep.equal([null, 1]);
  });

  const state = (one: 'participating' | 'running' | 'missing') =>
    [{ ordinal: 0, role: 'primary', updated: false, verdict: 'Waiting', state: one }] as const;

  for (const rule of ['Offline', 'Released', 'ForcedRollingUpdate'] as const) {
    it(`are given up under ${rule}, even if members are missing`, () => {
      expect(yieldsSlot(rule, state('missing'))).to.equal(true);
    });
  }

  for (const rule of [
    'Paused',
    'ReconciliationStopped',
    'ClusteringStopped',
    'AwaitingApproval',
    'PartitionReached',
    'PrimaryWaitsForPinned',
    'OutsideMaintenanceWindow',
    'BlockedByPDB',
    'BackupRunning',
    'MemberProtected',
    'NodeTakesNoPods',
    'CheckFailing',
    'UpdateRevisionFailing',
  ] as const) {
    it(`are given up under ${rule}, but not while a member is away that a step may have disrupted`, () => {
      expect(yieldsSlot(rule, state('participating'))).to.equal(true);
      expect(yieldsSlot(rule, state('running'))).to.equal(false);
      expect(yieldsSlot(rule, state('missing'))).to.equal(false);
    });
  }

  for (const rule of [
    'AwaitingFleetSlot',
    'AwaitingFleetInterval',
    'DisruptionControllerBehind',
    'UpdatedMemberNotParticipating',
    'AwaitingSwitchover',
    'ReplicasBehind',
    'ClusterNotHealthy',
  ] as const) {
    it(`are kept under ${rule}, which belongs to a rollout in which all goes well`, () => {
      expect(yieldsSlot(rule, state('participating'))).to.equal(false);
    });
  }

  it('are for the first cluster alone until a member of it has verified its revision', () => {
    const watched = new Watched({ maxConcurrentRollouts: 5, verifyFirstCluster: true });
    for (const key of ['a', 'b', 'c']) watched.waits(key, 10);
    expect(watched.place('a')).to.equal(null);
    const end = watched.fleet.promise('a', evict);
    expect([watched.place('a'), watched.place('b'), watched.place('c')]).to.deep.equal([null, 1, 2]);
    watched.rolls('a', { rollout: { ...progress, begunAt: at(20) } });
    end();
    expect(watched.fleet.factsFor('b', 'OnDelete', 'r').fleetQueue).to.deep.include({ first: 'a', place: 1 });
    expect(watched.woken).to.deep.equal([]);
    watched.rolls('a', { rollout: { ...progress, begunAt: at(20), verified: true, verifiedAt: at(50) } });
    expect([watched.woken, watched.place('b'), watched.place('c')]).to.deep.equal([['b', 'c'], null, null]);
    watched.rolls('b', { rollout: { ...progress, begunAt: at(60) } });
    expect(watched.place('c'), 'a revision has been verified since it was stale').to.equal(null);
    watched.waits('d', 70);
    expect(watched.place('d'), 'it became stale after that').to.equal(2);
    watched.notify('b', {
      history: [
        { revision: 'r', startedAt: at(0), disruptions: 1, switchovers: 0, finishedAt: at(80), outcome: 'Complete' },
      ],
    });
    expect(watched.place('d'), 'b has become complete since').to.equal(null);
  });

  it('are offered to the next cluster alone if the first one fails, stalls or does not begin after all', () => {
    for (const ends of ['fails', 'stalls', 'does not begin']) {
      const watched = new Watched({ verifyFirstCluster: true });
      for (const key of ['a', 'b', 'c']) watched.waits(key, 10);
      const end = watched.fleet.promise('a', evict);
      expect(watched.place('b'), ends).to.equal(1);
      if (ends === 'fails') {
        watched.rolls('a', { rollout: { ...progress, begunAt: at(20), failing: { ordinal: 2, message: '' } } });
      }
      if (ends === 'stalls') watched.rolls('a', { conditions: stalledTrue });
      end();
      expect(watched.woken.slice(-2), ends).to.deep.equal(['b', 'c']);
      watched.waits('b', 10);
      expect(watched.place('b'), ends).to.equal(null);
      watched.rolls('b');
      expect(watched.place('c'), ends).to.equal(ends === 'does not begin' ? 2 : 1);
    }
  });

  it('do not wait for a first cluster where a sequence selects one of the two', () => {
    const watched = new Watched({ verifyFirstCluster: true });
    const record = projectSequence({
      apiVersion: sequenceKind.group,
      metadata: { name: 's', uid: 's', resourceVersion: '1', generation: 1 },
      spec: { selector: { matchLabels: { tier: 'canary' } }, stages: [{ name: 'canary' }] },
    });
    watched.fleet.stages.noteSequence('s', record);
    for (const [key, tier] of [
      ['a', 'canary'],
      ['b', 'canary'],
      ['c', 'none'],
      ['d', 'none'],
    ] as const) {
      watched.fleet.stages.noteCluster(key, { labels: { tier }, offline: false, updateRevision: 'r' });
      watched.waits(key, 10);
    }
    watched.rolls('a');
    expect([watched.place('b'), watched.place('c')]).to.deep.equal([null, null]);
    watched.rolls('c');
    expect([watched.place('b'), watched.place('d')], 'b is before d in the queue').to.deep.equal([null, 2]);
  });

  const stalledTrue = [
    { type: 'Stalled', status: 'True', reason: 'UpdateRevisionFailing', message: '', lastTransitionTime: at(0) },
  ] as const;

  it('are kept by a rollout that may need a person, and waiting clusters name it', () => {
    const watched = new Watched({ maxConcurrentRollouts: 2 });
    watched.rolls('a');
    watched.rolls('b');
    watched.waits('c', 1, 'AwaitingFleetSlot');
    const stuck = () => watched.fleet.factsFor('c', 'OnDelete', 'r').fleetQueue?.stuck;
    expect([stuck(), watched.woken]).to.deep.equal([[], []]);
    watched.rolls('a', { conditions: stalledTrue });
    expect([stuck(), watched.woken]).to.deep.equal([[{ cluster: 'a', rule: 'ProgressDeadlineExceeded' }], ['c']]);
    watched.rolls('a', { hold: { rule: 'MemberMissing', message: '', since: at(0) } });
    expect([stuck(), watched.woken]).to.deep.equal([[{ cluster: 'a', rule: 'MemberMissing' }], ['c', 'c']]);
    expect(watched.fleet.numbers.stuck).to.equal(1);
    watched.rolls('a');
    expect([stuck(), watched.woken]).to.deep.equal([[], ['c', 'c', 'c']]);
  });

  it('are released by a stalled rollout if configured, and it does not wait for a slot to resume', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1, releaseStalledSlots: true });
    watched.rolls('a');
    watched.waits('b', 1, 'AwaitingFleetSlot');
    expect(watched.place('b')).to.equal(1);
    watched.rolls('a', { conditions: stalledTrue });
    expect([watched.place('a'), watched.place('b'), watched.woken]).to.deep.equal([null, null, ['b']]);
    watched.rolls('b');
    watched.rolls('a');
    watched.waits('c', 1, 'AwaitingFleetSlot');
    expect([watched.place('a'), watched.place('b'), watched.place('c')]).to.deep.equal([null, null, 1]);
  });

  it('count as occupied once promised, so that two passes cannot both get the last one', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.waits('a', 10);
    watched.waits('b', 10);
    const release = watched.fleet.promise('a', evict);
    expect([watched.place('a'), watched.place('b')]).to.deep.equal([null, 1]);
    release();
    expect(watched.woken).to.deep.equal(['a', 'b'].slice(0, 1));
    expect(watched.place('b')).to.equal(1);
    watched.notify('a', {});
    expect(watched.place('b')).to.equal(null);
  });

  it('are kept while nodes are asked whether a cluster can begin, and while they refuse', () => {
    for (const releaseStalledSlots of [false, true]) {
      const watched = new Watched({ maxConcurrentRollouts: 1, releaseStalledSlots });
      for (const key of ['a', 'b', 'c']) watched.waits(key, 10);
      watched.fleet.setAsking('a', true);
      expect([watched.place('a'), watched.place('b')], 'before its status shows it').to.deep.equal([null, 1]);
      watched.waits('a', 10, 'PreflightRunning');
      watched.fleet.setAsking('a', false);
      expect([watched.place('a'), watched.place('b'), watched.woken]).to.deep.equal([null, 1, []]);
      watched.fleet.setAsking('a', true);
      watched.waits('a', 10, 'ImageUnavailable');
      const queue = watched.fleet.factsFor('b', 'OnDelete', 'r').fleetQueue;
      if (releaseStalledSlots) expect([queue, watched.woken.slice(0, 1)]).to.deep.equal([null, ['b']]);
      else expect(queue).to.deep.include({ place: 1, stuck: [{ cluster: 'a', rule: 'ImageUnavailable' }] });
      watched.fleet.setAsking('a', false);
      watched.waits('a', 10, 'Paused');
      expect(watched.place('b')).to.equal(null);
      expect(watched.woken).to.include('b');
    }
  });

  it('are for the cluster whose nodes are asked first, and for the next one alone if they refuse', () => {
    const watched = new Watched({ verifyFirstCluster: true, maxFailingRollouts: 2 });
    for (const key of ['a', 'b', 'c']) watched.waits(key, 10);
    watched.waits('a', 10, 'PreflightRunning');
    expect(watched.fleet.numbers, 'each counts once').to.include({ rolling: 1, waiting: 2 });
    expect(watched.fleet.factsFor('b', 'OnDelete', 'r').fleetQueue).to.include({ first: 'a' });
    watched.waits('a', 10, 'ConfigurationRefused');
    expect(watched.place('b')).to.equal(null);
    watched.waits('b', 10, 'PreflightRunning');
    expect([watched.place('b'), watched.place('c')]).to.deep.equal([null, 1]);
    watched.waits('b', 10, 'ConfigurationRefused');
    const rulesOf = (key: string) =>
      watched.fleet.factsFor(key, 'OnDelete', 'r').fleetWaits.map(({ hold: { rule } }) => rule);
    expect([rulesOf('c'), rulesOf('a')], 'no cluster waits for its own failure').to.deep.equal([['FleetFailing'], []]);
    watched.waits('a', 10);
    expect(rulesOf('c')).to.deep.equal([]);
  });

  it('are not kept from other namespaces by a first cluster that its user keeps waiting with a member down', () => {
    const watched = new Watched({ verifyFirstCluster: true });
    const down = { ordinal: 2, role: 'replica', updated: true, verdict: 'Updated', state: 'down' } as const;
    watched.rolls('tenant/1', { members: [down] });
    for (const key of ['tenant/2', 'other/1']) watched.waits(key, 10);
    expect([watched.place('tenant/2'), watched.place('other/1')]).to.deep.equal([2, 1]);
    watched.rolls('tenant/1', { members: [down], hold: { rule: 'Paused', message: '', since: at(0) } });
    expect([watched.place('tenant/2'), watched.place('other/1')]).to.deep.equal([2, null]);
    expect(watched.woken).to.include('other/1');
  });

  it('are kept from other namespaces for an hour at most, whatever a tenant changes meanwhile', () => {
    const watched = new Watched({ verifyFirstCluster: true });
    const hour = 3600;
    const queueOf = (key: string) => watched.fleet.factsFor(key, 'OnDelete', 'r').fleetQueue;
    watched.rolls('tenant/1');
    for (const key of ['tenant/2', 'other/1']) watched.waits(key, 10);
    expect(queueOf('other/1')).to.include({ first: 'tenant/1', firstForSeconds: hour });
    expect(queueOf('tenant/2')).to.include({ first: 'tenant/1' }).and.not.to.have.property('firstForSeconds');
    watched.now += hour - 100;
    watched.notify('tenant/1', { rollout: { ...newRollout('r2', at(watched.now)), begunAt: at(watched.now) } });
    expect(queueOf('other/1')).to.include({ first: 'tenant/1', firstForSeconds: 100 });
    watched.notify('tenant/1', {});
    expect(watched.woken).to.include('other/1');
    watched.now += 30;
    watched.rolls('tenant/1');
    expect(queueOf('other/1')).to.include({ first: 'tenant/1', firstForSeconds: 70 });
    watched.now += 70;
    expect([watched.place('other/1'), watched.place('tenant/2')]).to.deep.equal([null, 2]);
    watched.notify('tenant/1', {});
    watched.now += 60;
    watched.rolls('tenant/1');
    expect(queueOf('other/1'), 'after a pause').to.include({ firstForSeconds: hour });
  });

  it('are not promised for members that are down, which need none', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.fleet.promise('a', { step: 'delete', effects: ['brings', 'removes'] });
    expect(watched.place('b')).to.equal(null);
  });

  it('are free again when a cluster is deleted', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.rolls('a');
    watched.waits('b', 1);
    watched.fleet.note('a', null);
    expect([watched.place('b'), watched.woken]).to.deep.equal([null, ['b']]);
  });

  it('are counted from the newest objects, in whatever order these arrive', () => {
    const watched = new Watched({ maxConcurrentRollouts: 1 });
    watched.notify('a', { rollout: { ...progress, begunAt: at(0) } }, 9);
    watched.notify('a', { rollout: progress }, 8);
    expect(watched.place('b')).to.equal(1);
  });
});

describe('the breaker of a fleet', () => {
  const failing = {
    rollout: { ...progress, failing: { ordinal: 2, message: 'container mysqld is waiting (CrashLoopBackOff)' } },
  };
  const stalled: RolloutStatus = {
    rollout: { ...progress, begunAt: at(0) },
    conditions: [{ type: 'Stalled', status: 'True', reason: 'R', message: '', lastTransitionTime: at(0) }],
  };
  const waitsOf = (watched: Watched, key: string) => watched.fleet.factsFor(key, 'OnDelete', 'r').fleetWaits;

  it('keeps every rollout from beginning that has not begun, once so many fail', () => {
    const watched = new Watched({ maxFailingRollouts: 2 });
    watched.notify('b', failing);
    expect(waitsOf(watched, 'c')).to.deep.equal([]);
    watched.notify('a', stalled);
    const hold = { rule: 'FleetFailing', failing: 2, limit: 2, cluster: 'a' };
    expect(waitsOf(watched, 'c')).to.deep.equal([{ hold, remainingSeconds: null }]);
    expect(watched.fleet.numbers).to.include({ slots: null, rolling: 1, waiting: 1, failing: 2 });
  });

  it('counts each other namespace once, so that a tenant with many failing clusters stops itself alone', () => {
    const watched = new Watched({ maxFailingRollouts: 2 });
    for (const name of ['1', '2', '3']) watched.notify(`tenant/${name}`, failing);
    expect(waitsOf(watched, 'other/1')).to.deep.equal([]);
    expect(waitsOf(watched, 'tenant/4').map(({ hold }) => hold)).to.deep.equal([
      { rule: 'FleetFailing', failing: 3, limit: 2, cluster: 'tenant/1' },
    ]);
    watched.notify('second/1', stalled);
    expect(waitsOf(watched, 'other/1').map(({ hold }) => hold)).to.deep.equal([
      { rule: 'FleetFailing', failing: 2, limit: 2, cluster: 'second/1' },
    ]);
  });

  it('lets rollouts continue that have begun, or that correct a failing revision', () => {
    const watched = new Watched({ maxFailingRollouts: 1 });
    watched.notify('a', failing);
    watched.rolls('b');
    watched.rolls('c', { hold: { rule: 'Paused', message: '', since: at(0) } });
    expect([waitsOf(watched, 'b'), waitsOf(watched, 'c')]).to.deep.equal([[], []]);
    watched.notify('d', failing);
    expect(watched.fleet.factsFor('a', 'OnDelete', 'corrected').fleetWaits, 'a correction').to.deep.equal([]);
  });

  it('does not count a rollout that is stalled because of nodes alone, unless a rule says more', () => {
    const watched = new Watched({ maxFailingRollouts: 1 });
    const byNodes = { ...stalled, rollout: { ...progress, begunAt: at(0), awaitsNodes: true } };
    watched.notify('a', byNodes);
    expect(waitsOf(watched, 'b')).to.deep.equal([]);
    for (const rule of ['MemberUnreachable', 'MemberStuckTerminating'] as const) {
      watched.notify('a', { ...byNodes, hold: { rule, message: '', since: at(0) } });
      expect(waitsOf(watched, 'b')).to.deep.equal([]);
    }
    watched.notify('a', { ...byNodes, hold: { rule: 'SwitchoverFailing', message: '', since: at(0) } });
    expect(waitsOf(watched, 'b')).to.have.length(1);
    watched.notify('a', { ...byNodes, rollout: { ...byNodes.rollout, failing: { ordinal: 2, message: '' } } });
    expect(waitsOf(watched, 'b')).to.have.length(1);
  });

  it('does not count a rollout that is stalled and has not begun', () => {
    const watched = new Watched({ maxFailingRollouts: 1 });
    watched.notify('a', { ...stalled, rollout: progress });
    expect(waitsOf(watched, 'b')).to.deep.equal([]);
  });

  it('wakes those that wait when it opens and when it closes, and is off at 0', () => {
    const watched = new Watched({ maxFailingRollouts: 1 });
    watched.waits('b', 1, 'BackupRunning');
    watched.notify('a', failing);
    expect(watched.woken).to.deep.equal(['b', 'a']);
    watched.waits('b', 1, 'FleetFailing');
    watched.fleet.note('a', null);
    expect([watched.woken, waitsOf(watched, 'b')]).to.deep.equal([['b', 'a', 'b'], []]);
    const off = new Watched({ maxFailingRollouts: 0 });
    off.notify('a', failing);
    expect(waitsOf(off, 'b')).to.deep.equal([]);
  });
});

describe('the interval of a fleet', () => {
  it('is zero without a flag', () => {
    const watched = new Watched({});
    watched.rolls('a', step('evict', 'ReplicaHealthy', 99));
    expect(watched.left('b')).to.equal(null);
  });

  it('counts from the last disruption in any cluster', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 60 });
    watched.rolls('a', step('evict', 'ReplicaHealthy', 90));
    expect([watched.left('a'), watched.left('b')]).to.deep.equal([50, 50]);
    watched.rolls('c', step('evict', 'ReplicaHealthy', 95, 'refused: no'));
    watched.rolls('d', step('delete', 'MemberDown', 96));
    watched.rolls('e', step('setPartition', 'AlreadyUpdated', 97));
    expect(watched.left('b')).to.equal(50);
    watched.now = 150;
    expect(watched.left('b')).to.equal(null);
  });

  it('counts from a disruption that is about to happen, too, but not from the cluster’s own', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 60 });
    const release = watched.fleet.promise('a', evict);
    expect([watched.left('a'), watched.left('b')]).to.deep.equal([null, 60]);
    release();
    expect(watched.left('b')).to.equal(null);
    const intent = { id: 'i', holder: 'h', ...evict, effects: [...evict.effects], revision: 'r', at: at(80), pods: [] };
    watched.rolls('a', { intent });
    expect([watched.left('a'), watched.left('b')]).to.deep.equal([null, 40]);
  });

  it('counts every lowered partition, in partition mode only', () => {
    const watched = new Watched({ partitionUpdateIntervalSeconds: 60 });
    watched.rolls('a', step('setPartition', 'AlreadyUpdated', 90));
    expect([watched.left('b', 'Partition'), watched.left('b')]).to.deep.equal([50, null]);
  });

  it('is the one with more time left', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 30, partitionUpdateIntervalSeconds: 60 });
    watched.rolls('a', step('setPartition', 'ReplicaHealthy', 90));
    expect(watched.fleet.factsFor('b', 'Partition', 'r').fleetInterval?.flag).to.equal('--partition-update-interval');
    expect(watched.fleet.factsFor('b', 'OnDelete', 'r').fleetInterval?.flag).to.equal('--disruption-interval');
  });

  it('is over in its time after the clock has gone back', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 60 });
    watched.rolls('a', step('evict', 'ReplicaHealthy', 90));
    watched.now = 0;
    expect(watched.left('b')).to.equal(60);
    watched.now = 60;
    expect(watched.left('b')).to.equal(null);
  });

  it('counts from when it was first seen for a step that is still to come by this clock', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 60 });
    watched.rolls('a', step('evict', 'ReplicaHealthy', 3700));
    expect(watched.left('b')).to.equal(60);
    watched.now = 140;
    // Whatever else is written of that cluster meanwhile.
    watched.rolls('a', step('evict', 'ReplicaHealthy', 3700));
    expect(watched.left('b')).to.equal(20);
    watched.now = 160;
    expect(watched.left('b')).to.equal(null);
  });

  it('counts so for an intent whose author is gone as well', () => {
    const watched = new Watched({ disruptionIntervalSeconds: 60 });
    const intent = {
      id: 'i',
      holder: 'h',
      ...evict,
      effects: [...evict.effects],
      revision: 'r',
      at: at(3700),
      pods: [],
    };
    watched.rolls('a', { intent });
    expect(watched.left('b')).to.equal(60);
    watched.now = 160;
    expect(watched.left('b')).to.equal(null);
  });
});

describe('the MySQLRollouts that count for a fleet', () => {
  const metadata = { namespace: 'default', resourceVersion: '1' };
  const mysqlCluster = (more: object = {}): ClusterRecord =>
    ({ ...metadata, name: 'a', uid: 'cluster', deleting: false, labels: {}, ...more }) as unknown as ClusterRecord;
  const rollout = (owner: string): RolloutRecord => {
    const object = {
      apiVersion: '',
      kind: '',
      metadata: { ...metadata, name: 'a', uid: 'rollout', ownerReferences: [{ kind: 'MySQLCluster', uid: owner }] },
      status: { rollout: { ...progress, begunAt: at(0) } },
    };
    return wholeRecord(object);
  };
  const cases: Readonly<Record<string, readonly [ClusterRecord | null, RolloutRecord, number | null]>> = {
    'are those of clusters that exist': [mysqlCluster(), rollout('cluster'), 1],
    'are not those without a cluster': [null, rollout('cluster'), null],
    'are not those of a cluster that is being deleted': [mysqlCluster({ deleting: true }), rollout('cluster'), null],
    'are not those that another cluster owns': [mysqlCluster(), rollout('another'), null],
  };
  for (const [sentence, [clusterRecord, rolloutRecord, place]] of Object.entries(cases)) {
    for (const first of ['cluster', 'rollout']) {
      it(`${sentence}, also if the ${first} is created first`, () => {
        const watched = new Watched({ maxConcurrentRollouts: 1 });
        const cache = new Cache();
        followFleet(cache, watched.fleet);
        if (first === 'rollout') cache.rollouts.put(rolloutRecord);
        if (clusterRecord) cache.clusters.put(clusterRecord);
        if (first === 'cluster') cache.rollouts.put(rolloutRecord);
        expect(watched.place('default/b')).to.equal(place);
        cache.clusters.remove('default', 'a');
        expect(watched.place('default/b')).to.equal(null);
      });
    }
  }
});

describe('a cluster of a fleet', () => {
  it('corrects a failing revision without waiting for the others, and begins no other rollout', async () => {
    const [bench, program] = begin({}, { ...noFleetLimits, maxFailingRollouts: 1 });
    const other = { namespace: 'default', name: 'other', uid: 'other', resourceVersion: '1' };
    const failing = {
      rollout: { ...progress, failing: { ordinal: 2, message: 'container mysqld is waiting (CrashLoopBackOff)' } },
    };
    await program.work();
    bench.replace(2);
    bench.mysqld(2, 'CrashLoopBackOff');
    await program.work();
    expect(bench.status.hold?.rule).to.equal('UpdateRevisionFailing');
    expect(bench.status.rollout?.failing).to.deep.equal({
      ordinal: 2,
      message: 'container mysqld is waiting (CrashLoopBackOff, 4 restarts)',
    });
    program.fleet.note('default/other', { apiVersion: '', kind: '', metadata: other, status: failing });
    bench.changeStatefulSet({ status: { updateRevision: 'corrected' } });
    await program.work();
    expect(bench.status.rollout?.begunAt).to.equal(bench.status.rollout?.startedAt);
    bench.replace(2, { revision: 'corrected' });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'delete 2', 'evict 1']);
    expect(bench.status.rollout?.failing).to.equal(undefined);
    bench.changeStatefulSet({ status: { updateRevision: 'another' } });
    bench.replace(1, { revision: 'corrected' });
    await program.work();
    expect([bench.status.hold?.rule, bench.steps.length]).to.deep.equal(['FleetFailing', 3]);
  });

  it('goes first, until a member of it has verified the revision', async () => {
    const [bench, program] = begin({}, { ...noFleetLimits, verifyFirstCluster: true });
    const metadata = { namespace: 'default', name: 'other', uid: 'other', resourceVersion: '1' };
    const first = () => program.fleet.factsFor('default/other', 'OnDelete', 'r').fleetQueue?.first;
    await program.work();
    const { startedAt = '', verifiedAt } = bench.status.rollout ?? {};
    const status = { rollout: { ...progress, startedAt } };
    program.fleet.note('default/other', { apiVersion: '', kind: '', metadata, status });
    expect([first(), verifiedAt]).to.deep.equal(['default/test', undefined]);
    bench.replace(2);
    await program.work();
    expect(first()).to.equal(undefined);
    expect(bench.status.rollout?.verifiedAt).to.be.a('string');
  });

  it('counts the interval from a step of the previous leader whose outcome is unknown, too', async () => {
    const bench = new Bench();
    const limits = { ...noFleetLimits, disruptionIntervalSeconds: 600 };
    const before = bench.start({}, limits);
    await before.turn();
    expect(bench.status.intent?.step).to.equal('evict');
    bench.replace(2);
    await bench.started({}, limits);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.hold?.rule).to.equal('AwaitingFleetInterval');
  });

  it('waits for its slot, reports its place in the queue, and starts when the slot is free', async () => {
    const [bench, program] = begin({}, { ...noFleetLimits, maxConcurrentRollouts: 1 });
    const other = { namespace: 'default', name: 'other', uid: 'other', resourceVersion: '1' };
    const rolling = { rollout: { ...progress, begunAt: at(0) } };
    program.fleet.note('default/other', { apiVersion: '', kind: '', metadata: other, status: rolling });
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'AwaitingFleetSlot',
      message: '1 cluster may be rolling at a time; this one is number 1 in the queue',
    });
    program.fleet.note('default/other', null);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.rollout?.begunAt).to.be.a('string');
  });
});
