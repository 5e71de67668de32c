import { candidates, lowest } from '../../support/moco/decisions.ts';
import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import { foldsReplication } from './fold.ts';
import { clusteringFacts } from './moco-moves.ts';
import { judgeNewPods } from './new-pods.ts';
import { membersBeforeScaling, type World } from './world.ts';

// The invariants as SPEC.md numbers them, judged on the truth and not on what was read. Every one is a condition of a
// moment: a violation is a disruption whose condition held at no moment between the start of its confirmation and its
// commit; one that ceased to hold within that window is a race.

export type Invariant =
  | 'I1'
  | 'I2'
  | 'I2b'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I7'
  | 'I8'
  | 'I17'
  | 'I18'
  | 'I20'
  | 'I21'
  | 'sequence'
  | 'behind'
  | 'I27'
  | 'I29'
  /** `violations()` objects to a decision on a state that was read in one moment. */
  | 'facts'
  | 'setting'
  | 'protected'
  | 'recovering'
  | 'backup'
  | 'creation'
  | 'slow'
  /** A member at work is updated on a node that stays while the rollout is to wait for the nodes of others. */
  | 'nodes'
  /** A member that another client has taken, and that is held, may come back updated after a decision. */
  | 'lost'
  /** A member that has worked at the update revision may come back at another one after a decision. */
  | 'back'
  /** A step takes a member for the update revision while new pods start at another one. */
  | 'kept'
  /** A member is given back its revision that works, that has run, or that would come back updated. */
  | 'restored';

interface Moment {
  readonly cells: c.Cells;
  readonly world: World;
  readonly n: number;
  readonly target: number;
  readonly verdict: Verdict;
}

type Condition = (moment: Moment) => boolean;

const others = ({ cells, n, target, verdict }: Moment, holds: (cells: c.Cells, ordinal: number) => boolean): number => {
  let counted = 0;
  for (let ordinal = 0; ordinal < n; ordinal++) {
    if (ordinal !== target && (verdict.targets & (1 << ordinal)) === 0 && holds(cells, ordinal)) counted++;
  }
  return counted;
};

/** A role change that MOCO has not finished: the new primary doesn't take writes yet. */
const isMoving = (cells: c.Cells): boolean => cells[c.LEAD] === c.Lead.Moved || cells[c.LEAD] === c.Lead.Repointed;

const quorumStays: Condition = (moment) =>
  moment.n < 3 ||
  !facts.participates(moment.cells, moment.target) ||
  others(moment, facts.participates) >= facts.majorityOf(moment.n);

const floorStays: Condition = (moment) => {
  const { cells, n, target, world, verdict } = moment;
  const index = cells[c.INDEX] as number;
  if (verdict.rule !== 'MemberNotParticipating' || !facts.acknowledges(cells, target)) return true;
  if (cells[c.GRACE] === 0) {
    // Where those that are behind are all alike, the one that is taken acknowledges, and no other one does.
    const known = foldsReplication(world) ? facts.participates : facts.acknowledges;
    return known(cells, index) && others(moment, known) >= facts.majorityOf(n);
  }
  // Waiting forever would be worse: what MOCO has configured counts by its looks from then on.
  if (!facts.mayAcknowledge(cells, index) || !facts.mayAcknowledge(cells, target)) return true;
  return others(moment, facts.mayAcknowledge) >= facts.majorityOf(n);
};

/**
 * MOCO's failover needs the relay log of a replica that runs, and its threads: while nobody serves as primary, and right
 * after a step that takes the primary as well.
 */
const relayLogStays: Condition = ({ cells, target, verdict }) => {
  const index = cells[c.INDEX] as number;
  if (target === index) return true;
  if (facts.holdsTopRelayLog(cells, target) && facts.answers(cells, target)) return false;
  const takesPrimary = (verdict.targets & (1 << index)) !== 0 && facts.answers(cells, index);
  return !takesPrimary || !facts.runsThreads(cells, target) || facts.healthOf(cells, target) === c.Health.Severed;
};

const serves = ({ cells, target }: Moment): boolean =>
  target === cells[c.INDEX] && cells[c.LEAD] === c.Lead.Open && facts.participates(cells, target);

