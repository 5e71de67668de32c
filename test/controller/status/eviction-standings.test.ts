import { expect } from 'chai';
import { type Standpoint, standingOf } from '../../../src/controller/status/eviction-standings.ts';
import { decide } from '../../../src/core/decide.ts';
import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';
import type { Standing } from '../../../src/evictions/respond.ts';
import { type ClusterBuilder, cluster, three } from '../../core/cluster-builder.ts';
import { member } from '../../core/member-builder.ts';

/** Where the member with this ordinal stands. */
function standing(of: ClusterBuilder, ordinal: number, settings: Partial<RolloutPolicy> = {}): Standing {
  const policy: RolloutPolicy = { ...defaultPolicy, nodeMaintenance: 'Switchover', ...settings };
  const snapshot = of.facts();
  const { uid = 'none' } = snapshot.members.find((one) => one.ordinal === ordinal) ?? {};
  const objects = { statefulSet: { name: 'moco-test' } } as unknown as Standpoint['objects'];
  return standingOf(uid, { snapshot, policy, decision: decide(snapshot, policy), objects });
}

const leaving = (ordinal: number) => member(ordinal).onCordonedNode();

const table: Readonly<Record<string, readonly [given: Standing, kind: Standing['kind'], message: RegExp]>> = {
  'the primary, before it moves': [
    standing(three(leaving(0)), 0),
    'waits',
    /^moco-test-0 is the primary, which moves before the pod may go$/,
  ],
  'the primary, while something holds that': [
    standing(three(leaving(0), leaving(1)), 0),
    'waits',
    /^moco-test-0 is the primary, which cannot move yet: NoReplicaElsewhere, /,
  ],
  'a replica of a cluster that works': [
    standing(three(leaving(1)), 1),
    'mayGo',
    /^moco-test-1 is a replica, and every other member participates$/,
  ],
  'a replica that does not participate itself': [standing(three(leaving(1).lagging()), 1), 'mayGo', /replica/],
  'a replica while another one does not participate': [
    standing(three(leaving(1), member(2).lagging()), 1),
    'waits',
    /^moco-test-1 stays while moco-test-2 does not participate$/,
  ],
  'a replica while another one has no pod': [
    standing(three(leaving(1)).missing(2), 1),
    'waits',
    /^moco-test-1 stays while member 2 does not participate$/,
  ],
  'a replica while the primary has just changed': [
    standing(three(leaving(1)).mysqlCluster({ primarySettledForSeconds: null }), 1),
    'waits',
    /^moco-test-1 stays until the switchover is over$/,
  ],
  'a replica that this program evicts itself': [
    standing(three(leaving(1)), 1, { nodeMaintenance: 'Evacuate' }),
    'waits',
    /^moco-test-1 is a replica, which moco-rollout evicts$/,
  ],
  'a replica that this program would evict, but which does not participate': [
    standing(three(leaving(1).lagging()), 1, { nodeMaintenance: 'Evacuate' }),
    'mayGo',
    /replica/,
  ],
  'any member where the setting is Ignore': [
    standing(three(leaving(0)), 0, { nodeMaintenance: 'Ignore' }),
    'mayGo',
    /nodeMaintenance is Ignore/,
  ],
  'any member while the settings are not known': [
    standing(three(leaving(0)).but({ settingsProblem: 'policies cannot be read' }), 0, { nodeMaintenance: 'Ignore' }),
    'waits',
    /settings are not known: policies cannot be read/,
  ],
  'a member whose pod is terminating': [standing(three(leaving(0).terminating()), 0), 'mayGo', /terminating/],
  'the only member': [standing(cluster(1).members(leaving(0)), 0), 'mayGo', /only member/],
  'a pod that is no member': [standing(three(), 7), 'mayGo', /no member/],
  'a pod without an owner and with the labels of a member': [
    standing(three(member(1).ofNobody()), 1),
    'mayGo',
    /no member/,
  ],
};

describe('where a member stands whose eviction was requested:', () => {
  for (const [who, [given, kind, message]] of Object.entries(table)) {
    it(`${who} ${kind === 'waits' ? 'waits' : 'may go'}`, () => {
      expect(given.kind).to.equal(kind);
      expect(given.message).to.match(message);
    });
  }

  it('a primary that MOCO is moving waits, at most as long as a switchover may take', () => {
    const demoted = standing(three(leaving(0).demotedByUs(30, 'node-leaving')), 0);
    expect(demoted).to.deep.equal({
      kind: 'waits',
      message: 'moco-test-0 is the primary: MOCO moves it to another member',
      expectedSeconds: defaultPolicy.switchoverTimeoutSeconds - 30,
    });
  });
});
