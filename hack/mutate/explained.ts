import { readFile } from 'node:fs/promises';
import type { Mutant } from './mutant.ts';

const document = 'hack/mutate/README.md';

/** Mutants that hack/mutate/README.md explains: a heading with the file, below it lines with "`before` → `after`". */
export async function explainedMutants(): Promise<(mutant: Mutant) => boolean> {
  const lines = new Set<string>();
  let file = '';
  for (const line of (await readFile(document, 'utf8')).split('\n')) {
    file = /^#+ `?(src\/(?:core|plan)\/[\w/-]+\.ts)`?$/.exec(line)?.[1] ?? file;
    const change = /^- `(.+?)` → `(.*?)`/.exec(line);
    if (change) lines.add(keyOf(file, change[1] ?? '', change[2] ?? ''));
  }
  return ({ file, before, after }) => lines.has(keyOf(file, before, after));
}

const keyOf = (...parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll(/\s+/g, ' ').trim()).join('\n');
