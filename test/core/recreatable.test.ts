import { expect } from 'chai';
import type { EndingClaim } from '../../src/core/on-demand-facts.ts';
import { type ClusterBuilder, stale, three } from './cluster-builder.ts';
import { changeOf, member } from './member-builder.ts';
import {
  decideCase,
  deletes,
  demotes,
  evicts,
  holds,
  lowers,
  play,
  setsStrategy,
  updates,
  updatesInPlace,
  when,
} from './table.ts';

const endsWith = (ordinal: number, state: EndingClaim['state'] = 'terminating') =>
  holds({
    rule: 'ClaimTerminating',
    member: ordinal,
    claims: [{ name: `mysql-data-moco-test-${ordinal}`, state }],
    uncloneable: null,
  });
const overridden = { overrides: [{ rule: 'ClaimTerminating', remainingSeconds: 60 }] };

describe('a claim that is being deleted', () => {
  play({
    'a replica stays whose claim is gone while its pod has the volume mounted': when(
      stale().members(member(2).stale().claimEnds('missing')),
      endsWith(2, 'missing'),
    ),
    'the primary does not hand over to be replaced': when(three(member(0).stale().claimEnds()), endsWith(0)),
    'a single member stays': when(stale(1).members(member(0).stale().claimEnds()), endsWith(0)),
    'a member that is down frees its claim as well': when(
      stale().members(member(2).stale().down('CrashLoopBackOff').claimEnds()),
      endsWith(2),
    ),
    'others that are down are restarted without it': when(
      stale().members(
        member(1).stale().down('CrashLoopBackOff'),
        member(2).stale().down('CrashLoopBackOff').claimEnds(),
      ),
      deletes('MemberDown', 1),
    ),
    'a pod that no node accepts mounts no claim that is gone': when(
      stale().members(member(2).stale().unschedulable().claimEnds('missing')),
      deletes('MemberDown', 2),
    ),
    'claims that were not read may be terminating, even if no node accepts the pod': when(
      stale().members(member(2).stale().unschedulable().claimEnds('unread')),
      endsWith(2, 'unread'),
    ),
    'a pod whose image is missing has its volume mounted all the same': when(
      stale().members(member(2).stale().down('ImagePullBackOff').claimEnds('missing')),
      endsWith(2, 'missing'),
    ),
    'but its claim that is being deleted has the data of the pod before it': when(
      stale().members(member(2).stale().down('ImagePullBackOff').claimEnds()),
      endsWith(2),
    ),
    'an impaired member stays': when(stale().members(member(2).stale().impaired('slow-log').claimEnds()), endsWith(2)),
    'a running replica stays': when(stale().members(member(2).stale().lagging().claimEnds()), endsWith(2)),
    'the partition is not lowered past it': when(
      stale().atPartition(3).members(member(2).stale().claimEnds()),
      endsWith(2),
      { mode: 'Partition' },
    ),
    'the partition is lowered past others': when(
      stale().atPartition(3).members(member(1).stale().claimEnds()),
      lowers('ReplicaHealthy', 2, 2),
      { mode: 'Partition' },
    ),
    'an old reading holds until there is another one': when(
      stale().members(member(2).stale().claimEnds().recreatable({ ageSeconds: 600 })),
      endsWith(2),
    ),
    'a person who gives the member up has it cloned anew': when(
      three(member(0).stale().claimEnds()),
      demotes(0),
      overridden,
    ),
    'and those that are down are restarted together': when(
      stale().members(
        member(1).stale().down('CrashLoopBackOff'),
        member(2).stale().down('CrashLoopBackOff').claimEnds(),
      ),
      deletes('MemberDown', 2, 1),
      overridden,
    ),
    'what leaves the pod alone is done': when(
      stale().members(member(2).stale().changeable().claimEnds()),
      updates('NothingRestarts', 2, changeOf()),
      updatesInPlace('IfPossible'),
    ),
  });

  it('of an updated member holds nothing', () => {
    expect(decideCase({ given: three(member(2).updated().claimEnds()) }).complete).to.equal(true);
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

describe('a node that accepts no pods', () => {
  play({
    'a replica that has to move anyway goes first': when(
      stale().members(member(1).stale().onCordonedNode()),
      evicts('ReplicaHealthy', 1),
    ),
    'but not before the replicas if it is the primary': when(
      stale().members(member(0).stale().onCordonedNode()),
      evicts('ReplicaHealthy', 2),
    ),
    'nor if MOCO protects it': when(
      stale().members(member(1).stale().onCordonedNode().preventDelete()),
      evicts('ReplicaHealthy', 2),
    ),
    'a replica that would stay Pending goes last': when(
      stale().members(member(2).stale().tiedToCordonedNode()),
      evicts('ReplicaHealthy', 1),
    ),
    'and not at all': when(three(member(0).stale(), member(2).stale().tiedToCordonedNode()), tied(2)),
    'a single member stays': when(stale(1).members(member(0).stale().tiedToCordonedNode()), tied(0)),
    'a member that is down has nothing to lose': when(
      stale().members(member(2).stale().down('CrashLoopBackOff').tiedToCordonedNode()),
      deletes('MemberDown', 2),
    ),
    'the partition is not lowered past it': when(
      stale().atPartition(3).members(member(2).stale().tiedToCordonedNode()),
      tied(2),
      { mode: 'Partition' },
    ),
  });
});

describe('a next pod that would not be admitted', () => {
  const refused = (ordinal: number) => member(ordinal).stale().recreatable({ refusal: 'exceeded quota' });
  const holdsFor = (ordinal: number) => holds({ rule: 'SuccessorRefused', member: ordinal, message: 'exceeded quota' });

  play({
    'holds the primary': when(three(refused(0)), holdsFor(0)),
    'holds a single member': when(stale(1).members(refused(0)), holdsFor(0)),
  });
});

/** All members run, and none participates. */
const nobodyServes = (): ClusterBuilder =>
  stale()
    .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
    .primaryUnavailableFor(180);

describe('what was not read', () => {
  it('is asked for the primary as well, whose repair comes first, while the replicas are held for longer', () => {
    const given = nobodyServes().members(member(0).stale().lagging().recreatable(null));
    const { hold, asks } = decideCase({ given, settings: {} });
    expect(hold?.rule).to.equal('FailoverUnfinished');
    expect(asks).to.deep.include({ kind: 'recreatable', members: [0] });
  });

  it('is asked together with the other answers for which a step waits last', () => {
    const fresh = [0, 1, 2].map((ordinal) => member(ordinal).stale().recreatable(null));
    const given = stale()
      .members(...fresh)
      .mocoLease({ ageSeconds: null })
      .answers(1, { kind: 'ready' }, { ageSeconds: 60 });
    const { asks } = decideCase({ given, settings: {} });
    expect(asks.map(({ kind }) => kind)).to.include.members(['recreatable', 'moco', 'members']);
  });
  const unread = holds({ rule: 'RecreationUnknown', members: [2] });
  play({
    'allows no eviction': when(stale().members(member(2).stale().recreatable(null)), unread),
    'allows no deletion': when(stale().members(member(2).stale().down('CrashLoopBackOff').recreatable(null)), unread),
    'once it is, lets new pods start at the update revision, and the primary go': when(
      nobodyServes().keepingRevisions(),
      setsStrategy,
    ),
    'and then': when(nobodyServes(), deletes('PrimaryNotParticipating', 0)),
    'is asked for once nothing else holds': when(
      stale()
        .members(member(2).stale().recreatable(null))
        .maintenance([[60, 600]]),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: null, neededSeconds: 100, opensAt: 'T+60' }),
    ),
  });
});
