import { registerHooks } from 'node:module';
import { mistakeAt, projectRoot, replacement, withMistake } from './substitution.ts';

let hooked = false;

/** Loads every module of this project that a mutated module imports again for the same mistake. */
function hook(): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const name = mistakeAt(context.parentURL);
      const isOurs = resolved.url.startsWith(projectRoot.href) && !resolved.url.includes('/node_modules/');
      if (name === '' || !isOurs) return resolved;
      const url = replacement(name, context.parentURL ?? '', resolved.url) ?? withMistake(resolved.url, name);
      return { ...resolved, url };
    },
  });
}

/** A module of the tests, with everything that it imports, as it is for a controller with that mistake. */
export async function loadWith<Module>(mistake: string, url: string): Promise<Module> {
  hook();
  return (await import(withMistake(url, mistake))) as Module;
}
