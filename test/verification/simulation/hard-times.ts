import type { Chance } from './chance.ts';
import type { Happening, Planned, Together } from './happening.ts';

// What rarely meets by chance: faults that belong together, each with what has to happen beside it.

type Draw = (chance: Chance, replicas: number) => Happening;
type Part = Together['all'][number];

const slowLog = 'slow-log';
const together = (...all: readonly Part[]): Happening => ({ kind: 'together', all });
const at = (chance: Chance, fromSeconds: number, toSeconds: number, what: Happening): Part => ({
  afterMilliseconds: chance.span(fromSeconds, toSeconds),
  what,
});

/** A long DDL in the appliers, and a primary that dies in that time and comes back long after. */
const failover: Draw = (chance, replicas) => {
  const ordinal = chance.happens(0.8) ? 0 : chance.whole(0, replicas - 1);
  const forMilliseconds = chance.span(450, 700);
  return together(
    at(chance, 0, 0, { kind: 'backlog', forMilliseconds: chance.span(190, 300) }),
    ...(chance.happens(0.7)
      ? [at(chance, 0.5, 3, { kind: 'loseNode', ordinal, forMilliseconds })]
      : [
          at(chance, 0, 0.5, { kind: 'unschedulable', ordinal, forMilliseconds }),
          at(chance, 0.5, 3, { kind: 'deletePod', ordinal }),
        ]),
  );
};

const agents: Draw = () => ({ kind: 'agentsDie', forMilliseconds: 900_000 });

const receiver: Draw = (chance, replicas) => ({
  kind: 'receiverBehind',
  ordinal: chance.whole(0, replicas - 2),
  forMilliseconds: chance.span(60, 300),
});

/** Of two replicas the higher one breaks, and the lower one comes up anew. */
const roles: Draw = (chance, replicas) => {
  const broken = chance.happens(0.8) ? replicas - 1 : chance.whole(1, replicas - 1);
  return together(
    at(chance, 0, 1, { kind: 'breakReplica', ordinal: broken }),
    at(chance, 0, 8, { kind: 'deletePod', ordinal: chance.whole(1, Math.max(1, broken - 1)) }),
  );
};

/** A sidecar of the primary crashes, and something keeps that primary from being taken. */
const impaired: Draw = (chance, replicas) => {
  const forMilliseconds = chance.span(120, 400);
  const keeps: readonly Happening[] = [
    { kind: 'manual', forMilliseconds },
    { kind: 'pin', ordinal: chance.whole(1, replicas - 1), forMilliseconds },
    { kind: 'lag', ordinal: 1, seconds: 20, forMilliseconds },
  ];
  const kind = chance.pick(['kill', 'crashLoop'] as const);
  return together(
    at(chance, 0, 0, chance.pick(keeps)),
    at(chance, 0, 5, { kind, ordinal: 0, container: slowLog, forMilliseconds: chance.span(90, 400) }),
  );
};

/** By name, so that a scenario can be given one. */
export const hardThemes: Readonly<Record<string, readonly Draw[]>> = {
  failover: [failover],
  agents: [agents],
  receiver: [receiver],
  roles: [roles],
  impaired: [impaired],
};

const kinds = [failover, failover, agents, receiver, receiver, roles, roles, impaired, impaired] as const;
const smallest = 3;

/** One of them for some of the worlds: most often it begins right before the rollout. */
export function drawHardTimes(chance: Chance, replicas: number): readonly Planned[] {
  if (replicas < smallest || !chance.happens(0.4)) return [];
  const what = chance.pick(kinds)(chance, replicas);
  return [{ atMilliseconds: chance.happens(0.7) ? chance.span(-5, -3) : chance.span(0, 90), what }];
}
