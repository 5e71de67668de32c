import { expect } from 'chai';
import * as fc from 'fast-check';
import { mostMessageCharacters } from '../../src/evictions/eviction.ts';
import { respond, type Standing } from '../../src/evictions/respond.ts';
import { activeEviction, startedAt } from './objects.ts';

const second = 1000;
const minute = 60_000;
const limit = 60 * minute;
const waits: Standing = { kind: 'waits', message: 'moves the primary', expectedSeconds: null };
const mayGo: Standing = { kind: 'mayGo', message: 'is a replica' };

describe('the response to an Eviction', () => {
  it('begins with a heartbeat as soon as this program is active', () => {
    expect(respond(activeEviction(), waits, startedAt + 1500, limit)).to.deep.equal({
      entry: { heartbeatAt: startedAt + second, expectedAt: null, completedAt: null, message: 'moves the primary' },
      againMilliseconds: 4 * minute,
    });
  });

  it('repeats the heartbeat every four minutes, five times within the deadline of Kubernetes', () => {
    const eviction = activeEviction({ heartbeatAt: startedAt, message: waits.message });
    expect(respond(eviction, waits, startedAt + 3 * minute, limit)).to.deep.equal({
      entry: null,
      againMilliseconds: minute,
    });
    const due = respond(eviction, waits, startedAt + 4 * minute, limit);
    expect(due.entry?.heartbeatAt).to.equal(startedAt + 4 * minute);
    expect(due.againMilliseconds).to.equal(4 * minute);
  });

  it('reports another message or estimate sooner, but not within 20 s of the last heartbeat', () => {
    const eviction = activeEviction({ heartbeatAt: startedAt, message: 'before' });
    expect(respond(eviction, waits, startedAt + 5 * second, limit)).to.deep.equal({
      entry: null,
      againMilliseconds: 15 * second,
    });
    expect(respond(eviction, waits, startedAt + 20 * second, limit).entry?.message).to.equal(waits.message);
    const estimated = { ...waits, expectedSeconds: 90 };
    const same = activeEviction({ heartbeatAt: startedAt, message: waits.message, expectedAt: startedAt + 100_000 });
    expect(respond(same, estimated, startedAt + 30 * second, limit).entry).to.equal(null);
    const sooner = { ...same, expectedAt: startedAt + 10 * minute };
    expect(respond(sooner, estimated, startedAt + 30 * second, limit).entry?.expectedAt).to.equal(startedAt + 120_000);
  });

  it('completes its part at once when the member may go', () => {
    const eviction = activeEviction({ heartbeatAt: startedAt + 19 * second, message: 'before' });
    expect(respond(eviction, mayGo, startedAt + 20 * second, limit)).to.deep.equal({
      entry: {
        heartbeatAt: startedAt + 20 * second,
        expectedAt: startedAt + 20 * second,
        completedAt: startedAt + 20 * second,
        message: 'is a replica',
      },
      againMilliseconds: null,
    });
  });

  it('gives up at the limit and says why', () => {
    const eviction = activeEviction({ heartbeatAt: startedAt + 59 * minute, message: waits.message });
    const before = respond(eviction, waits, startedAt + limit - second, limit);
    expect(before).to.deep.equal({ entry: null, againMilliseconds: second });
    const after = respond(eviction, waits, startedAt + limit, limit);
    expect(after.entry?.completedAt).to.equal(startedAt + limit);
    expect(after.entry?.message).to.equal('gave up after 60 min: moves the primary');
  });

  const silent = {
    'before it is active': activeEviction({ state: 'Inactive' }),
    'once every request is withdrawn': activeEviction({ state: 'Canceled' }),
    'once Kubernetes has passed the eviction over to the next responder': activeEviction({ state: 'Interrupted' }),
    'once it has completed its part': activeEviction({ state: 'Completed' }),
    'once it has reported that, whatever Kubernetes still shows': activeEviction({ completedAt: startedAt }),
    'once the pod is gone': activeEviction({ hasEnded: true }),
    'before Kubernetes has set the start': activeEviction({ startedAt: null }),
  };
  for (const [when, eviction] of Object.entries(silent)) {
    it(`writes nothing ${when}`, () => {
      for (const standing of [waits, mayGo]) {
        const response = respond(eviction, standing, startedAt + 2 * limit, limit);
        expect(response).to.deep.equal({ entry: null, againMilliseconds: null });
      }
    });
  }

  it('cuts a message that is too long in the same way each time', () => {
    const long: Standing = { kind: 'waits', message: '🐬'.repeat(5000), expectedSeconds: null };
    const { entry } = respond(activeEviction(), long, startedAt, limit);
    expect(Array.from(entry?.message ?? '').length).to.equal(mostMessageCharacters);
    const reported = activeEviction({ heartbeatAt: startedAt, message: entry?.message ?? '' });
    expect(respond(reported, long, startedAt + minute, limit).entry).to.equal(null);
  });

  it('never reports a time that the API server would refuse, and never lets the deadline pass', () => {
    const offset = fc.integer({ min: -30, max: 7200 }).map((seconds) => startedAt + seconds * second);
    const standing = fc.oneof(
      fc.constant(mayGo),
      fc.record({
        kind: fc.constant('waits' as const),
        message: fc.string(),
        expectedSeconds: fc.option(fc.integer({ min: 0, max: 100_000 })),
      }),
    );
    fc.assert(
      fc.property(standing, offset, fc.option(offset), fc.integer({ min: 0, max: 999 }), (given, at, beat, part) => {
        const now = at + part;
        const eviction = activeEviction({ heartbeatAt: beat, message: 'before' });
        const { entry, againMilliseconds } = respond(eviction, given, now, limit);
        if (entry === null) {
          // A heartbeat from the future (of another process with another clock) makes the next one later.
          expect(againMilliseconds).to.be.greaterThan(0);
          expect(now + (againMilliseconds ?? 0) - (beat ?? 0)).to.be.at.most(4 * minute);
          return;
        }
        expect(entry.heartbeatAt % second).to.equal(0);
        expect(entry.heartbeatAt).to.be.at.least(Math.max(startedAt, beat ?? 0));
        expect(entry.expectedAt ?? entry.heartbeatAt).to.be.at.least(entry.heartbeatAt);
        expect(entry.completedAt ?? entry.heartbeatAt).to.equal(entry.heartbeatAt);
        expect(Array.from(entry.message).length).to.be.at.most(mostMessageCharacters);
      }),
    );
  });
});
