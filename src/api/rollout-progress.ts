import { count, flag, type Infer, listBy, listOf, optional, sentence, struct, text, time } from './schema.ts';
import { message, mostMembers, name, ordinal, ordinals, revision, word } from './status-fields.ts';

// What the status of a MySQLRollout records of the rollout in progress and of past rollouts.

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

/** If more rules than this have held the rollout, only those that held it longest are kept. */
export const mostHeldFor = 8;

const heldFor = struct(
  {
    rule: word('The name of the rule.'),
    seconds: count('The number of seconds, rounded.'),
  },
  'How long a rule held the rollout.',
);

/** Fields that the current rollout and every past rollout have. */
export const ofEveryRollout = {
  revision: revision('The revision that members are updated to.'),
  startedAt: time('When the first stale member was seen.'),
  disruptions: count('The number of pods that the controller deleted or evicted for the rollout.'),
  switchovers: count('The number of switchovers that the controller requested and that happened.'),
  ...optional({
    from: revision('The revision that most members had when the rollout began.'),
    updatedOutOfBand: ordinals(
      'The ordinals of the members that came up at the revision without a step of the controller: after a crash, a ' +
        'drain or a deletion by another client.',
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

export const tries = struct(
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

export const rollout = struct(
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
        'The members that another client had created at the revision while they were held.',
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

export const historyEntry = struct(
  {
    ...ofEveryRollout,
    finishedAt: time('When the rollout ended.'),
    outcome: word('How the rollout ended: Complete, or Superseded by another revision.'),
  },
  'A rollout that ended.',
);

export type RolloutProgress = Infer<typeof rollout>;
export type SwitchoverTries = Infer<typeof tries>;

/** A rollout in which nothing has been done yet. `startedAt` is when its first stale member was seen. */
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
