import { dump } from 'js-yaml';
import { UsageError } from '../../failure.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import type { Host } from '../host.ts';
import { type Line, painted } from './lines.ts';

/** How a result is printed: as a table where nothing is given. */
interface OutputOption<Word extends string> {
  readonly flags: string;
  readonly description: string;
  readonly values: readonly Word[];
}

const asList = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const outputAs = <Word extends string>(...values: readonly Word[]): OutputOption<Word> => ({
  flags: '-o, --output <format>',
  description: `output format: ${asList(values)}`,
  values,
});

/** For commands whose result is not an API object. */
export const outputOption = outputAs('json', 'yaml');
/** For those that print API objects, as kubectl does. */
export const objectOutputOption = outputAs('wide', 'name', 'json', 'yaml');

type DataFormat = (typeof outputOption.values)[number];
type ObjectFormat = DataFormat | 'name';

/** The format of `--output`. Throws `UsageError` for one that the option does not have. */
export function formatOf<Word extends string>(
  { output }: { readonly output?: string | boolean | undefined },
  { values }: Pick<OutputOption<Word>, 'values'>,
): Word | 'table' {
  if (output === undefined) return 'table';
  const format = values.find((known) => known === output);
  if (format !== undefined) return format;
  throw new UsageError(`expected --output to be ${asList(values)}, got \`${String(output)}\``);
}

/** For programs. Fields that are `undefined` are left out. */
export function writeData(host: Host, format: DataFormat, data: unknown): void {
  const plain: unknown = JSON.parse(JSON.stringify(data));
  host.out(format === 'json' ? `${JSON.stringify(plain, null, 2)}\n` : dump(plain, { lineWidth: -1, noRefs: true }));
}

/** For people. */
export function writeLines(host: Host, lines: readonly Line[]): void {
  const colour = host.terminal()?.colour === true;
  host.out(lines.map((line) => `${painted(line, colour)}\n`).join(''));
}

/** A value on one line. */
export const inOneLine = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** An object of the API server. */
export interface ShownObject {
  readonly metadata: { readonly name: string };
}

type Kind = Pick<ResourceKind, 'group' | 'version' | 'kind'>;

/** Prints like kubectl: the object if `single`, otherwise a List. */
export function writeObjects(
  host: Host,
  format: ObjectFormat,
  ofKind: Kind,
  objects: readonly ShownObject[],
  single: boolean,
): void {
  const { group, kind } = ofKind;
  const shown = objects.map((object) => withoutManagedFields(object, ofKind));
  const data = single ? shown[0] : { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: shown };
  if (format === 'name') {
    host.out(objects.map(({ metadata }) => `${kind.toLowerCase()}.${group}/${metadata.name}\n`).join(''));
  } else {
    writeData(host, format, data);
  }
}

/** Removes what kubectl leaves out. The API server sends items of a list without their kind. */
function withoutManagedFields({ metadata, ...others }: ShownObject, { group, version, kind }: Kind): object {
  const { managedFields: _, ...shown } = metadata as ShownObject['metadata'] & { readonly managedFields?: unknown };
  return { ...others, apiVersion: `${group}/${version}`, kind, metadata: shown };
}
