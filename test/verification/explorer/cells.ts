/**
 * One state of the abstract model, a small whole number in each cell. Ordinals matter: members are never exchanged for
 * each other. The first groups have a cell for each member.
 */
export type Cells = Uint16Array;

/** Random histories have up to nine members. Explorations have up to five. */
export const mostMembers = 9;

// Of each member.
export const HEALTH = 0;
export const REVISION = 9;
/** Its role label agrees with the index. */
export const SETTLED = 18;
export const DEMOTE = 27;

// MOCO: what its status says, and where its clustering loop is.
/** `status.currentPrimaryIndex`. */
export const INDEX = 36;
export const PHASE = 37;
/** The member that a switchover goes to. */
export const TO = 38;
export const LEAD = 39;
/** `Healthy` and `Available` as last written. */
export const STATUS = 40;
/** `syncedReplicas` as last written. */
export const SYNCED = 41;

// Deadlines, a bit each.
/** For failoverGraceSeconds the primary has been away or served without `Available`, and who participates is the same. */
export const GRACE = 42;
/** A demotion has been there for switchoverTimeoutSeconds. */
export const TIMEOUT = 43;
/** The next try of a switchover may come. */
export const WAITED = 44;
/** The rollout has not moved for progressDeadlineSeconds. */
export const STUCK = 45;

// The controller's own memory.
export const VERIFIED = 46;
/** Members that were down when they were taken, as bits. */
export const TAKEN = 47;
export const TRIES = 48;
/** A step that has been written down and may still be done, however late: its kind, and its members as bits. */
export const INTENT = 49;
export const INTENDED = 50;

// Around them.
/** The update revision of the StatefulSet. */
export const TARGET = 51;
/** The template that the user wants, where it is another one. */
export const WANTED = 52;
export const STAGE = 53;
export const CHANGES = 54;
/** The revisions at which no member ever participates, a bit each from revision 1 on. */
export const BAD = 55;
/** The PodDisruptionBudget, as last computed: it allows one more, and its status is that of its spec. */
export const OPEN = 56;
export const COMPUTED = 57;
/** A backup. Of one by its CronJob, MOCO closes the budget in its spec a while after the Job has begun. */
export const BACKUP = 58;
/** Members whose pod carries `prevent-delete`, as bits. MOCO leaves it on a primary that a failover makes a replica. */
export const PREVENT = 59;
/** Errant replicas, as bits. */
export const ERRANT = 60;
export const PAUSED = 61;
export const HELD = 62;
export const APPROVED = 63;
/** `rollingUpdate.partition` in partition mode. */
export const PARTITION = 64;
export const SCALE = 65;

// Of the checker alone.
export const FAULTS = 66;
/** Times the index has moved, where that is counted. */
export const MOVES = 67;
/** Participating members that a step of ours took while a bad revision was being rolled out, and that are not back, as bits. */
export const LOST = 68;

/** What a cluster replicates from that has `spec.replicationSourceSecretName`; `None` where it has not. */
export const UPSTREAM = 69;
/** `status.currentRevision` is the update revision. Only the random histories begin before it is. */
export const PROMOTED = 70;
/** What is left of the maintenance window. */
export const WINDOW = 71;

/** Members whose container the kubelet has still to restart after an update in place, as bits. */
export const RESTARTING = 72;

/** How far the resize of each member is. */
export const RESIZE = 73;

/**
 * The replica, one more than its ordinal, that has received what nobody has applied and no other one has received. Nobody
 * serves as primary while there is one: MOCO's failover waits for its applier.
 */
export const TOP = 82;
/** The mysqld of that replica has restarted since. Its threads are stopped, and its relay log is never applied. */
export const HALTED = 83;
/** Members whose node never comes back, as bits. */
export const GONE = 84;
/** Members whose agent answers no probe until their pod is another one, as bits. */
export const AGENTLESS = 85;
/** Replicas that MOCO fails to configure until their pod is another one, as bits. */
export const BROKEN = 86;
/** Replicas are too far behind for a switchover. */
export const DELAYED = 87;

/** What the label of the StatefulSet asks for, and whether its strategy is what that needs. */
export const NEW_PODS = 88;
/** The StatefulSet controller has observed that strategy: it creates pods at the current revision. */
export const FOLLOWS = 89;
/** `status.currentRevision`. */
export const CURRENT = 90;
/**
 * Of the MySQLRollout: members that no step has taken, as bits, where that has been written down (`NOTED`). Else those of the
 * rollout before, whose revision is `EARLIER`; every member where there was none.
 */
export const WAITING = 91;
export const NOTED = 92;
/** Members that came up at the update revision without a step while they were held, as bits. */
export const CREATED = 93;
/** Members whose pod a step has deleted so that they come back as what they were, as bits; as long as nobody has seen another pod. */
export const RESTORING = 94;
/** A person asks for the member of the highest ordinal to be given back its revision. */
export const RESTORE = 95;
/** Of pods that are going or gone, as bits: a step of the rollout has taken them, or one that restores them. */
export const TOOK = 96;
export const BACK = 97;
/** Members whose mysqld has run at the update revision, on the data that they have, as bits. */
export const RAN = 98;
export const EARLIER = 99;
/** Those of `CREATED` whose mysqld has been seen to have started since, in whichever pod, as bits. */
export const STARTED = 100;

/** Members whose claim is being deleted, as bits: the end of the pod destroys its data. */
export const CLAIMS = 101;

/** Members whose node takes no pods and to which their volume ties them, as bits: no other pod of them runs. */
export const CORDONED = 102;

export const cellCount = 103;

/** How a member's pod and its mysqld are. */
export const Health = {
  /** No pod. */
  Missing: 0,
  /** mysqld has not run yet. */
  Starting: 1,
  /** mysqld has not run for more than a minute: an image is pulled, a volume attached. Slow, and not broken. */
  Idle: 2,
  /** mysqld runs and follows nobody: it clones, or MOCO has still to configure it. It acknowledges nothing. */
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
  /** Has a deletionTimestamp, and no mysqld, or one that nobody reaches. */
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

export const Demote = { None: 0, Ours: 1, Foreign: 2, MarkWithoutDemote: 3, OursForAnother: 4 } as const;

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

export const Status = { Poor: 0, Available: 1, Healthy: 2 } as const;

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
