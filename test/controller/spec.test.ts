import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { voidedIntentAnnotation } from '../../src/moco/names.ts';

const root = new URL('../../', import.meta.url);
const spec = readFileSync(new URL('src/controller/SPEC.md', root), 'utf8');

describe('the specification of the way of one event', () => {
  it('names only files that there are', () => {
    const named = [...spec.matchAll(/`([a-z-]+\/[a-z-]+(?:\.test)?\.ts)`/g)].map(([, file = '']) => file);
    expect(named.length).to.be.greaterThan(10);
    const missing = named.filter((file) => {
      const folder = file.endsWith('.test.ts') ? 'test' : 'src';
      return !existsSync(fileURLToPath(new URL(`${folder}/${file}`, root)));
    });
    expect(missing).to.deep.equal([]);
  });

  it('spells what is written as the program does', () => {
    expect(spec).to.include(`\`${voidedIntentAnnotation}\``);
  });
});
