import { expect } from 'chai';
import { holdRules, isOverridable, rules } from '../../../src/core/rules/catalogue.ts';
import { runWith } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';

describe('explain', () => {
  it('lists every rule', async () => {
    const { out } = await runWith({}, ['explain']);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).to.match(/^RULE +OVERRIDABLE +MEANING$/);
    expect(lines.map((one) => one.split(/ {2,}/))).to.deep.equal(
      holdRules.map((rule) => [rule, isOverridable(rule) ? 'yes' : 'no', rules[rule].meaning]),
    );
  });

  it('explains a rule that can be overridden, one that cannot, and one whose override cannot be undone', async () => {
    const each = await Promise.all(
      ['BackupRunning', 'StatefulSetMissing', 'ClaimTerminating'].map((rule) => runWith({}, ['explain', rule])),
    );
    expectGolden('explain.txt', each.map(({ out }) => out).join('\n'));
  });

  // docs/rules.md has the same texts.
  it('has everything about each rule', async () => {
    for (const rule of holdRules) {
      const { status, out, err } = await runWith({}, ['explain', rule]);
      expect([status, err]).to.deep.equal([0, '']);
      const { meaning, details = '', endedBy, ends, overriding = '' } = rules[rule];
      for (const text of [meaning, details, endedBy.join(', '), ends, overriding]) expect(out).to.include(text);
    }
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
