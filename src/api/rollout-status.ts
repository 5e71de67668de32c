import * as z from 'zod';
import { type EffectKind, effectKinds, stepKinds } from '../core/effects.ts';
import { type VersionSource, versionSources } from '../core/mysql-versions.ts';
import { holdRules, overridableRules } from '../core/rules/catalogue.ts';
import {
  count,
  flag,
  generation,
  type Infer,
  listBy,
  listOf,
  oneOf,
  optional,
  sentence,
  struct,
  text,
  time,
  validations,
  whole,
  written,
} from './schema.ts';
import { commonFields, type SettingFields } from './settings.ts';

// The status of a MySQLRollout. Only the controller writes it, always as a whole.

const kindsOfEffects = Object.keys(effectKinds) as readonly EffectKind[];
const effects = listOf(
  oneOf(kindsOfEffects, 'A kind of effect.'),
  kindsOfEffects.length,
  'What the step does. Unknown if absent.',
);

const mostMembers = 1000;
const longestMessage = 32_768;
const longestRevision = 253;

const ordinal = whole(0, mostMembers - 1, 'The ordinal of the member.');
const ordinals = (description: string) => listOf(ordinal, mostMembers, description);
const name = (description: string) => text(253, description);
const word = (description: string) => text(128, description);
/** May be empty, as in a StatefulSet that its controller has not observed yet. */
const revision = (description: string) => sentence(longestRevision, description);
const message = (description: string) => sentence(longestMessage, description);

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
      message: 'this step must name its pods, or nobody else could finish it',
    },
    {
      rule: "self.step != 'setPartition' || (has(self.partition) && has(self.statefulSet))",
      message: 'the step setPartition must name the partition and the StatefulSet, or nobody else could invalidate it',
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

const change = struct(
  {
    path: text(256, 'The path of the field in the pod template, such as spec.containers[mysqld].image.'),
    ...optional({
      from: sentence(512, 'The value before. Only values of images are given.'),
      to: sentence(512, 'The value after. Only values of images are given.'),
    }),
  },
  'A field that changes.',
);

const memberDuration = struct(
  { ordinal, seconds: count('The number of seconds, rounded.') },
  'How long a member was unavailable.',
);

/** If more rules have held it, those that held it longest are kept. */
export const mostHeldFor = 8;

const heldFor = struct(
  {
    rule: word('The name of the rule.'),
    seconds: count('The number of seconds, rounded.'),
  },
  'How long a rule held the rollout.',
);

/** Fields of the current rollout and of rollouts that have ended. */
export const ofEveryRollout = {
  revision: revision('The revision that members are updated to.'),
  startedAt: time('When the first stale member was seen.'),
  disruptions: count('The number of pods that the controller deleted or evicted for the rollout.'),
  switchovers: count('The number of switchovers that the controller requested and that happened.'),
  ...optional({
    from: revision('The revision that most members had when the rollout began.'),
    updatedOutOfBand: ordinals(
      'The ordinals of the members that came up at the revision without a step of the controller: after a crash, a ' +
        'drain or a deletion by somebody else.',
    ),
    updatedInPlace: ordinals(
      'The ordinals of the members that were updated in place, each of which avoided a restart of mysqld.',
    ),
    resizedInPlace: ordinals('The ordinals of the members that were resized in place.'),
    primaryInPlace: ordinals(
      'The ordinals of the members that were updated in place while they were the primary of several members, each of ' +
        'which avoided a switchover.',
    ),
    mysqldRestarted: ordinals(
      'The ordinals of the members whose mysqld restarted anyway, because of containers that an update in place ' +
        'had restarted, or because of a resize. Each counts as a disruption.',
    ),
    memberDurations: listBy(
      'ordinal',
      memberDuration,
      mostMembers,
      'How long each member was unavailable for the rollout.',
    ),
    switchoverSeconds: count(
      'How long these switchovers took together, in seconds and rounded: each from the request until another member was ' +
        'the primary.',
    ),
    heldFor: listBy(
      'rule',
      heldFor,
      mostHeldFor,
      'How long each rule held the rollout, the longest first, without the current hold. Waits that are too short ' +
        'to be shown as a hold are left out.',
    ),
    mysql: struct(
      optional({
        from: word('The oldest version of mysqld among the members that were still to be updated.'),
        to: word('The version of mysqld at the revision.'),
      }),
      'The versions of mysqld, as far as they are known.',
    ),
    changes: listOf(
      change,
      16,
      'What the rollout changes in the pod template. Values of other fields than images are left out, because they ' +
        'may be secret. Absent where it is not known.',
    ),
  }),
};

const tries = struct(
  {
    count: count('The number of switchovers for this revision that did not happen in time.'),
    ...optional({
      lastEndedAt: time('When the last of them was withdrawn.'),
      askedAt: time('When MOCO was asked for the switchover in progress.'),
      pod: struct(
        { name: name('The name of the pod.'), uid: word('The uid of the pod.') },
        'The pod that MOCO was asked to move the primary away from.',
      ),
    }),
  },
  'The attempts to have MOCO move the primary.',
);

const rollout = struct(
  {
    ...ofEveryRollout,
    lastProgressAt: time('When the rollout last made progress.'),
    verified: flag('Whether a member at the revision has participated for minReadySeconds.'),
    takenDown: ordinals('The ordinals of the members that were already down when the controller replaced them.'),
    ...optional({
      verifiedAt: time('When the revision was verified.'),
      begunAt: time(
        'When the first step that needs a slot of the fleet was written. A correction of a failing revision begins at once.',
      ),
      yieldedAt: time(
        'Since when the rollout, which has begun, has given up its slot of the fleet: it waits for a person or a time, and ' +
          'none of its members is away. Absent once its next step has got a slot.',
      ),
      failing: struct(
        {
          ordinal,
          message: message('What is wrong with the member.'),
          ...optional({
            injected: text(
              253,
              'The container that fails, if admission has added it and the template does not have it.',
            ),
          }),
        },
        'The member that failed at the revision, until it works there. Absent once a member has verified the revision.',
      ),
      awaitsNodes: flag(
        'Whether members are away, each because of its node: that is no evidence against the revision. Absent if not.',
      ),
      tries,
      waiting: ordinals('The ordinals of the stale members that no step has taken yet.'),
      createdWhileHeld: listBy(
        'ordinal',
        struct(
          { ordinal, started: flag('Whether its mysqld has started at the revision, so that it never goes back.') },
          'A member that was created at the revision too soon.',
        ),
        mostMembers,
        'The members that somebody else had created at the revision while they were held.',
      ),
      unavailableMembers: listBy(
        'ordinal',
        struct(
          {
            ordinal,
            since: time('When the step that took the member was written.'),
            ...optional({
              uid: word('The uid of the pod that it took. Its successor has another one.'),
              restores: flag('Whether it took the pod to bring the member back at its previous revision.'),
            }),
          },
          'A member that a step took.',
        ),
        mostMembers,
        'The members that a step took and that do not participate again yet.',
      ),
    }),
  },
  'The rollout in progress. Absent while no member is stale.',
);

const historyEntry = struct(
  {
    ...ofEveryRollout,
    finishedAt: time('When the rollout ended.'),
    outcome: word('How the rollout ended: Complete, or Superseded by another revision.'),
  },
  'A rollout that ended.',
);

const settingInForce = <Value extends z.ZodType>(value: Value) =>
  struct(
    {
      value: value.meta({ description: 'The value in force.' }),
      source: text(320, 'Where the value comes from: MySQLRollout, MySQLRolloutPolicy/NAME, flag --NAME, or default.'),
      enforced: z.literal(true).meta({ type: 'boolean', description: 'A policy enforces the value.' }).exactOptional(),
    },
    'A setting in force.',
  );

type InForce<Value extends z.ZodType> = ReturnType<typeof settingInForce<Value>>;

const commonInForce = Object.fromEntries(
  Object.entries(commonFields).map(([field, schema]) => [field, settingInForce(schema.unwrap())]),
) as { [Field in keyof SettingFields]: InForce<SettingFields[Field]> };

const settings = struct(
  optional({
    ...commonInForce,
    checks: settingInForce(listBy('name', struct({ name: text(63, 'The name of the check.') }, 'A check.'), 16, '')),
    approvedRevision: settingInForce(revision('')),
    pinnedMembers: settingInForce(ordinals('')),
    restore: settingInForce(
      struct(
        {
          revision: revision('The update revision that the members leave.'),
          members: ordinals('The ordinals of the members.'),
        },
        '',
      ),
    ),
    overrides: settingInForce(
      listBy(
        'rule',
        struct(
          {
            rule: oneOf(overridableRules, 'The name of the rule.'),
            until: time('When the rule is in force again.'),
            ...optional({ by: text(256, 'Who overrides it, as the spec says.') }),
          },
          'A rule that is overridden.',
        ),
        16,
        '',
      ),
    ),
  }),
  'The settings in force, by the names of the fields of spec: the value of each, its source (MySQLRollout, ' +
    'MySQLRolloutPolicy/NAME, flag --NAME, or default), and enforced if a policy enforces it. Reasons and queries are ' +
    'left out.',
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

/** Times are RFC 3339 in UTC. */
export type RolloutStatus = Infer<typeof rolloutStatus>;
export type MemberStatus = Infer<typeof member>;
export type Intent = Infer<typeof intent>;
/** An object as it was when the intent to write it was stored. */
export type IntendedObject = Intent['pods'][number];
export type LastStep = Infer<typeof lastStep>;
export type PreflightStatus = Infer<typeof preflight>;
export type RolloutProgress = Infer<typeof rollout>;
export type SwitchoverTries = Infer<typeof tries>;

/** A rollout whose first stale member was seen at this time and that has not done anything yet. */
export const newRollout = (revision: string, startedAt: string): RolloutProgress => ({
  revision,
  startedAt,
  lastProgressAt: startedAt,
  verified: false,
  takenDown: [],
  disruptions: 0,
  switchovers: 0,
});

export type HistoryEntry = Infer<typeof historyEntry>;
export type Condition = Infer<typeof condition>;
export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((one) => one.type === type && one.status === 'True') === true;
export interface SettingInForce {
  readonly value: unknown;
  readonly source: string;
  /** True if a policy enforces it. */
  readonly enforced?: true;
}
export type SettingsInForce = Infer<typeof settings>;
