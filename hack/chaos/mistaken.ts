import { registerHooks } from 'node:module';
import { mistakes } from '../../test/simulation/mistakes.ts';
import { mistakeVariable } from './mistake.ts';

// Loaded before the program by `node --import`: puts the mistake that the environment names in the place of one module.

const name = process.env[mistakeVariable] ?? '';
const mistake = mistakes[name];
if (mistake === undefined) throw new Error(`expected ${mistakeVariable} to name a mistake, got ${name}`);

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const importer = context.parentURL === undefined ? '' : new URL(context.parentURL).pathname;
    if (!mistake.importer.test(importer) || !mistake.imported.test(resolved.url)) return resolved;
    const url = new URL(mistake.substitute);
    url.searchParams.set('mistake', name);
    return { ...resolved, url: url.href };
  },
});
