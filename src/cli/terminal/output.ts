import { dump } from 'js-yaml';
import { UsageError } from '../../failure.ts';
import type { Host } from '../host.ts';
import { type Line, painted } from './colour.ts';

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
