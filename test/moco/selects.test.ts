import { expect } from 'chai';
import type { LabelSelector } from '../../src/moco/records.ts';
import { selects } from '../../src/moco/selects.ts';

const labels = { app: 'mysql', tier: 'db' };
const selector = (special: Partial<LabelSelector>): LabelSelector => ({
  matchLabels: {},
  matchExpressions: [],
  ...special,
});
const expression = (key: string, operator: string, ...values: readonly string[]): LabelSelector =>
  selector({ matchExpressions: [{ key, operator, values }] });

const table: Readonly<Record<string, readonly [LabelSelector | null, boolean]>> = {
  'no selector at all selects no pod': [null, false],
  'an empty one selects everything': [selector({}), true],
  'all labels have to match': [selector({ matchLabels: labels }), true],
  'one label that differs is enough': [selector({ matchLabels: { ...labels, tier: 'web' } }), false],
  'one label that is missing is enough': [selector({ matchLabels: { zone: 'a' } }), false],
  'In matches one of its values': [expression('app', 'In', 'x', 'mysql'), true],
  'In does not match another value': [expression('app', 'In', 'x'), false],
  'In does not match a label that is missing': [expression('zone', 'In', 'a'), false],
  'NotIn does not match one of its values': [expression('app', 'NotIn', 'x', 'mysql'), false],
  'NotIn matches another value': [expression('app', 'NotIn', 'x'), true],
  'NotIn matches a label that is missing': [expression('zone', 'NotIn', 'a'), true],
  'Exists matches any value': [expression('app', 'Exists'), true],
  'Exists does not match a label that is missing': [expression('zone', 'Exists'), false],
  'DoesNotExist matches a label that is missing': [expression('zone', 'DoesNotExist'), true],
  'DoesNotExist does not match any value': [expression('app', 'DoesNotExist'), false],
  'an unknown operator selects, which can only make us wait': [expression('app', 'Like', 'x'), true],
  'labels and expressions have to match both': [
    selector({ matchLabels: { app: 'mysql' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['web'] }] }),
    false,
  ],
};

describe('the selector of a PodDisruptionBudget', () => {
  for (const [what, [given, expected]] of Object.entries(table)) {
    it(what, () => {
      expect(selects(given, labels)).to.equal(expected);
    });
  }
});
