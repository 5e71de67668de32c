import { expect } from 'chai';
import { roleLabel } from '../../../src/moco/names.ts';
import type { Change } from '../../verification/witness/moment.ts';
import { historyOf } from './history.ts';

const pod = (atMilliseconds: number, labels: Readonly<Record<string, string>>, ready: boolean): Change => {
  const object = {
    metadata: { name: 'moco-test-0', uid: 'a', namespace: 'default', labels },
    status: { podIP: '127.0.0.9', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  } as unknown as Change['identity'];
  return { revision: atMilliseconds, atMilliseconds, kind: 'Pod', object, identity: object };
};
const cluster = (atMilliseconds: number, status: string, reason: string, currentPrimaryIndex: number): Change => {
  const conditions = ['Available', 'Healthy'].map((type) => ({ type, status, reason }));
  const object = {
    metadata: { name: 'test', uid: 'b', namespace: 'default' },
    status: { currentPrimaryIndex, conditions },
  } as unknown as Change['identity'];
  return { revision: atMilliseconds, atMilliseconds, kind: 'MySQLCluster', object, identity: object };
};

describe('the history of a cluster', () => {
  it('has what changed after each act, in order, and no change that was not reported', () => {
    const changes = [
      pod(1, {}, false),
      cluster(2, 'False', 'Incomplete', 0),
      pod(3, { [roleLabel]: 'primary' }, false),
      pod(4, { [roleLabel]: 'primary' }, true),
      cluster(6, 'True', 'Healthy', 0),
      cluster(7, 'True', 'Healthy', 1),
      pod(8, {}, true),
      { ...pod(9, {}, true), object: null },
    ];
    const notes = [{ atMilliseconds: 5, what: 'scenario', text: 'demotes member 0' }];
    expect(historyOf(changes, notes)).to.deep.equal([
      {
        act: 'creates the cluster',
        lines: ['Available False (Incomplete), Healthy False (Incomplete)', '0 role primary', '0 ready'],
      },
      {
        act: 'demotes member 0',
        lines: ['Available True (Healthy), Healthy True (Healthy)', 'index 1', '0 role gone'],
      },
    ]);
  });
});
