import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { type Mutant, mutated } from './mutant.ts';

/**
 * The mutants that do not compile. Tests need not detect them, because `make check` rejects such code. Only surviving
 * mutants are checked.
 */
export function refusedByCompiler(mutants: readonly Mutant[]): ReadonlySet<Mutant> {
  const changed = new Map<string, string>();
  const api = new API({ cwd: process.cwd(), fs: { readFile: (path) => changed.get(path) } });
  const config = resolve('tsconfig.json');
  try {
    api.updateSnapshot({ openProjects: [config] }).dispose();
    return new Set(
      mutants.filter((mutant) => {
        const path = resolve(mutant.file);
        changed.set(path, mutated(readFileSync(path, 'utf8'), mutant));
        const snapshot = api.updateSnapshot({ fileChanges: { changed: [path] } });
        const program = snapshot.getProject(config)?.program;
        const errors = [
          ...(program?.getSyntacticDiagnostics(path) ?? []),
          ...(program?.getSemanticDiagnostics(path) ?? []),
        ];
        snapshot.dispose();
        changed.delete(path);
        api.updateSnapshot({ fileChanges: { changed: [path] } }).dispose();
        return errors.length > 0;
      }),
    );
  } finally {
    api.close();
  }
}
