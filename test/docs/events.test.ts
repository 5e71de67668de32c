import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { stepReasons } from '../../src/controller/announcer.ts';

describe('docs/operating.md', () => {
  it('has the reason of each Event about a step', async () => {
    const [, section = ''] = (await readFile('docs/operating.md', 'utf8')).split('## Events');
    const [text = ''] = section.split('\n## ');
    for (const reason of Object.values(stepReasons)) expect(text).to.contain(`\`${reason}\``);
  });
});
