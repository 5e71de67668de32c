import type { Figure } from '../record/figure.ts';
import { median } from '../record/spread.ts';
import { members } from './clusters.ts';
import { type FleetRollout, rolloutsPerMinute } from './fleet-rollout.ts';
import type { RivalName } from './installation.ts';
import type { MeasuredFleet } from './measured-fleet.ts';
import { mostClustersForRounds } from './settings.ts';

// The figures of the fleet benchmark and their limits.

const megabyte = 1_000_000;

/** The cost of the controller for each member of a fleet: calls by kind, and processor time. */
export interface CostOfMember {
  readonly calls: number;
  readonly writes: number;
  readonly events: number;
  readonly processorMilliseconds: number;
}

export function costOfMember(rollout: FleetRollout): CostOfMember {
  const { clusters, rival, requests, processorSeconds } = rollout;
  const { reads, writes, events, leases, refused } = requests[rival === "MOCO's partitions" ? 'MOCO' : rival];
  const all = clusters * members;
  return {
    calls: (reads + writes + events + leases + refused) / all,
    writes: writes / all,
    events: events / all,
    processorMilliseconds: ((processorSeconds[rival] ?? 0) * 1000) / all,
  };
}

/** The median over all rounds. */
export function medianOf(rollouts: readonly FleetRollout[], figure: (rollout: FleetRollout) => number): number {
  return median(rollouts.map(figure));
}

/** How many times MOCO applies a StatefulSet, divided by the number of members. */
export const appliesOfMember = ({ applies, clusters }: FleetRollout): number => applies / (clusters * members);

/** The controller's rate divided by the rival's; NaN if the rival was not measured. */
export function ratioOf({ rollouts }: MeasuredFleet, rival: RivalName): number {
  return medianOf(rollouts.controller, rolloutsPerMinute) / medianOf(rollouts[rival], rolloutsPerMinute);
}

/** The targets for the largest fleet, and the figures that must not grow from the previous size. */
export function figuresOf(fleets: readonly MeasuredFleet[]): readonly Figure[] {
  const largest = fleets.at(-1);
  if (largest === undefined) return [];
  const { controller } = largest.rollouts;
  const cost = (figure: keyof CostOfMember): number => medianOf(controller, (rollout) => costOfMember(rollout)[figure]);
  const smaller = fleets.slice(0, -1);
  const before = smaller.findLast((fleet) => fleet.clusters <= mostClustersForRounds) ?? smaller.at(-1);
  const growth = (figure: keyof CostOfMember): number =>
    before === undefined
      ? 1
      : cost(figure) / medianOf(before.rollouts.controller, (rollout) => costOfMember(rollout)[figure]);
  const rate = (what: string, rival: RivalName, limit: number): readonly Figure[] =>
    largest.rollouts[rival].length === 0
      ? []
      : [{ what, value: ratioOf(largest, rival) * 100, unit: '%', digits: 0, limit, sense: '≥' }];
  const most = (what: string, value: number, limit: number): Figure => ({
    what,
    value,
    unit: '',
    digits: 2,
    limit,
    sense: '≤',
  });
  return [
    ...rate("rollouts a minute, of the plain loop's", 'plain loop', 85),
    ...rate("rollouts a minute, of MOCO's own", "MOCO's partitions", 100),
    {
      ...most('resident at its peak', Math.max(...controller.map(({ peakBytes }) => peakBytes)) / megabyte, 150),
      unit: 'MB',
      digits: 0,
    },
    most('writes a member, Events aside', cost('writes'), 6),
    most('Events a member', cost('events'), 4),
    most('StatefulSets that MOCO applies a member', medianOf(controller, appliesOfMember), 3.5),
    ...(before === undefined
      ? []
      : [
          most(`calls a member, by those with ${before.clusters} clusters`, growth('calls'), mostGrowth),
          most(
            `processor time a member, by that with ${before.clusters} clusters`,
            growth('processorMilliseconds'),
            mostGrowth,
          ),
        ]),
  ];
}

/** Growth up to this factor counts as flat: two runs on a busy machine can differ by that much. */
const mostGrowth = 1.25;
