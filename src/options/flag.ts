import { UsageError } from '../failure.ts';
import { type BindAddress, parseBindAddress } from '../telemetry/http-server.ts';

// The kinds of flags: how a text is parsed, what `--help` shows, and which error an invalid text causes.

/** The result of parsing a flag. `expected` completes "Expected `--flag` to be …". */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** `got` is shown instead of the original text if parts of the original may be secret. */
  | { readonly kind: 'unreadable'; readonly expected: string; readonly got?: string }
  /** `message` is a whole sentence. */
  | { readonly kind: 'problem'; readonly message: string };

/** One flag: what users see, and how its text is parsed. */
export interface Flag<T> {
  /** The name without the leading dashes. */
  readonly name: string;
  /**
   * The placeholder in `--help`. A value in angle brackets, such as `<address>`, is required. `[bool]` may be left out
   * and then means `true`.
   */
  readonly placeholder: string;
  /** The default as text. `parse` reads it like any other text. */
  readonly defaultText: string;
  readonly description: string;
  /** The JSON Schema of the Helm chart's value that sets the flag. */
  readonly schema: JsonSchema;
  parse(text: string): Parsed<T>;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Creates a flag from its name. If a `=` follows the name, the text after it is the default. */
type Kind<T> = (nameAndDefault: string, description: string) => Flag<T>;

export const kind =
  <T>(placeholder: string, schema: JsonSchema, parse: (text: string) => Parsed<T>): Kind<T> =>
  (nameAndDefault, description) => {
    const [name = '', defaultText = ''] = nameAndDefault.split('=');
    return { name, placeholder, defaultText, description, schema, parse };
  };

/** Parses the text of a flag. Throws `UsageError`. */
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

/** A text; `null` if the flag is not given. */
export const optionalText = (placeholder: string): Kind<string | null> =>
  kind(placeholder, someText, (given) => value(given === '' ? null : given));

/**
 * Reads the spellings that Go's strconv.ParseBool accepts, as Kubernetes' flags do. Returns `null` for anything else.
 */
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

/** A number above zero; fractions are allowed. */
export const rate = kind('<number>', { type: 'number', exclusiveMinimum: 0 }, (given) => {
  const read = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0;
  return read > 0 && Number.isFinite(read) ? value(read) : unreadable('a number above zero');
});

/** Ten years. Dates that are much further in the future cannot be represented. */
const longestHours = 87_600;

const millisecondsOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads a duration above zero in Go's notation (`15s`, `1m30s`, `1.5h`, `500ms`), in milliseconds. */
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

/** A duration in milliseconds, at most `most`. */
export const durationUpTo = (most: number): Kind<number> =>
  kind('<duration>', durationSchema, (given) => {
    const read = parseDuration(given);
    return read.kind === 'value' && read.value > most ? unreadable(`a duration of at most ${most / 1000}s`) : read;
  });

/** A duration in milliseconds. */
export const duration = kind('<duration>', durationSchema, parseDuration);

/** A duration in milliseconds; `0` disables the wait. */
export const interval = kind('<duration>', { anyOf: [durationSchema, { enum: [0, '0'] }] }, (given) => {
  if (/^0(ms|s|m|h)?$/.test(given)) return value(0);
  const read = parseDuration(given);
  return read.kind === 'value' ? read : unreadable('a duration such as 15s, 1m30s or 500ms, or 0 for none');
});

/** The address of a server; `null` if `0` disables the server. */
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

/** Names of namespaces, separated by commas, without duplicates. An empty list means all namespaces. */
export const namespaces = kind<readonly string[]>('<names>', namespacesSchema, (given) => {
  const names = given.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === '') return value([]);
  if (names.every((name) => namespacePattern.test(name))) return value([...new Set(names)]);
  return unreadable('names of namespaces separated by commas, such as a,b');
});

/** A qualified name of Kubernetes, such as that of a label, which may be followed by a value. */
const keyPattern =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?(=[^,]{0,253})?$/;
const mostKeys = 32;

/** A list of at most 32 entries `KEY` or `KEY=VALUE`, separated by commas. It may be empty. */
export const keys = kind<readonly string[]>(
  '<keys>',
  { type: 'array', items: { type: 'string', pattern: keyPattern.source }, maxItems: mostKeys, uniqueItems: true },
  (given) => {
    const names = given.split(',').map((name) => name.trim());
    if (names.length === 1 && names[0] === '') return value([]);
    if (names.length <= mostKeys && names.every((name) => keyPattern.test(name))) return value([...new Set(names)]);
    return unreadable(`up to ${mostKeys} keys separated by commas, such as example.com/a,example.com/b=c`);
  },
);

/** The name of one namespace; `null` if it is not given. */
export const namespace = kind<string | null>('<name>', namespaceSchema, (given) => {
  if (given === '') return value(null);
  return namespacePattern.test(given) ? value(given) : unreadable('the name of a namespace');
});

/** The name of one namespace, which has to be given. */
export const someNamespace = kind<string>('<namespace>', namespaceSchema, (given) =>
  namespacePattern.test(given) ? value(given) : unreadable('the name of a namespace'),
);

/** A DNS subdomain name (Kubernetes, Object Names and IDs), of at most 253 characters. */
const objectNamePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The name of an object. */
export const objectName = kind<string>('<object>', { type: 'string', pattern: objectNamePattern.source }, (given) =>
  objectNamePattern.test(given) ? value(given) : unreadable('the name of an object of Kubernetes'),
);
