import * as fc from 'fast-check';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { anyPolicy, plausibleSnapshot } from './arbitrary-snapshot.ts';
import { stale, three } from './cluster-builder.ts';
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
/** What no example shows by itself: in each, one rule alone keeps a step from what it needs. */
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
];

const pairs = [...everyExample.map(([, example]) => example), ...Object.values(everyStep)];
const states = [...pairs.flatMap(({ applies, justDoesNot }) => [applies, justDoesNot]), ...others].map(stateOf);
const mostTaken = 3;

/**
 * Beside the examples of rules and steps, of which the compiler demands one each: a few facts and settings of an example
 * are those of another cluster. So a new rule or fact is drawn as often as the others, however rarely clusters have it.
 */
export const nearAnExample: fc.Arbitrary<State> = fc
  .tuple(fc.constantFrom(...states), plausibleSnapshot, anyPolicy)
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
