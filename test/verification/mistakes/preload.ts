import { registerHooks } from 'node:module';
import { mistakes } from './catalogue.ts';
import { mistakeVariable, replacement } from './substitution.ts';

// Loaded before the program by `node --import`: makes the mistake that the environment names.

const name = process.env[mistakeVariable] ?? '';
if (mistakes[name] === undefined) throw new Error(`expected ${mistakeVariable} to name a mistake, got ${name}`);

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const url = context.parentURL === undefined ? null : replacement(name, context.parentURL, resolved.url);
    return url === null ? resolved : { ...resolved, url };
  },
});
