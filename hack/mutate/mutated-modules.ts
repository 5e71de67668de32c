import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Mutant, mutated } from './mutant.ts';

/** The parameter in a module's URL that identifies the mutant for which the module was loaded. */
const parameter = 'mutant';

/**
 * Loads the modules of these folders again for each mutant. All other modules, above all libraries, are loaded once.
 */
export class MutatedModules {
  readonly #folders: readonly string[];
  readonly #stripped = new Map<string, string>();
  #mutant: Mutant | null = null;
  #round = 0;

  constructor(folders: readonly string[]) {
    this.#folders = folders.map((folder) => pathToFileURL(`${folder}/`).href);
    registerHooks({
      resolve: (specifier, context, next) => {
        const resolved = next(specifier, context);
        const round = context.parentURL && new URL(context.parentURL).searchParams.get(parameter);
        return round && this.#isOurs(resolved.url)
          ? { ...resolved, url: `${resolved.url}?${parameter}=${round}`, shortCircuit: true }
          : resolved;
      },
      load: (url, context, next) =>
        new URL(url).searchParams.has(parameter)
          ? { format: 'module', source: this.#source(fileURLToPath(url)), shortCircuit: true }
          : next(url, context),
    });
  }

  /** From now on, modules are loaded with this change; `null` means the original source. */
  use(mutant: Mutant | null): void {
    this.#mutant = mutant;
    this.#round++;
  }

  /** The URL of a file. Modules from these folders that it imports are loaded for the same mutant. */
  urlOf(file: string): string {
    return `${pathToFileURL(file).href}?${parameter}=${this.#round}`;
  }

  #isOurs(url: string): boolean {
    return this.#folders.some((folder) => url.startsWith(folder));
  }

  #source(path: string): string {
    if (this.#mutant !== null && path === fileURLToPath(pathToFileURL(this.#mutant.file))) {
      return stripTypeScriptTypes(mutated(readFileSync(path, 'utf8'), this.#mutant));
    }
    const known = this.#stripped.get(path);
    if (known !== undefined) return known;
    const stripped = stripTypeScriptTypes(readFileSync(path, 'utf8'));
    this.#stripped.set(path, stripped);
    return stripped;
  }
}
