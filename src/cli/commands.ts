import type { CliCommand } from './command.ts';
import { explainCommand } from './explain.ts';
import { handBackCommand } from './hand-back.ts';
import { planCommand } from './plan.ts';
import { statusCommand } from './status.ts';
import { takeCommand } from './take.ts';
import { waitCommand } from './wait.ts';

/** Every command, in the order of the help. */
export const commands: readonly CliCommand[] = [
  statusCommand,
  planCommand,
  waitCommand,
  explainCommand,
  handBackCommand,
  takeCommand,
];
