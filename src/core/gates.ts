import { type Effect, type EffectKind, effects } from './effects.ts';
import { type Hold, type HoldRule, holdOf, holdRules, isOverridable, rulesOf } from './rules/catalogue.ts';
import type { Situation } from './situation.ts';
import type { Step } from './step.ts';

// The table of what must be true before a step: for each effect, the rules that must not hold.
//
//     step --effects--> [stops member 2, reduces, brings ...]
//                            |
//           gates[effect] = the rules that guard it
//                            |
//     the first of them that holds, in the order of the catalogue, is the hold

const refusalsOfNodes = rulesOf('refused');
const terminating = ['MemberStuckTerminating', 'MemberTerminating'] as const;
/** Rules by which the user decides when a member may get the update revision. */
const ofTheUser = [
  'PrimaryWaitsForPinned',
  'AwaitingApproval',
  'OutsideMaintenanceWindow',
  'Blackout',
  'CheckFailing',
  'CheckUnavailable',
] as const;
const forOthers = [...rulesOf('fleet'), ...rulesOf('turn')] as const;
/** Rules by which the step waits for other members. */
const ofOthers = [...rulesOf('roles'), 'AwaitingFailover', 'MemberTerminating'] as const;
/**
 * Rules that block an adoption. StatefulSetNotObserved is not among them: an adoption depends on no revision, and MOCO
 * keeps writing some StatefulSets until they are adopted.
 */
const adoption = [
  'SettingsInvalid',
  'StatefulSetDeleting',
  'Released',
  'ReconciliationStopped',
  'ClusteringStopped',
  'Offline',
  'ForcedRollingUpdate',
  'AdmissionNotInForce',
  'Paused',
  'PolicyGone',
] as const;

/**
 * The only rules that keep this program from setting the strategy of an adopted StatefulSet. A person who holds the
 * rollout does not prevent that.
 */
const ownStrategy = ['StatefulSetDeleting', 'Released', 'Offline', 'ForcedRollingUpdate'] as const;
/**
 * If one of these rules holds, the StatefulSet is not ready for a step. The rule does not mean that a member has to
 * keep its revision.
 */
const ofTheStatefulSet: readonly HoldRule[] = [
  'StatefulSetDeleting',
  'StatefulSetNotObserved',
  'AdmissionNotInForce',
  'StrategyNotOnDelete',
];

/**
 * For each effect, the rules that must not hold. If several hold, the order of the catalogue decides which rule is
 * shown, not the order of this table.
 */
