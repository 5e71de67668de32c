import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { stepReasons } from '../../src/controller/status/events.ts';
import { root } from './markdown.ts';

describe('docs/reference.md', () => {
  let text: string;
  const sectionOf = (heading: string): string => text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

  before(async () => {
    text = await readFile(join(root, 'docs/reference.md'), 'utf8');
  });

  it('lists the reason of each Event about a step', () => {
    for (const reason of Object.values(stepReasons)) expect(sectionOf('Events')).to.contain(`\`${reason}\``);
  });

  it('has a row for each command of kubectl rollout', () => {
    const rows = [...sectionOf('What `kubectl rollout` shows').matchAll(/^\| `(\w+)` \|/gm)];
    expect(rows.map(([, command]) => command)).to.deep.equal(['status', 'restart', 'undo', 'history']);
  });
});
