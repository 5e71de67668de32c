import { readFile } from 'node:fs/promises';
import { expect } from 'chai';

const rowsOf = (text: string): readonly string[] =>
  /\| `kubectl rollout …`.*\n(?:\|.*\n)+/.exec(text)?.[0].trim().split('\n') ?? [];

describe('what kubectl rollout shows', () => {
  it('is the same in README.md and docs/operating.md, a row for each of its commands', async () => {
    const [readme, operating] = await Promise.all(
      ['README.md', 'docs/operating.md'].map(async (file) => rowsOf(await readFile(file, 'utf8'))),
    );
    expect(readme).to.deep.equal(operating);
    const commands = readme?.slice(2).map((row) => /^\| `(\w+)` \|/.exec(row)?.[1]);
    expect(commands).to.deep.equal(['status', 'restart', 'undo', 'history']);
  });
});
