import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchRecord, originOf } from '../bench/record/record.ts';
import { markdownOf } from '../bench/record/table.ts';

// Copies the benchmark records in hack/bench/results into the pages next to them, docs/performance.md and README.
// A table goes between `<!-- table: RECORD/TABLE -->` and `<!-- /table -->`. Where and when it was measured goes
// between `<!-- run: RECORD -->` and `<!-- /run -->`.

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
export const recordsFolder = fileURLToPath(new URL('../bench/results', import.meta.url));

/** docs/performance.md, every page next to the records, and README. */
export async function performancePages(): Promise<readonly string[]> {
  const names = (await readdir(recordsFolder)).filter((name) => name.endsWith('.md')).toSorted();
  return [join(docs, 'performance.md'), ...names.map((name) => join(recordsFolder, name)), join(docs, '../README.md')];
}

const place = /<!-- (table|run): (\S+) -->\n.*?<!-- \/\1 -->/gs;

/** All records, sorted by file name. */
export async function readRecords(folder: string): Promise<readonly BenchRecord[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as BenchRecord));
}

/** The document with its tables from the records. Throws if it has a place for a table that no record contains. */
function withTables(document: string, records: readonly BenchRecord[]): string {
  const texts = textsOfAll(records);
  return document.replace(place, (_, kind: string, name: string) => {
    const key = `${kind}: ${name}`;
    const text = texts.get(key);
    if (text === undefined) throw new Error(`Expected a record in hack/bench/results for <!-- ${key} -->, got none.`);
    return `<!-- ${key} -->\n${text}\n<!-- /${kind} -->`;
  });
}

/** Like `withTables`, but for several pages. Throws if a table has no place in any of the pages. */
export function withPerformanceTables(pages: readonly string[], records: readonly BenchRecord[]): readonly string[] {
  const written = pages.map((page) => withTables(page, records));
  const placed = new Set([...pages.join('\n').matchAll(place)].map(([, kind, name]) => `${kind}: ${name}`));
  const missing = [...textsOfAll(records).keys()].filter((key) => !placed.has(key)).map((key) => `<!-- ${key} -->`);
  if (missing.length > 0)
    throw new Error(`Expected a page of hack/bench/results with a place for ${missing.join(', ')}.`);
  return written;
}

function textsOfAll(records: readonly BenchRecord[]): ReadonlyMap<string, string> {
  return new Map(records.flatMap((record) => textsOf(record)));
}

function textsOf(record: BenchRecord): readonly (readonly [key: string, text: string])[] {
  const { name, tables, command } = record;
  return [
    [`run: ${name}`, `\`${command}\`: ${originOf(record)}`],
    ...tables.map((table) => [`table: ${name}/${table.name}`, markdownOf(table)] as const),
  ];
}

if (import.meta.main) {
  const records = await readRecords(recordsFolder);
  const files = await performancePages();
  const pages = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const written = withPerformanceTables(pages, records);
  for (const [index, file] of files.entries()) await writeFile(file, written[index] ?? '');
}
