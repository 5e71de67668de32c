import { dump } from 'js-yaml';
import { type Json, object } from '../../base/json.ts';
import { escaped } from '../../base/text.ts';
import { UsageError } from '../../failure.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import { draw, type Host } from '../host.ts';
import { asList, oneOf } from '../option.ts';
import { type Line, painted } from './lines.ts';

// The option `--output`: YAML, JSON, names or tables, as in kubectl.

export const outputFlags = '-o, --output <format>';

/** An option for the output format of a result. The default is a table. */
const outputAs = <Word extends string>(...formats: readonly Word[]) =>
  oneOf(...formats)(outputFlags, `output format: ${asList(formats)}`);

/** For commands with a result that is not an API object. */
export const outputOption = outputAs('json', 'yaml');
/** For commands that print API objects, as kubectl does. */
export const objectOutputOption = outputAs('wide', 'name', 'json', 'yaml');

type DataFormat = 'json' | 'yaml';

/** The format in which API objects are printed unchanged, or `null` for a table. Throws `UsageError`. */
export function objectFormat({
  output,
  watch,
}: {
  readonly output: DataFormat | 'name' | 'wide' | undefined;
  readonly watch: boolean;
}): DataFormat | 'name' | null {
  if (output === undefined || output === 'wide') return null;
  if (watch) throw new UsageError(`expected either --watch or -o ${output}, got both`);
  return output;
}

/** Writes output for programs. Fields that are `undefined` are left out. */
export function writeData(host: Host, format: DataFormat, data: unknown): void {
  const plain: unknown = JSON.parse(JSON.stringify(data));
  host.out(format === 'json' ? jsonText(plain) : yamlOf(plain));
}

/**
 * The data as YAML. If a text contains characters that control a terminal, JSON is used instead: it is also YAML and
 * can escape them.
 */
function yamlOf(data: unknown): string {
  const plain = dump(data, { lineWidth: -1, noRefs: true });
  return escaped(plain) === plain ? plain : jsonText(data);
}

const jsonText = (data: unknown): string => `${escaped(JSON.stringify(data, null, 2))}\n`;

export function writeResult(
  host: Host,
  format: DataFormat | undefined,
  data: unknown,
  lines: () => readonly Line[],
): void {
  if (format === undefined) writeLines(host, lines());
  else writeData(host, format, data);
}

/** Writes output for people. */
export function writeLines(host: Host, lines: readonly Line[]): void {
  const colour = host.terminal()?.colour === true;
  draw(host, lines.map((line) => `${painted(line, colour)}\n`).join(''));
}

/**
 * Prints objects in the way that kubectl does, without managedFields. Prints the object itself if `single` is set,
 * otherwise a List. Adds the kind to the items of a list, because the API server omits it.
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
