import type { fleet, turn } from '../../../src/core/rules/fleet.ts';
import { fleetHolds, stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

/** Members that are down wait for no other cluster. */
const waitsForOthers = <Rule extends keyof typeof fleetHolds>(rule: Rule, says: string) => ({
  applies: held(stale().waitingForOthers(fleetHolds[rule]), fleetHolds[rule]),
  says,
  justDoesNot: when(
    stale().waitingForOthers(fleetHolds[rule]).members(member(1).down('ImagePullBackOff')),
    deletes('MemberDown', 1),
  ),
});

export const examples: Examples<keyof typeof fleet | keyof typeof turn> = {
  SequencesUnreadable: waitsForOthers(
    'SequencesUnreadable',
    'the controller cannot read MySQLRolloutSequences: mysqlrolloutsequences is forbidden',
  ),
  SequenceGone: waitsForOthers(
    'SequenceGone',
    'MySQLRolloutSequence production selected this cluster but no longer exists; the deletion takes effect at 2026-07-01T12:00:00Z',
  ),
  SequenceConflict: waitsForOthers(
    'SequenceConflict',
    'more than one MySQLRolloutSequence selects this cluster: by-team, production',
  ),
  SequenceInvalid: waitsForOthers(
    'SequenceInvalid',
    'MySQLRolloutSequence production is invalid: expected spec.stages to be a list',
  ),
  StageFailing: waitsForOthers(
    'StageFailing',
    'prod/orders is failing in stage canary of sequence production (maxFailures 0): no other cluster begins',
  ),
  StageMemberGone: {
    ...waitsForOthers(
      'StageMemberGone',
      'prod/orders failed in stage canary of sequence production, and has since been deleted, taken offline or given different labels: a person has to let the others begin',
    ),
    alsoSays: [
      { ...fleetHolds.StageMemberGone, failing: false },
      'prod/orders was the last cluster of stage canary of sequence production, and was deleted, taken offline or given different labels in the middle of a change: nothing shows that the change works',
    ],
  },
  AwaitingEarlierStage: waitsForOthers(
    'AwaitingEarlierStage',
    'stage canary of sequence production goes first: 2 of 5 clusters are not up to date and healthy, including prod/orders',
  ),
  AwaitingSoak: {
    applies: held(stale().waitingForOthers(fleetHolds.AwaitingSoak, 30), fleetHolds.AwaitingSoak, {}, 30),
    says: 'stage canary of sequence production soaks for 24h, until 2026-07-01T12:00:00Z; prod/orders was the last cluster to complete its rollout',
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSoak, 0), next),
  },
  AwaitingSettle: {
    applies: held(stale().waitingForOthers(fleetHolds.AwaitingSettle, 30), fleetHolds.AwaitingSettle, {}, 30),
    says: 'sequence production lets a change settle for 5m30s, until 2026-07-01T12:00:00Z: it may not have reached the earlier stages yet',
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSettle, 0), next),
  },
  FleetFailing: waitsForOthers(
    'FleetFailing',
    'the rollouts of prod/orders and 2 more are failing (--max-failing-rollouts 3): no other cluster begins',
  ),
  AwaitingStageSlot: {
    ...waitsForOthers(
      'AwaitingStageSlot',
      '2 clusters of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
    ),
    alsoSays: [
      { ...fleetHolds.AwaitingStageSlot, limit: 1 },
      '1 cluster of stage most of sequence production may be rolling at a time; this one is number 4 in the queue',
    ],
  },
  AwaitingFleetSlot: {
    applies: held(stale().queued(4, 2), { place: 4, limit: 2, stuck: [] }),
    says: '2 clusters may be rolling at a time; this one is number 4 in the queue',
    justDoesNot: when(stale().queued(4, 2).members(member(1).down('ImagePullBackOff')), deletes('MemberDown', 1)),
    alsoSays: [
      { place: 4, limit: 2, stuck: [{ cluster: 'prod/orders', rule: 'MemberMissing' }] },
      '2 clusters may be rolling at a time; this one is number 4 in the queue; a slot is occupied by a cluster that may need a person: prod/orders (MemberMissing)',
      { place: 4, limit: 1, stuck: [], first: 'prod/orders' },
      'prod/orders goes first, and none of its members has verified its revision yet (--verify-first-cluster); this one is number 4 in the queue',
      {
        place: 4,
        limit: 3,
        stuck: ['a', 'b', 'c', 'd'].map((name) => ({ cluster: `prod/${name}`, rule: 'MemberMissing' })),
      },
      '3 clusters may be rolling at a time; this one is number 4 in the queue; 4 slots are occupied by clusters that may need a person: prod/a (MemberMissing), prod/b (MemberMissing), prod/c (MemberMissing) (and 1 more)',
    ],
  },
  AwaitingFleetInterval: {
    applies: held(stale().interval(60, 59), { flag: '--disruption-interval', seconds: 60 }, {}, 1),
    says: 'at least 60 s must pass between two disruptions in the fleet (--disruption-interval)',
    justDoesNot: when(stale().interval(60, 60), next),
  },
};
