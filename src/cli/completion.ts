import type { LocalCommand } from './command.ts';

/** The name by which kubectl looks for it (kubectl 1.26 and later). */
const fileName = 'kubectl_complete-moco_rollout';

/** The script by which kubectl's own completion asks this plugin. */
export const completionCommand: LocalCommand = {
  name: 'completion',
  arguments: '',
  completes: [],
  summary: "Write the script for kubectl's shell completion",
  help: `Save it as ${fileName} in a directory of PATH, and make it executable; kubectl's own completion does the rest.`,
  connects: false,
  run: (host) => {
    host.out(
      [
        '#!/bin/sh',
        `# kubectl's shell completion asks this for words: ${fileName}, executable, somewhere in PATH.`,
        'exec kubectl moco-rollout __complete "$@"',
        '',
      ].join('\n'),
    );
    return 0;
  },
};
