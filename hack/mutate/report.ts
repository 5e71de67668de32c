import { inOneLine } from './explained.ts';
import type { Mutant, Result, Verdict } from './mutant.ts';

export interface Count extends Readonly<Record<Verdict, number>> {
  readonly mutants: number;
}

export function count(results: readonly Result[]): Count {
  const of = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
  return {
    mutants: results.length,
    killed: of('killed'),
    survived: of('survived'),
    timeout: of('timeout'),
    refused: of('refused'),
  };
}

/** A line for each file, and one for the total. */
export function table(results: readonly Result[]): string {
  const files = [...new Set(results.map(({ mutant }) => mutant.file))];
  const line = (name: string, { mutants, killed, survived, timeout, refused }: Count): string =>
    [name.padEnd(36), ...[mutants, killed, timeout, refused, survived].map((number) => `${number}`.padStart(9))].join(
      '',
    );
  return [
    [
      'file'.padEnd(36),
      ...['mutants', 'killed', 'timeouts', 'refused', 'survived'].map((title) => title.padStart(9)),
    ].join(''),
    ...files.map((file) => line(file, count(results.filter(({ mutant }) => mutant.file === file)))),
    line('all', count(results)),
  ].join('\n');
}

/** The location of a mutant and its change, as a diff of two lines. */
export function difference({ kind, file, line, before, after }: Mutant): string {
  const indented = (sign: string, text: string): string =>
    text
      .split('\n')
      .map((one) => `  ${sign} ${one.trim()}`)
      .join('\n');
  return [`${file}:${line}  ${kind}`, indented('-', before), indented('+', after)].join('\n');
}

/** The page of survivors: the given introduction, then a heading for each file and a line for each mutant. */
export function survivorsPage(head: string, survivors: readonly Mutant[]): string {
  const sections = Object.entries(Object.groupBy(survivors, ({ file }) => file)).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const line = ({ before, after, kind }: Mutant): string =>
    `- \`${inOneLine(before)}\` → \`${inOneLine(after)}\`, ${kind}`;
  const lines = (mutants: readonly Mutant[] = []): string => [...new Set(mutants.map(line))].toSorted().join('\n');
  return (
    [head.trim(), ...sections.map(([file, mutants]) => `## ${file}\n\n${lines(mutants)}`), ''].join('\n\n').trimEnd() +
    '\n'
  );
}
