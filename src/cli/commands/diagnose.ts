import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterNamed } from '../cluster/clusters.ts';
import { textOf } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { collect } from '../diagnose/collect.ts';
import type { ClusterCommand } from './command.ts';

/** Writes what an issue report needs. */
export const diagnoseCommand: ClusterCommand = {
  name: 'diagnose',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Write a directory of objects for an issue report, without secrets',
  help: 'It has names, labels, images, statuses and the Events of moco-rollout. It has no Secrets, ConfigMaps, environment variables, arguments, commands, logs and values of foreign annotations. Read the files before you share them.',
  examples: [['Collect what an issue report needs', 'diagnose test']],
  options: [
    { flags: '--directory <directory>', description: 'directory to create (default: moco-rollout-NAMESPACE-NAME)' },
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const cluster = await clusterNamed(session, name);
    const parts = await collect(session, cluster);
    const directory = textOf(session.given['directory']) ?? `moco-rollout-${cluster.namespace}-${name}`;
    await create(directory);
    for (const { file, objects, reason } of parts) {
      if (objects === null) {
        session.host.out(`left out  ${file}: ${reason}\n`);
        continue;
      }
      await writeFile(join(directory, file), `${JSON.stringify(objects, null, 2)}\n`);
      session.host.out(
        `wrote     ${join(directory, file)}: ${objects.length} ${objects.length === 1 ? 'object' : 'objects'}\n`,
      );
    }
    return 0;
  },
};

async function create(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot create ${directory} (${code}): name another one with --directory`);
  }
}
