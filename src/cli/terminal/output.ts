import { dump } from 'js-yaml';
import { UsageError } from '../../failure.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import type { Host } from '../host.ts';
import { type Line, painted } from './colour.ts';
import { filled, parseTemplate, type Template } from './jsonpath.ts';

const dataFormats = ['json', 'yaml'] as const;
export type Format = 'table' | (typeof dataFormats)[number];

/** For commands whose result is not an API object. */
export const outputOption = {
  flags: '-o, --output <format>',
  description: `output format: ${dataFormats.join(' or ')}`,
  values: dataFormats,
} as const;

/** Throws `UsageError`. */
export function formatOf({ output }: { readonly output?: string | boolean | undefined }): Format {
  if (output === undefined) return 'table';
  const format = dataFormats.find((known) => known === output);
  if (format !== undefined) return format;
  throw new UsageError(`expected --output to be ${dataFormats.join(' or ')}, got \`${String(output)}\``);
}

/** For programs. Fields that are `undefined` are left out. */
export function writeData(host: Host, format: Exclude<Format, 'table'>, data: unknown): void {
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

/** For people. */
export type TableFormat = { readonly kind: 'default' } | { readonly kind: 'wide' };

/** For programs. */
export type ObjectFormat =
  | { readonly kind: 'name' | 'json' | 'yaml' }
  | { readonly kind: 'jsonpath'; readonly template: Template };

const words = ['wide', 'name', 'json', 'yaml'] as const;
const jsonPathPrefix = 'jsonpath=';

export const objectOutputOption = {
  flags: '-o, --output <format>',
  description: `output format: ${words.join(', ')} or ${jsonPathPrefix}TEMPLATE`,
  values: [...words, jsonPathPrefix],
} as const;

/** Throws `UsageError`. */
export function objectFormatOf({
  output,
}: {
  readonly output?: string | boolean | undefined;
}): TableFormat | ObjectFormat {
  if (output === undefined) return { kind: 'default' };
  const text = String(output);
  if (text.startsWith(jsonPathPrefix)) {
    return { kind: 'jsonpath', template: parseTemplate(text.slice(jsonPathPrefix.length)) };
  }
  const kind = words.find((known) => known === text);
  if (kind !== undefined) return { kind };
  throw new UsageError(`expected --output to be ${words.join(', ')} or ${jsonPathPrefix}TEMPLATE, got \`${text}\``);
}

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
  switch (format.kind) {
    case 'name':
      host.out(objects.map(({ metadata }) => `${kind.toLowerCase()}.${group}/${metadata.name}\n`).join(''));
      break;
    case 'jsonpath':
      host.out(filled(format.template, data));
      break;
    case 'json':
    case 'yaml':
      writeData(host, format.kind, data);
      break;
  }
}

/** Removes what kubectl leaves out. The API server sends items of a list without their kind. */
function withoutManagedFields({ metadata, ...others }: ShownObject, { group, version, kind }: Kind): object {
  const { managedFields: _, ...shown } = metadata as ShownObject['metadata'] & { readonly managedFields?: unknown };
  return { ...others, apiVersion: `${group}/${version}`, kind, metadata: shown };
}
