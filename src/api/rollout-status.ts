import * as z from 'zod';
import { type EffectKind, effectKinds, stepKinds } from '../core/effects.ts';
import { type VersionSource, versionSources } from '../core/mysql-versions.ts';
import { holdRules } from '../core/rules/catalogue.ts';
import { historyEntry, rollout, tries } from './rollout-progress.ts';
import {
  count,
  flag,
  generation,
  type Infer,
  listBy,
  listOf,
  oneOf,
  optional,
  struct,
  text,
  time,
  validations,
  written,
} from './schema.ts';
import { settings } from './settings-in-force.ts';
import { message, mostMembers, name, ordinal, revision, word } from './status-fields.ts';

// The status of a MySQLRollout. Only the controller writes it, always as a whole.

const kindsOfEffects = Object.keys(effectKinds) as readonly EffectKind[];
const effects = listOf(
  oneOf(kindsOfEffects, 'A kind of effect.'),
  kindsOfEffects.length,
  'What the step does. Unknown if absent.',
);

const hold = struct(
  {
    rule: oneOf(holdRules, 'The name of the rule that holds the rollout.'),
    message: message('What the rule found and what it waits for.'),
    since: time('Since when this rule holds the rollout.'),
    ...optional({
      opensAt: time('When the next step may begin. Only for OutsideMaintenanceWindow, Blackout and RestartNeeded.'),
    }),
  },
  'Why nothing is done at the moment. Absent while nothing holds the rollout.',
);

const replication = struct(
  {
    notApplied: count('Transactions that it had received and not applied.'),
    ...optional({
      notReceived: count(
        'Transactions that the primary had committed and that it had not received. Absent if the primary did not say.',
      ),
      problem: oneOf(
        ['NotReceiving', 'NotAcknowledging'],
        'Why it acknowledges no commit: its receiver does not run or has an error, or it replicates without semi-synchronous replication. Absent if it acknowledges.',
      ),
    }),
  },
  'What the replica lacked when MySQL itself was last asked, with the feature gate ReplicationFacts. Absent once that is older than a minute.',
);

const member = struct(
  {
    ordinal,
    role: oneOf(['primary', 'replica'], 'Whether the member is the primary or a replica.'),
    updated: flag('Whether the member is at the update revision.'),
    state: word('What the member is able to do, in one word.'),
    verdict: word('What happens to the member next, in one word.'),
    ...optional({
      revision: revision('The revision that the pod was made from.'),
      rule: word('The name of the rule that keeps the member waiting.'),
      message: message('What is wrong with the member.'),
      leaving: message(
        'Why the member has to leave its node, which is being taken out of service. Absent otherwise, and unless nodeMaintenance or ' +
          'rolloutsDuringMaintenance depends on it.',
      ),
      update: message(
        'How the stale member gets the update revision: in place, or by a new pod and why. Absent while updates in ' +
          'place are off.',
      ),
      updatedAt: time('When the member was first seen to participate at the update revision.'),
      replication,
      mysqld: struct(
        {
          version: word('The version, such as 8.4.8.'),
          source: oneOf(
            Object.keys(versionSources) as readonly VersionSource[],
            'Where the version comes from: the running server (with the feature gate ReplicationFacts), the record of the ' +
              'data of a member with the same image, or the tag of the image.',
          ),
        },
        'The mysqld that the pod runs or is going to run. Absent if its version is not known.',
      ),
      data: struct(
        {
          revision: revision('The revision of that mysqld.'),
          ...optional({
            version: word('The version of mysqld at that revision, as far as the tag of its image says.'),
            killed: z.literal(true).meta({
              type: 'boolean',
              description:
                'The last mysqld on the data was killed (exit code 137), and none has been ready since then.',
            }),
          }),
        },
        "The newest mysqld that has started on the member's data, as its PersistentVolumeClaim says.",
      ),
    }),
  },
  'A member of the MySQLCluster.',
);

