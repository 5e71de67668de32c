import { UsageError } from '../failure.ts';
import { type BindAddress, parseBindAddress } from '../telemetry/http-server.ts';

// The kinds of flags: how a text becomes a value, what `--help` shows, and which error an invalid text causes.

/** The result of parsing a flag. `expected` completes "Expected `--flag` to be …". */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** `got`: the text to show, if parts of the original may be secret. */
  | { readonly kind: 'unreadable'; readonly expected: string; readonly got?: string }
  /** A whole sentence. */
  | { readonly kind: 'problem'; readonly message: string };

/** One flag: how people see it, and how its text becomes a value. */
export interface Flag<T> {
  /** Without the dashes in front of it. */
  readonly name: string;
  /** As in `--help`: `<address>` is required, `[bool]` may be left out and then means `true`. */
  readonly placeholder: string;
  /** The default text, which is read by `parse` like any other. */
  readonly defaultText: string;
  readonly description: string;
  /** The JSON Schema of the Helm chart's value that becomes its text. */
  readonly schema: JsonSchema;
  parse(text: string): Parsed<T>;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Creates a flag from its name, with its default text after a `=` if it has one. */
type Kind<T> = (nameAndDefault: string, description: string) => Flag<T>;

export const kind =
  <T>(placeholder: string, schema: JsonSchema, parse: (text: string) => Parsed<T>): Kind<T> =>
  (nameAndDefault, description) => {
    const [name = '', defaultText = ''] = nameAndDefault.split('=');
    return { name, placeholder, defaultText, description, schema, parse };
  };

/** The value of a flag's text. Throws `UsageError`. */
export function read<T>({ name, parse }: Pick<Flag<T>, 'name' | 'parse'>, given: string): T {
  const outcome = parse(given);
  if (outcome.kind === 'value') return outcome.value;
  if (outcome.kind === 'problem') throw new UsageError(outcome.message);
  throw new UsageError(`expected --${name} to be ${outcome.expected}, got \`${outcome.got ?? given}\``);
}

export const value = <T>(read: T): Parsed<T> => ({ kind: 'value', value: read });
export const unreadable = (expected: string): Parsed<never> => ({ kind: 'unreadable', expected });

const someText = { type: 'string', minLength: 1 };

export const text = (placeholder: string): Kind<string> => kind(placeholder, someText, value);

/** `null` if it is not given. */
export const optionalText = (placeholder: string): Kind<string | null> =>
  kind(placeholder, someText, (given) => value(given === '' ? null : given));

/** Reads the spellings of Go's strconv.ParseBool, which Kubernetes' flags accept; `null` for anything else. */
export function parseBoolean(given: string): boolean | null {
  if (/^(1|t|T|true|TRUE|True)$/.test(given)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(given) ? false : null;
}

export const boolean = kind('[bool]', { type: 'boolean' }, (given) => {
  const read = parseBoolean(given);
  return read === null ? unreadable('true or false') : value(read);
});

export const choice = <T extends string>(choices: readonly T[]): Kind<T> =>
  kind(`<${choices.join('|')}>`, { enum: choices }, (given) => {
    const chosen = choices.find((one) => one === given);
    return chosen === undefined ? unreadable(`one of ${choices.join(', ')}`) : value(chosen);
  });

export const integer = (lowest: number, highest: number): Kind<number> =>
  kind('<number>', { type: 'integer', minimum: lowest, maximum: highest }, (given) => {
    const read = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    return read >= lowest && read <= highest ? value(read) : unreadable(`a whole number from ${lowest} to ${highest}`);
  });

/** Above zero, fractions allowed. */
export const rate = kind('<number>', { type: 'number', exclusiveMinimum: 0 }, (given) => {
  const read = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0;
  return read > 0 && Number.isFinite(read) ? value(read) : unreadable('a number above zero');
});

/** Ten years. A much later date cannot be represented. */
const longestHours = 87_600;

const millisecondsOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads a duration above zero as Go writes them (`15s`, `1m30s`, `1.5h`, `500ms`), in milliseconds. */
export function parseDuration(given: string): Parsed<number> {
  const parts = [...given.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gy)];
  const milliseconds = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (millisecondsOf[unit] ?? 0),
    0,
  );
  const isWhole = parts.map(([part]) => part).join('') === given;
  if (isWhole && milliseconds > longestHours * 3_600_000) return unreadable(`a duration of at most ${longestHours}h`);
  if (isWhole && milliseconds > 0) return value(milliseconds);
  return unreadable('a duration above zero such as 15s, 1m30s or 500ms');
}

