import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { UsageError } from '../../failure.ts';
import { textOf } from '../cluster/session.ts';
import { CommandError } from '../failure.ts';
import type { Host } from '../host.ts';
import type { LocalCommand } from './command.ts';

/** The names that kubectl looks up in PATH; the second one requires kubectl 1.26 or later. */
const pluginName = 'kubectl-moco_rollout';
const scriptName = 'kubectl_complete-moco_rollout';

const mark = "# kubectl's shell completion asks this for words";
const script = ['#!/bin/sh', `${mark}: ${scriptName}.`, 'exec kubectl moco-rollout __complete "$@"', ''].join('\n');
const executable = 0o755;

/**
 * Prints or installs the script through which kubectl's completion calls this plugin. krew links only the plugin
 * itself.
 */
export const completionCommand: LocalCommand = {
  name: 'completion',
  arguments: '[install]',
  completes: ['none'],
  summary: "Print or install the script for kubectl's shell completion",
  help: `Without \`install\`, prints the script. kubectl's own completion has to be set up, and finds it as ${scriptName} in PATH.`,
  examples: [
    ['Install it beside the plugin', 'completion install'],
    ['Install it into another directory of PATH', 'completion install --directory=$HOME/bin'],
  ],
  options: [
    {
      flags: '--directory <directory>',
      description: 'directory of PATH to install into (default: where the plugin is)',
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
    const file = join(directory ?? directoryOfPlugin(host), scriptName);
    await install(file);
    host.out(`${file}: written; kubectl now completes \`kubectl moco-rollout\`\n`);
    return 0;
  },
};

/** Where kubectl finds the plugin: the directory of the link, not of its target. */
function directoryOfPlugin({ env }: Host): string {
  const directories = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  for (const directory of directories) {
    if (existsSync(join(directory, pluginName))) return directory;
  }
  throw new CommandError(`expected ${pluginName} in a directory of PATH, found none: put it there, or use --directory`);
}

/** Replaces only a file that it installed before. */
async function install(file: string): Promise<void> {
  try {
    const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (present !== null && !present.includes(mark)) {
      throw new CommandError(`${file} already exists and is not this program's: move it away first`);
    }
    await writeFile(file, script, { mode: executable });
    await chmod(file, executable);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new CommandError(
      `cannot write ${file} (${String(error.code)}): use --directory with another directory of PATH`,
    );
  }
}
