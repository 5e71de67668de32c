import type { SequenceSpec } from '../../../src/api/rollout-sequence.ts';
import type { FleetCluster, StagedFleet } from './staged-fleet.ts';

// What a sequence promises, in words of its own: it shares no code with the controller.

export const tiers = ['canary', 'most', 'rest'] as const;
export type Tier = (typeof tiers)[number];

const settleSeconds = 60;

export const sequence: SequenceSpec = {
  settleDuration: settleSeconds,
  stages: [
    { name: 'canary', selector: { matchLabels: { tier: 'canary' } }, maxConcurrent: 1, soakDuration: '10m' },
    {
      name: 'most',
      selector: { matchLabels: { tier: 'most' } },
      maxConcurrent: '50%',
      soakDuration: 120,
      maxFailures: 1,
    },
    { name: 'rest', maxConcurrent: 2 },
  ],
};

const limits: Readonly<Record<Tier, (clusters: number) => number>> = {
  canary: () => 1,
  most: (clusters) => Math.max(1, Math.floor(clusters / 2)),
  rest: () => 2,
};
export const soaks: Readonly<Record<Tier, number>> = { canary: 600, most: 120, rest: 0 };
const failures: Readonly<Record<Tier, number>> = { canary: 0, most: 1, rest: 0 };

export const tierOf = ({ labels }: FleetCluster): Tier => tiers.find((tier) => tier === labels['tier']) ?? 'rest';

export const isComplete = ({ revision, status }: FleetCluster): boolean =>
  status.completeSince !== undefined && status.updateRevision === revision;

export const isFailing = ({ status }: FleetCluster): boolean => status.rollout?.failing !== undefined;

/** A rollout that a person keeps waiting, as its status shows, leaves its place to another one. */
export const isRolling = ({ status: { rollout, hold } }: FleetCluster): boolean =>
  rollout?.begunAt !== undefined && hold?.rule !== 'Paused' && hold?.rule !== 'Released';

/** It failed in that tier, or no cluster was left there, in the middle of a change. */
export interface Gone {
  readonly key: string;
  readonly tier: Tier;
  readonly failing: boolean;
}

/** Why the cluster should not begin, or `null`. `about` are those that begin at the same moment. */
export function faultOf(
  fleet: StagedFleet,
  cluster: FleetCluster,
  about: ReadonlySet<FleetCluster>,
  gone: Iterable<Gone> = [],
): string | null {
  const all = [...fleet.clusters.values()].filter(({ offline }) => !offline);
  const of = (tier: Tier) => all.filter((one) => tierOf(one) === tier);
  const tier = tierOf(cluster);
  const { revision, startedAt } = cluster.status.rollout ?? {};
  if (revision !== cluster.revision || fleet.secondsSince(startedAt) < settleSeconds) return 'it has not settled';
  for (const other of tiers) if (of(other).filter(isFailing).length > failures[other]) return `${other} fails`;
  for (const one of gone) {
    const isEarlier = tiers.indexOf(one.tier) < tiers.indexOf(tier);
    if (isEarlier || (one.failing && failures[one.tier] === 0)) return `${one.key} of ${one.tier} has gone`;
  }
  for (const earlier of tiers.slice(0, tiers.indexOf(tier))) {
    for (const one of of(earlier)) {
      if (!isComplete(one)) return `${one.key} of ${earlier} is not complete`;
      if (fleet.secondsSince(one.status.completeSince) < soaks[earlier]) return `${one.key} of ${earlier} soaks`;
    }
  }
  const rolling = of(tier).filter((one) => isRolling(one) || about.has(one)).length;
  return rolling < limits[tier](of(tier).length) ? null : `${tier} is full`;
}