const durationSchema = {
  type: 'string',
  pattern: String.raw`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`,
  not: { pattern: '^[^1-9]*$' },
};

/** Milliseconds, no more than `most`. */
export const durationUpTo = (most: number): Kind<number> =>
  kind('<duration>', durationSchema, (given) => {
    const read = parseDuration(given);
    return read.kind === 'value' && read.value > most ? unreadable(`a duration of at most ${most / 1000}s`) : read;
  });

/** Milliseconds. */
export const duration = kind('<duration>', durationSchema, parseDuration);

/** Milliseconds; `0` disables the wait. */
export const interval = kind('<duration>', { anyOf: [durationSchema, { enum: [0, '0'] }] }, (given) => {
  if (/^0(ms|s|m|h)?$/.test(given)) return value(0);
  const read = parseDuration(given);
  return read.kind === 'value' ? read : unreadable('a duration such as 15s, 1m30s or 500ms, or 0 for none');
});

/** `null` if `0` disables the server. */
export const bindAddress = kind<BindAddress | null>('<address>', someText, (given) => {
  if (given === '0') return value(null);
  const address = parseBindAddress(given);
  return address === null ? unreadable('HOST:PORT, :PORT, or 0 to listen nowhere') : value(address);
});

/** An HTTP address without a trailing slash; `null` if it is not given. A password in it is not shown. */
export const url = kind<string | null>('<url>', { type: 'string', pattern: '^(https?://[^@?#]+)?$' }, (given) => {
  if (given === '') return value(null);
  const read = /^https?:\/\//.test(given) && URL.canParse(given) ? new URL(given) : null;
  if (read !== null && !/[@?#]/.test(given)) return value(read.href.replace(/\/+$/, ''));
  const expected = 'an http or https address without user, query and fragment, such as https://prometheus.example:9090';
  return { kind: 'unreadable', expected, got: given.replace(/\/\/.*@/, '//') };
});

export const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const namespaceSchema = { type: 'string', pattern: namespacePattern.source };
const namespacesSchema = { type: 'array', items: namespaceSchema, uniqueItems: true };

/** Names separated by commas, each once. Empty for every namespace. */
export const namespaces = kind<readonly string[]>('<names>', namespacesSchema, (given) => {
  const names = given.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === '') return value([]);
  if (names.every((name) => namespacePattern.test(name))) return value([...new Set(names)]);
  return unreadable('names of namespaces separated by commas, such as a,b');
});

/** The name of one namespace; `null` if it is not given. */
export const namespace = kind<string | null>('<name>', namespaceSchema, (given) => {
  if (given === '') return value(null);
  return namespacePattern.test(given) ? value(given) : unreadable('the name of a namespace');
});

/** The name of one namespace, where there has to be one. */
export const someNamespace = kind<string>('<namespace>', namespaceSchema, (given) =>
  namespacePattern.test(given) ? value(given) : unreadable('the name of a namespace'),
);

/** A DNS subdomain name (Kubernetes, Object Names and IDs), of at most 253 characters. */
const objectNamePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The name of an object. */
export const objectName = kind<string>('<object>', { type: 'string', pattern: objectNamePattern.source }, (given) =>
  objectNamePattern.test(given) ? value(given) : unreadable('the name of an object of Kubernetes'),
);
