import { sequenceKind } from '../../api/rollout-sequence.ts';
import { type Json, object, text } from '../../base/json.ts';
import { holdRules, overridableRules, rules } from '../../core/rules/catalogue.ts';
import { namespaces, pods } from '../../kube/resource.ts';
import { clusterKind, memberSelector } from '../../moco/names.ts';
import { listAll } from '../cluster/clusters.ts';
import { connectionOptions } from '../cluster/connection-flags.ts';
import { openSession, type Session } from '../cluster/session.ts';
import type { Host } from '../host.ts';
import { type CommandOption, optionOf, type Texts, valuesOf } from '../option.ts';
import { argumentAt, type CliCommand, localCommand, type Named, optionsOf } from './command.ts';

// Completes words on the command line, with names from the cluster.

/** The name of the executable that kubectl 1.26 and later look up in PATH. */
const scriptName = 'kubectl_complete-moco_rollout';
const script = `#!/bin/sh
# kubectl's shell completion asks this for words: ${scriptName}.
exec kubectl moco-rollout __complete "$@"
`;

/** Prints the script that connects kubectl's completion to this plugin. */
export const completionCommand = localCommand({
  name: 'completion',
  arguments: '',
  summary: "Print the script for kubectl's shell completion",
  help: `Requires kubectl's own completion, which finds the executable script as ${scriptName} in PATH.`,
  examples: [
    ['Write the script into a directory of PATH', `completion > ~/bin/${scriptName} && chmod +x ~/bin/${scriptName}`],
  ],
  run: (host) => {
    host.out(script);
    return 0;
  },
});

/** Directives of cobra, kubectl's command-line library, that say whether to offer file names. */
const noFiles = ':4';
const files = ':0';
/** Short, because a user has pressed a key and is waiting. */
const requestTimeoutMilliseconds = 2000;

interface Suggestion {
  readonly word: string;
  readonly description?: string;
}

/**
 * Completes a command line with kubectl's protocol for `kubectl_complete-<plugin>` (kubectl 1.26 and later). The
 * arguments are the words typed so far; the last one is incomplete. The output contains one candidate on each line,
 * with a description after a tab, and ends with a directive. After an error there are no candidates.
 */
export async function complete(words: readonly string[], commands: readonly CliCommand[], host: Host): Promise<void> {
  const wanted = words.at(-1) ?? '';
  const typed = typedSoFar(words.slice(0, -1), commands);
  const offered = typed.awaitsFile ? [] : await candidates(typed, wanted, commands, host).catch(() => []);
  const fitting = offered.filter(({ word }) => word.startsWith(wanted));
  const lines = fitting.map(({ word, description }) => (description === undefined ? word : `${word}\t${description}`));
  host.out([...lines, typed.awaitsFile ? files : noFiles].map((line) => `${line}\n`).join(''));
}

type Typed = ReturnType<typeof typedSoFar>;

/** `given` contains the options typed so far. `awaits` is the option with an incomplete value. */
function typedSoFar(words: readonly string[], commands: readonly CliCommand[]) {
  let command: CliCommand | null = null;
  const names: string[] = [];
  const given: Record<string, Texts[string]> = {};
  const give = (option: CommandOption<unknown>, text: string | true): void => {
    const field = optionOf(option).attributeName();
    given[field] = option.repeats ? [...[given[field] ?? []].flat(), text].map(String) : text;
  };
  let awaits: CommandOption<unknown> | null = null;
  for (const word of words) {
    if (awaits !== null) {
      give(awaits, word);
      awaits = null;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2);
      const option = Object.values(optionsOf(command)).find((one) =>
        [optionOf(one).short, optionOf(one).long].includes(flag),
      );
      if (option === undefined) continue;
      if (value === undefined && optionOf(option).required) awaits = option;
      else give(option, value ?? true);
    } else if (command === null) {
      command = commands.find(({ name }) => name === word) ?? null;
    } else {
      names.push(word);
    }
  }
  return { command, names, given, awaits, awaitsFile: awaits?.flags.includes('<file>') === true };
}

async function candidates(
  { command, names, given, awaits }: Typed,
  wanted: string,
  commands: readonly CliCommand[],
  host: Host,
): Promise<readonly Suggestion[]> {
  if (awaits !== null) {
    if (optionOf(awaits).name() === 'namespace') return namesOf(given, host, 'namespace');
    return (awaits.values ?? []).map((word) => ({ word }));
  }
  if (command === null) return commands.map(({ name, summary }) => ({ word: name, description: summary }));
  if (wanted.startsWith('-')) {
    return Object.values(optionsOf(command)).map((option) => ({
      word: `--${optionOf(option).name()}`,
      description: option.description,
    }));
  }
  const named = argumentAt(command, names.length)?.names;
  if (named === undefined) return [];
  const known = command.name === 'explain' ? holdRules : overridableRules;
  const all =
    named === 'rule'
      ? known.map((word) => ({ word, description: rules[word].meaning }))
      : await namesOf(given, host, named);
  return all.filter(({ word }) => !names.includes(word));
}

type ListedKind = Exclude<Named, 'rule'> | 'namespace';

const lists: Readonly<Record<ListedKind, (session: Session) => Promise<readonly Json[]>>> = {
  cluster: (session) => listAll(session, clusterKind, session.namespace),
  pod: (session) => listAll(session, pods, session.namespace, { labelSelector: memberSelector }),
  sequence: (session) => listAll(session, sequenceKind, null),
  namespace: (session) => listAll(session, namespaces, null),
};

async function namesOf(given: Typed['given'], host: Host, what: ListedKind): Promise<readonly Suggestion[]> {
  const connection = valuesOf(connectionOptions, given);
  const session = openSession({ ...connection, requestTimeout: requestTimeoutMilliseconds }, host);
  try {
    const found = await lists[what](session);
    return found.map(({ metadata }) => ({ word: text(object(metadata)['name']) ?? '' }));
  } finally {
    await session.close();
  }
}
