import { act, type Lasting } from './act.ts';
import type { ControllerProcess, WritePoint } from './controller-process.ts';
import type { Simulation } from './simulation.ts';

// What is done to the program's own processes.

interface OfProcess {
  readonly process: number;
}

/** And back after so long. */
interface Down extends OfProcess {
  readonly downMilliseconds: number;
}

/** A write of a process: the n-th from now on, to a pod or to anything. */
export interface AtWrite extends OfProcess, WritePoint {}

/** By any number that a plan has. */
function processOf({ processes }: Simulation, { process: number }: OfProcess): ControllerProcess {
  const process = processes[number % processes.length];
  if (process === undefined) throw new Error('expected a process of the controller, there is none');
  return process;
}

export function atWrite(simulation: Simulation, at: AtWrite, reached: (process: ControllerProcess) => void): void {
  const process = processOf(simulation, at);
  process.atWrite(at, () => reached(process));
}

/** How long some processes have a gate on and others off. */
const overlapMilliseconds = 2_000;

const crashes = { before: 'crashBeforeWrite', onItsWay: 'crashOnItsWay', after: 'crashAfterWrite' } as const;

export const actsOnProcesses = {
  /** Kills every process, and none returns for a while. */
  programStopped: act<Lasting>(
    'every process of the program is killed, and none comes back for a while',
    ({ processes, mocoGoesOn }, { forMilliseconds }, strikes) => {
      strikes(processes.some(({ isRunning }) => isRunning));
      for (const process of processes) process.crash('was taken away', forMilliseconds);
      mocoGoesOn.look();
    },
    { impedes: true },
  ),
  crash: act<Down>(
    'a process of the program is killed',
    (simulation, what, strikes) => {
      const process = processOf(simulation, what);
      strikes(process.isRunning);
      process.crash('was killed', what.downMilliseconds);
    },
    { impedes: true, isUneventful: true },
  ),
  crashAtWrite: act<AtWrite>(
    'a process is killed at a write',
    (simulation, what) =>
      atWrite(simulation, what, (process) => {
        simulation.struck(crashes[what.when]);
        process.crash(`died ${what.when} a write`);
      }),
    { isUneventful: true },
  ),
  stop: act<Down>(
    'a process is stopped as by SIGTERM',
    (simulation, what, strikes) => {
      const process = processOf(simulation, what);
      strikes(process.isRunning);
      process.stop(what.downMilliseconds);
    },
    { blinds: true, impedes: true, isUneventful: true },
  ),
  freeze: act<OfProcess & Lasting>(
    'a process stands still as by SIGSTOP, and goes on',
    (simulation, what, strikes) => {
      const process = processOf(simulation, what);
      strikes(process.isRunning);
      process.freeze(what.forMilliseconds);
    },
    { impedes: true, isUneventful: true },
  ),
  flipGate: act<Lasting>(
    'the feature gate UpdateStrategyOnDelete is turned on or off and later back: one process after the other is replaced',
    ({ processes, clock }, { forMilliseconds }, strikes) => {
      strikes(processes.some(({ isRunning }) => isRunning));
      const flip = (): void =>
        processes.forEach((process, number) => clock.after(number * overlapMilliseconds, () => process.flipGate()));
      flip();
      clock.after(forMilliseconds, flip);
    },
    { blinds: true, impedes: true },
  ),
  moveClock: act<OfProcess & { readonly byMilliseconds: number }>(
    "the wall clock of a process's machine moves by a minute or an hour, forwards or backwards",
    (simulation, what, strikes) => {
      const process = processOf(simulation, what);
      strikes(process.isRunning);
      process.moveWall(what.byMilliseconds);
    },
    { blinds: true, isUneventful: true },
  ),
};
