import { type Family, mayAsk, type Request, type World } from './world.ts';

/**
 * One state of the abstract model, a small whole number in each cell. Ordinals matter: members are never exchanged for
 * each other. The first groups have a cell for each member.
 */
export type Cells = Uint16Array;

/** Random histories have up to nine members. Explorations have up to five. */
export const mostMembers = 9;

/** How a member's pod and its mysqld are. */
export const Health = {
  /** No pod. */
  Missing: 0,
  /** mysqld has not run yet. */
  Starting: 1,
  /** mysqld has not run for more than a minute: an image is pulled, a volume attached. Slow, and not broken. */
  Idle: 2,
  /** mysqld runs and follows no member: it clones, or MOCO has still to configure it. It acknowledges nothing. */
  Up: 3,
  /** mysqld runs, follows and acknowledges, and is not ready: behind, or its agent is dead. */
  Lagging: 4,
  /** Participates, for less than minReadySeconds. */
  Young: 5,
  /** Participates, for long enough; stale members always. */
  Serving: 6,
  /** CrashLoopBackOff. */
  Crashed: 7,
  /** Between two attempts of a crash loop. */
  Retrying: 8,
  /** Its kubelet is gone. */
  Unreachable: 9,
  /** Has a deletionTimestamp; its mysqld still serves. */
  Terminating: 10,
  /** Has a deletionTimestamp, and no mysqld, or one that cannot be reached. */
  Ending: 11,
  /** Participates; a sidecar fails. */
  Impaired: 12,
  /** mysqld runs and is not ready, and its I/O thread is broken or follows another one: it acknowledges nothing. */
  Severed: 13,
  /** mysqld has started again and its startup probe has not passed: it recovers, as InnoDB does after a crash. */
  Recovering: 14,
  /** The same for progressDeadlineSeconds. */
  Hanging: 15,
  /** Its pod has failed: the kubelet has evicted it. The StatefulSet controller is about to delete it. */
  Failed: 16,
  /** ImagePullBackOff: its mysqld has never run in this pod. */
  Unpulled: 17,
} as const;

export const Demote = {
  None: 0,
  Ours: 1,
  Foreign: 2,
  MarkWithoutDemote: 3,
  OursForAnother: 4,
  /** Ours, to move the primary off a node that is being taken out of service. */
  OursForNode: 5,
  /** What is left of that one after the switchover. */
  MarkForNode: 6,
} as const;

/** MOCO's clustering loop, in its order: a switchover or failover, then configuring. */
export const Phase = {
  Watching: 0,
  Switchover: 1,
  Moved: 2,
  Failover: 3,
  Repointing: 4,
  Labelling: 5,
  Opening: 6,
} as const;

/** Who takes writes. */
export const Lead = {
  /** The primary at the index. */
  Open: 0,
  /** Nobody: its process is new, or a switchover drains it. Replicas follow it. */
  Closed: 1,
  /** Nobody: the index has moved, and replicas still follow the old one. */
  Moved: 2,
  /** Nobody yet: replicas follow the new one. */
  Repointed: 3,
} as const;

/** `Unserved`: MOCO does not reach the primary, and calls the cluster Failed or Lost. */
export const Status = { Poor: 0, Available: 1, Healthy: 2, Unserved: 3 } as const;

/** Of a template change: the user has asked, MOCO has applied, the StatefulSet has seen. */
export const Stage = { Settled: 0, Asked: 1, Applied: 2 } as const;

export const NewPods = {
  /** At the update revision: OnDelete. */
  Updated: 0,
  /** The label asks for the current revision, and the strategy is OnDelete. */
  Asked: 1,
  /** At the current revision: RollingUpdate with partition = replicas. */
  Kept: 2,
} as const;

/** A revision that no member has, older than theirs. */
export const olderRevision = 3;

export const Backup = { None: 0, Began: 1, Closed: 2 } as const;
export const Upstream = { None: 0, Answers: 1, Away: 2 } as const;

/** `Short`: a member fits, a switchover and the update of the old primary do not. */
export const Window = { Open: 0, Short: 1, Closed: 2 } as const;

/** Of a pod whose containers have been given the resources of the update revision. */
export const Resize = {
  None: 0,
  /** The kubelet has not made it. */
  Pending: 1,
  /** The same for longer than the controller waits: it is deferred. */
  Overdue: 2,
  /** The kubelet calls it infeasible, or reports an error. */
  Refused: 3,
  Done: 4,
  /** It was for another revision, which the template had in between. */
  ForAnother: 5,
  /** Done, for less than minReadySeconds. */
  Fresh: 6,
} as const;

