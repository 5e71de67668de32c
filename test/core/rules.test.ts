import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { gates } from '../../src/core/gates.ts';
import {
  alertOf,
  holdRules,
  isAlarming,
  isBrief,
  isForOthers,
  isOverridable,
  isRequestedByUser,
  isRoutine,
  type RuleGroup,
  ruleGroups,
  rules,
  rulesOf,
} from '../../src/core/rules/catalogue.ts';

describe('the catalogue of rules', () => {
  it('has each rule in one group', () => {
    const groups = Object.keys(ruleGroups) as readonly RuleGroup[];
    expect(groups.flatMap(rulesOf)).to.deep.equal(holdRules);
  });

  it('has each rule in a gate, so that it blocks something', () => {
    const used = new Set(Object.values(gates).flat());
    for (const rule of holdRules) {
      expect(used.has(rule), `${rule} blocks nothing: add it to an effect in src/core/gates.ts`).to.equal(true);
    }
  });

  it('has the example of each rule in the file that is named like that of the rule', () => {
    const declaring = (folder: string, rule: string): readonly string[] =>
      readdirSync(folder)
        .filter((file) => new RegExp(`^  ${rule}: `, 'm').test(readFileSync(join(folder, file), 'utf8')))
        .map((file) => basename(file));
    for (const rule of holdRules) {
      const [file = ''] = declaring('src/core/rules', rule);
      const message = `move the example of ${rule} to test/core/rules/${file}`;
      expect(declaring('test/core/rules', rule), message).to.deep.equal([file]);
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

    it(`${rule} alarms only if a person can end it and no user has requested it`, () => {
      if (!alarms) return;
      expect(endedBy).to.include('a person');
      expect(requestedBy).to.equal(undefined);
    });
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
    for (const has of [isAlarming, isBrief, isForOthers, isOverridable, isRequestedByUser, isRoutine]) {
      expect(has('RuleOfALaterVersion')).to.equal(false);
      expect(has('toString')).to.equal(false);
    }
  });
});
