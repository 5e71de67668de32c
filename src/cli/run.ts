import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../failure.ts';
import { type CliCommand, type CommandOption, connectionOptions } from './command.ts';
import { commands } from './commands.ts';
import { complete } from './complete.ts';
import { explainCommandFailure } from './failure.ts';
import type { Host } from './host.ts';
import { didYouMean } from './nearest.ts';
import { type Given, openSession } from './session.ts';

const helpWidthColumns = 100;

/** What the script of `completion` calls; its words are not for this program to parse. */
const completing = '__complete';

/** Exit statuses. */
const failed = 1;
const misused = 2;

/**
 * Runs the command that the arguments name, and resolves to the exit status: 0, 1 where it could not be done or the
 * answer is no, 2 where what was asked for makes no sense. Never rejects.
 */
export async function runCli(argv: readonly string[], host: Host): Promise<number> {
  if (argv[0] === completing) {
    await complete(argv.slice(1), commands, host);
    return 0;
  }
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
    const nearby =
      error.code === 'commander.unknownCommand'
        ? didYouMean(
            argv[0] ?? '',
            commands.map(({ name }) => name),
          )
        : '';
    host.err(`error: ${sentence.split('\n').join(' ')}${nearby}; see \`${host.program} ${helpOf(argv)}\`\n`);
    return misused;
  }
}

const helpOf = ([name]: readonly string[]): string =>
  commands.some((command) => command.name === name) ? `${name} --help` : '--help';

type Run = (given: Given, names: readonly string[]) => Promise<void>;

function describe(host: Host, run: (command: CliCommand) => Run): Command {
  const common = (command: Command): Command =>
    command
      .helpOption('-h, --help', 'show this and exit')
      .exitOverride()
      .configureOutput({
        writeOut: host.out,
        writeErr: () => {},
        getOutHelpWidth: () => helpWidthColumns,
      });
  const program = common(new Command(host.program))
    .description('Shows how MySQL clusters run by MOCO are being rolled out, and says what people want of it.')
    .usage('COMMAND [flags]')
    .helpCommand('help [COMMAND]', 'show the help of a command')
    .showSuggestionAfterError(false)
    .version(manifest.version, '--version', 'show the version and exit')
    .configureHelp({ showGlobalOptions: false });
  for (const one of commands) {
    const command = common(program.command(`${one.name} ${one.arguments}`.trim()))
      .summary(one.summary)
      .description(one.help === undefined ? `${one.summary}.` : `${one.summary}.\n\n${one.help}`);
    for (const option of [...(one.options ?? []), ...(one.connects ? connectionOptions : [])]) add(command, option);
    command.action(async (...parameters: unknown[]) => {
      await run(one)(command.opts<Given>(), namesOf(parameters));
    });
  }
  return program;
}

function add(command: Command, { flags, description, default: value }: CommandOption): void {
  if (value === undefined) command.option(flags, description);
  else command.option(flags, description, value);
}

/** Commander gives one parameter for each argument, a list for the last where there may be more, then two of its own. */
function namesOf(parameters: readonly unknown[]): readonly string[] {
  return parameters
    .slice(0, -2)
    .flatMap((parameter) => (parameter === undefined ? [] : (parameter as string | string[])));
}

async function runCommand(command: CliCommand, names: readonly string[], given: Given, host: Host): Promise<number> {
  let surroundings = { server: '', requestTimeoutSeconds: 0 };
  try {
    if (!command.connects) return await command.run(host, names, given);
    const session = openSession(given, host);
    surroundings = session;
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
    host.err(`${explainCommandFailure(error, surroundings)}\n`);
    return failed;
  }
}