export const Scale = { Before: 0, Asked: 1, Done: 2 } as const;

export const bit = (ordinal: number): number => 1 << ordinal;

/** By value, in lower case. */
export function namesOf(values: Readonly<Record<string, number>>): readonly string[] {
  const list: string[] = [];
  for (const [name, value] of Object.entries(values)) list[value] = name.toLowerCase();
  return list;
}

/**
 * Which read of a confirmation shows a cell: the first (the StatefulSet, the MySQLRollout and what the controller has written
 * down in it; the budgets), the second (the pods), the last (the MySQLCluster), the first and the last, or none.
 */
type Read = 'around' | 'memory' | 'budget' | 'pods' | 'cluster' | 'both' | 'none';
type Width = number | ((world: World) => number);

/** One cell, or one for each member. */
export interface Declared {
  readonly at: number;
  readonly read: Read;
  /** What a change of it means, in a story; `null` if stories need not mention it. */
  readonly say: ((value: number) => string | undefined) | null;
  /** How many bits it needs in a world, 0 where it does not vary. */
  readonly bits: (world: World) => number;
  readonly isOfEach: boolean;
}

const declared: Declared[] = [];
let next = 0;

function declare(read: Read, width: Width, say: Declared['say'], isOfEach: boolean): number {
  const at = next;
  next += isOfEach ? mostMembers : 1;
  declared.push({ at, read, say, bits: typeof width === 'number' ? () => width : width, isOfEach });
  return at;
}

const cell = (read: Read, width: Width, say: Declared['say'] = null): number => declare(read, width, say, false);
const cellOfEach = (read: Read, width: Width, say: Declared['say'] = null): number => declare(read, width, say, true);

const several: Width = ({ replicas }) => (replicas > 1 ? 3 : 0);
const having =
  (family: Family, bits: number): Width =>
  ({ families }) =>
    families.has(family) ? bits : 0;
/** A bit for each member. */
const of =
  (family: Family): Width =>
  ({ families, replicas }) =>
    families.has(family) ? replicas : 0;
const asked =
  (request: Request): Width =>
  (world) =>
    mayAsk(world, request) ? 1 : 0;
const unfolded =
  (bits: number): Width =>
  ({ folded }) =>
    folded ? 0 : bits;
const remembersTries =
  (bits: number): Width =>
  ({ folded, families }) =>
    folded && !families.has('leaving-nodes') ? 0 : bits;
const remembers = ({ folded, badRevision, families }: World): boolean =>
  !folded || badRevision || families.has('new-pods');

const onceTrue = (sentence: string) => (value: number) => (value === 1 ? sentence : undefined);
const asBits = (what: string) => (value: number) => `${what}, as bits: ${value}`;
const phaseNames = namesOf(Phase);
const statusNames = ['Incomplete', 'Available, not Healthy', 'Healthy', 'Failed or Lost'];
const leadNames = [
  'writes are open',
  'writes are closed',
  'no replica follows the new primary yet',
  'replicas follow the new primary',
];

const windowWords = [
  'a maintenance window opens',
  'the maintenance window is too short for a switchover',
  'the maintenance window closes',
];

const newPodsWords = [
  'new pods are to come up at the update revision',
  'the label asks for the current revision, and the strategy is OnDelete',
  'new pods are to come up at the current revision',
];

// Of each member.
export const HEALTH = cellOfEach('pods', ({ families }) => (families.has('new-pods') ? 5 : 4));
export const REVISION = cellOfEach('pods', ({ families }) =>
  families.has('template') || families.has('new-pods') ? 2 : 1,
);
/** Its role label agrees with the index. */
export const SETTLED = cellOfEach('pods', 1);
export const DEMOTE = cellOfEach('pods', ({ families }) =>
  families.has('template') || families.has('leaving-nodes') ? 3 : 2,
);

// MOCO: what its status says, and where its clustering loop is.
/** `status.currentPrimaryIndex`. */
export const INDEX = cell('cluster', several, (value) => `MOCO moves the primary index to ${value}`);
export const PHASE = cell('none', 3, (value) => `MOCO is ${phaseNames[value]}`);
/** The member that a switchover goes to. */
export const TO = cell('none', several);
export const LEAD = cell('none', 2, (value) => leadNames[value]);
/** `Healthy` and `Available` as last written. */
export const STATUS = cell('cluster', 2, (value) => `MOCO writes that the cluster is ${statusNames[value]}`);
/** `syncedReplicas` as last written. */
export const SYNCED = cell('cluster', having('two-at-once', 3));

