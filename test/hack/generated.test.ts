import { expect } from 'chai';
import { withSections } from '../../hack/docs/sections.ts';
import { generatedFiles } from '../../hack/generate.ts';
import { flags } from '../../src/options/flags.ts';

describe('files that follow from the code', () => {
  it('are up to date (else run `make docs`)', async () => {
    const files = await generatedFiles();
    expect(files.size).to.be.greaterThan(8);
    for (const [path, { now, due }] of files) expect(now, path).to.equal(due);
  });

  it('have a place for each part', () => {
    expect(() => withSections('# no place', { holds: '' })).to.throw('Expected the document to contain');
  });

  it('have a part of each table', async () => {
    const due = (path: string): string => files.get(path)?.due ?? '';
    const files = await generatedFiles();
    for (const { name } of Object.values(flags)) expect(due('docs/reference.md')).to.contain(`| \`--${name}\` |`);
    for (const name of ['moco_rollout_hold_since_timestamp_seconds', 'rest_client_requests_total', 'clusters']) {
      expect(due('docs/reference.md')).to.contain(`\n| \`${name}\` |`);
    }
    expect(due('config/prometheus/prometheus-rule.yaml')).to.contain('{rule=~"StageFailing|FleetFailing"}');
  });
});
