import { expect } from 'chai';
import { problemOf } from '../../src/api/schema.ts';
import { commonSettings } from '../../src/api/settings.ts';

const settings = commonSettings('Settings.');
const problem = (checks: unknown): string | null => problemOf(settings, { checks }, 'spec');
const check = (more: object) => ({ name: 'errant', query: 'up == 0', ...more });

describe('checks in the settings', () => {
  it('have a name and a query', () => {
    expect(problem([])).to.equal(null);
    expect(problem([check({}), check({ name: 'a-2' })])).to.equal(null);
  });

  it('may define what missing data means', () => {
    for (const noData of ['Pass', 'Fail', 'Wait']) expect(problem([check({ noData })])).to.equal(null);
    expect(problem([check({ noData: 'pass' })])).to.match(
      /^expected spec\.checks\[0\]\.noData to be Pass or Fail or Wait/,
    );
  });

  const taken = [
    'up{namespace="$namespace",pod=~"moco-$name-[0-9]+"} == 0',
    'up{pod=~"moco-$name-[0-9]+$"} == 0',
    'up{pod=~"^a$|^b$"}',
    'label_replace(up, "a", "${1}-$2", "pod", "(.*)-(.*)")',
    'label_replace(up, "a", "$1", "pod", "(.*)")',
    'up{cluster="$name$namespace"}',
    'up\n== 0',
    'sum(rate(errors{pod=~"$updated"}[5m])) > 2 * sum(rate(errors{pod=~"$stale"}[5m]))',
  ];
  for (const query of taken)
    it(`may ask ${JSON.stringify(query)}`, () => expect(problem([check({ query })])).to.equal(null));
});