// Deadlines, a bit each.
/** For failoverGraceSeconds the primary has been away or served without `Available`, and who participates is the same. */
export const GRACE = cell('pods', unfolded(1), onceTrue('failoverGraceSeconds pass'));
/** A demotion has been there for switchoverTimeoutSeconds. */
export const TIMEOUT = cell('pods', 1, onceTrue('switchoverTimeoutSeconds pass'));
/** The next try of a switchover may come. */
export const WAITED = cell('memory', remembersTries(1), onceTrue('the next try may come'));
/** The rollout has not moved for progressDeadlineSeconds. */
export const STUCK = cell(
  'memory',
  ({ badRevision, families }) => (badRevision || families.has('unconfigurable') ? 1 : 0),
  onceTrue('progressDeadlineSeconds pass'),
);

// The controller's own memory.
export const VERIFIED = cell(
  'memory',
  (world) => (remembers(world) ? 1 : 0),
  onceTrue('the revision is noted as verified'),
);
/** Members that were down when they were taken, as bits. */
export const TAKEN = cell('memory', (world) => (remembers(world) ? world.replicas : 0));
export const TRIES = cell('memory', remembersTries(2));
/** A step that has been written down and may still be done, however late: its kind, and its members as bits. */
export const INTENT = cell(
  'none',
  ({ families }) => (families.has('late-write') ? (families.has('leaving-nodes') ? 4 : 3) : 0),
  (value) => (value === 0 ? 'no intent is left' : 'an intent is written down, and its author dies or is slow'),
);
export const INTENDED = cell('none', of('late-write'));

// Around them.
/** The update revision of the StatefulSet. */
export const TARGET = cell('around', having('template', 2), (value) => `the update revision is ${value}`);
/** The template that the user wants, where it is another one. */
export const WANTED = cell('none', having('template', 2), (value) => `the user asks for template ${value}`);
export const STAGE = cell('both', having('template', 2), (value) =>
  value === Stage.Applied ? 'MOCO applies it' : undefined,
);
export const CHANGES = cell('none', having('template', 2));
/** The revisions at which no member ever participates, a bit each from revision 1 on. */
export const BAD = cell('none', ({ badRevision }) => (badRevision ? 1 : 0));
/** The PodDisruptionBudget, as last computed: it allows one more, and its status is that of its spec. */
export const OPEN = cell('budget', having('budget', 1), (value) =>
  value === 1 ? 'the budget opens' : 'the budget closes',
);
export const COMPUTED = cell('budget', having('budget', 1));
/** A backup. Of one by its CronJob, MOCO closes the budget in its spec a while after the Job has begun. */
export const BACKUP = cell(
  'budget',
  having('budget', 2),
  (value) => ['the backup ends', 'a backup begins', 'MOCO closes the budget for it'][value],
);
/** Members whose pod carries `prevent-delete`, as bits. MOCO leaves it on a primary that a failover makes a replica. */
export const PREVENT = cell('pods', of('prevent-delete'), asBits('members with prevent-delete'));
/** Errant replicas, as bits. */
export const ERRANT = cell('cluster', of('errant'), asBits('errant replicas'));
export const PAUSED = cell('around', asked('pauses'), (value) =>
  value === 1 ? 'the user pauses' : 'the user resumes',
);
export const HELD = cell('around', asked('pins'), (value) =>
  value === 1 ? 'the user holds the highest ordinal' : 'the user lets it go',
);
export const APPROVED = cell('around', asked('approves'), onceTrue('the user approves the primary'));
/** `rollingUpdate.partition` in partition mode. */
export const PARTITION = cell('around', having('partition-mode', 3), (value) => `the partition is ${value}`);
export const SCALE = cell('both', having('scaling', 2), (value) =>
  value === Scale.Asked ? 'the user asks for two more members' : 'the StatefulSet gets them',
);

// Of the checker alone.
export const FAULTS = cell('none', 0);
/** Times the index has moved, where that is counted. */
export const MOVES = cell('none', ({ countMoves }) => (countMoves ? 2 : 0));
/** Participating members that a step of ours took while a bad revision was being rolled out, and that are not back, as bits. */
export const LOST = cell('none', ({ badRevision, replicas }) => (badRevision ? replicas : 0));

/** What a cluster replicates from that has `spec.replicationSourceSecretName`; `None` where it has not. */
export const UPSTREAM = cell(
  'none',
  having('upstream', 2),
  (value) => `the upstream is ${value === Upstream.Away ? 'away' : 'back'}`,
);
/** `status.currentRevision` is the update revision. Only the random histories begin before it is. */
export const PROMOTED = cell('around', 0);
/** What is left of the maintenance window. */
export const WINDOW = cell('around', having('maintenance', 2), (value) => windowWords[value]);

