import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../failure.ts';
import { connectionOptions } from './cluster/connection-flags.ts';
import { openSession } from './cluster/session.ts';
import { didYouMean, explainCommandFailure } from './command-error.ts';
import { checkCommand } from './commands/check.ts';
import { type CliCommand, commandFirst, plainNames } from './commands/command.ts';
import { complete, completionCommand } from './commands/completion.ts';
import { diagnoseCommand } from './commands/diagnose.ts';
import { explainCommand } from './commands/explain.ts';
import { freezeCommand, unfreezeCommand } from './commands/freeze.ts';
import { historyCommand } from './commands/history.ts';
import { overrideCommand } from './commands/override.ts';
import { planCommand } from './commands/plan.ts';
import { adoptCommand, releaseCommand } from './commands/release.ts';
import { reportCommand } from './commands/report.ts';
import { restoreCommand, unrestoreCommand } from './commands/restore.ts';
import { sequenceCommand } from './commands/sequence.ts';
import {
  approveCommand,
  pauseCommand,
  pinCommand,
  resumeCommand,
  unpinCommand,
} from './commands/settings-of-clusters.ts';
import { getCommand, statusCommand } from './commands/status.ts';
import { undoCommand } from './commands/undo.ts';
import { waitCommand } from './commands/wait.ts';
import { type Host, withoutControls } from './host.ts';
import { optionOf, type Texts, valuesOf } from './option.ts';

// The command line of the plugin: finds the command, parses its options, prints help and errors.

/** The headings of the help, each with its commands in the order in which the help shows them. */
export const commandGroups: Readonly<Record<string, readonly CliCommand[]>> = {
  'Show rollouts': [
    statusCommand,
    getCommand,
    sequenceCommand,
    planCommand,
    waitCommand,
    explainCommand,
    historyCommand,
    undoCommand,
    reportCommand,
  ],
  'Change settings': [
    pauseCommand,
    resumeCommand,
    freezeCommand,
    unfreezeCommand,
    approveCommand,
    pinCommand,
    unpinCommand,
    overrideCommand,
    restoreCommand,
    unrestoreCommand,
  ],
  'Release clusters': [releaseCommand, adoptCommand],
  'Other commands': [checkCommand(() => commands), diagnoseCommand, completionCommand],
};

export const commands: readonly CliCommand[] = Object.values(commandGroups).flat();

const helpWidthColumns = 100;

/** The command that the script of `completion` calls. Its arguments are not parsed here. */
const completing = '__complete';

const exitFailed = 1;
const exitMisused = 2;

/**
 * Runs the command that the arguments name. Resolves to the exit status: 0 for success, 2 for invalid usage, 1 for
 * every other failure or a negative result. Never rejects.
 */
export async function runCli(words: readonly string[], given: Host): Promise<number> {
  const host = withoutControls(given);
  if (words[0] === completing) {
    await complete(words.slice(1), commands, host);
    return 0;
  }
  const argv = commandFirst(words, commands);
  let dependencies = { server: '', requestTimeoutSeconds: 0 };
  let status = 0;
  const program = describe(host, async (command, texts, names) => {
    if (command.connects === false) {
      status = command.run(host, names, valuesOf(command.options ?? {}, texts));
      return;
    }
    const settings = valuesOf({ ...command.options, ...connectionOptions }, texts);
    const session = openSession(settings, host);
    dependencies = session;
    try {
      status = await command.run(session, names, settings);
    } finally {
      await session.close();
    }
  });
  try {
    if (argv.length === 0) host.out(program.helpInformation());
    else await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (!(error instanceof CommanderError || error instanceof UsageError)) {
      host.err(`${explainCommandFailure(error, dependencies)}\n`);
      return exitFailed;
    }
    const help = commands.some(({ name }) => name === argv[0]) ? `${argv[0]} --help` : '--help';
    const sentence = error instanceof UsageError ? error.message : sentenceOf(error, argv);
    host.err(`error: ${sentence}; see \`${host.program} ${help}\`\n`);
    return exitMisused;
  }
}

/** A sentence with the expected and the actual value, derived from commander's own message. */
function sentenceOf({ code, message }: CommanderError, argv: readonly string[]): string {
  const names = commands.map(({ name }) => name);
  const [, asked = ''] = argv;
  if (code === 'commander.help') return `expected a command after help, got \`${asked}\`${didYouMean(asked, names)}`;
  if (code === 'commander.unknownOption' && !argv.some((word) => names.includes(word))) {
    return `expected a command, got \`${argv.join(' ')}\``;
  }
  return message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/^too many arguments for .*\. Expected 0 arguments but got \d+: (.*)\.$/, 'expected no arguments, got $1')
    .replace(/^too many arguments for .*\. Expected (.*) but got (.*)\.$/, 'expected at most $1, got $2')
    .replace(/^missing required argument '(\w+)'$/, 'expected a $1, got none')
    .replace(/^option '.*?(--[\w-]+).*' argument missing$/, 'expected a value after $1, got none');
}

function describe(host: Host, run: (command: CliCommand, texts: Texts, names: readonly string[]) => Promise<void>) {
  const common = (command: Command): Command =>
    command
      .helpOption('-h, --help', 'show this help')
      .exitOverride()
      .configureOutput({ writeOut: host.out, writeErr: () => {}, getOutHelpWidth: () => helpWidthColumns });
  const program = common(new Command(host.program))
    .description('Show and control rollouts of MySQL clusters that MOCO runs.')
    .usage('COMMAND [flags]')
    .version(manifest.version, '--version', 'show the version')
    .configureHelp({ showGlobalOptions: false, subcommandTerm: (command) => command.name() });
  for (const [heading, all] of Object.entries(commandGroups)) {
    program.commandsGroup(`${heading}:`);
    for (const one of all) {
      const command = common(program.command(`${one.name} ${one.arguments}`.trim()));
      describeOne(command, one, host);
      command.action(() => run(one, command.opts<Texts>(), plainNames(one, command.args)));
    }
  }
  return program.helpCommand('help [COMMAND]', 'Show the help of a command');
}

function describeOne(
  command: Command,
  { summary, help, examples = [], options = {}, connects }: CliCommand,
  { program }: Host,
): void {
  command.summary(summary).description(help === undefined ? `${summary}.` : `${summary}.\n\n${help}`);
  const shown = examples.map(([purpose, line]) => `  # ${purpose}\n  ${program} ${line}\n`);
  if (shown.length > 0) command.addHelpText('after', `\nExamples:\n${shown.join('\n')}`);
  for (const option of Object.values(options)) command.addOption(optionOf(option));
  if (connects === false) return;
  command.optionsGroup('Connection options:');
  for (const option of Object.values(connectionOptions)) command.addOption(optionOf(option));
}
