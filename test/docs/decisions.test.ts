import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import { root } from './markdown.ts';

/** Libraries that were given, not chosen. */
const given = ['typescript', 'mocha', 'chai', 'p-queue', '@kubernetes/client-node', 'pino', 'prom-client'];

describe('docs/decisions', () => {
  let text: string;

  before(async () => {
    const folder = join(root, 'docs/decisions');
    const files = (await readdir(folder)).filter((name) => name.endsWith('.md')).toSorted();
    text = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
    expect(files.map((name) => Number(name.slice(0, 4)))).to.deep.equal(files.map((_, index) => index + 1));
  });

  it('explain why each library was added', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const names = [dependencies, devDependencies, optionalDependencies].flatMap((one) => Object.keys(one));
    const chosen = names.filter((name) => !given.includes(name) && !name.startsWith('@types/'));
    // One entry covers a family: oxlint with its type-aware part, Node for every platform.
    const family = (name: string): string => name.replace(/^@\w+\//, '').replace(/^(node-|oxlint).*/, '$1');
    const reported = [...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) => family(name));
    expect(chosen.map(family).filter((name) => !reported.includes(name))).to.deep.equal([]);
  });
});