const object = (what: string) =>
  struct(
    {
      name: name(`The name of the ${what}.`),
      uid: word(`The uid of the ${what}. A successor of the same name has another one.`),
      resourceVersion: word(`The resourceVersion of the ${what} when the step was decided.`),
    },
    `The ${what} as it was when the step was decided.`,
  );

const intent = struct(
  {
    id: name('The id of the intent, which is unique.'),
    holder: name('The instance of the controller that wrote the intent.'),
    step: oneOf(stepKinds, 'The kind of the step.'),
    rule: word('The name of the rule that allows the step.'),
    revision: revision('The update revision that the step is for.'),
    at: time('When the intent was written.'),
    pods: listOf(object('pod'), mostMembers, 'The pods that the step is about.'),
    ...optional({
      partition: count('The partition that the step setPartition sets.'),
      statefulSet: object('StatefulSet'),
      effects,
    }),
  },
  'The step that is about to be done. It is written before the step is done. A controller that finds the intent of ' +
    'another instance finishes or invalidates it before it does anything else to the cluster.',
).meta(
  validations(
    {
      rule: "!(self.step in ['delete', 'restore', 'evict', 'updateInPlace', 'resizeInPlace', 'demote', 'undemote']) || size(self.pods) > 0",
      message: 'this step must name its pods, or no other process could finish it',
    },
    {
      rule: "self.step != 'setPartition' || (has(self.partition) && has(self.statefulSet))",
      message:
        'the step setPartition must name the partition and the StatefulSet, or no other process could invalidate it',
    },
  ),
);

const lastStep = struct(
  {
    step: oneOf(stepKinds, 'The kind of the step.'),
    rule: word('The name of the rule that allowed the step.'),
    pods: listOf(name('The name of a pod.'), mostMembers, 'The names of the pods that the step was about.'),
    at: time('When the step was done.'),
    result: message('What the result was.'),
    ...optional({ effects }),
  },
  'The last step that was done or tried.',
);

const conditionType =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;

export const condition = struct(
  {
    type: text(316, 'The type of the condition, in CamelCase.').regex(conditionType),
    status: oneOf(['True', 'False', 'Unknown'], 'The status of the condition.'),
    reason: text(1024, 'The reason for the status, as one word for programs.').regex(
      /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/,
    ),
    message: message('The reason for the status, as a sentence for people.'),
    lastTransitionTime: time('When the status last changed.'),
    observedGeneration: generation('The generation of the spec that the condition describes.').exactOptional(),
  },
  'A condition of the rollout.',
);

const preflightResult = {
  name: name('The name of the node.'),
  since: time(
    'Since when the result has been the same. Without a result, and for Skipped and Unknown: when it was first tried.',
  ),
  at: time('When it was last tried.'),
  ...optional({
    result: oneOf(
      ['Present', 'Fetched', 'Accepted', 'ImageUnavailable', 'ConfigurationRefused', 'TimedOut', 'Skipped', 'Unknown'],
      'Present: the node reports every image. Fetched: a pod has fetched them. Accepted: mysqld accepts its ' +
        'configuration. ImageUnavailable and ConfigurationRefused hold the rollout. TimedOut: it took longer than ' +
        'preflightTimeoutSeconds. Skipped: the node takes no pods, or one is short of disk space. Unknown: it could not be found out. Absent while it is ' +
        'being found out.',
    ),
    message: message('Why, in the words of Kubernetes or mysqld.'),
    version: word(
      'The version that the mysqld of the update revision printed on the node, unless it was known before.',
    ),
    trying: flag('Whether a pod tries at the moment. Absent if not.'),
  }),
};

const preflight = struct(
  {
    revision: revision('The update revision.'),
    nodes: listBy(
      'name',
      struct(preflightResult, 'A node with a due member.'),
      mostMembers,
      'The nodes, in the order in which they were tried.',
    ),
    ...optional({
      configuration: struct(
        preflightResult,
        'Whether the new mysqld accepts its configuration, and the node that was asked last. Absent unless preflight is ' +
          'NodesAndConfiguration.',
      ),
    }),
  },
  'What was found out on the nodes of due members about the update revision. Absent unless preflight is set.',
);