export const gates: Readonly<Record<EffectKind, readonly HoldRule[]>> = {
  writes: [...rulesOf('untouchable'), 'ConfirmationTooSlow', 'StepRefused'],
  acts: [...rulesOf('untouchable'), ...rulesOf('everything')],
  proceeds: ['Paused', 'RevisionFlapping', ...rulesOf('unfinished')],
  adopts: adoption,
  keeps: [...ownStrategy, 'StatefulSetNotObserved'],
  // MOCO scales an offline cluster to 0, so setting the strategy replaces no pod. When the cluster comes back online,
  // MOCO creates all pods at once, and then it is too late to set the strategy.
  updatesNew: ownStrategy.filter((rule) => rule !== 'Offline'),
  comesUpdated: [
    ...rulesOf('everything').filter((rule) => !ofTheStatefulSet.includes(rule)),
    ...rulesOf('failing'),
    ...forOthers,
    ...ofTheUser,
    ...refusalsOfNodes,
    ...rulesOf('versions'),
    'CloneImpossible',
  ],
  restores: [...ownStrategy, 'StatefulSetNotObserved'],
  handsOver: [
    'SettingsInvalid',
    'Paused',
    'PolicyGone',
    'StatefulSetDeleting',
    'StatefulSetNotObserved',
    'ReleaseUnsafe',
  ],
  ends: [
    ...rulesOf('failing'),
    ...rulesOf('unfinished'),
    ...terminating,
    'UpdatedMemberNotParticipating',
    'PartitionReached',
  ],
  completes: ['SnapshotInconsistent', ...rulesOf('unfinished')],
  takesBack: [],
  // What MOCO itself checks. The user's settings do not affect MOCO's partition controller.
  awaitsMoco: [
    ...rulesOf('untouchable'),
    'StatefulSetDeleting',
    'StatefulSetNotObserved',
    'Offline',
    'ForcedRollingUpdate',
    ...rulesOf('failing'),
    ...rulesOf('unfinished'),
    'AwaitingMoco',
  ],
  mocoTakes: [
    ...terminating,
    'UpdatedMemberNotParticipating',
    'MemberDownOutOfOrder',
    'MaxUnavailableReached',
    'ClusterNotHealthy',
  ],
  // A switchover takes seconds, and starting over would cost a second switchover. So a demotion continues under holds
  // that end within seconds.
  keepsDemotion: [
    ...rulesOf('everything').filter(
      (rule) => rule !== 'StatefulSetDeleting' && rule !== 'StatefulSetNotObserved' && rule !== 'PolicyGone',
    ),
    ...rulesOf('failing'),
    'NotInitialized',
    'MemberMissing',
    'PrimaryWaitsForPinned',
    'AwaitingApproval',
  ],
  brings: [...rulesOf('failing'), ...rulesOf('versions'), 'PartitionReached', 'RevisionsKept'],
  changesInPlace: ['AwaitingResize'],
  removes: ['MemberMissing', 'MemberProtected'],
  freesClaims: ['ClaimTerminating', 'CloneImpossible', 'RecreationUnknown'],
  mustReturn: ['NodeTakesNoPods', 'PlacementUnknown', 'SuccessorRefused', ...refusalsOfNodes],
  rolls: forOthers,
  interrupts: ['RevisionFlapping', ...forOthers, ...ofTheUser, ...refusalsOfNodes, 'CheckPending'],
  risks: ['UpdatedMemberNotParticipating', ...ofTheUser, 'AwaitingNodeMaintenance', 'CheckPending'],
  stops: [
    ...ofOthers,
    'Cloning',
    'CloneUnknown',
    'AwaitingRecovery',
    'MemberUnreachable',
    'UpdatedMemberNotParticipating',
    'MemberDownOutOfOrder',
    'BackupRunning',
    'BackupsUnreadable',
    'NotEnoughAcknowledging',
    'ReplicasBehind',
    'MocoNotAsked',
    'MocoUnavailable',
    'MembersNotAsked',
    'MemberSilent',
  ],
  reduces: [
    ...ofOthers,
    'AwaitingResize',
    'MaxUnavailableReached',
    'MemberProtected',
    ...refusalsOfNodes,
    'PreflightRunning',
  ],
  takesHealthy: ['RestartNeeded', 'ForeignDemote', 'ClusterNotHealthy', 'BlockedByPDB', 'DisruptionControllerBehind'],
  leavesService: ['BackupRunning', 'BackupsUnreadable'],
  movesPrimary: [
    'UpdatedMemberNotParticipating',
    'NoReplicaElsewhere',
    'PrimaryWaitsForPinned',
    'RestartNeeded',
    'ForeignDemote',
    'MemberProtected',
    'AwaitingApproval',
    'SwitchoverFailing',
    'ReplicasBehind',
    'LongWrite',
    'MocoNotAsked',
    'MocoUnavailable',
    'MembersNotAsked',
    'MemberSilent',
  ],
  losesRelayLog: ['FailoverUnfinished'],
};

export type Gates = typeof gates;
export type Guards = ReadonlyMap<HoldRule, ReadonlySet<EffectKind>>;

/** The inverse of the table: for each rule, in the order of the catalogue, the effects that it guards. */
export function guardsOf(table: Gates): Guards {
  const kinds = Object.keys(table) as readonly EffectKind[];
  return new Map(holdRules.map((rule) => [rule, new Set(kinds.filter((kind) => table[kind].includes(rule)))]));
}

export const guards = guardsOf(gates);

/** A step with one of these effects needs a slot of the fleet. */
export const needsSlot = (kinds: readonly EffectKind[]): boolean =>
  kinds.some((kind) => gates[kind].includes('AwaitingFleetSlot'));

/** Whether an override of the rule is in force. A rule that cannot be overridden stays on, whatever the policy says. */
export const isOverridden = ({ overridden }: Situation, rule: HoldRule): boolean =>
  overridden.has(rule) && isOverridable(rule);

/**
 * The first hold that blocks these effects of the step, or `null`. A rule that guards none of these effects is not
 * evaluated, and sets no deadline.
 */
export function firstHold(situation: Situation, step: Step, all: readonly Effect[], by: Guards = guards): Hold | null {
  for (const [rule, kinds] of by) {
    const effects = all.filter(({ kind }) => kinds.has(kind));
    if (effects.length === 0 || isOverridden(situation, rule)) continue;
    const members = [...new Set(effects.map(({ member }) => member))].filter((member) => member !== null);
    const hold = holdOf(rule, { situation, step, effects, members });
    if (hold !== null) return hold;
  }
  return null;
}

/** The hold that blocks the step now, or `null`. */
export const closed = (situation: Situation, step: Step, by: Guards = guards): Hold | null =>
  firstHold(situation, step, effects(situation, step), by);
