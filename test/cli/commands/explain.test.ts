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

  it('ignores the case of a rule, and suggests the nearest one for an unknown rule', async () => {
    expect((await runWith({}, ['explain', 'paused'])).out).to.contain('Paused');
    expect(await runWith({}, ['explain', 'BlockedByPBD'])).to.deep.equal({
      status: 2,
      out: '',
      err: 'error: expected the name of a rule, got `BlockedByPBD` (did you mean BlockedByPDB?); see `kubectl moco-rollout explain --help`\n',
    });
    expect((await runWith({}, ['explain', 'Nonsense-of-mine', '-o', 'json'])).status).to.equal(2);
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
