import { type BindAddress, parseBindAddress } from '../telemetry/listen.ts';
import { parseBoolean } from './boolean.ts';
import { parseDuration } from './duration.ts';
import { type Parsed, unreadable, value } from './parsed.ts';

/** One flag: how it is shown to people, and how its text becomes a value. */
export interface Flag<T> {
  /** As in `--help`: `<address>` must be given, `[bool]` may be left out and then means `true`. */
  readonly placeholder: string;
  /** The text that holds when the flag isn't given; it is read by `parse` like any other. */
  readonly defaultText: string;
  readonly description: string;
  parse(text: string): Parsed<T>;
}

type Described = Pick<Flag<unknown>, 'defaultText' | 'description'>;

export function textFlag(placeholder: string, described: Described): Flag<string> {
  return { ...described, placeholder, parse: value };
}

export function booleanFlag(described: Described): Flag<boolean> {
  return {
    ...described,
    placeholder: '[bool]',
    parse: (text) => {
      const read = parseBoolean(text);
      return read === null ? unreadable('true or false') : value(read);
    },
  };
}

export function choiceFlag<T extends string>(choices: readonly T[], described: Described): Flag<T> {
  return {
    ...described,
    placeholder: `<${choices.join('|')}>`,
    parse: (text) => {
      const chosen = choices.find((choice) => choice === text);
      return chosen === undefined ? unreadable(`one of ${choices.join(', ')}`) : value(chosen);
    },
  };
}

export function integerFlag(lowest: number, highest: number, described: Described): Flag<number> {
  return {
    ...described,
    placeholder: '<number>',
    parse: (text) => {
      const read = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return read >= lowest && read <= highest
        ? value(read)
        : unreadable(`a whole number from ${lowest} to ${highest}`);
    },
  };
}

/** A rate: above zero, fractions allowed. */
export function rateFlag(described: Described): Flag<number> {
  return {
    ...described,
    placeholder: '<number>',
    parse: (text) => {
      const read = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
      return read > 0 && Number.isFinite(read) ? value(read) : unreadable('a number above zero');
    },
  };
}

/** Milliseconds. */
export function durationFlag(described: Described): Flag<number> {
  return { ...described, placeholder: '<duration>', parse: parseDuration };
}

/** Milliseconds; `0` says that nothing is waited for. */
export function intervalFlag(described: Described): Flag<number> {
  return {
    ...described,
    placeholder: '<duration>',
    parse: (text) => {
      if (/^0(ms|s|m|h)?$/.test(text)) return value(0);
      const parsed = parseDuration(text);
      return parsed.kind === 'value' ? parsed : unreadable('a duration such as 15s, 1m30s or 500ms, or 0 for none');
    },
  };
}

/** `null` where `0` says that nothing is to listen. */
export function bindAddressFlag(described: Described): Flag<BindAddress | null> {
  return {
    ...described,
    placeholder: '<address>',
    parse: (text) => {
      if (text === '0') return value(null);
      const address = parseBindAddress(text);
      return address === null ? unreadable('HOST:PORT, :PORT, or 0 to listen nowhere') : value(address);
    },
  };
}

/** An address of HTTP, without a slash at the end, or nothing. A password in it is not shown. */
export function urlFlag(described: Described): Flag<string | null> {
  const expected = 'an http or https address without user, query and fragment, such as https://prometheus.example:9090';
  return {
    ...described,
    placeholder: '<url>',
    parse: (text) => {
      if (text === '') return value(null);
      const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : null;
      if (url === null || /[@?#]/.test(text)) {
        return { ...unreadable(expected), got: text.replace(/\/\/.*@/, '//') };
      }
      return value(url.href.replace(/\/+$/, ''));
    },
  };
}

const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Names separated by commas, each once. Nothing at all stands for every namespace. */
export function namespacesFlag(described: Described): Flag<readonly string[]> {
  return {
    ...described,
    placeholder: '<names>',
    parse: (text) => {
      const names = text.split(',').map((name) => name.trim());
      if (names.length === 1 && names[0] === '') return value([]);
      if (!names.every((name) => namespacePattern.test(name))) {
        return unreadable('names of namespaces separated by commas, such as a,b');
      }
      return value([...new Set(names)]);
    },
  };
}

/** The name of one namespace, or nothing. */
export function namespaceFlag(described: Described): Flag<string | null> {
  return {
    ...described,
    placeholder: '<name>',
    parse: (text) => {
      if (text === '') return value(null);
      return namespacePattern.test(text) ? value(text) : unreadable('the name of a namespace');
    },
  };
}
