import { boundsOf, defaultPolicy, type MaxUnavailable, type RolloutPolicy } from '../core/policy.ts';
import { checkFields } from './check-settings.ts';
import { inPlaceField } from './in-place-settings.ts';
import { maintenanceFields } from './maintenance-settings.ts';
import {
  countOrPercentage,
  countOrPercentageText,
  flag,
  type Infer,
  oneOf,
  optional,
  percentage,
  struct,
  text,
  time,
  validations,
  whole,
  written,
} from './schema.ts';

// The settings that a MySQLRollout sets for one cluster and a MySQLRolloutPolicy for many.

/** The default of the flag --default-strategy. */
export const builtInStrategy: Strategy = 'OnDelete';

/**
 * Who replaces pods: with `OnDelete` this program, with `Partition` the StatefulSet's own rolling update while its
 * partition is lowered step by step.
 */
export type Strategy = 'OnDelete' | 'Partition';

/** For each setting with a default that a flag of the controller sets, the name of that flag. */
export const flagOfSetting: Readonly<Partial<Record<string, string>>> = {
  strategy: '--default-strategy',
  minReadySeconds: '--min-ready-seconds',
  replicaDelayGraceSeconds: '--replica-delay-grace-seconds',
};

/** Settings whose default is a single word or number. */
type Plain = {
  [F in keyof RolloutPolicy]-?: RolloutPolicy[F] extends string | number | boolean ? F : never;
}[keyof RolloutPolicy];

const defaultsTo = (field: 'strategy' | Plain): string => {
  const builtIn = field === 'strategy' ? builtInStrategy : defaultPolicy[field];
  const flag = flagOfSetting[field];
  return flag === undefined ? `Defaults to ${builtIn}.` : `Defaults to the controller's flag ${flag} (${builtIn}).`;
};

const largestMaxUnavailable = 1000;

/** Completes sentences in descriptions: what happens to a stale member that is held and loses its pod. */
export const keepsItsRevision =
  'comes back at its previous revision, under OnDelete if the controller can act before the new pod is created';

