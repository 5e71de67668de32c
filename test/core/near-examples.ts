import * as fc from 'fast-check';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { markOfLeavingNode } from '../../src/core/step.ts';
import { anyPolicy, plausibleSnapshot } from './arbitrary-snapshot.ts';
import { lastOne, stale, three } from './cluster-builder.ts';
import { member, resourcesOf, revisionBefore } from './member-builder.ts';
import { everyExample } from './rules/every-example.ts';
import { everyStep } from './step-examples.ts';
import { type Case, updatesInPlace } from './table.ts';

/** One input of `decide`. */
export type State = readonly [snapshot: ClusterSnapshot, policy: RolloutPolicy];

const inPlace = updatesInPlace('IfPossible', { primary: 'InPlace' });
const refusal = {
  nodeName: 'n-1',
  members: [2],
  message: 'no',
  againInSeconds: 60,
  result: 'ImageUnavailable',
} as const;
const heldOnCordonedNode = () =>
  stale()
    .members(member(1).stale().onCordonedNode())
    .memory({ waiting: [0, 1, 2] })
    .but({ strategyKeeper: 'policy' })
    .maintenance([]);
/** What examples show rarely or not at all: in each, one rule alone keeps a step from what it needs. */
const others: readonly Pick<Case, 'given' | 'settings'>[] = [
  {
    given: stale(5).members(member(4).updated().participatingFor(1), member(3).updated().participatingFor(1)),
    settings: { maxUnavailable: 2 },
  },
  {
    given: stale()
      .members(member(2).lagging())
      .preflight({ refusals: [refusal] }),
  },
  {
    given: stale()
      .atPartition(3)
      .preflight({ refusals: [refusal] }),
    settings: { mode: 'Partition' },
  },
  { given: three(member(0).stale().resizing({ forSeconds: 10 })), settings: inPlace },
  { given: three(member(0).stale().changeable('slow-log')), settings: { ...inPlace, primaryUpdatePolicy: 'Manual' } },
  {
    given: three(
      member(0)
        .stale()
        .resizable([resourcesOf('mysqld')]),
    ),
    settings: { ...inPlace, primaryUpdatePolicy: 'Manual' },
  },
  {
    given: three(member(0).stale().changeable('slow-log'), member(1).stale()),
    settings: { ...inPlace, pinnedOrdinals: [1] },
  },
  {
    given: three(member(0).stale(), member(1).stale().terminating(1).but({ graceSeconds: 0 }), member(2).updated())
      .but({ strategyKeeper: 'policy' })
      .statefulSet({ currentRevision: revisionBefore })
      .memory({ waiting: [0, 1], verified: true })
      .keepingRevisions(),
    settings: { paused: true },
  },
  ...(['missing', 'unbound'] as const).map((claim) => ({
    given: heldOnCordonedNode()
      .missing(2)
      .members(member(1).stale(), member(2).data({ record: null, claim }))
      .memory({ waiting: [0, 1] })
      .keepingRevisions(),
    settings: { paused: true },
  })),
  { given: stale().toMysqld('8.0.40') },
  { given: stale().budgets({ closed: true, ofMoco: false, disruptionsAllowed: 0 }) },
  { given: stale().members(member(2).stale().claimEnds('lost')) },
  {
    given: stale()
      .members(member(2).stale().lagging(86_400))
      .mysqlCluster({ mocoState: 'Failed', available: false, healthy: false }),
  },
  { given: lastOne().members(member(1).demotedBySomebody()) },
  {
    given: lastOne().but({ nodesLeaving: { names: ['n-7'], overForSeconds: 0 } }),
    settings: { rolloutsDuringMaintenance: 'Wait' },
  },
  {
    given: stale().but({ nodesLeaving: { names: [], overForSeconds: 0 } }),
    settings: { rolloutsDuringMaintenance: 'Wait' },
  },
  {
    given: three(
      member(2)
        .stale()
        .resizing({ awaited: ['mysqld'] }),
      member(1).stale().changeable(),
    ),
    settings: inPlace,
  },
  {
    given: three(
      member(2)
        .stale()
        .resizing({ awaited: ['mysqld'] }),
      member(1)
        .stale()
        .resizable([resourcesOf('mysqld')]),
    ),
    settings: inPlace,
  },
  {
    given: three(member(0).demotedByUs(30, markOfLeavingNode)),
    settings: { nodeMaintenance: 'Switchover' },
  },
  // A held member came back updated. Its mysqld has run once, and now waits for its image.
  {
    given: three(
      member(0).stale(),
      member(1).updated().down('ImagePullBackOff').container('mysqld', { hasRun: true }).data(revisionBefore),
      member(2).updated(),
    )
      .but({ strategyKeeper: 'policy' })
      .statefulSet({ currentRevision: revisionBefore })
      .memory({
        waiting: [0],
        verified: true,
        updatedOutOfBand: [1],
        createdWhileHeld: [{ ordinal: 1, started: false }],
      })
      .keepingRevisions(),
    settings: { paused: true },
  },
  // A member without a pod has data that the update revision refuses, and another member has updated data.
  {
    given: three(member(0).stale().mysqld('8.0.40'), member(1).stale(), member(2).updated().mysqld('8.0.40'))
      .missing(1)
      .toMysqld('8.0.40')
      .but({ strategyKeeper: 'policy' })
      .memory({ waiting: [0, 1], verified: true })
      .keepingRevisions(),
  },
  // A member that was drained while it was held waits for its node.
  ...[
    member(1).stale().awaitingNode(),
    member(1).stale().awaitingNode('anti-affinity'),
    member(1).stale().awaitingNode('no room'),
    member(1).stale().preparing(61),
  ].map((one) => ({
    given: stale().members(one).maintenance([]),
  })),
  // A held member leaves its node: its next pod starts at the update revision, or at its own.
  ...[heldOnCordonedNode(), heldOnCordonedNode().keepingRevisions()].map((given) => ({
    given,
    settings: { nodeMaintenance: 'Evacuate' as const },
  })),
];

const pairs = [...everyExample.map(([, example]) => example), ...Object.values(everyStep)];
export const exampleStates: readonly State[] = [
  ...pairs.flatMap(({ applies, justDoesNot }) => [applies, justDoesNot]),
  ...others,
].map(stateOf);
const mostTaken = 3;

/**
 * Beside the examples of rules and steps, of which the compiler demands one each: a few facts and settings of an example
 * are those of another cluster. So a new rule or fact is drawn as often as the others, however rarely clusters have it.
 */
export const nearAnExample: fc.Arbitrary<State> = fc
  .tuple(fc.constantFrom(...exampleStates), plausibleSnapshot, anyPolicy)
  .chain(([[snapshot, policy], otherSnapshot, otherPolicy]) =>
    fc
      .tuple(taken(snapshot), taken(policy))
      .map(([facts, settings]): State => [mixed(snapshot, otherSnapshot, facts), mixed(policy, otherPolicy, settings)]),
  );

export const aCluster: fc.Arbitrary<State> = fc.tuple(plausibleSnapshot, anyPolicy);

export function stateOf({ given, settings }: Pick<Case, 'given' | 'settings'>): State {
  return ['facts' in given ? given.facts() : given, { ...defaultPolicy, ...settings }];
}

const taken = <T extends object>(one: T): fc.Arbitrary<readonly (keyof T)[]> =>
  fc.uniqueArray(fc.constantFrom(...(Object.keys(one) as (keyof T)[])), { maxLength: mostTaken });

const mixed = <T extends object>(own: T, other: T, keys: readonly (keyof T)[]): T => ({
  ...own,
  ...Object.fromEntries(keys.map((key) => [key, other[key]])),
});
