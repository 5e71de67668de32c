import { expect } from 'chai';
import { object } from '../../src/base/json.ts';
import { isAwaited, isRequested, mostMessageCharacters, projectEviction } from '../../src/evictions/eviction.ts';
import { activeEviction, rawEviction, startedAt } from './objects.ts';

describe('an Eviction', () => {
  it('becomes a record of the entry of this program', () => {
    const entry = {
      heartbeatTime: '2026-01-02T03:05:00Z',
      expectedCompletionTime: '2026-01-02T03:06:00Z',
      completionTime: '2026-01-02T03:05:30Z',
      message: 'waits',
    };
    expect(projectEviction(rawEviction({ state: 'Completed', entry }))).to.deep.equal({
      namespace: 'shop',
      name: 'pod-1-moco-test-0',
      uid: 'eviction',
      resourceVersion: '7',
      pod: { name: 'moco-test-0', uid: 'pod-0' },
      state: 'Completed',
      hasEnded: false,
      requesters: ['drain.example.com/node'],
      startedAt,
      heartbeatAt: startedAt + 55_000,
      expectedAt: startedAt + 115_000,
      completedAt: startedAt + 85_000,
      message: 'waits',
    });
  });

  it('does not concern this program before Kubernetes has made it a responder', () => {
    const raw = rawEviction();
    expect(projectEviction({ ...raw, status: {} })).to.equal(null);
    const others = [{ name: 'other.example.com/responder', priority: 10_000, state: 'Active' }];
    expect(projectEviction({ ...raw, status: { ...object(raw['status']), targetResponders: others } })).to.equal(null);
  });

  it('does not concern this program if its target is no pod', () => {
    expect(projectEviction({ ...rawEviction(), spec: { target: { podGroup: { name: 'a' } } } })).to.equal(null);
  });

  it('has ended once Kubernetes says that the pod is gone, or that no responder answers any more', () => {
    const ended = (type: string, status: string) =>
      projectEviction(rawEviction({ conditions: [{ type, status }] }))?.hasEnded;
    expect(ended('TargetEvicted', 'True')).to.equal(true);
    expect(ended('Failed', 'True')).to.equal(true);
    expect(ended('TargetEvicted', 'False')).to.equal(false);
  });

  it('names only requesters that have not withdrawn, and few of them', () => {
    const requesters = [
      { name: 'a.example.com/one', intent: 'Withdrawn' },
      ...['two', 'three', 'four', 'five'].map((name) => ({ name: `a.example.com/${name}`, intent: 'Eviction' })),
    ];
    expect(projectEviction(rawEviction({ requesters }))?.requesters).to.deep.equal([
      'a.example.com/two',
      'a.example.com/three',
      'a.example.com/four',
    ]);
  });

  it('is bounded, whatever the API server sends', () => {
    const many = (length: number, one: object) => Array.from({ length }, () => one);
    expect(() => projectEviction(rawEviction({ conditions: many(101, {}) }))).to.throw(RangeError);
    expect(() => projectEviction(rawEviction({ requesters: many(101, {}) }))).to.throw(RangeError);
    expect(() => projectEviction(rawEviction({ pod: { name: 'a'.repeat(254), uid: 'b' } }))).to.throw(RangeError);
    const raw = rawEviction();
    const status = object(raw['status']);
    for (const list of ['targetResponders', 'responders']) {
      expect(() => projectEviction({ ...raw, status: { ...status, [list]: many(12, {}) } })).to.throw(RangeError);
    }
    const long = projectEviction(rawEviction({ entry: { message: 'm'.repeat(100_000) } }));
    expect(long?.message?.length).to.equal(mostMessageCharacters);
  });

  it('does not fail on values of other types', () => {
    const raw = rawEviction();
    const status = object(raw['status']);
    for (const value of [null, 1, 'text', [], {}, [null], [1]]) {
      for (const field of Object.keys(status)) projectEviction({ ...raw, status: { ...status, [field]: value } });
      projectEviction({ ...raw, status: value });
      projectEviction({ ...raw, spec: value });
    }
    expect(projectEviction(rawEviction({ state: 'Paused' }))?.state).to.equal('Inactive');
    expect(projectEviction(rawEviction({ entry: { heartbeatTime: 'soon' } }))?.heartbeatAt).to.equal(null);
  });

  const states = {
    Inactive: { awaited: false, requested: false },
    Active: { awaited: true, requested: true },
    Completed: { awaited: false, requested: true },
    Interrupted: { awaited: false, requested: true },
    Canceled: { awaited: false, requested: false },
  } as const;
  for (const [state, { awaited, requested }] of Object.entries(states)) {
    it(`${state}: ${awaited ? 'waits' : 'does not wait'} for an answer; its pod ${requested ? 'has' : 'does not have'} to leave`, () => {
      const eviction = activeEviction({ state: state as keyof typeof states });
      expect(isAwaited(eviction)).to.equal(awaited);
      expect(isRequested(eviction)).to.equal(requested);
      expect(isAwaited({ ...eviction, hasEnded: true })).to.equal(false);
      expect(isRequested({ ...eviction, hasEnded: true })).to.equal(false);
    });
  }
});
