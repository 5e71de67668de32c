import type { Simulation } from './simulation.ts';

/** What ends after so long. */
export interface Lasting {
  readonly forMilliseconds: number;
}

export interface OfMember {
  readonly ordinal: number;
}

/** What keeps the program from doing what it is judged by. */
export interface Hindrance {
  /** What lasts, or has an end at once, and keeps it from seeing or writing, or what it sees from being true. */
  readonly blinds?: true;
  /** For as long as it lasts no process may be able to take a demotion back. */
  readonly impedes?: true;
  /** It changes no member and no setting: only the program's own deeds, and how it sees and writes. */
  readonly isUneventful?: true;
}

/** One thing that can happen: what it is, for people, and how it is done. */
export interface Act<What> extends Hindrance {
  readonly sentence: string;
  /** It happens now, and ends when its time is over. `strikes` is told whether it has had an effect, then or later. */
  readonly begin: (simulation: Simulation, what: What, strikes: (struck: boolean) => void) => void;
}

export function act<What>(sentence: string, begin: Act<What>['begin'], hindrance: Hindrance = {}): Act<What> {
  return { sentence, begin, ...hindrance };
}
