import { expect } from 'chai';
import * as fc from 'fast-check';
import { checksAbout, missingDataOf } from '../../src/api/check-settings.ts';
import { selectorsOf } from '../../src/api/promql.ts';

describe('the selectors of a query', () => {
  const queries: Readonly<Record<string, readonly string[]>> = {
    up: ['up'],
    'up == 0': ['up'],
    'up{job="a"} == bool 0': ['up{job="a"}'],
    '{__name__="up"}': ['{__name__="up"}'],
    'job:errors:rate5m{a="}"} > 1': ['job:errors:rate5m{a="}"}'],
    'up{a="\\"}", b=\'}\', c=`\\`}': ['up{a="\\"}", b=\'}\', c=`\\`}'],
    'rate(errors_total{code=~"5.."}[5m] offset 1h) > 0.1': ['errors_total{code=~"5.."}'],
    'max_over_time(deriv(x[5m])[10m:1m])': ['x'],
    'sum by (pod, le) (rate(a[5m])) / on (pod) group_left (node) b': ['a', 'b'],
    'sum(a) without (pod) > ignoring(x) sum(b)': ['a', 'b'],
    'topk(3, a) and b unless c or d': ['a', 'b', 'c', 'd'],
    'a > 1 and a > 2': ['a'],
    'absent(up{job="a"})': ['up{job="a"}'],
    'vector(1) > Inf': [],
    'a # and b\n> 3e5': ['a'],
    'label_replace(a, "by", "$1", "pod", "(.*)")': ['a'],
    'histogram_quantile(0.99, sum by(le) (rate(h_bucket[5m])))': ['h_bucket'],
    'count(sum) > 1': ['sum'],
    'a @ end() > 1': ['a'],
  };
  for (const [query, expected] of Object.entries(queries)) {
    it(`are ${expected.join(', ') || 'none'} of ${JSON.stringify(query)}`, () =>
      expect(selectorsOf(query)).to.deep.equal(expected));
  }

  it('are found in any text, without an error', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200, unit: fc.constantFrom(...Array.from('ab{}()"\'`\\#[] by,=')) }),
        (text) => {
          // A selector is given without the spaces that may precede its braces.
          const spaceless = text.replaceAll(' ', '');
          for (const one of selectorsOf(text)) expect(spaceless).to.contain(one.replaceAll(' ', ''));
        },
      ),
    );
  });
});

describe('a query for data that is missing', () => {
  it('asks for each selector by itself, and says which one it was', () => {
    expect(missingDataOf('rate(a{x="1"}[5m]) > b')).to.deep.equal({
      query:
        'label_replace(absent(a{x="1"}), "selector", "0", "", "") or label_replace(absent(b), "selector", "1", "", "")',
      selectors: { 0: 'a{x="1"}', 1: 'b' },
    });
    expect(missingDataOf('vector(0)')).to.equal(null);
  });

  it('is none if there are no such members', () => {
    const [about] = checksAbout([{ name: 'x', query: 'a{pod=~"$updated"} > 2 * b{pod=~"$stale"}' }], {
      updated: [],
      stale: ['moco-a.b-0', 'moco-a.b-1'],
    });
    expect(about?.query).to.equal('a{pod=~"$none"} > 2 * b{pod=~"moco-a[.]b-0|moco-a[.]b-1"}');
    expect(missingDataOf(about?.query ?? '')?.selectors).to.deep.equal({ 0: 'b{pod=~"moco-a[.]b-0|moco-a[.]b-1"}' });
  });
});
