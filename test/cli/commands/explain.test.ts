import { expect } from 'chai';
import { holdRules } from '../../../src/core/rules/catalogue.ts';
import { runWith } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';

describe('explain', () => {
  it('lists and explains every rule', async () => {
    const all = await runWith({}, ['explain']);
    const each = await Promise.all(holdRules.map((rule) => runWith({}, ['explain', rule])));
    expect([all, ...each].every(({ status, err }) => status === 0 && err === '')).to.equal(true);
    expectGolden('explain.txt', [all, ...each].map(({ out }) => out).join('\n'));
  });

  it('ignores the case of a rule', async () => {
    expect((await runWith({}, ['explain', 'paused'])).out).to.contain('Paused');
  });

  it('prints data for programs on request', async () => {
    const { out } = await runWith({}, ['explain', 'BackupRunning', '-o', 'json']);
    expect(JSON.parse(out)).to.deep.include({
      rule: 'BackupRunning',
      overridable: true,
      endedBy: ['time', 'a person'],
    });
  });
});
