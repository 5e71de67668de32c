import type { StepRule } from '../../src/core/step.ts';
import { cluster, lastOne, stale, three } from './cluster-builder.ts';
import { changeOf, member, resourcesOf } from './member-builder.ts';
import {
  type Case,
  deletes,
  demotes,
  evicts,
  holds,
  lowers,
  promotes,
  resizes,
  updates,
  updatesInPlace,
  when,
} from './table.ts';

const inPlace = updatesInPlace('IfPossible');

/** The compiler demands a line for each rule by which a member is taken: it applies, and it just does not. */
export const everyStep: Readonly<Record<StepRule, { readonly applies: Case; readonly justDoesNot: Case }>> = {
  MemberDown: {
    applies: when(stale().members(member(1).creating(60)), deletes('MemberDown', 1)),
    justDoesNot: when(stale().members(member(1).creating(59)), deletes('MemberNotParticipating', 1), {}, 1),
  },
  MemberUnreachable: {
    applies: when(stale().members(member(1).unreachable()), deletes('MemberUnreachable', 1)),
    justDoesNot: when(
      stale().members(member(1).unreachable(), member(2).unreachable()),
      holds({ rule: 'MemberUnreachable', member: 2 }),
    ),
  },
  MemberNotParticipating: {
    applies: when(stale().members(member(1).lagging()), deletes('MemberNotParticipating', 1)),
    justDoesNot: when(stale(), evicts('ReplicaHealthy', 2)),
  },
  PrimaryNotParticipating: {
    applies: when(
      stale().members(member(0).agentDead()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
    justDoesNot: when(
      stale().members(member(0).agentDead(), member(1).lagging()).primaryUnavailableFor(180),
      deletes('MemberNotParticipating', 1),
    ),
  },
  MemberImpaired: {
    applies: when(stale().members(member(1).sidecarNotReady('slow-log', 60)), deletes('MemberImpaired', 1)),
    justDoesNot: when(
      stale().members(member(1).sidecarNotReady('slow-log', 59)),
      holds({ rule: 'BlockedByPDB', budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null }),
      {},
      1,
    ),
  },
  ReplicaHealthy: { applies: when(stale(), evicts('ReplicaHealthy', 2)), justDoesNot: when(lastOne(), demotes(0)) },
  NothingRestarts: {
    applies: when(three(member(2).stale().changeable()), updates('NothingRestarts', 2, changeOf()), inPlace),
    justDoesNot: when(three(member(2).stale().changeable()), evicts('ReplicaHealthy', 2)),
  },
  ContainersRestart: {
    applies: when(
      three(member(2).stale().changeable('agent')),
      updates('ContainersRestart', 2, changeOf('agent')),
      inPlace,
    ),
    justDoesNot: when(three(member(2).stale().notChangeable('args differ')), evicts('ReplicaHealthy', 2), inPlace),
  },
  ResizeRestartsNothing: {
    applies: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('mysqld')]),
      ),
      resizes('ResizeRestartsNothing', 2, resourcesOf('mysqld')),
      inPlace,
    ),
    justDoesNot: when(
      three(member(2).stale().resizing({ awaited: [] })),
      updates('NothingRestarts', 2, changeOf()),
      inPlace,
    ),
  },
  ResizeRestartsContainers: {
    applies: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('slow-log', true)]),
      ),
      resizes('ResizeRestartsContainers', 2, resourcesOf('slow-log', true)),
      inPlace,
    ),
    justDoesNot: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('slow-log')]),
      ),
      resizes('ResizeRestartsNothing', 2, resourcesOf('slow-log')),
      inPlace,
    ),
  },
  PrimaryLast: {
    applies: when(lastOne(), demotes(0)),
    justDoesNot: when(three(member(0).stale(), member(1).stale()), evicts('ReplicaHealthy', 1)),
  },
  NodeLeaving: {
    applies: when(three(member(2).onCordonedNode()), evicts('NodeLeaving', 2), { nodeMaintenance: 'Evacuate' }),
    justDoesNot: when(three(member(2).onCordonedNode()), 'idle', { nodeMaintenance: 'Switchover' }),
  },
  SingleMember: {
    applies: when(stale(1), evicts('SingleMember', 0)),
    justDoesNot: when(cluster(1).statefulSet({ currentRevision: 'old' }), promotes(1)),
  },
  AlreadyUpdated: {
    applies: when(stale().atPartition(3).members(member(2).updated().lagging()), lowers('AlreadyUpdated', 2), {
      mode: 'Partition',
    }),
    justDoesNot: when(stale().atPartition(3).members(member(2).lagging()), lowers('MemberNotParticipating', 2, 2), {
      mode: 'Partition',
    }),
  },
};