/** Who has an address of the primary's Service keeps it, unless the user wants its containers to restart in place. */
const keepsAddress: Condition = (moment) =>
  moment.n === 1 || !serves(moment) || moment.world.policy.inPlaceUpdates.primary === 'InPlace';

/** The user has approved that the primary goes, however unwell it is. */
const approvedToMove: Condition = (moment) =>
  !serves(moment) || !moment.world.families.has('user') || moment.cells[c.APPROVED] === 1;

/** No pinned replica would be older than its source. */
const nobodyOlder: Condition = (moment) => {
  const { cells, world } = moment;
  const pinned = world.replicas - 1;
  const isOlder = cells[c.HELD] === 1 && pinned !== cells[c.INDEX] && !facts.isMissing(cells, pinned);
  return !serves(moment) || !isOlder || facts.isUpdated(cells, pinned);
};

/** MOCO blocks writes until the replica that it chooses has applied everything. */
const caughtUp: Condition = (moment) => moment.n === 1 || !serves(moment) || moment.cells[c.DELAYED] === 0;

/** Nobody who stays has still to receive what the primary has committed. */
const othersReceived: Condition = ({ cells, n, target }) => {
  if (cells[c.DELAYED] === 0) return true;
  for (let ordinal = 0; ordinal < n; ordinal++) {
    if (ordinal !== target && ordinal !== cells[c.INDEX] && facts.participates(cells, ordinal)) return false;
  }
  return true;
};

/** Members get the revision one after the other, each once the one before has been well with it for minReadySeconds. */
const othersDone: Condition = ({ cells, n, target, world }) => {
  if (world.families.has('two-at-once') || !facts.isWell(cells, target)) return true;
  for (let ordinal = 0; ordinal < n; ordinal++) {
    if (ordinal !== target && facts.isUpdated(cells, ordinal) && !isDone(cells, ordinal)) return false;
    if (ordinal !== target && cells[c.RESIZE + ordinal] === c.Resize.Fresh) return false;
  }
  return true;
};

const isDone = (cells: c.Cells, ordinal: number): boolean =>
  facts.participates(cells, ordinal) &&
  facts.healthOf(cells, ordinal) !== c.Health.Young &&
  cells[c.SETTLED + ordinal] === 1 &&
  !facts.restarts(cells, ordinal);

const handedOver: Condition = ({ cells, n, target }) =>
  n === 1 || !facts.isWell(cells, target) || (target !== cells[c.INDEX] && !isMoving(cells));

/** While the agent restarts mysqld answers no probe, so the primary is disrupted, unless the user wants just that. */
const handedOverForAgent: Condition = (moment) =>
  !moment.world.families.has('in-place') ||
  moment.world.policy.inPlaceUpdates.primary === 'InPlace' ||
  handedOver(moment);

/** MOCO has finished moving roles. */
const rolesRest: Condition = ({ cells, n }) => n === 1 || !isMoving(cells);

const notWell: Condition = ({ cells, target }) => !facts.isWell(cells, target);

const stale: Condition = ({ cells, target }) => !facts.isUpdated(cells, target);

const unprotected: Condition = ({ cells, target }) => !facts.isProtected(cells, target);

/** InnoDB's recovery would begin anew. */
const notRecovering: Condition = ({ cells, target }) => facts.healthOf(cells, target) !== c.Health.Recovering;

const configured: Condition = ({ cells, target, world }) =>
  target >= world.policy.partition && cells[c.PAUSED] === 0 && !(cells[c.HELD] === 1 && target === world.replicas - 1);

/**
 * Kubernetes may be unable to make a pod again, and MOCO's clustering stands still while one is missing. Those that it has
 * never made do not count: the StatefulSet may be scaled between two reads.
 */
const nobodyMissing: Condition = ({ cells, world }) =>
  facts.count(cells, world.families.has('scaling') ? membersBeforeScaling(world) : world.replicas, facts.isMissing) ===
  0;

/** The deletion of a member that runs, as every other disruption, might break the backup off. */
const noBackup: Condition = ({ cells, verdict: { kind, rule } }) =>
  cells[c.BACKUP] === c.Backup.None ||
  (kind === 'delete' && rule !== 'MemberNotParticipating' && rule !== 'MemberImpaired');

const isPrimary: Condition = ({ cells, target }) => target === cells[c.INDEX];