export const rolloutStatus = written(
  optional({
    observedGeneration: generation('The generation of the spec that the status describes.'),
    observedClusterGeneration: generation('The generation of the MySQLCluster that the status describes.'),
    phase: word('What the rollout is doing, in one word for people. Programs should read the conditions.'),
    strategy: word('The update strategy in force: OnDelete, Partition, or MOCO where MOCO lowers the partition.'),
    updateRevision: revision('The revision that members are updated to, as in the status of the StatefulSet.'),
    currentRevision: revision('The revision that the status of the StatefulSet calls current.'),
    replicas: count('The number of members that the cluster should have.'),
    updatedReplicas: count('The number of members at the update revision.'),
    participatingReplicas: count('The number of members whose mysqld participates in the cluster.'),
    readyReplicas: count('The number of members whose pod is ready.'),
    currentReplicas: count('The number of members at the current revision.'),
    primary: count('The ordinal of the member that MOCO calls the primary.'),
    mysqlVersion: word('The newest version of mysqld among the members. Absent if none is known.'),
    hold,
    members: listBy('ordinal', member, mostMembers, 'The members of the MySQLCluster, by ordinal.'),
    intent,
    lastStep,
    mysqlProblem: message(
      'Why MySQL itself cannot be queried, or which member does not answer, with the feature gate ReplicationFacts: the rollout continues ' +
        'without it. Absent otherwise.',
    ),
    preflight,
    openWrites: struct(
      {
        count: count('How many there were.'),
        ...optional({ since: time('When the oldest of them began. Absent if there was none.') }),
      },
      'The writes that had been open for a second or longer when the primary last said so, with the feature gate ReplicationFacts. ' +
        'It is asked before a switchover. Absent once the answer is older than a minute.',
    ),
    nodeMaintenance: struct(
      {
        setting: oneOf(['Switchover', 'Evacuate'], 'The value of the setting nodeMaintenance.'),
        ...optional({ tries }),
      },
      'What happens to members on nodes that are being taken out of service. Absent if nothing does.',
    ),
    updatesInPlace: flag(
      'Whether running pods may be changed: the feature gate InPlaceUpdate is on, and inPlace.mode is not Never. Absent if not.',
    ),
    completeSince: time(
      'Since when every member has been at the update revision and participated, and MOCO has reported the cluster as Healthy. ' +
        'While a later stage waits for the cluster, its checks have passed as well.',
    ),
    rollout,
    history: listOf(historyEntry, 10, 'The rollouts that ended, the newest last.'),
    settings,
    promotion: struct(
      { from: revision('The current revision before.'), to: revision('The update revision that becomes current.') },
      'How a release replaces the current revision of the StatefulSet, until the new one has been seen to stay.',
    ),
    conditions: listBy(
      'type',
      condition,
      32,
      'Ready: no member is stale, and every member has participated for minReadySeconds. Reconciling: the rollout ' +
        'makes progress by itself. Stalled: it made none for progressDeadlineSeconds, or only a person can end what ' +
        'holds it. PolicyInForce: every setting has an effect.',
    ),
  }),
  'What the controller observed and did. Only the controller writes it.',
);

/** All times are RFC 3339 timestamps in UTC. */
export type RolloutStatus = Infer<typeof rolloutStatus>;
export type MemberStatus = Infer<typeof member>;
export type Intent = Infer<typeof intent>;
/** An object that a step is to write, in the state that it had when the intent was stored. */
export type IntendedObject = Intent['pods'][number];
export type LastStep = Infer<typeof lastStep>;
export type PreflightStatus = Infer<typeof preflight>;
export type Condition = Infer<typeof condition>;
export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((one) => one.type === type && one.status === 'True') === true;
