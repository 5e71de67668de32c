import { expect } from 'chai';
import type { EndingClaim } from '../../src/core/on-demand-facts.ts';
import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { check, decideCase, deletes, demotes, evicts, holds, lowers, type Table } from './table.ts';

const stale = () => cluster(3).templateChanged();
const endsWith = (ordinal: number, state: EndingClaim['state'] = 'terminating') =>
  holds({ rule: 'ClaimTerminating', member: ordinal, claims: [{ name: `mysql-data-moco-test-${ordinal}`, state }] });
const overridden = { overrides: [{ rule: 'ClaimTerminating', remainingSeconds: 60 }] };

const claims: Table = {
  'a replica whose claim is being deleted is not evicted': {
    given: stale().members(member(2).stale().claimEnds()),
    decides: endsWith(2),
  },
  'nor one whose claim is gone while its pod has the volume mounted': {
    given: stale().members(member(2).stale().claimEnds('missing')),
    decides: endsWith(2, 'missing'),
  },
  'the primary does not hand over to be replaced': {
    given: cluster(3).members(member(0).stale().claimEnds()),
    decides: endsWith(0),
  },
  'a single member stays': {
    given: cluster(1).templateChanged().members(member(0).stale().claimEnds()),
    decides: endsWith(0),
  },
  'a member that is down frees its claim as well': {
    given: stale().members(member(2).stale().down('CrashLoopBackOff').claimEnds()),
    decides: endsWith(2),
  },
  'others that are down are restarted without it': {
    given: stale().members(
      member(1).stale().down('CrashLoopBackOff'),
      member(2).stale().down('CrashLoopBackOff').claimEnds(),
    ),
    decides: deletes('MemberDown', 1),
  },
  'a pod that no node takes mounts no claim that is gone': {
    given: stale().members(member(2).stale().unschedulable().claimEnds('missing')),
    decides: deletes('MemberDown', 2),
  },
  'a pod whose image is missing has its volume mounted all the same': {
    given: stale().members(member(2).stale().down('ImagePullBackOff').claimEnds('missing')),
    decides: endsWith(2, 'missing'),
  },
  'but its claim that is being deleted has the data of the pod before it': {
    given: stale().members(member(2).stale().down('ImagePullBackOff').claimEnds()),
    decides: endsWith(2),
  },
  'an impaired member stays': {
    given: stale().members(member(2).stale().impaired('slow-log').claimEnds()),
    decides: endsWith(2),
  },
  'a running replica stays': {
    given: stale().members(member(2).stale().lagging().claimEnds()),
    decides: endsWith(2),
  },
  'the partition is not lowered past it': {
    given: stale().atPartition(3).members(member(2).stale().claimEnds()),
    settings: { mode: 'Partition' },
    decides: endsWith(2),
  },
  'the partition is lowered past others': {
    given: stale().atPartition(3).members(member(1).stale().claimEnds()),
    settings: { mode: 'Partition' },
    decides: lowers('ReplicaHealthy', 2, 2),
  },
  'an old reading holds until there is another one': {
    given: stale().members(member(2).stale().claimEnds().comesBack({ ageSeconds: 600 })),
    decides: endsWith(2),
  },
  'a person who gives the member up has it cloned anew': {
    given: cluster(3).members(member(0).stale().claimEnds()),
    settings: overridden,
    decides: demotes(0),
  },
  'and those that are down are restarted together': {
    given: stale().members(
      member(1).stale().down('CrashLoopBackOff'),
      member(2).stale().down('CrashLoopBackOff').claimEnds(),
    ),
    settings: overridden,
    decides: deletes('MemberDown', 2, 1),
  },
};

