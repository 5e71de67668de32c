import { expect } from 'chai';
import type { Change } from '../../verification/witness/moment.ts';
import type { WitnessedKind, WitnessedObject } from '../../verification/witness/objects.ts';
import { departuresOf } from './departures.ts';

let revision = 0;

function change(atMilliseconds: number, kind: WitnessedKind, name: string, more: object, isDeleted = false): Change {
  revision += 1;
  const metadata = { name, uid: name, resourceVersion: String(revision) };
  const object = { metadata: { ...metadata, ...('metadata' in more ? (more.metadata as object) : {}) }, ...more };
  const identity = { ...object, metadata: { ...metadata, ...object.metadata } } as WitnessedObject;
  return { revision, atMilliseconds, kind, object: isDeleted ? null : identity, identity };
}

const primary = (at: number, ordinal: number): Change =>
  change(at, 'MySQLCluster', 'test', { status: { currentPrimaryIndex: ordinal } });
const terminating = { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } };
const going = (at: number, ordinal: number, uid = `${ordinal}`): Change => {
  const pod = change(at, 'Pod', `moco-test-${ordinal}`, { metadata: { ...terminating.metadata, uid } });
  return pod;
};

describe('departures', () => {
  it('are pods that begin to terminate, each once, in order', () => {
    const changes = [
      primary(0, 0),
      change(1, 'Pod', 'moco-test-2', {}),
      change(1, 'Pod', 'filler', terminating),
      change(1, 'Pod', 'moco-rollout-preflight-1', terminating),
      going(2, 2),
      going(3, 2),
      going(4, 1),
      change(5, 'Pod', 'moco-test-1', { metadata: { uid: '1' } }, true),
    ];
    expect(departuresOf(changes, 0)).to.deep.equal([
      { ordinal: 2, atMilliseconds: 2, asPrimary: false },
      { ordinal: 1, atMilliseconds: 4, asPrimary: false },
    ]);
  });

  it('count a pod that is gone at once, and a successor of the same name', () => {
    const changes = [change(1, 'Pod', 'moco-test-2', {}, true), going(2, 2, 'successor')];
    expect(departuresOf(changes, 0).map(({ ordinal }) => ordinal)).to.deep.equal([2, 2]);
  });

  it('know who was primary at that moment', () => {
    expect(departuresOf([primary(0, 0), going(1, 0), primary(2, 1), going(3, 1)], 0)).to.deep.equal([
      { ordinal: 0, atMilliseconds: 1, asPrimary: true },
      { ordinal: 1, atMilliseconds: 3, asPrimary: true },
    ]);
  });

  it('leave out pods that went before', () => {
    expect(departuresOf([going(1, 2), going(5, 2), going(6, 1)], 4).map(({ ordinal }) => ordinal)).to.deep.equal([1]);
  });
});
