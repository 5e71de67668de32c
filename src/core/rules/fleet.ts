import type { FleetHold, FleetPlace, StuckCluster } from '../fleet/waits.ts';
import { andMore, counted, durationText, timeText, withoutFullStop } from '../sentences.ts';
import { after, type Rule, rule } from './rule.ts';

// The facts contain the holds that other clusters cause. These rules give them names.

type FleetHoldOf<Name extends FleetHold['rule']> = Extract<FleetHold, { readonly rule: Name }>;

/**
 * A rule that holds while the wait of the same name lasts. `plan --fleet` simulates the other clusters; a plan of a
 * single cluster assumes that the wait is over. Each rule can be overridden for one cluster.
 */
const byOthers = <Name extends FleetHold['rule']>(
  name: Name,
  entry: Omit<Rule<FleetHoldOf<Name>>, 'holds' | 'assumed' | 'overridable'>,
): Rule<FleetHoldOf<Name>> => ({
  ...entry,
  overridable: true,
  holds: ({ situation: { snapshot, deadlines } }) => {
    for (const { hold, remainingSeconds } of snapshot.fleetWaits) {
      if (hold.rule !== name) continue;
      if (remainingSeconds === null || !deadlines.reached(0, remainingSeconds)) return hold as FleetHoldOf<Name>;
    }
    return null;
  },
  assumed: after('moment', (snapshot) => ({
    ...snapshot,
    fleetWaits: snapshot.fleetWaits.filter(({ hold }) => hold.rule !== name),
  })),
});

const requestedBy = 'a MySQLRolloutSequence';

/** A sentence with the number of a stage's clusters that are unfinished, and the name of one of them. */
export function notYet(unfinished: number, clusters: number, cluster: string): string {
  if (clusters === 1) return `${cluster} is not up to date and healthy`;
  return unfinished === 1
    ? `${cluster}, 1 of ${clusters} clusters, is not up to date and healthy`
    : `${unfinished} of ${clusters} clusters are not up to date and healthy, including ${cluster}`;
}

/**
 * Rules about the stages of a MySQLRolloutSequence and about failures in the fleet. While they hold, only members that
 * are down are replaced.
 */
