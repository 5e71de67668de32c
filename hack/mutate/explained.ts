import { readFile } from 'node:fs/promises';
import type { Mutant } from './mutant.ts';

const document = 'hack/mutate/README.md';

/** Mutants that hack/mutate/README.md explains. */
export async function explainedMutants(): Promise<(mutant: Mutant) => boolean> {
  const lines = await listedIn(document);
  return (mutant) => lines.has(keyOf(mutant));
}

/** The mutants of a document, by key: a heading with the file, below it lines with "`before` → `after`". */
export async function listedIn(page: string): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  let file = '';
  for (const line of (await readFile(page, 'utf8')).split('\n')) {
    file = /^#+ `?(src\/[\w/-]+\.ts)`?$/.exec(line)?.[1] ?? file;
    const change = /^- `(.+?)` → `(.*?)`/.exec(line);
    if (change) lines.add(keyOf({ file, before: change[1] ?? '', after: change[2] ?? '' }));
  }
  return lines;
}

/** What a mutant changes, in whichever line it is. */
export const keyOf = ({ file, before, after }: Pick<Mutant, 'file' | 'before' | 'after'>): string =>
  [file, before, after].map(inOneLine).join('\n');

export const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
