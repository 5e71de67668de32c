import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

interface Transcript {
  readonly document: string;
  readonly command: string;
  /** The golden file that has the same text. */
  readonly golden: string;
}

const transcripts: readonly Transcript[] = [
  { document: 'README.md', command: 'status test', golden: 'status-awaiting-switchover.txt' },
  { document: 'docs/how-to/roll-out-in-stages.md', command: 'sequence production', golden: 'sequence-rolling.txt' },
  { document: 'docs/how-to/roll-out-in-stages.md', command: 'plan --fleet', golden: 'plan-fleet.txt' },
];

describe('the transcript of a command', () => {
  for (const { document, command, golden } of transcripts) {
    it(`in ${document} is what the plugin prints for ${command}`, async () => {
      const [, rest = ''] = (await readFile(join(root, document), 'utf8')).split(`$ kubectl moco-rollout ${command}\n`);
      const [shown = ''] = rest.split('\n```');
      expect(shown.split('\n')).to.have.length.greaterThan(5);
      expect(await readFile(join(root, 'test/fixtures/cli', golden), 'utf8')).to.contain(shown);
    });
  }
});
