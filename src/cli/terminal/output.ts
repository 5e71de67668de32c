import { dump } from 'js-yaml';
import { UsageError } from '../../failure.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import { type Json, object } from '../../moco/json.ts';
import type { Host } from '../host.ts';
import { type Line, painted } from './lines.ts';

const asList = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** How a result is printed: as a table where nothing is given. */
const outputAs = <Word extends string>(...values: readonly Word[]) => ({
  flags: '-o, --output <format>',
  description: `output format: ${asList(values)}`,
  values,
});

/** For commands whose result is not an API object. */
export const outputOption = outputAs('json', 'yaml');
export const fleetOutputOption = outputAs('json', 'yaml', 'wide');
/** For those that print API objects, as kubectl does. */
export const objectOutputOption = outputAs('wide', 'name', 'json', 'yaml');

type DataFormat = (typeof outputOption.values)[number];

/** The format of `--output`. Throws `UsageError` for one that the option does not have, or that cannot be watched. */
export function formatOf<Word extends string>(
  { output, watch }: Readonly<Record<string, string | boolean | undefined>>,
  { values }: { readonly values: readonly Word[] },
): Word | 'table' {
  if (output === undefined) return 'table';
  const format = values.find((known) => known === output);
  if (format === undefined)
    throw new UsageError(`expected --output to be ${asList(values)}, got \`${String(output)}\``);
  if (watch === true && format !== 'wide') throw new UsageError(`expected either --watch or -o ${format}, got both`);
  return format;
}

/** For programs. Fields that are `undefined` are left out. */
export function writeData(host: Host, format: DataFormat, data: unknown): void {
  const plain: unknown = JSON.parse(JSON.stringify(data));
  host.out(format === 'json' ? `${JSON.stringify(plain, null, 2)}\n` : dump(plain, { lineWidth: -1, noRefs: true }));
}

export function writeResult(
  host: Host,
  format: DataFormat | 'table',
  data: unknown,
  lines: () => readonly Line[],
): void {
  if (format === 'table') writeLines(host, lines());
  else writeData(host, format, data);
}

/** For people. */
export function writeLines(host: Host, lines: readonly Line[]): void {
  const colour = host.terminal()?.colour === true;
  host.out(lines.map((line) => `${painted(line, colour)}\n`).join(''));
}

/**
 * Prints objects of the API server like kubectl: the object if `single`, otherwise a List; without managedFields. The
 * API server sends items of a list without their kind.
 */
export function writeObjects(
  host: Host,
  format: DataFormat | 'name',
  { group, version, kind }: ResourceKind,
  objects: readonly object[],
  single: boolean,
): void {
  const shown = objects.map((one) => {
    const { metadata, ...others } = one as Json;
    const { managedFields: _, ...kept } = object(metadata);
    return { ...others, apiVersion: `${group}/${version}`, kind, metadata: kept };
  });
  const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: shown };
  const names = shown.map(({ metadata }) => `${kind.toLowerCase()}.${group}/${String(metadata['name'])}\n`);
  if (format === 'name') host.out(names.join(''));
  else writeData(host, format, single ? shown[0] : list);
}
