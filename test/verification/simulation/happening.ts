import { inspect } from 'node:util';
import type { Act } from './act.ts';
import { actsOfMoco } from './acts-of-moco.ts';
import { actsOfNodes } from './acts-of-nodes.ts';
import { actsOfPeople } from './acts-of-people.ts';
import { actsOfServers } from './acts-of-servers.ts';
import { type AtWrite, actsOnProcesses, atWrite } from './acts-on-processes.ts';
import type { Fault } from './faults.ts';
import type { Simulation } from './simulation.ts';

/** Everything that people, machines and MOCO do to a cluster, or to the program. */
export const acts = { ...actsOfPeople, ...actsOfNodes, ...actsOfMoco, ...actsOfServers, ...actsOnProcesses };

type Acts = typeof acts;
export type ActKind = keyof Acts;
/** The parameters of an act. */
export type WhatOf<Kind extends ActKind> = Acts[Kind] extends Act<infer What> ? What : never;

type Single = { readonly [Kind in ActKind]: { readonly kind: Kind } & WhatOf<Kind> }[ActKind];

/** Related happenings, each with its delay after the first. */
export interface Together {
  readonly kind: 'together';
  readonly all: readonly { readonly afterMilliseconds: number; readonly what: Happening }[];
}

/** Something happens at a write of a process. */
interface HappensAtWrite extends AtWrite {
  readonly kind: 'atWrite';
  readonly what: Happening;
}

/** An act with its parameters, or several. What lasts ends after `forMilliseconds`. */
export type Happening = Single | Together | HappensAtWrite;

/** A happening and its time, since the first rollout was asked for. */
export interface Planned {
  readonly atMilliseconds: number;
  readonly what: Happening;
}

/** Lets something happen now, and end when its time is over. */
export function happen(simulation: Simulation, what: Happening): void {
  switch (what.kind) {
    case 'together':
      for (const { afterMilliseconds, what: one } of what.all) {
        simulation.clock.after(afterMilliseconds, () => happen(simulation, one));
      }
      return;
    case 'atWrite':
      return atWrite(simulation, what, () => {
        simulation.struck('atWrite');
        happen(simulation, what.what);
      });
    default: {
      hinder(simulation, what);
      const { begin } = actOf(what);
      begin(simulation, what, (struck) => {
        if (struck) simulation.struck(what.kind as Fault);
      });
    }
  }
}

const actOf = ({ kind }: Single): Act<unknown> => acts[kind] as Act<unknown>;

/** A process that has lost touch tries again after this time, at the latest. */
const retriesWithinMilliseconds = 45_000;

/** How long the program may be kept from acting, reading or writing. Whether a process leads, the processes say themselves. */
function hinder({ clock, ability, demotions }: Simulation, what: Single): void {
  const { blinds, impedes } = actOf(what);
  const now = clock.nowMilliseconds;
  const lasts = 'forMilliseconds' in what ? what.forMilliseconds : 0;
  const isDown = 'downMilliseconds' in what ? what.downMilliseconds : 0;
  const isLate = what.kind === 'watchLag' ? what.milliseconds : 0;
  const isSlow = what.kind === 'mishaps' && what.mishap.kind === 'slow' ? what.mishap.thereMilliseconds : 0;
  const until = now + lasts + isLate + isSlow;
  if (blinds) ability.impede(now, until + retriesWithinMilliseconds);
  if (impedes && lasts + isDown > 0) demotions.impede(until + isDown);
}

/** Nothing of it fails a member by itself. */
export function isUneventful(what: Happening): boolean {
  if (what.kind === 'together') return false;
  return what.kind === 'atWrite' ? isUneventful(what.what) : actOf(what).isUneventful === true;
}

/** How long it lasts. */
export function lengthOf(what: Happening): number {
  if (what.kind !== 'together') return 'forMilliseconds' in what ? what.forMilliseconds : 0;
  return Math.max(...what.all.map(({ afterMilliseconds, what: one }) => afterMilliseconds + lengthOf(one)));
}

const sentences = {
  together: 'several of these, each after its delay',
  atWrite: 'one of these happens at a write of a process',
};

/** One line of a story: what that is, and how a plan has it. */
export function told({ atMilliseconds, what }: Planned): string {
  const { kind } = what;
  const sentence = kind === 'together' || kind === 'atWrite' ? sentences[kind] : actOf(what).sentence;
  const planned = inspect(what, { depth: null, compact: true, breakLength: Number.POSITIVE_INFINITY });
  return `${(atMilliseconds / 1000).toFixed(3)} s: ${sentence}: ${planned}`;
}
