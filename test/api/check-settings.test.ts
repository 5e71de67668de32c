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

  const name = 'expected spec.checks[0].name to be a name of up to 63 lower case letters, digits and dashes';
  const query = 'expected spec.checks[0].query to be a PromQL expression of 1 to 1024 characters';
  const variables = 'expected spec.checks[0].query to be a query whose only variables are $namespace and $name';
  const refused: readonly (readonly [unknown, string])[] = [
    ['x', 'expected spec.checks to be a list, got "x"'],
    [[check({ name: 'A' })], name],
    [[check({ name: '' })], name],
    [[check({ name: '-a' })], name],
    [[check({ name: 'a'.repeat(64) })], name],
    [[{ query: 'up' }], name],
    [[{ name: 'a' }], query],
    [[check({ query: '' })], query],
    [[check({ query: ' \n' })], query],
    [[check({ query: 'x'.repeat(1025) })], query],
    [[check({ query: 7 })], query],
    [[check({ query: 'up{namespace="$ns"}' })], variables],
    [[check({ query: 'up{namespace="${namespace}"}' })], variables],
    [[check({ query: 'up{pod="$names"}' })], variables],
    [[check({}), check({})], 'expected spec.checks[1].name to be different from every other name in the list'],
    [
      Array.from({ length: 17 }, (_, index) => check({ name: `a${index}` })),
      'expected spec.checks to be a list of at most 16',
    ],
  ];
  for (const [given, expected] of refused) {
    it(`are not ${JSON.stringify(given).slice(0, 60)}`, () => expect(problem(given)).to.contain(expected));
  }

  const taken = [
    'up{namespace="$namespace",pod=~"moco-$name-[0-9]+"} == 0',
    'up{pod=~"moco-$name-[0-9]+$"} == 0',
    'up{pod=~"^a$|^b$"}',
    'label_replace(up, "a", "${1}-$2", "pod", "(.*)-(.*)")',
    'label_replace(up, "a", "$1", "pod", "(.*)")',
    'up{cluster="$name$namespace"}',
    'up\n== 0',
  ];
  for (const query of taken)
    it(`may ask ${JSON.stringify(query)}`, () => expect(problem([check({ query })])).to.equal(null));
});
