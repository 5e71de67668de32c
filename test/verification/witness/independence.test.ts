import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';

const folder = new URL('./', import.meta.url);
/** Names and kinds, ways to read an API server, and an API server's own log: nothing that decides. */
const allowed: readonly RegExp[] = [
  /^\.\//,
  /^node:util$/,
  /^\.\.\/\.\.\/\.\.\/src\/moco\/names\.ts$/,
  /^\.\.\/\.\.\/\.\.\/src\/kube\/(api-client|resource)\.ts$/,
  /^\.\.\/\.\.\/support\/control-plane\/audit-log\.ts$/,
];

describe('the witness', () => {
  it('imports nothing of the program but names and a client', async () => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
    const foreign: string[] = [];
    for (const file of files) {
      const text = await readFile(new URL(file, folder), 'utf8');
      for (const [, specifier = ''] of text.matchAll(/ from '([^']+)';/g)) {
        if (!allowed.some((pattern) => pattern.test(specifier))) foreign.push(`${file}: ${specifier}`);
      }
    }
    expect(files).to.include('witness.ts');
    expect(foreign).to.deep.equal([]);
  });
});
