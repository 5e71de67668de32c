import type { CliCommand } from './command.ts';
import { handBackCommand } from './hand-back.ts';
import { takeCommand } from './take.ts';

/** Every command, in the order of the help. */
export const commands: readonly CliCommand[] = [handBackCommand, takeCommand];
