import { decide } from '../../../src/core/decide.ts';
import type { Decision } from '../../../src/core/decision.ts';
import { Exploration } from './explore.ts';
import type { Bounds, Broken, Findings } from './findings.ts';
import { families, type World } from './world.ts';

/** An exploration with what it cost, in processor time: other programs don't count. */
export interface Measured {
  readonly exploration: Exploration;
  readonly findings: Findings;
  readonly seconds: number;
}

export function measured(world: World, bounds: Bounds = {}, broken: Broken = {}): Measured {
  const before = process.cpuUsage();
  const exploration = new Exploration(world, broken);
  const findings = exploration.run(bounds);
  const { user, system } = process.cpuUsage(before);
  return { exploration, findings, seconds: (user + system) / 1e6 };
}

/** One line for people: the bounds, and what was found within them. */
export function summaryOf(world: World, { findings, seconds }: Measured): string {
  const { states, transitions, races, decisions, finished } = findings;
  const with_ = families.filter((family) => world.families.has(family));
  const number = (value: number): string => Math.round(value).toLocaleString('en');
  return [
    `${world.replicas} members, ${world.faults === null ? 'any number of' : `at most ${world.faults}`} faults, ${world.detail}`,
    world.badRevision ? (world.folded ? 'a bad revision' : 'good and bad revisions') : 'a good revision',
    ...(world.folded ? [] : ['not folded']),
    ...(with_.length > 0 ? [`with ${with_.join(' and ')}`] : []),
    `${number(states)} states${finished ? ' (complete)' : ' (stopped there)'}`,
    `${number(transitions)} transitions`,
    `${number(decisions)} decisions`,
    `${number(races)} races`,
    `${seconds.toFixed(1)} s`,
    `${number(states / Math.max(seconds, 0.001))} states/s`,
  ].join(', ');
}

/** How fast the rest of it is: the same world with a controller that never does anything. */
export function nullDecide(): (...facts: Parameters<typeof decide>) => Decision {
  const idle: Decision = {
    step: { kind: 'none' },
    effects: [],
    hold: { rule: 'Paused' },
    beneath: [],
    members: [],
    stale: 0,
    verified: false,
    failing: null,
    complete: false,
    progressDeadlineExceeded: false,
    awaitsNodes: false,
    asks: [],
    asksAgain: [],
    checksPass: true,
    requeueAfterSeconds: null,
  };
  return () => idle;
}
