import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

/** The golden file of a rollout just before its primary is updated. */
const fixture = 'test/fixtures/cli/status-awaiting-switchover.txt';
const command = '$ kubectl moco-rollout status test\n';

describe('the transcript of a rollout', () => {
  for (const document of ['README.md', 'docs/cli.md']) {
    it(`in ${document} is what the plugin prints`, async () => {
      const [, rest = ''] = (await readFile(join(root, document), 'utf8')).split(command);
      const [shown = ''] = rest.split('\n```');
      expect(shown.split('\n')).to.have.length.greaterThan(5);
      const golden = await readFile(join(root, fixture), 'utf8');
      expect(golden.slice(0, shown.length)).to.equal(shown);
    });
  }
});
