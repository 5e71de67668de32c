import { checkCommand } from './check.ts';
import type { CliCommand } from './command.ts';
import { completionCommand } from './completion.ts';
import { diagnoseCommand } from './diagnose.ts';
import { explainCommand } from './explain.ts';
import { historyCommand } from './history.ts';
import { overrideCommand } from './override.ts';
import { planCommand } from './plan.ts';
import { adoptCommand, releaseCommand } from './release.ts';
import { reportCommand } from './report.ts';
import { restoreCommand, unrestoreCommand } from './restore.ts';
import { sequenceCommand } from './sequence.ts';
import { approveCommand, pauseCommand, pinCommand, resumeCommand, unpinCommand } from './settings-of-clusters.ts';
import { getCommand, statusCommand } from './status.ts';
import { undoCommand } from './undo.ts';
import { waitCommand } from './wait.ts';

/** The headings of the help, with their commands in order. */
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
    approveCommand,
    pinCommand,
    unpinCommand,
    overrideCommand,
    restoreCommand,
    unrestoreCommand,
  ],
  'Release clusters': [releaseCommand, adoptCommand],
  'Other commands': [checkCommand, diagnoseCommand, completionCommand],
};

export const commands: readonly CliCommand[] = Object.values(commandGroups).flat();
