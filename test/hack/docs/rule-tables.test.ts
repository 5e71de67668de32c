import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { alertOf, holdRules } from '../../../src/core/rules/catalogue.ts';

describe('documents about rules', () => {
  it('have a runbook for the alert of each rule', async () => {
    for (const alert of new Set(holdRules.map(alertOf))) {
      if (alert === null) continue;
      expect(await readFile(`docs/runbooks/${alert}.md`, 'utf8')).to.match(new RegExp(`^# ${alert}\n`));
    }
  });
});
