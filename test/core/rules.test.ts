import { expect } from 'chai';
import { everything, unfinished, untouchable } from '../../src/core/holds.ts';
import {
  alertOf,
  holdRules,
  isAlarming,
  isBrief,
  isOverridable,
  isRequestedByUser,
  isRoutine,
  ruleGroups,
  rules,
} from '../../src/core/rules/catalogue.ts';

describe('the catalogue of rules', () => {
  it('has each rule in one group', () => {
    expect(Object.values(ruleGroups).flatMap((group) => Object.keys(group))).to.deep.equal(holdRules);
  });

  it('has the rules of a chain in the order in which the chain asks them', () => {
    const chains = { untouchable, everything, unfinished };
    for (const [group, chain] of Object.entries(chains)) {
      expect(Object.keys(chain), group).to.deep.equal(Object.keys(ruleGroups[group as keyof typeof chains]));
    }
  });

  for (const rule of holdRules) {
    const { meaning, details, ends, endedBy, requestedBy, alarms } = rules[rule];

    it(`${rule} has a name for Events and sentences that end with a full stop`, () => {
      expect(rule).to.match(/^[A-Z]\w{1,127}$/);
      for (const text of [meaning, ends, ...(details === undefined ? [] : [details])]) {
        expect(text).to.match(/^[A-Z`].{5,}\.$/);
      }
      expect(endedBy).not.to.deep.equal([]);
    });

    it(`${rule} alarms only if a person can end it and nobody has requested it`, () => {
      if (!alarms) return;
      expect(endedBy).to.include('a person');
      expect(requestedBy).to.equal(undefined);
    });
  }

  const marked: readonly (readonly [string, (name: string) => boolean, string])[] = [
    [
      'alarm',
      isAlarming,
      `SnapshotInconsistent RolloutNotOwned RolloutTerminating DefinitionOutdated SettingsInvalid RevisionFlapping
       UpdateRevisionFailing SequencesUnreadable SequenceConflict SequenceInvalid MemberDownOutOfOrder MemberStuckTerminating SwitchoverFailing ReleaseUnsafe StepRefused`,
    ],
    [
      'are brief',
      isBrief,
      `RolloutNotOwned RolloutTerminating StatefulSetMissing AwaitingOwnWrite StatefulSetDeleting StatefulSetNotObserved
       NotReconciled MemberMissing RolesNotSettled AwaitingFailover MemberTerminating MaxUnavailableReached ClusterNotHealthy
       DisruptionControllerBehind ReplicasBehind CheckUnavailable ConfirmationTooSlow StepRefused`,
    ],
    [
      'are routine',
      isRoutine,
      'AwaitingSwitchover MemberTerminating UpdatedMemberNotParticipating DisruptionControllerBehind',
    ],
    [
      'are requested by a person',
      isRequestedByUser,
      `ClusterDeleting Released ReconciliationStopped ClusteringStopped Offline ForcedRollingUpdate Paused
       StageFailing AwaitingEarlierStage AwaitingSoak AwaitingSettle AwaitingStageSlot FleetFailing AwaitingFleetSlot
       AwaitingFleetInterval PrimaryWaitsForPinned AwaitingApproval
       RestartNeeded PartitionReached OutsideMaintenanceWindow Blackout`,
    ],
  ];
  for (const [what, is, names] of marked) {
    it(`has the rules that ${what}`, () => expect(holdRules.filter(is)).to.deep.equal(names.split(/\s+/)));
  }

  it('has one alert for each rule', () => {
    const own = holdRules.filter((rule) => rules[rule].alert !== undefined);
    expect(own).to.deep.equal([
      'Paused',
      'UpdateRevisionFailing',
      'StageFailing',
      'FleetFailing',
      'AwaitingSwitchover',
      'BlockedByPDB',
      'CheckFailing',
      'CheckUnavailable',
    ]);
    expect(alertOf('BlockedByPDB')).to.equal('MocoRolloutBlockedByPDB');
    expect(alertOf('StepRefused')).to.equal('MocoRolloutStalled');
    expect(alertOf('BackupRunning')).to.equal('MocoRolloutNoProgress');
    expect(alertOf('Offline')).to.equal(null);
  });

  it('has nothing for an unknown name', () => {
    for (const has of [isAlarming, isBrief, isOverridable, isRequestedByUser, isRoutine]) {
      expect(has('RuleOfALaterVersion')).to.equal(false);
      expect(has('toString')).to.equal(false);
    }
  });
});
