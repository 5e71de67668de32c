import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { invalidatedIntentAnnotation } from '../../src/moco/names.ts';

const root = new URL('../../', import.meta.url);
const spec = readFileSync(new URL('src/controller/SPEC.md', root), 'utf8');

describe('the specification of the controller', () => {
  it('names only files that exist', () => {
    const named = [...spec.matchAll(/`((?:[a-z-]+\/)*[a-z-]+(?:\.test)?\.ts)`/g)].map(([, file = '']) => file);
    expect(named.length).to.be.greaterThan(30);
    const missing = named.filter((file) => {
      const folder = /^verification\/|\.test\.ts$/.test(file) ? 'test' : 'src';
      return !existsSync(fileURLToPath(new URL(`${folder}/${file}`, root)));
    });
    expect(missing).to.deep.equal([]);
  });

  it('spells written fields as the program does', () => {
    expect(spec).to.include(`\`${invalidatedIntentAnnotation}\``);
  });
});
