import { approveCommand } from './approve.ts';
import type { CliCommand } from './command.ts';
import { completionCommand } from './completion.ts';
import { explainCommand } from './explain.ts';
import { handBackCommand } from './hand-back.ts';
import { historyCommand } from './history.ts';
import { holdCommand, unholdCommand } from './hold.ts';
import { overrideCommand } from './override.ts';
import { pauseCommand, resumeCommand } from './pause.ts';
import { planCommand } from './plan.ts';
import { reportCommand } from './report.ts';
import { statusCommand } from './status.ts';
import { takeCommand } from './take.ts';
import { undoCommand } from './undo.ts';
import { waitCommand } from './wait.ts';

/** Every command, in the order of the help. */
export const commands: readonly CliCommand[] = [
  statusCommand,
  planCommand,
  waitCommand,
  explainCommand,
  historyCommand,
  undoCommand,
  reportCommand,
  pauseCommand,
  resumeCommand,
  approveCommand,
  holdCommand,
  unholdCommand,
  overrideCommand,
  handBackCommand,
  takeCommand,
  completionCommand,
];
