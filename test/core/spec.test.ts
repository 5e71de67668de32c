import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { MemberState } from '../../src/core/member.ts';
import { holdRules, overridableRules } from '../../src/core/rules/catalogue.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const spec = read('src/core/SPEC.md');

const memberStates: Readonly<Record<MemberState, true>> = {
  terminating: true,
  unreachable: true,
  participating: true,
  impaired: true,
  down: true,
  running: true,
};

const section = (heading: string): string => spec.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';

/** The cells of the tables under a heading, without the rows of column names. */
function rows(heading: string): readonly (readonly string[])[] {
  const lines = section(heading).split('\n');
  return lines
    .filter(
      (line, index) => line.startsWith('| ') && !line.startsWith('| ---') && !lines[index + 1]?.startsWith('| ---'),
    )
    .map((line) => line.slice(2, -2).split(' | '));
}

describe('SPEC.md', () => {
  it('names every state of a member in the order of the questions', () => {
    const states = rows('Inputs').flatMap(([cell]) => cell?.split(', ') ?? []);
    expect(states).to.deep.equal(['terminating', 'unreachable', 'participating', 'impaired', 'down', 'running']);
    expect(states.toSorted()).to.deep.equal(Object.keys(memberStates).sort());
  });

  it('names every hold in the order of the catalogue, with those that can be overridden', () => {
    const names = [...section('Holds').matchAll(/`([A-Z]\w+)`(\s+◇)?/g)];
    expect(names.map(([, name]) => name)).to.deep.equal(holdRules);
    const marked = names.filter(([, , mark]) => mark !== undefined).map(([, name]) => name);
    expect(marked).to.deep.equal(overridableRules);
  });

  it('has prose and lists in lines of at most 120 columns', () => {
    for (const path of ['src/core/SPEC.md', 'src/controller/SPEC.md']) {
      const long = read(path)
        .split('\n')
        .filter((line) => line.length > 120 && !line.startsWith('|'));
      expect(long[0], `${path}, ${long.length} lines: wrap them`).to.equal(undefined);
    }
  });

  it('numbers its invariants and points to files and functions that exist', () => {
    const found = rows('Invariants');
    const numbers = found.map(([cell]) => /^(I\d+b?) /.exec(cell ?? '')?.[1]);
    expect(numbers).to.deep.equal(
      'I1 I2 I2b I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 I15 I17 I18 I19 I20 I21 I22 I23 I24 I25 I26 I27 I28 I29'.split(' '),
    );
    for (const [, enforced = '', checked = ''] of found) {
      const sources = [...enforced.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => `src/core/${file}`);
      const tests = [...checked.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, file]) => `test/${file}`);
      expect(sources).not.to.deep.equal([]);
      expect(tests).not.to.deep.equal([]);
      for (const path of [...sources, ...tests]) expect(existsSync(new URL(path, root)), path).to.equal(true);
      const functions = [...enforced.matchAll(/`([\w/-]+\.ts)` ([A-Za-z]\w+(?:, [A-Za-z]\w+)*)/g)];
      for (const [, file = '', list = ''] of functions) {
        for (const name of list.split(', '))
          expect(read(`src/core/${file}`), file).to.match(new RegExp(`\\b${name}\\b`));
      }
    }
  });
});