export const fleet = {
  SequencesUnreadable: byOthers('SequencesUnreadable', {
    sentence: ({ message }) => `the controller cannot read MySQLRolloutSequences: ${withoutFullStop(message)}`,
    meaning: 'The controller cannot read MySQLRolloutSequences, so it is unknown which clusters go first.',
    details:
      'Any sequence may select the cluster, so the cluster begins no rollout. Rollouts that have begun continue, and members that are down are replaced, except those that are only waiting to start. Without the CRD there are no sequences, and nothing waits for them. With `--namespaces` the controller does not have to read them.',
    endedBy: ['a person'],
    ends: 'By itself within seconds, once the controller can read them. If a right is missing, apply the roles of this version: `kubectl moco-rollout check` names it.',
    alarms: true,
  }),
  SequenceGone: byOthers('SequenceGone', {
    sentence: ({ sequence, until }) =>
      `${sequence === null ? 'a MySQLRolloutSequence' : `MySQLRolloutSequence ${sequence}`} selected this cluster but no longer exists; the deletion takes effect at ${timeText(until)}`,
    meaning: 'A MySQLRolloutSequence that selected the cluster was deleted.',
    details:
      'It may be about to be created again, for example by a tool that replaces objects, so the cluster waits for 30 seconds before it begins a rollout out of turn. A controller that starts in that time learns of the deletion from the hold in the status.',
    endedBy: ['time'],
    ends: 'By itself, at the time that the message names, or when the sequence exists again.',
    requestedBy,
  }),
  SequenceConflict: byOthers('SequenceConflict', {
    sentence: ({ sequences }) => `more than one MySQLRolloutSequence selects this cluster: ${sequences.join(', ')}`,
    meaning: 'More than one MySQLRolloutSequence selects the cluster.',
    details:
      'It is unknown which of them is meant, so the cluster begins no rollout. Each of them still counts the cluster in its stage.',
    endedBy: ['a person'],
    ends: 'Change a selector of the sequences, or a label of the MySQLCluster, so that one sequence remains.',
    alarms: true,
  }),
  SequenceInvalid: byOthers('SequenceInvalid', {
    sentence: ({ sequence, problem }) => `MySQLRolloutSequence ${sequence} is invalid: ${withoutFullStop(problem)}`,
    meaning: 'A MySQLRolloutSequence that may select the cluster is invalid.',
    details: 'The current CRD rejects such a spec, so the spec was probably stored before the CRD was updated.',
    endedBy: ['a person'],
    ends: 'Correct the field that the message names.',
    alarms: true,
  }),
  StageFailing: byOthers('StageFailing', {
    sentence: ({ sequence, stage, failing, maxFailures, cluster }) =>
      `${failing === 1 ? `${cluster} is failing` : `${cluster} and ${failing - 1} more are failing`} in stage ${stage} of sequence ${sequence} (maxFailures ${maxFailures}): no other cluster begins`,
    meaning:
      'More rollouts of a stage are failing than maxFailures allows, so no other cluster of the sequence begins.',
    details:
      'A rollout counts as failing when its revision fails, or when it is stalled after it has begun. Rollouts that have begun continue, and members that are down are replaced, except those that are only waiting to start.',
    endedBy: ['a person'],
    ends: 'Correct the template of the failing cluster. The correction does not wait for other clusters.',
    requestedBy,
    alert: 'MocoRolloutFleetFailing',
  }),
  StageMemberGone: byOthers('StageMemberGone', {
    sentence: ({ sequence, stage, cluster, failing }) =>
      failing
        ? `${cluster} failed in stage ${stage} of sequence ${sequence}, and has since been deleted, taken offline or given different labels: a person has to let the others begin`
        : `${cluster} was the last cluster of stage ${stage} of sequence ${sequence}, and was deleted, taken offline or given different labels in the middle of a change: nothing shows that the change works`,
    meaning:
      'A cluster has left its stage in the middle of a change, after it had failed there or while it was the last cluster of the stage.',
    details:
      'Without that cluster nothing shows whether the change works. If more clusters have failed than `maxFailures` allows, no cluster of the sequence begins; otherwise only the later stages wait. A stage that was already empty before the change holds back no cluster. The MySQLRolloutSequence lists clusters that have left in `status.stages[].gone`, and removes a cluster from that list once it is back in its stage, once a different cluster is in a stage that was empty, or once a change has reached every cluster of the sequence.',
    endedBy: ['a person'],
    ends: 'Find out what happened to the change in that cluster. Then bring the cluster back, revert the change, or let individual clusters begin: `kubectl moco-rollout override NAME StageMemberGone`. Removing the stage from the sequence ends the hold for all clusters.',
    alarms: true,
  }),
  AwaitingEarlierStage: byOthers('AwaitingEarlierStage', {
    sentence: ({ sequence, stage, clusters, unfinished, cluster }) =>
      `stage ${stage} of sequence ${sequence} goes first: ${notYet(unfinished, clusters, cluster)}`,
    meaning: 'A cluster of an earlier stage is not up to date and healthy.',
    details:
      'The cluster is stale, rolling, failing or not healthy, or its state is not known yet. A paused or released cluster with stale members also keeps the later stages waiting; an offline cluster does not.',
    endedBy: ['time', 'a person'],
    ends: 'By itself, when every cluster of the earlier stages is complete. `kubectl get mysqlrolloutsequences` shows how far each stage is.',
    requestedBy,
  }),
  AwaitingSoak: byOthers('AwaitingSoak', {
    sentence: ({ sequence, stage, soakSeconds, until, cluster }) =>
      `stage ${stage} of sequence ${sequence} soaks for ${durationText(soakSeconds)}, until ${timeText(until)}; ${cluster} was the last cluster to complete its rollout`,
    meaning: 'The clusters of an earlier stage have not been complete and healthy for its soakDuration yet.',
    details: 'The time starts again whenever one of them is not complete or not healthy.',
    endedBy: ['time'],
    ends: 'By itself, at the time that the message names.',
    requestedBy,
  }),
  AwaitingSettle: byOthers('AwaitingSettle', {
    sentence: ({ sequence, settleSeconds, until }) =>
      `sequence ${sequence} lets a change settle for ${durationText(settleSeconds)}, until ${timeText(until)}: it may not have reached the earlier stages yet`,
    meaning: 'The cluster has not been stale for the settleDuration of its sequence yet.',
    details: 'A change may reach the clusters of an earlier stage later than this cluster.',
    endedBy: ['time'],
    ends: 'By itself, at the time that the message names.',
    requestedBy,
  }),
  FleetFailing: byOthers('FleetFailing', {
    sentence: ({ failing, limit, cluster }) =>
      `${failing === 1 ? `the rollout of ${cluster} is failing` : `the rollouts of ${cluster} and ${failing - 1} more are failing`} (--max-failing-rollouts ${limit}): no other cluster begins`,
    meaning: 'Too many rollouts in the fleet are failing, so no other rollout begins (--max-failing-rollouts).',
    details:
      'A rollout counts as failing when its revision fails, or when it is stalled after it has begun. Each failing rollout in the namespace of this cluster counts, and each other namespace with failures counts once, so that no tenant stops the others. Rollouts that have begun continue. Members that are down are replaced, even if a failing revision brought them down, except those that are only waiting to start.',
    endedBy: ['a person'],
    ends: 'Correct the templates of the failing clusters: `kubectl moco-rollout status -A` shows them. The hold ends once fewer rollouts are failing.',
    requestedBy: '`--max-failing-rollouts`',
    alert: 'MocoRolloutFleetFailing',
  }),
};

