import { expect } from 'chai';
import { reactions } from '../../../../hack/bench/fleet/reaction.ts';
import { timestampAt } from '../rollouts/sights.ts';
import { budget, deleted, demoted, evicted, healthy, podMade, podReady, roleSet } from './audit-events.ts';

const since = Date.parse(timestampAt(0));

describe('hack/bench/fleet: the reaction, from the audit log', () => {
  it('counts from the response that opened the last gate to the request of the step', () => {
    const [first, second, ...more] = reactions(
      [
        podMade(-500, 'moco-test-2'),
        budget(-400, 1),
        healthy(-300, true),
        evicted(50, 'moco-test-2'),
        budget(60, 0),
        podReady(70, 'moco-test-2', false),
        healthy(80, false),
        podMade(100, 'moco-test-2'),
        roleSet(200, 'moco-test-2', 'replica'),
        podReady(300, 'moco-test-2'),
        budget(310, 1),
        healthy(350, true),
        evicted(390, 'moco-test-1'),
      ],
      since,
    );
    expect(more).to.deep.equal([]);
    expect(first).to.deep.include({ verb: 'evict', pod: 'moco-test-2', opening: null, ready: null });
    expect(second).to.deep.include({ verb: 'evict', pod: 'moco-test-1' });
    expect(second?.opening?.gate).to.equal('Healthy');
    expect(second?.sinceOpeningMilliseconds).to.equal(35);
    expect(second?.ready?.readyPod).to.equal('moco-test-2');
    expect(second?.sinceReadyMilliseconds).to.equal(85);
  });

  it('names the gate that opened last, whichever it is', () => {
    const closed = [podMade(1, 'a'), budget(2, 0), healthy(3, false)];
    const open = { Ready: podReady, PDB: budget, Healthy: healthy };
    const last = (...order: (keyof typeof open)[]) => {
      const writes = order.map((gate, index) => {
        const at = 100 * (index + 1);
        return gate === 'Ready' ? podReady(at, 'a') : gate === 'PDB' ? budget(at, 1) : healthy(at, true);
      });
      return reactions([...closed, ...writes, evicted(900, 'a')], since)[0]?.opening?.gate;
    };
    expect(last('Ready', 'PDB', 'Healthy')).to.equal('Healthy');
    expect(last('Healthy', 'Ready', 'PDB')).to.equal('PDB');
    expect(last('PDB', 'Healthy', 'Ready')).to.equal('Ready');
  });

  it('ignores a write that does not change a gate', () => {
    const events = [healthy(1, false), healthy(100, true), healthy(500, true), evicted(600, 'a')];
    expect(reactions(events, since)[0]?.sinceOpeningMilliseconds).to.equal(495);
  });

  it('counts Healthy as open only if every member is in sync', () => {
    const events = [healthy(1, true, 2), healthy(300, true, 2), healthy(500, true, 3), evicted(600, 'a')];
    expect(reactions(events, since)[0]?.sinceOpeningMilliseconds).to.equal(95);
  });

  it('recognizes steps by successful requests of the controller', () => {
    const steps = reactions(
      [
        evicted(10, 'refused', 429),
        deleted(20, 'by-its-kubelet', 'nodes'),
        demoted(30, 'moco-test-0', 'true'),
        demoted(40, 'moco-test-0', null),
        deleted(50, 'moco-test-0'),
      ],
      since,
    );
    expect(steps.map(({ verb, pod }) => `${verb} ${pod}`)).to.deep.equal(['demote moco-test-0', 'delete moco-test-0']);
  });

  it('leaves out requests before the template changed', () => {
    expect(reactions([evicted(-10, 'earlier')], since)).to.deep.equal([]);
  });

  it('does not count a readiness that an earlier step followed', () => {
    const events = [
      podMade(1, 'a'),
      podReady(10, 'a'),
      demoted(100, 'b', 'true'),
      healthy(150, false),
      evicted(200, 'b'),
    ];
    expect(reactions(events, since).map(({ ready }) => ready?.readyPod ?? null)).to.deep.equal(['a', null]);
  });

  it('keeps the microseconds of timestamps', () => {
    const ready = { ...podReady(10, 'a'), stageTimestamp: '2026-07-01T12:00:00.010250Z' };
    const step = { ...evicted(20, 'b'), requestReceivedTimestamp: '2026-07-01T12:00:00.020750Z' };
    expect(reactions([podMade(1, 'a'), ready, step], since)[0]?.sinceReadyMilliseconds).to.be.closeTo(10.5, 0.01);
  });
});
