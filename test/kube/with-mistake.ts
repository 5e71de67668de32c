import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const parameter = 'mistake';
const changed = new Map<string, string>();

registerHooks({
  load: (url, context, next) => {
    const source = changed.get(url);
    return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true };
  },
});

/** A small change of a source, by which it becomes wrong. */
export interface Mistake {
  /** Has to be in the source exactly once. */
  readonly instead: string;
  readonly of: string;
}

/**
 * Loads a module once more, with one mistake in it: a test that is to notice it is shown to be able to fail. What the
 * module imports is loaded as it is, and shared.
 */
export async function withMistake<M>(url: URL, { of, instead }: Mistake): Promise<M> {
  const parts = readFileSync(fileURLToPath(url), 'utf8').split(of);
  if (parts.length !== 2)
    throw new Error(`expected \`${of}\` once in ${url.pathname}, found it ${parts.length - 1} times`);
  const own = new URL(url);
  own.searchParams.set(parameter, String(changed.size));
  changed.set(own.href, parts.join(instead));
  return (await import(own.href)) as M;
}
