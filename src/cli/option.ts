import { Option } from 'commander';
import { UsageError } from '../failure.ts';
import { namespacePattern, type Parsed, parseDuration, read, unreadable, value } from '../options/flag.ts';

// The kinds of options that the plugin's commands take.

/** An option of a command, and how its text becomes a value. */
export interface CommandOption<Value> {
  /** In commander's syntax, such as `--for <duration>`. Without a placeholder the option is a switch. */
  readonly flags: string;
  readonly description: string;
  readonly defaultText?: string | undefined;
  /** The possible values, for completion. */
  readonly values?: readonly string[] | undefined;
  readonly parse: (text: string) => Parsed<Value>;
  /** The option may be given several times, and its value is a list. */
  readonly repeats?: true;
}

export type CommandOptions = Readonly<Record<string, CommandOption<unknown>>>;

/**
 * The values of options by field. An option that was not given and has no default is `undefined`; a switch that was not
 * given is `false`.
 */
export type Values<Options extends CommandOptions> = {
  readonly [Field in keyof Options]: Options[Field] extends CommandOption<infer Value> ? Value : never;
};

/**
 * Returns a function that creates options of one kind from their flags. An option with a default always has a value.
 */
export function optionKind<Value>(parse: (text: string) => Parsed<Value>, values?: readonly string[]) {
  function option(flags: string, description: string): CommandOption<Value | undefined>;
  function option(flags: string, description: string, defaultText: string): CommandOption<Value>;
  function option(flags: string, description: string, defaultText?: string): CommandOption<Value> {
    return { flags, description, defaultText, values, parse };
  }
  return option;
}

export const anyText = optionKind(value);

export const oneNamespace = optionKind((given) =>
  namespacePattern.test(given) ? value(given) : unreadable('the name of a namespace'),
);

/** A duration in milliseconds. As in kubectl, a plain number means seconds. */
export const duration = optionKind((given) => parseDuration(/^\d+$/.test(given) ? `${given}s` : given));

export const asList = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

export const oneOf = <Word extends string>(...words: readonly Word[]) =>
  optionKind((given) => {
    const word = words.find((known) => known === given);
    return word === undefined ? unreadable(asList(words)) : value(word);
  }, words);

/** An option that may be given several times. */
export const severalTexts = (flags: string, description: string): CommandOption<readonly string[] | undefined> => ({
  flags,
  description,
  parse: (text) => value([text]),
  repeats: true,
});

export const toggle = (flags: string, description: string): CommandOption<boolean> => ({
  flags,
  description,
  parse: () => value(true),
});

/** The option as commander needs it. */
export function optionOf({ flags, description, defaultText, repeats }: CommandOption<unknown>): Option {
  const option = new Option(flags, description).default(defaultText);
  return repeats
    ? option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text])
    : option;
}

/** The options as commander has read them, by their names in camel case. */
export type Texts = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/**
 * Converts the values that commander has read. An empty text is refused: it usually comes from an unset variable in a
 * script, and as a selector it would select every cluster. Throws `UsageError`.
 */
export function valuesOf<Options extends CommandOptions>(options: Options, texts: Texts): Values<Options> {
  const values = Object.entries(options).map(([field, one]) => {
    const option = optionOf(one);
    const given = texts[option.attributeName()];
    const empty = [given].flat().some((text) => typeof text === 'string' && text.trim() === '');
    if (empty) throw new UsageError(`expected a value after ${option.long}, got an empty text`);
    if (Array.isArray(given)) return [field, given];
    if (typeof given !== 'string') return [field, option.isBoolean() ? given === true : undefined];
    return [field, read({ name: option.name(), parse: one.parse }, given)];
  });
  return Object.fromEntries(values) as Values<Options>;
}
