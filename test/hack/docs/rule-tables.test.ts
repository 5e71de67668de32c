import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ruleDocuments, withSection } from '../../../hack/docs/rule-tables.ts';
import { alertOf, holdRules } from '../../../src/core/rules/catalogue.ts';

describe('documents about rules', () => {
  it('match the catalogue (else run `make docs`)', async () => {
    for (const [path, text] of await ruleDocuments()) {
      expect(await readFile(path, 'utf8'), path).to.equal(text);
      expect(text, path).to.contain('PartitionReached');
    }
  });

  it('need a placeholder for each section', () => {
    expect(() => withSection('# no place', { name: 'holds', text: '' })).to.throw('Expected the document to have');
  });

  it('have a runbook for the alert of each rule', async () => {
    for (const alert of new Set(holdRules.map(alertOf))) {
      if (alert === null) continue;
      expect(await readFile(`docs/runbooks/${alert}.md`, 'utf8')).to.match(new RegExp(`^# ${alert}\n`));
    }
  });
});
