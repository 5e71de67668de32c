import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../failure.ts';
import { type Given, openSession } from './cluster/session.ts';
import { explainCommandFailure } from './command-error.ts';
import {
  type CliCommand,
  type CommandOption,
  commandFirst,
  connectionOptions,
  plainNames,
} from './commands/command.ts';
import { commandGroups, commands } from './commands/commands.ts';
import { complete } from './commands/completion.ts';
import type { Host } from './host.ts';

const helpWidthColumns = 100;

/** The command that the script of `completion` calls. Its words are not parsed here. */
const completing = '__complete';

/** Exit statuses. */
const failed = 1;
const misused = 2;

/**
 * Runs the command of the arguments. Resolves to the exit status: 0, 2 for invalid usage, 1 for every other failure or
 * a negative result. Never rejects.
 */
export async function runCli(words: readonly string[], host: Host): Promise<number> {
  if (words[0] === completing) {
    await complete(words.slice(1), commands, host);
    return 0;
  }
  const argv = commandFirst(words, commands);
  let status = 0;
  const program = describe(host, (command) => async (given, names) => {
    status = await runCommand(command, names, given, host);
  });
  try {
    if (argv.length === 0) {
      host.out(program.helpInformation());
      return 0;
    }
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      host.err(`${explainCommandFailure(error, { server: '', requestTimeoutSeconds: 0 })}\n`);
      return failed;
    }
    if (error.exitCode === 0) return 0;
    const sentence = error.message.replace(/^error: /, '');
    host.err(`error: ${sentence.split('\n').join(' ')}; see \`${host.program} ${helpOf(argv)}\`\n`);
    return misused;
  }
}

const helpOf = ([name]: readonly string[]): string =>
  commands.some((command) => command.name === name) ? `${name} --help` : '--help';

type Run = (given: Given, names: readonly string[]) => Promise<void>;

function describe(host: Host, run: (command: CliCommand) => Run): Command {
  const common = (command: Command): Command =>
    command
      .helpOption('-h, --help', 'show this help')
      .exitOverride()
      .configureOutput({
        writeOut: host.out,
        writeErr: () => {},
        getOutHelpWidth: () => helpWidthColumns,
      });
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
      command.action(async (...parameters: unknown[]) => {
        await run(one)(command.opts<Given>(), plainNames(one, namesOf(parameters)));
      });
    }
  }
  return program.helpCommand('help [COMMAND]', 'Show the help of a command');
}

function describeOne(
  command: Command,
  { summary, help, examples, options = [], connects }: CliCommand,
  host: Host,
): void {
  command.summary(summary).description(help === undefined ? `${summary}.` : `${summary}.\n\n${help}`);
  if (examples) command.addHelpText('after', examplesOf(examples, host));
  for (const option of options) add(command, option);
  if (connects === false) return;
  command.optionsGroup('Connection options:');
  for (const option of connectionOptions) add(command, option);
}

function examplesOf(examples: NonNullable<CliCommand['examples']>, { program }: Host): string {
  return `\nExamples:\n${examples.map(([purpose, line]) => `  # ${purpose}\n  ${program} ${line}\n`).join('\n')}`;
}

function add(command: Command, { flags, description, default: value }: CommandOption): void {
  if (value === undefined) command.option(flags, description);
  else command.option(flags, description, value);
}

/** Commander passes one parameter for each argument (a list for a variadic argument), then two of its own. */
function namesOf(parameters: readonly unknown[]): readonly string[] {
  return parameters
    .slice(0, -2)
    .flatMap((parameter) => (parameter === undefined ? [] : (parameter as string | string[])));
}

async function runCommand(command: CliCommand, names: readonly string[], given: Given, host: Host): Promise<number> {
  let dependencies = { server: '', requestTimeoutSeconds: 0 };
  try {
    if (command.connects === false) return await command.run(host, names, given);
    const session = openSession(given, host);
    dependencies = session;
    try {
      return await command.run(session, names);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (error instanceof UsageError) {
      host.err(`error: ${error.message}; see \`${host.program} ${command.name} --help\`\n`);
      return misused;
    }
    host.err(`${explainCommandFailure(error, dependencies)}\n`);
    return failed;
  }
}