/**
 * A member fits into what is left of the window. Without a primary, writes have stopped, and every step is a repair.
 */
const fits: Condition = ({ cells, target }) =>
  cells[c.WINDOW] !== c.Window.Closed ||
  !facts.participates(cells, target) ||
  !facts.participates(cells, cells[c.INDEX] as number);

/** So do the switchover and the update of the old primary together. */
const fitsTogether: Condition = ({ cells }) => cells[c.WINDOW] === c.Window.Open;

/** Nobody may be away while the primary is asked to go, however many replicas may be. */
const fullHouse: Condition = (moment) => facts.count(moment.cells, moment.n, facts.participates) === moment.n;

const works: Condition = ({ cells, target }) => facts.isWell(cells, target);

/** It works, and no other member restarts a container. */
const worksAlone: Condition = ({ cells, target }) => facts.isWell(cells, target) && cells[c.RESTARTING] === 0;

/** It works, and no other member is being resized. */
const resizesAlone: Condition = ({ cells, n, target }) =>
  facts.isWell(cells, target) &&
  facts.count(cells, n, (at, one) => one !== target && at[c.RESIZE + one] === c.Resize.Pending) === 0;

/** The kubelet has made its resize. */
const hasItsResources: Condition = ({ cells, target }) => cells[c.RESIZE + target] === c.Resize.Done;

/** Its next pod starts at the update revision. */
const comesUpUpdated: Condition = ({ cells }) => !facts.keepsRevisions(cells);

const comesUpAsItWas: Condition = ({ cells }) =>
  cells[c.NEW_PODS] === c.NewPods.Kept && cells[c.FOLLOWS] === 1 && cells[c.CURRENT] !== cells[c.TARGET];

const updated: Condition = (moment) => !stale(moment);

const doesNotWork: Condition = ({ cells, target }) => !facts.participates(cells, target);

/** Its data are as they were before, or the person who asks knows that they are not. */
const mayGoBack: Condition = ({ cells, target, world }) => {
  // If a pod was gone before it was observed, it is unknown whether its mysqld has run.
  const isKnown = facts.hasRun(cells, target) || facts.has(cells[c.STARTED], target);
  return !(facts.has(cells[c.RAN], target) && isKnown) || (cells[c.RESTORE] === 1 && target === world.replicas - 1);
};

/** Its node is being taken out of service, and the setting asks for that. */
const nodeLeaves: Condition = ({ cells, target, world, verdict: { kind } }) => {
  const { nodeMaintenance } = world.policy;
  const isAsked = nodeMaintenance === 'Evacuate' || (nodeMaintenance === 'Switchover' && kind === 'demote');
  return isAsked && facts.has(cells[c.LEAVING], target);
};

/** The replica that MOCO would choose stays on its node. */
const nextStays: Condition = ({ cells, world }) => {
  const next = lowest(candidates(clusteringFacts(cells, world)));
  return next !== null && !facts.has(cells[c.LEAVING], next);
};

/** Its next pod starts at the revision that it has. */
const keepsItsRevision: Condition = (moment) => {
  const { cells, target } = moment;
  if (facts.isUpdated(cells, target)) return !facts.keepsRevisions(cells);
  return comesUpAsItWas(moment) && cells[c.CURRENT] === cells[c.REVISION + target];
};

/** Every other member works, however many replicas may be away for a rollout. */
const othersServe: Condition = (moment) =>
  moment.world.families.has('two-at-once') || others(moment, facts.participates) === moment.n - 1;

const notPaused: Condition = ({ cells }) => cells[c.PAUSED] === 0;

/** The rollout waits for the nodes of others, if it is to. Without a primary, every step is a repair. */
const nodesDone: Condition = ({ cells, target, world }) =>
  world.policy.rolloutsDuringMaintenance === 'Proceed' ||
  cells[c.LEAVING] === 0 ||
  facts.has(cells[c.LEAVING], target) ||
  !facts.isWell(cells, target) ||
  !facts.participates(cells, cells[c.INDEX] as number);

/**
 * What is done to a member: of updates in place, with the resizes of a world, only the label is left. For its node alone a
 * replica leaves, and a primary moves off.
 */