/** Members whose container the kubelet has still to restart after an update in place, as bits. */
export const RESTARTING = cell(
  'pods',
  ({ families, replicas }) => (families.has('in-place') || families.has('slow-log') ? replicas : 0),
  asBits('members of which a container has still to restart'),
);

/** How far the resize of each member is. */
export const RESIZE = cellOfEach('pods', having('resize', 3), (value) => `is resized: ${namesOf(Resize)[value]}`);

/**
 * The replica, one more than its ordinal, that has received what nobody has applied and no other one has received. Nobody
 * serves as primary while there is one: MOCO's failover waits for its applier.
 */
export const TOP = cell('none', having('relay-log', 3), (value) =>
  value === 0 ? 'no member is ahead any more' : `member ${value - 1} has received the most`,
);
/** The mysqld of that replica has restarted since. Its threads are stopped, and its relay log is never applied. */
export const HALTED = cell('none', having('relay-log', 1), onceTrue('the threads of that replica are stopped'));
/** Members whose node never comes back, as bits. */
export const GONE = cell('none', of('relay-log'), asBits('members whose node never comes back'));
/** Members whose agent answers no probe until their pod is another one, as bits. */
export const AGENTLESS = cell('none', of('agents'), asBits('members without an agent'));
/** Replicas that MOCO fails to configure until their pod is another one, as bits. */
export const BROKEN = cell('none', of('unconfigurable'), asBits('replicas that MOCO fails to configure'));
/** Replicas are too far behind for a switchover. */
export const DELAYED = cell('around', having('delay', 1), (value) =>
  value === 1 ? 'replicas are behind' : 'replicas have caught up',
);

/** What the label of the StatefulSet asks for, and whether its strategy is what that needs. */
export const NEW_PODS = cell('around', having('new-pods', 2), (value) => newPodsWords[value]);
/** The StatefulSet controller has observed that strategy: it creates pods at the current revision. */
export const FOLLOWS = cell(
  'around',
  having('new-pods', 1),
  (value) => `the StatefulSet controller creates pods at the ${value === 1 ? 'current' : 'update'} revision`,
);
/** `status.currentRevision`. */
export const CURRENT = cell('around', having('new-pods', 2), (value) => `the current revision is ${value}`);
/**
 * Of the MySQLRollout: members that no step has taken, as bits, where that has been written down (`NOTED`). Else those of the
 * rollout before, whose revision is `EARLIER`; every member where there was none.
 */
export const WAITING = cell('memory', of('new-pods'), asBits('noted as waiting'));
export const NOTED = cell('memory', having('new-pods', 1));
/** Members that started at the update revision without a step while they were held, as bits. */
export const CREATED = cell('memory', of('new-pods'), asBits('noted as created while held'));
/**
 * Members whose pod a step has deleted so that they come back at their previous revision, as bits; until a new pod is
 * seen.
 */
export const RESTORING = cell('memory', of('new-pods'));
/** A person asks for the member of the highest ordinal to be given back its revision. */
export const RESTORE = cell('around', asked('restores'), (value) =>
  value === 1 ? 'the user wants the highest ordinal back' : 'the user no longer wants it back',
);
/** Of pods that are going or gone, as bits: a step of the rollout has taken them, or one that restores them. */
export const TOOK = cell('pods', of('new-pods'));
export const BACK = cell('pods', of('new-pods'));
/** Members whose mysqld has run at the update revision, on the data that they have, as bits. */
export const RAN = cell('pods', of('new-pods'));
/** Members that have had a pod at some time, and therefore have a claim, as bits. */
export const BORN = cell('pods', ({ families, replicas }) =>
  families.has('new-pods') && families.has('scaling') ? replicas : 0,
);
export const EARLIER = cell('none', ({ families }) => (families.has('new-pods') && families.has('template') ? 2 : 0));
/** Those of `CREATED` whose mysqld has been seen to have started since, in whichever pod, as bits. */
export const STARTED = cell('memory', of('new-pods'), asBits('noted as started since'));

/**
 * Members on the node that is being taken out of service, as bits. Other nodes may run their next pods. One node at a
 * time, with one member or two.
 */
export const LEAVING = cell(
  'pods',
  of('leaving-nodes'),
  asBits('members on a node that is being taken out of service'),
);

export const cells: readonly Declared[] = declared;
export const cellCount = next;
