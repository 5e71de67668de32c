import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { countWrites } from '../../../../hack/bench/rollouts/write-count.ts';

const own = 'system:serviceaccount:moco-rollout-system:moco-rollout';
const kubernetes = 'system:kube-controller-manager';

describe('hack/bench/rollouts: the count of writes', () => {
  let directory = '';
  const lines: string[] = [];
  const wrote = (username: string, verb: string, resource: string, second: number, namespace = 'here'): void => {
    const requestReceivedTimestamp = `2026-07-01T12:00:${String(second).padStart(2, '0')}.000001Z`;
    const objectRef = { resource, namespace };
    lines.push(JSON.stringify({ verb, user: { username }, objectRef, requestReceivedTimestamp }));
  };
  const window = (namespace: string) => ({
    namespace,
    fromWall: Date.parse('2026-07-01T12:00:10Z'),
    toWall: Date.parse('2026-07-01T12:00:20Z'),
  });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-write-count-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('attributes them by author, within the time and the namespace of the rollout', async () => {
    wrote(own, 'create', 'pods', 11);
    wrote(own, 'update', 'mysqlrollouts', 12);
    wrote(own, 'create', 'events', 13);
    wrote(own, 'get', 'pods', 14);
    wrote('moco-controller', 'patch', 'pods', 15);
    wrote(kubernetes, 'delete', 'pods', 16);
    wrote(kubernetes, 'create', 'events', 16);
    wrote('nodes', 'patch', 'pods', 17);
    wrote('stage', 'patch', 'mysqlclusters', 17);
    wrote(own, 'update', 'mysqlrollouts', 9);
    wrote(own, 'update', 'mysqlrollouts', 21);
    wrote(own, 'update', 'mysqlrollouts', 15, 'there');
    await writeFile(join(directory, 'audit.log'), `${lines.join('\n')}\n`);
    expect(await countWrites({ directory }, [window('nowhere'), window('here')])).to.deep.equal([
      { own: 0, ownEvents: 0, moco: 0, kubernetes: 0 },
      { own: 2, ownEvents: 1, moco: 1, kubernetes: 1 },
    ]);
  });
});
