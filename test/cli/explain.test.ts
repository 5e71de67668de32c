import { expect } from 'chai';
import { ruleTexts } from '../../src/cli/explain-rules.ts';
import { overridable } from '../../src/core/overrides.ts';
import { runWith } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';

describe('explain', () => {
  it('has something to say of every rule', () => {
    expect(Object.keys(ruleTexts).toSorted()).to.deep.equal(Object.keys(overridable).toSorted());
    for (const [rule, { means, ends }] of Object.entries(ruleTexts)) {
      for (const text of [means, ends]) expect(text, rule).to.match(/^[A-Z`].{10,}\.$/);
    }
  });

  it('lists every rule, and explains each', async () => {
    const all = await runWith({}, ['explain']);
    const each = await Promise.all(Object.keys(ruleTexts).map((rule) => runWith({}, ['explain', rule])));
    expect([all, ...each].every(({ status, err }) => status === 0 && err === '')).to.equal(true);
    expectGolden('explain.txt', [all, ...each].map(({ out }) => out).join('\n'));
  });

  it('takes a rule however it is capitalised, and knows the nearest where there is none', async () => {
    expect((await runWith({}, ['explain', 'paused'])).out).to.contain('Paused');
    expect(await runWith({}, ['explain', 'BlockedByPBD'])).to.deep.equal({
      status: 2,
      out: '',
      err: 'error: expected the name of a rule, got `BlockedByPBD` (did you mean BlockedByPDB?); see `kubectl moco-rollout explain --help`\n',
    });
    expect((await runWith({}, ['explain', 'Nonsense-of-mine', '-o', 'json'])).status).to.equal(2);
  });

  it('is data for programs on request', async () => {
    const { out } = await runWith({}, ['explain', 'BackupRunning', '-o', 'json']);
    expect(JSON.parse(out)).to.deep.include({ rule: 'BackupRunning', overridable: true, asked: false });
  });
});