type Deed =
  | 'delete'
  | 'evict'
  | 'setPartition'
  | 'demote'
  | 'resize'
  | 'label'
  | 'restart'
  | 'restore'
  | 'leave'
  | 'moveOff';

/** Its pod goes, for its update. */
const takesPod: readonly Deed[] = ['delete', 'evict', 'setPartition'];
/** So it does in the end. */
const takes: readonly Deed[] = [...takesPod, 'demote'];
/** It gets something of the update revision. */
const updates: readonly Deed[] = [...takes, 'resize', 'label', 'restart'];
/** While another one may. */
const inSequence: readonly Deed[] = ['evict', 'demote', 'resize', 'restart'];
const forNode: readonly Deed[] = ['leave', 'moveOff'];
const keepsStrategy: readonly Deed[] = updates.filter((deed) => deed !== 'setPartition');

/** Each invariant with its condition and the deeds that it is asked of. */
const laws: readonly (readonly [invariant: Invariant, holds: Condition, of: readonly Deed[]])[] = [
  ['I2', quorumStays, [...takesPod, 'leave']],
  ['I2', fullHouse, ['demote', 'restart', 'moveOff']],
  ['I2', othersServe, ['leave']],
  ['I2b', floorStays, ['delete']],
  ['I3', handedOver, ['delete', 'evict', 'leave']],
  ['I3', handedOverForAgent, ['restart']],
  ['I3', rolesRest, ['restart']],
  ['I3', isPrimary, ['demote', 'moveOff']],
  ['I4', notWell, ['delete']],
  ['I5', stale, updates],
  ['I17', works, ['label']],
  ['I17', worksAlone, ['restart']],
  ['I17', resizesAlone, ['resize']],
  ['I17', hasItsResources, ['label']],
  ['I18', fits, [...takesPod, 'resize', 'restart']],
  ['I18', fitsTogether, ['demote']],
  ['I20', relayLogStays, [...takesPod, 'leave', 'restore']],
  ['I21', keepsAddress, ['restart']],
  ['I27', othersReceived, ['evict', 'leave']],
  ['I29', nodeLeaves, forNode],
  ['I29', nextStays, ['moveOff']],
  ['I29', keepsItsRevision, ['leave']],
  ['nodes', nodesDone, updates],
  ['sequence', othersDone, [...inSequence, ...forNode]],
  ['behind', caughtUp, [...takes, 'moveOff']],
  ['setting', configured, updates],
  ['setting', notPaused, forNode],
  ['setting', approvedToMove, [...takes, 'moveOff']],
  ['setting', nobodyOlder, [...takes, 'moveOff']],
  ['protected', unprotected, [...takesPod, 'leave', 'restart', 'restore']],
  ['recovering', notRecovering, ['delete', 'setPartition']],
  ['backup', noBackup, ['delete', 'evict', 'demote', 'restart', ...forNode]],
  ['creation', nobodyMissing, ['delete', 'evict', 'leave', 'restore']],
  ['kept', comesUpUpdated, keepsStrategy],
  ['restored', updated, ['restore']],
  ['restored', doesNotWork, ['restore']],
  ['restored', mayGoBack, ['restore']],
  ['restored', comesUpAsItWas, ['restore']],
];

const lawsOf: ReadonlyMap<Deed, typeof laws> = new Map(
  [...updates, ...forNode, 'restore' as const].map((deed) => [deed, laws.filter(([, , of]) => of.includes(deed))]),
);

/** `null` for what takes no member and gives it nothing. */
function deedOf({ kind, rule }: Verdict, { policy, families }: World): Deed | null {
  switch (kind) {
    case 'evict':
      return rule === 'NodeLeaving' ? 'leave' : kind;
    case 'demote':
      return rule === 'NodeLeaving' ? 'moveOff' : kind;
    case 'delete':
    case 'restore':
      return kind;
    case 'resizeInPlace':
      return 'resize';
    case 'updateInPlace':
      return families.has('resize') ? 'label' : 'restart';
    case 'setPartition':
      return policy.mode === 'OnDelete' ? null : kind;
    default:
      return null;
  }
}

export interface Judgement {
  readonly violated: Invariant | null;
  /** A condition ceased to hold within the window. */
  readonly race: boolean;
  /** Targets that participated at every moment of the window, as bits. */
  readonly taken: number;
}

