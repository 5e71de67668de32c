import { parseArgs } from 'node:util';

/** What a rollout that is to be shown or measured looks like. */
export interface RolloutSettings {
  readonly members: number;
  /** How long a member's restart takes, its stop included, as far as the nodes stand-in can choose. */
  readonly restartMilliseconds: number;
}

export interface DemoOptions extends RolloutSettings {
  /** The numbers of the summary on standard output, everything else on standard error. */
  readonly json: boolean;
}

export interface BenchOptions extends DemoOptions {
  readonly runs: number;
}

export type Parsed<Options> =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help'; readonly text: string }
  /** One sentence for standard error; the exit status is 2. */
  | { readonly kind: 'usage-error'; readonly message: string };

const mostMembers = 9;
const shortestRestartSeconds = 0.5;
const longestRestartSeconds = 60;
const mostRuns = 100;

interface NumberFlag {
  readonly placeholder: string;
  readonly defaultValue: number;
  readonly description: string;
  readonly expected: string;
  readonly accepts: (value: number) => boolean;
}

const members: NumberFlag = {
  placeholder: 'N',
  defaultValue: 3,
  description: 'members of the cluster',
  expected: `an odd number from 1 to ${mostMembers}, as MOCO has them`,
  accepts: (value) => Number.isInteger(value) && value % 2 === 1 && value >= 1 && value <= mostMembers,
};

const restart: NumberFlag = {
  placeholder: 'SECONDS',
  defaultValue: 2,
  description: 'how long a member takes to stop and start again',
  expected: `seconds from ${shortestRestartSeconds} to ${longestRestartSeconds}`,
  accepts: (value) => value >= shortestRestartSeconds && value <= longestRestartSeconds,
};

const runs: NumberFlag = {
  placeholder: 'N',
  defaultValue: 5,
  description: 'how often to roll out',
  expected: `a whole number from 1 to ${mostRuns}`,
  accepts: (value) => Number.isInteger(value) && value >= 1 && value <= mostRuns,
};

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseDemoArguments(argv: readonly string[]): Parsed<DemoOptions> {
  const about = 'Rolls out a new image on a real control plane and shows it live.';
  return parse('hack/demo/main.ts', about, { members, restart }, argv, ({ numbers, json }) => ({
    members: numbers.members,
    restartMilliseconds: numbers.restart * 1000,
    json,
  }));
}

/** As {@link parseDemoArguments}, for the benchmark. */
export function parseBenchArguments(argv: readonly string[]): Parsed<BenchOptions> {
  const about = "Measures the demo's rollout against the sum of its parts, several times.";
  return parse('hack/bench.ts', about, { members, restart, runs }, argv, benchOptions);
}

function benchOptions({ numbers, json }: Read<'members' | 'restart' | 'runs'>): BenchOptions {
  return {
    members: numbers.members,
    restartMilliseconds: numbers.restart * 1000,
    runs: numbers.runs,
    json,
  };
}

interface Read<Name extends string> {
  readonly numbers: Readonly<Record<Name, number>>;
  readonly json: boolean;
}

function parse<Name extends string, Options>(
  program: string,
  about: string,
  flags: Readonly<Record<Name, NumberFlag>>,
  argv: readonly string[],
  optionsOf: (read: Read<Name>) => Options,
): Parsed<Options> {
  const names = Object.keys(flags) as Name[];
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])),
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const numbers = Object.fromEntries(names.map((name) => [name, flags[name].defaultValue])) as Record<Name, number>;
  let json = false;
  const wrong = (message: string): Parsed<Options> => ({ kind: 'usage-error', message });
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') return wrong(`Expected flags only, got \`${token.value}\`.`);
    const name = names.find((known) => known === token.name);
    if (name !== undefined) {
      const { expected, accepts } = flags[name];
      // parseArgs takes what follows for the value even where that is the next flag.
      const text = token.inlineValue === true || token.value?.startsWith('-') === false ? token.value : undefined;
      if (text === undefined) return wrong(`Expected --${name} to be followed by ${expected}, got nothing.`);
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (!accepts(value)) return wrong(`Expected --${name} to be ${expected}, got \`${text}\`.`);
      numbers[name] = value;
    } else if (token.value !== undefined && (token.name === 'json' || token.name === 'help')) {
      return wrong(`Expected --${token.name} without a value, got \`${token.value}\`.`);
    } else if (token.name === 'json') {
      json = true;
    } else if (token.name === 'help') {
      return { kind: 'help', text: help(program, about, flags) };
    } else {
      const known = [...names, 'json', 'help'].map((flag) => `--${flag}`).join(', ');
      return wrong(`Expected one of ${known}, got \`${token.rawName}\`.`);
    }
  }
  return { kind: 'options', options: optionsOf({ numbers, json }) };
}

function help(program: string, about: string, flags: Readonly<Record<string, NumberFlag>>): string {
  const rows = [
    ...Object.entries(flags).map(([name, flag]) => [
      `--${name} ${flag.placeholder}`,
      `${flag.description}, ${flag.expected} (default ${flag.defaultValue})`,
    ]),
    ['--json', 'the numbers as one JSON object on standard output, all else on standard error'],
    ['--help', 'show this and exit'],
  ];
  const width = Math.max(...rows.map(([flag = '']) => flag.length));
  const lines = rows.map(([flag = '', text = '']) => `  ${flag.padEnd(width)}  ${text}`);
  return `Usage: hack/node.sh ${program} [flags]\n\n${about}\n\n${lines.join('\n')}\n`;
}