describe('a claim that is being deleted', () => {
  for (const [sentence, one] of Object.entries(claims)) it(sentence, () => check(one));

  it('of an updated member holds nothing', () => {
    expect(decideCase({ given: cluster(3).members(member(2).updated().claimEnds()) }).complete).to.equal(true);
  });

  it('does not hold what leaves the pod alone', () => {
    const given = stale().members(member(2).stale().changeable().claimEnds());
    const settings = {
      inPlaceUpdates: { mode: 'IfPossible', containers: [], resources: true, metadata: [], primary: 'InPlace' },
    } as const;
    expect(decideCase({ given, settings }).step.kind).to.equal('updateInPlace');
  });
});

const tied = (ordinal: number) =>
  holds({
    rule: 'NodeTakesNoPods',
    member: ordinal,
    nodeName: `n-${ordinal}`,
    refusals: ['is cordoned'],
    ties: [`the volume pvc-${ordinal}`],
  });

const nodes: Table = {
  'a replica that has to move anyway goes first': {
    given: stale().members(member(1).stale().onCordonedNode()),
    decides: evicts('ReplicaHealthy', 1),
  },
  'but not before the replicas if it is the primary': {
    given: stale().members(member(0).stale().onCordonedNode()),
    decides: evicts('ReplicaHealthy', 2),
  },
  'nor if MOCO protects it': {
    given: stale().members(member(1).stale().onCordonedNode().preventDelete()),
    decides: evicts('ReplicaHealthy', 2),
  },
  'a replica that would stay Pending goes last': {
    given: stale().members(member(2).stale().tiedToCordonedNode()),
    decides: evicts('ReplicaHealthy', 1),
  },
  'and not at all': {
    given: cluster(3).members(member(0).stale(), member(2).stale().tiedToCordonedNode()),
    decides: tied(2),
  },
  'a single member stays': {
    given: cluster(1).templateChanged().members(member(0).stale().tiedToCordonedNode()),
    decides: tied(0),
  },
  'the primary does not hand over': {
    given: cluster(3).members(member(0).stale().tiedToCordonedNode()),
    decides: tied(0),
  },
  'a member that is down has nothing to lose': {
    given: stale().members(member(2).stale().down('CrashLoopBackOff').tiedToCordonedNode()),
    decides: deletes('MemberDown', 2),
  },
  'the partition is not lowered past it': {
    given: stale().atPartition(3).members(member(2).stale().tiedToCordonedNode()),
    settings: { mode: 'Partition' },
    decides: tied(2),
  },
};

describe('a node that takes no pods', () => {
  for (const [sentence, one] of Object.entries(nodes)) it(sentence, () => check(one));
});

describe('a next pod that would not be admitted', () => {
  const refused = (ordinal: number) => member(ordinal).stale().comesBack({ refusal: 'exceeded quota' });
  const holdsFor = (ordinal: number) => holds({ rule: 'SuccessorRefused', member: ordinal, message: 'exceeded quota' });

  it('holds a member that works', () => {
    check({ given: stale().members(refused(2)), decides: holdsFor(2) });
    check({ given: cluster(3).members(refused(0)), decides: holdsFor(0) });
    check({ given: cluster(1).templateChanged().members(refused(0)), decides: holdsFor(0) });
  });

  it('holds nothing of a member that is down', () => {
    check({ given: stale().members(refused(2).down('CrashLoopBackOff')), decides: deletes('MemberDown', 2) });
  });
});

describe('what was not read', () => {
  it('allows no end of a pod', () => {
    check({
      given: stale().members(member(2).stale().comesBack(null)),
      decides: holds({ rule: 'ComebackUnknown', members: [2] }),
    });
    check({
      given: stale().members(member(2).stale().down('CrashLoopBackOff').comesBack(null)),
      decides: holds({ rule: 'ComebackUnknown', members: [2] }),
    });
  });

  it('is asked for once nothing else holds', () => {
    const given = stale()
      .members(member(2).stale().comesBack(null))
      .maintenance([[60, 600]]);
    expect(decideCase({ given }).hold?.rule).to.equal('OutsideMaintenanceWindow');
  });
});
