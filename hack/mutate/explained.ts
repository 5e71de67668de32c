import { readFile } from 'node:fs/promises';
import type { Mutant } from './mutant.ts';

const document = 'hack/mutate/README.md';

/** Returns whether hack/mutate/README.md explains a mutant. */
export async function explainedMutants(): Promise<(mutant: Mutant) => boolean> {
  const lines = await listedIn(document);
  return (mutant) => lines.has(keyOf(mutant));
}

/** The mutants that a document lists, by key: a heading for each file, and below it lines with "`before` → `after`". */
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

/** What a mutant changes, regardless of the line. */
export const keyOf = ({ file, before, after }: Pick<Mutant, 'file' | 'before' | 'after'>): string =>
  [file, before, after].map(inOneLine).join('\n');

export const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
