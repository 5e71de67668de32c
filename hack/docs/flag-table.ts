import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { featureGates } from '../../src/options/feature-gates.ts';
import type { Flag } from '../../src/options/flag.ts';
import { flags } from '../../src/options/flags.ts';
import { code, table } from './table.ts';

export const flagDocument = fileURLToPath(new URL('../../docs/reference.md', import.meta.url));

const begin = '<!-- flags: written by hack/docs/flag-table.ts -->';
const end = '<!-- end of flags -->';

/** The document with its table of flags as the program has them now. Throws where the place for it is missing. */
export function withFlagTable(document: string): string {
  const [start, stop] = [document.indexOf(begin), document.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`Expected the document to have "${begin}" and then "${end}".`);
  return `${document.slice(0, start)}${begin}\n${flagTable()}\n\n${gateTable()}\n${document.slice(stop)}`;
}

function flagTable(): string {
  const rows = Object.values<Flag<unknown>>(flags).map(({ name, defaultText, description }) => {
    const [firstLine = ''] = description.split('\n');
    return [code(`--${name}`), defaultText === '' ? '' : code(defaultText), firstLine.replace(/:$/, '')];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function gateTable(): string {
  const rows = Object.entries(featureGates).map(([name, { stage, enabledByDefault, description }]) => [
    code(name),
    stage,
    code(String(enabledByDefault)),
    description,
  ]);
  return table(['feature gate', 'stage', 'default', 'meaning'], rows);
}

if (import.meta.main) {
  await writeFile(flagDocument, withFlagTable(await readFile(flagDocument, 'utf8')));
}
