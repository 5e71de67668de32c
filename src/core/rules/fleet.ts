import type { FleetPlace } from '../fleet/queue.ts';
import type { FailingFleet } from '../fleet/waits.ts';
import { waitFor, waitIsOver } from './fleet-waits.ts';
import { after, rule } from './rule.ts';
import { stages } from './stages.ts';

/** Members that are down are replaced, and nothing else happens. */
export const fleet = {
  ...stages,
  FleetFailing: rule<FailingFleet>({
    holds: (asked) => waitFor(asked, 'FleetFailing'),
    sentence: ({ failing, limit, cluster }) =>
      `${failing} rollouts in the fleet fail, ${cluster} among them; from ${limit} on no other one begins (--max-failing-rollouts)`,
    meaning: 'So many rollouts in the fleet fail that no other one begins (--max-failing-rollouts).',
    details:
      'A rollout fails when its revision fails, or when it has begun and is stalled. Rollouts that have begun go on, members that are down are replaced, and so is what a failing revision has taken down.',
    endedBy: ['a person'],
    ends: 'Correct the templates of the failing clusters: `kubectl moco-rollout status -A` shows them. By itself, once fewer rollouts fail.',
    overridable: true,
    requestedBy: '`--max-failing-rollouts`',
    alert: 'MocoRolloutFleetFailing',
    assumed: waitIsOver('FleetFailing'),
  }),
  AwaitingFleetSlot: rule<FleetPlace>({
    holds: ({ situation }) => situation.snapshot.fleetQueue,
    sentence: ({ limit, place, stalled, first }) =>
      `${
        first === undefined
          ? `${limit} clusters may be rolling at a time`
          : `${first} goes first, and no member of it has verified its revision yet (--verify-first-cluster)`
      }; this one is number ${place} in the queue${stalledSlots(stalled)}`,
    meaning:
      'As many clusters are rolling as may at a time (--max-concurrent-rollouts), or the first one has not verified its revision yet (--verify-first-cluster).',
    details:
      'A cluster that no MySQLRolloutSequence selects begins once no other of them is rolling without a member that has participated at its new revision for minReadySeconds, or once one has verified its revision since this one became stale. A revision that fails lets the next cluster try, up to --max-failing-rollouts. A stalled rollout keeps its slot until a person has fixed it, unless the controller runs with --release-stalled-slots. Members that are down need no slot.',
    endedBy: ['time'],
    ends: 'By itself, when another cluster is done, or the first one has verified its revision.',
    overridable: true,
    requestedBy: '`--max-concurrent-rollouts` or `--verify-first-cluster`',
    assumed: after('moment', (snapshot) => ({ ...snapshot, fleetQueue: null })),
  }),
  AwaitingFleetInterval: rule<{ readonly flag: string; readonly seconds: number }>({
    holds: ({ situation: { snapshot, deadlines } }) => {
      if (snapshot.fleetInterval === null) return null;
      const { flag, seconds, sinceSeconds } = snapshot.fleetInterval;
      return deadlines.reached(sinceSeconds, seconds) ? null : { flag, seconds };
    },
    sentence: ({ flag, seconds }) => `two disruptions in the fleet are at least ${seconds} s apart (${flag})`,
    meaning: 'The last disruption in the fleet is too recent (--disruption-interval, --partition-update-interval).',
    endedBy: ['time'],
    ends: 'By itself, when the interval is over.',
    overridable: true,
    requestedBy: '`--disruption-interval` or `--partition-update-interval`',
    assumed: after('moment', (snapshot) => ({ ...snapshot, fleetInterval: null })),
  }),
};

function stalledSlots(stalled: number): string {
  if (stalled === 0) return '';
  return stalled === 1 ? '; a stalled rollout occupies a slot' : `; stalled rollouts occupy ${stalled} slots`;
}
