import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect } from 'chai';
import { mistakes } from './catalogue.ts';
import { projectRoot, substitutionOf } from './substitution.ts';

/** The modules under `importer` whose import of `imported` would be replaced. */
async function importersOf(importer: string, imported: string): Promise<readonly string[]> {
  const found: string[] = [];
  const pattern = importer.endsWith('/') ? `${importer}**/*.ts` : importer;
  for await (const file of glob(pattern, { cwd: projectRoot.pathname })) {
    const source = await readFile(new URL(file, projectRoot), 'utf8');
    const imports = new RegExp(`^(import|\\}) (?!type\\b).*from '[^']*/${basename(imported)}';`, 'm');
    if (imports.test(source)) found.push(file);
  }
  return found;
}

describe('the catalogue of mistakes', () => {
  for (const [name, mistake] of Object.entries(mistakes)) {
    it(`has a layer that finds a controller that ${name}, and can make it there`, () => {
      const { decide, module, snapshots, explorer, simulation, fleet, cache } = mistake;
      expect([snapshots, explorer, simulation, fleet, cache].some((layer) => layer !== undefined)).to.equal(true);
      if (snapshots !== undefined) expect(decide).to.not.equal(undefined);
      if (explorer !== undefined) expect(decide !== undefined || explorer.breaks !== undefined).to.equal(true);
      if (fleet !== undefined) expect(module).to.not.equal(undefined);
      if (cache !== undefined) expect(module).to.not.equal(undefined);
      if (simulation !== undefined) expect(decide !== undefined || module !== undefined).to.equal(true);
    });

    const substitution = substitutionOf(name);
    if (substitution === null) continue;
    it(`replaces a module that the program imports, for a controller that ${name}`, async () => {
      const { importer, imported, substitute } = substitution;
      await readFile(new URL(imported, projectRoot));
      await readFile(new URL(substitute));
      expect(await importersOf(importer, imported)).not.to.deep.equal([]);
    });
  }
});
