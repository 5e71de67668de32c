import { access, chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { UsageError } from '../failure.ts';
import type { LocalCommand } from './command.ts';
import { CommandError } from './failure.ts';
import type { Host } from './host.ts';
import { textOf } from './session.ts';

/** The names by which kubectl looks for them in PATH; for the second, kubectl 1.26 and later. */
const pluginName = 'kubectl-moco_rollout';
const scriptName = 'kubectl_complete-moco_rollout';

const mark = "# kubectl's shell completion asks this for words";
const script = ['#!/bin/sh', `${mark}: ${scriptName}.`, 'exec kubectl moco-rollout __complete "$@"', ''].join('\n');
const executable = 0o755;

/** The script by which kubectl's own completion asks this plugin; krew links nothing but the plugin itself. */
export const completionCommand: LocalCommand = {
  name: 'completion',
  arguments: '[install]',
  completes: ['none'],
  summary: "Write the script for kubectl's shell completion, or install it",
  help:
    `\`completion install\` writes it as ${scriptName} beside the plugin, in the first directory of PATH that has one.\n` +
    "Without `install` it is written to standard output. kubectl's own completion does the rest.",
  options: [
    {
      flags: '--directory <directory>',
      description: 'install into this directory of PATH; without it, beside the plugin',
    },
  ],
  connects: false,
  run: async (host, [word], given) => {
    const directory = textOf(given['directory']);
    if (word === undefined && directory === undefined) {
      host.out(script);
      return 0;
    }
    if (word !== 'install')
      throw new UsageError(`expected \`completion\` or \`completion install\`, got \`${word ?? ''}\``);
    const file = join(directory ?? (await directoryOfPlugin(host)), scriptName);
    await install(file);
    host.out(`${file}: written; kubectl completes \`kubectl moco-rollout\` wherever its own completion is on\n`);
    return 0;
  },
};

/** As kubectl finds it: a link counts where it is, not where it leads. */
async function directoryOfPlugin({ env }: Host): Promise<string> {
  const directories = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  for (const directory of directories) {
    if (
      await access(join(directory, pluginName)).then(
        () => true,
        () => false,
      )
    )
      return directory;
  }
  throw new CommandError(`expected ${pluginName} in a directory of PATH, found none: put it there, or say --directory`);
}

/** Over what was installed before, and over nothing else. */
async function install(file: string): Promise<void> {
  try {
    const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (present !== null && !present.includes(mark)) {
      throw new CommandError(`${file} is there already and is not of this program: move it away first`);
    }
    await writeFile(file, script, { mode: executable });
    await chmod(file, executable);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new CommandError(`${file} can't be written (${String(error.code)}): say another --directory of PATH`);
  }
}