/**
 * Rules about the order of clusters. They are evaluated only for a step that no other rule is known to hold, because a
 * cluster does not wait for a turn that it could not use.
 */
export const turn = {
  AwaitingStageSlot: byOthers('AwaitingStageSlot', {
    sentence: ({ sequence, stage, limit, place }) =>
      `${counted(limit, 'cluster')} of stage ${stage} of sequence ${sequence} may be rolling at a time; this one is number ${place} in the queue`,
    meaning: 'The stage has as many rolling clusters as its maxConcurrent allows.',
    endedBy: ['time'],
    ends: 'By itself, when another cluster of the stage is done.',
    requestedBy,
  }),
  AwaitingFleetSlot: rule<FleetPlace>({
    holds: ({ situation: { snapshot, deadlines } }) => {
      if (snapshot.fleetQueue === null) return null;
      const { firstForSeconds, ...place } = snapshot.fleetQueue;
      if (firstForSeconds !== undefined) deadlines.reached(0, firstForSeconds);
      return place;
    },
    sentence: ({ limit, place, stuck, first, namespace, limitedBy }) =>
      `${
        first === undefined
          ? clustersRolling(limit, namespace, limitedBy)
          : `${first} goes first, and none of its members has verified its revision yet (--verify-first-cluster)`
      }; this one is number ${place} in the queue${stuckSlots(stuck)}`,
    meaning:
      'The limit of rolling clusters is reached, in the fleet (--max-concurrent-rollouts) or in the namespace (--max-namespace-share, or maxNamespaceShare of a MySQLRolloutPolicy), or the first cluster has not verified its revision yet (--verify-first-cluster).',
    details:
      'Of the clusters that no MySQLRolloutSequence selects, one goes first. The next one begins once every rolling cluster has a member that has participated at the new revision for minReadySeconds, or once some cluster has verified its revision since this one became stale. When a revision fails, the next cluster may try, up to --max-failing-rollouts. Clusters of one namespace keep those of others waiting for at most an hour. A rollout that has begun and may need a person gives up its slot while all of its members participate, and goes to the front of the queue once it can continue. While one of its members is away the cluster keeps its slot, and the message names the cluster; with --release-stalled-slots it loses the slot once its rollout is stalled. Members that are down need no slot, except those that are only waiting to start.',
    endedBy: ['time'],
    ends: 'By itself, when another cluster is done, or the first one has verified its revision.',
    overridable: true,
    requestedBy: '`--max-concurrent-rollouts`, `--max-namespace-share` or `--verify-first-cluster`',
    assumed: after('moment', (snapshot) => ({ ...snapshot, fleetQueue: null })),
  }),
  AwaitingFleetInterval: rule<{ readonly flag: string; readonly seconds: number }>({
    holds: ({ situation: { snapshot, deadlines } }) => {
      if (snapshot.fleetInterval === null) return null;
      const { flag, seconds, sinceSeconds } = snapshot.fleetInterval;
      return deadlines.reached(sinceSeconds, seconds) ? null : { flag, seconds };
    },
    sentence: ({ flag, seconds }) => `at least ${seconds} s must pass between two disruptions in the fleet (${flag})`,
    meaning: 'The last disruption in the fleet is too recent (--disruption-interval, --partition-update-interval).',
    endedBy: ['time'],
    ends: 'By itself, when the interval is over.',
    overridable: true,
    requestedBy: '`--disruption-interval` or `--partition-update-interval`',
    assumed: after('moment', (snapshot) => ({ ...snapshot, fleetInterval: null })),
  }),
};

function clustersRolling(limit: number, namespace?: string, limitedBy = '--max-namespace-share'): string {
  if (namespace === undefined) return `${counted(limit, 'cluster')} may be rolling at a time`;
  return `${counted(limit, 'cluster')} of namespace ${namespace} may be rolling at a time (${limitedBy})`;
}

const mostNamed = 3;

function stuckSlots(stuck: readonly StuckCluster[]): string {
  if (stuck.length === 0) return '';
  const named = stuck.slice(0, mostNamed).map(({ cluster, rule }) => `${cluster} (${rule})`);
  const slots =
    stuck.length === 1 ? 'a slot is occupied by a cluster' : `${stuck.length} slots are occupied by clusters`;
  return `; ${slots} that may need a person: ${named.join(', ')}${andMore(stuck.length - named.length)}`;
}
