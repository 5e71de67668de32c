import { dump } from 'js-yaml';
import { UsageError } from '../failure.ts';
import type { CommandOption } from './command.ts';
import type { Host } from './host.ts';
import { type Line, painted } from './painted.ts';
import type { Given } from './session.ts';

export const formats = ['table', 'json', 'yaml'] as const;
export type Format = (typeof formats)[number];

export const outputOption: CommandOption = {
  flags: '-o, --output <format>',
  description: `${formats.join(', ')}: what to write`,
  default: 'table',
  values: formats,
};

export function formatOf({ output = 'table' }: Given): Format {
  const format = formats.find((known) => known === output);
  if (format !== undefined) return format;
  throw new UsageError(`expected --output to be ${formats.join(', ')}, got \`${String(output)}\``);
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