const clean: Judgement = { violated: null, race: false, taken: 0 };

/** Which invariants are looked for. */
export type Wanted = (invariant: Invariant) => boolean;

/** `path` is every state from the start of the confirmation to the commit. */
export function judge(
  verdict: Verdict,
  path: readonly c.Cells[],
  world: World,
  isWanted: Wanted = () => true,
): Judgement {
  const deed = deedOf(verdict, world);
  if (deed === null) return clean;
  const conditions = lawsOf.get(deed) ?? [];
  let race = false;
  let taken = 0;
  const now = path.at(-1) as c.Cells;
  for (let target = 0; verdict.targets >> target !== 0; target++) {
    if ((verdict.targets & (1 << target)) === 0 || facts.isTerminating(now, target)) continue;
    for (const [invariant, holds] of conditions) {
      if (holds({ cells: now, world, n: facts.replicasOf(now, world), target, verdict })) continue;
      const held = path.some((cells) => {
        const moment = { cells, world, n: facts.replicasOf(cells, world), target, verdict };
        return holds(moment) || holds({ ...moment, cells: withErrantOf(now, cells) });
      });
      if (held) race = true;
      else if (isWanted(invariant)) return { violated: invariant, race: false, taken };
    }
    const goes = takesPod.includes(deed) || deed === 'restore';
    if (goes && path.every((cells) => facts.participates(cells, target))) taken |= c.bit(target);
  }
  const isFailing = facts.isBadRevision(now, now[c.TARGET] as number);
  if (taken !== 0 && isFailing && membersIn((now[c.LOST] as number) | taken) > mostUnavailable(world)) {
    if (isWanted('I7')) return { violated: 'I7', race: false, taken };
  }
  return { violated: null, race, taken };
}

const membersIn = (bits: number): number => (bits === 0 ? 0 : (bits & 1) + membersIn(bits >> 1));

/** How many members a failing revision may cost: what the user allows, and never so many that the quorum is lost. */
function mostUnavailable({ policy: { maxUnavailable }, replicas }: World): number {
  const allowed =
    typeof maxUnavailable === 'number' ? maxUnavailable : Math.floor((parseInt(maxUnavailable) * replicas) / 100);
  return Math.max(1, Math.min(allowed, Math.floor(replicas / 2)));
}

/** MOCO's list is older than the truth: a mark that went within the window was wrong before it went. */
function withErrantOf(now: c.Cells, cells: c.Cells): c.Cells {
  if (now[c.ERRANT] === cells[c.ERRANT]) return cells;
  const corrected = cells.slice();
  corrected[c.ERRANT] = now[c.ERRANT] as number;
  return corrected;
}

/** What has to be true of a state and of what is decided on it, read without anything in between. */
export function judgeState(verdict: Verdict, cells: c.Cells, world: World): Invariant | null {
  if ((cells[c.MOVES] as number) > 1) return 'I8';
  if (world.countMoves && cells[c.MOVES] === 1 && world.policy.partition > 0) return judgeKept(cells, world);
  if (
    verdict.hold === 'UpdateRevisionFailing' &&
    cells[c.RESTORE] === 0 &&
    facts.count(cells, world.replicas, hasFailed) === 0
  )
    return 'slow';
  return world.families.has('new-pods') ? judgeNewPods(verdict, cells, world) : null;
}

/** A revision fails where mysqld of one of its members has ended, or a sidecar fails, and not where one is slow to start. */
const hasFailed = (cells: c.Cells, ordinal: number): boolean =>
  facts.isUpdated(cells, ordinal) &&
  (facts.isBroken(cells, ordinal) || facts.recovers(cells, ordinal) || endsUp(cells, ordinal));

const endings: ReadonlySet<number> = new Set([c.Health.Failed, c.Health.Unpulled, c.Health.Impaired]);

const endsUp = (cells: c.Cells, ordinal: number): boolean => endings.has(facts.healthOf(cells, ordinal));

/** The primary that a rollout began with lies below the partition, and yet another one leads. */
function judgeKept(cells: c.Cells, world: World): Invariant | null {
  const kept = facts.count(cells, world.policy.partition, (at, ordinal) => facts.isUpdated(at, ordinal)) > 0;
  return kept ? 'I8' : null;
}