const shape = {
  strategy: oneOf<Strategy>(
    ['OnDelete', 'Partition'],
    'Who replaces pods. With OnDelete the controller does, one safe step at a time; this requires the feature gate ' +
      'UpdateStrategyOnDelete. With Partition the StatefulSet does, while its partition is lowered step by step. ' +
      defaultsTo('strategy'),
  ),
  paused: flag(
    'Whether the rollout is paused. While it is paused, the controller takes no member down. A stale member whose pod ' +
      `another client deletes ${keepsItsRevision}. ${defaultsTo('paused')}`,
  ),
  pause: written(
    optional({
      reason: text(256, 'Why the rollouts are paused, for other people.'),
      by: text(256, 'Who pauses them: the name of the user, or nothing. The plugin fills it in.'),
      until: time('When the pause ends by itself. If it is left out, a person has to end it.'),
    }),
    'About the pause that `paused: true` beside it begins; without that it has no effect. From the time in `until` on, ' +
      '`paused` counts as left out here, so that it follows from the next source.',
  ),
  repairWhilePaused: flag(
    'Whether members that are down may be replaced while the rollout is paused. Such members do no work. ' +
      defaultsTo('repairWhilePaused'),
  ),
  maxUnavailable: countOrPercentage<MaxUnavailable>(largestMaxUnavailable).meta({
    'x-kubernetes-int-or-string': true,
    ...validations({
      rule:
        `type(self) == int ? self >= 1 && self <= ${largestMaxUnavailable} : ` +
        `string(self).matches('${percentage}')`,
      message: `must be ${countOrPercentageText(largestMaxUnavailable)}`,
    }),
    description:
      'The number of members that may be unavailable at the same time, for any reason: a number, or a percentage of ' +
      'the members, which is rounded down. It is never less than one member and never more than half of them. ' +
      defaultsTo('maxUnavailable'),
  }),
  partition: whole(
    0,
    2 ** 31 - 1,
    'Members with an ordinal below this number keep their revision. Such a member whose pod another client deletes ' +
      `${keepsItsRevision}. ${defaultsTo('partition')}`,
  ),
  minReadySeconds: whole(
    ...boundsOf.minReadySeconds,
    'The number of seconds that an updated member has to participate before the next member is taken down. ' +
      defaultsTo('minReadySeconds'),
  ),
  progressDeadlineSeconds: whole(
    1,
    86_400,
    'The number of seconds without progress after which the rollout counts as stalled. It must be more than ' +
      `minReadySeconds. ${defaultsTo('progressDeadlineSeconds')}`,
  ),
  switchoverTimeoutSeconds: whole(
    1,
    3600,
    'The number of seconds that MOCO has for a switchover before the controller withdraws its request. Each attempt ' +
      `of MOCO blocks writes for up to 50 seconds. ${defaultsTo('switchoverTimeoutSeconds')}`,
  ),
  failoverGraceSeconds: whole(
    60,
    3600,
    'The number of seconds that MOCO has for a failover before the controller restarts replicas that may be in its ' +
      'way; MOCO itself needs up to 50. It is also the time that MOCO has to give a replica of a Healthy cluster its ' +
      `role before the replica counts as settled without one. ${defaultsTo('failoverGraceSeconds')}`,
  ),
  maxReplicaDelaySeconds: whole(
    1,
    3600,
    'The number of seconds from which on a replica is too far behind for a switchover, which blocks writes until the ' +
      `replicas have caught up. ${defaultsTo('maxReplicaDelaySeconds')}`,
  ),
  replicaDelayGraceSeconds: whole(
    ...boundsOf.replicaDelayGraceSeconds,
    'The number of seconds for which a switchover waits for a replica whose replication delay cannot be read. After ' +
      `that the switchover begins anyway. ${defaultsTo('replicaDelayGraceSeconds')}`,
  ),
  longWriteGraceSeconds: whole(
    0,
    3600,
    'The number of seconds for which a switchover waits for writes of the primary that have been open for a second or ' +
      'longer, which MOCO would cut off. It requires the feature gate ReplicationFacts. ' +
      `Defaults to ${defaultPolicy.longWriteGraceSeconds}.`,
  ),
  longWritePolicy: oneOf(
    ['Proceed', 'Hold'],
    'What happens after longWriteGraceSeconds while such a write is open: Proceed begins the switchover, Hold waits ' +
      `until it ends. Nothing is ever killed. Defaults to ${defaultPolicy.longWritePolicy}.`,
  ),
  preflight: oneOf(
    ['Never', 'Nodes', 'NodesAndConfiguration'],
    'What is checked before the first member is replaced for a revision. With Nodes, short-lived pods fetch the images ' +
      'of the revision on the nodes of due members, and an image that cannot be fetched holds the rollout. With ' +
      'NodesAndConfiguration, mysqld of the new image checks its my.cnf on one of them as well (mysqld ' +
      '--validate-config). The installation has to allow the controller to create these pods. ' +
      defaultsTo('preflight'),
  ),
  preflightTimeoutSeconds: whole(
    1,
    86_400,
    'The number of seconds for which the rollout waits for a node that has not fetched the images. After that the ' +
      `member is replaced anyway. ${defaultsTo('preflightTimeoutSeconds')}`,
  ),
  primaryUpdatePolicy: oneOf(
    ['Automatic', 'Manual'],
    'Whether the primary is updated by itself once all other members are, or after a person has approved it by ' +
      `approvedRevision. ${defaultsTo('primaryUpdatePolicy')}`,
  ),
  nodeMaintenance: oneOf(
    ['Ignore', 'Switchover', 'Evacuate'],
    'What happens to members on nodes that are being taken out of service: Ignore leaves them to the drain; Switchover moves the ' +
      'primary to a member on a different node; Evacuate also evicts replicas, one at a time, if a different node can ' +
      'run them. Maintenance windows and the fleet do not delay this. It requires the feature gate NodeMaintenance. ' +
      defaultsTo('nodeMaintenance'),
  ),
  rolloutsDuringMaintenance: oneOf(
    ['Proceed', 'Wait'],
    'Whether a rollout updates working members on other nodes while nodes with members are being taken out of service. With Wait, ' +
      'only members on these nodes are updated, which moves them, until ten minutes after the last node. It requires ' +
      `the feature gate NodeMaintenance. ${defaultsTo('rolloutsDuringMaintenance')}`,
  ),
  lostMembers: oneOf(
    ['UpdateOnceVerified', 'KeepRevision'],
    'At which revision a stale member comes back if another client deletes its pod (a drain, an eviction, a deletion) once the ' +
      'revision is verified and nothing holds the rollout: UpdateOnceVerified means at the update revision, ' +
      'KeepRevision at its previous revision. Before that, and while anything holds the rollout, it always comes ' +
      'back at its previous revision. It has an effect only under OnDelete. ' +
      defaultsTo('lostMembers'),
  ),
  ...maintenanceFields,
  ...checkFields,
  inPlace: inPlaceField,
};

export type SettingFields = typeof shape;

export const commonFields = optional(shape);

export const deadlineAfterReady = validations({
  rule:
    '!has(self.progressDeadlineSeconds) || !has(self.minReadySeconds) || ' +
    'self.progressDeadlineSeconds > self.minReadySeconds',
  message: 'progressDeadlineSeconds must be more than minReadySeconds',
});

export const commonSettings = (description: string) => struct(commonFields, description).meta(deadlineAfterReady);

/** If a field is left out, its value comes from another source. */
export type CommonSettings = Infer<ReturnType<typeof commonSettings>>;
