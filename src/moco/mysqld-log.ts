import { parseMysqlVersion, versionText } from '../core/mysql-versions.ts';

// What the log of a mysqld says, as far as the kubelet passes it on: the errors of a configuration that it rejects, and
// the version of the server.

/**
 * mysqld's messages about missing files and directories. They are expected in the pod of a preflight, which has none of
 * the files in a member's volumes.
 */
const missingFile = /No such file or directory|Errcode: 2\b|OS errno 2\b/;

/** An error in the log of mysqld, without its time. */
export interface MysqldError {
  /** The error code, such as `MY-000067`; `null` for messages that mysqld writes before it has a log. */
  readonly code: string | null;
  readonly words: string;
}

/**
 * The errors at the end of the log of a mysqld (9.7), such as `2026-11-26T00:24:15.406566Z 0 [ERROR] [MY-000067]
 * [Server] unknown variable 'a=1'.`
 */
export function errorsIn(log: string): readonly MysqldError[] {
  const errors = log.split('\n').flatMap((line) => errorIn(line.trim()) ?? []);
  return errors.filter(({ words }) => words !== 'Aborting');
}

const errorMark = '[ERROR]';
const beforeTheLog = 'mysqld: ';

function errorIn(line: string): MysqldError | null {
  const at = line.indexOf(errorMark);
  if (at === -1) return line.startsWith(beforeTheLog) ? { code: null, words: line.slice(beforeTheLog.length) } : null;
  const { code = null, words } =
    /^(?: \[(?<code>MY-\d+)\])?(?: \[[^\]]*\])* (?:mysqld: )?(?<words>.+)$/s.exec(line.slice(at + errorMark.length))
      ?.groups ?? {};
  return words === undefined ? null : { code, words };
}

/** mysqld's messages about variables, each with the text for users, which contains names of variables but no values. */
const knownErrors: readonly (readonly [RegExp, string])[] = [
  [/^unknown variable '([\w.-]+)=/, "unknown variable '$1=…'"],
  [/^unknown option '(--[\w.-]+)/, "unknown option '$1'"],
  [/^ambiguous option '(--[\w.-]+)/, "ambiguous option '$1'"],
  [/^option '(--[\w.-]+)' requires an argument/, "option '$1' requires an argument"],
  [/^option '(--[\w.-]+)' cannot take an argument/, "option '$1' cannot take an argument"],
  [/^Error while setting value '.*' to '([\w.-]+)'\.?$/, "Error while setting value '…' to '$1'"],
  [/^Variable '([\w.-]+)' can't be set to the value of '/, "Variable '$1' can't be set to the value of '…'"],
  [/^Unknown suffix '.' used for variable '([\w.-]+)' \(value '/, "Unknown suffix used for variable '$1'"],
  [/^Unknown (character set|collation): '/, "Unknown $1: '…'"],
];

/**
 * Removes values from an error: a user who may read a status may not be allowed to read a ConfigMap, so only names of
 * variables are shown. Any other error is shown only by its number, which MySQL's documentation explains.
 */
function withoutValues({ code, words }: MysqldError): string {
  for (const [shape, shown] of knownErrors) {
    const found = shape.exec(words);
    if (found) return shown.replace('$1', found[1] ?? '');
  }
  return code === null ? 'another error' : `another error (${code})`;
}

/** The errors as text for users, without values of variables. */
export const describeErrors = (errors: readonly MysqldError[]): string =>
  [...new Set(errors.map(withoutValues))].join('; ');

export const isAboutMissingFile = ({ words }: MysqldError): boolean => missingFile.test(words);

/** The kubelet passes on at most this much of a container's output (1.36, pkg/kubelet/container/runtime.go). */
const longestOutput = 4096;
/** Marks mysqld's first message: `[MY-013169] [Server] /usr/sbin/mysqld (mysqld 9.7.4-2) initializing of server`. */
const startsMark = '[MY-013169]';

/** The release that the log of mysqld names, such as `9.7.4`. */
export function versionIn(log: string): string | null {
  const line = log
    .slice(0, longestOutput)
    .split('\n')
    .find((one) => one.includes(startsMark));
  const [, given = ''] = /\(mysqld (\d[\w.-]{0,63})\) /.exec(line ?? '') ?? [];
  const version = parseMysqlVersion(given);
  return version === null || version.patch === null ? null : versionText(version);
}
