import { agentContainer } from '../../../src/moco/names.ts';
import type { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import type { Happening, Planned } from './happening.ts';
import { sidecarContainer, userLabel } from './pod-template.ts';

/** A world with the feature gate InPlaceUpdate, some of whose rollouts change nothing that needs another pod. */
interface InPlace {
  readonly setting: NonNullable<Circumstances['inPlace']>;
  readonly nodes: Circumstances['nodes'];
  /** What happens in it, with rollouts in place and what goes wrong with them. */
  readonly plan: (plan: readonly Planned[], replicas: number) => readonly Planned[];
}

const second = 1000;
const horizonMilliseconds = 120 * second;

/** `null` for a world without. The given theme `inPlace` always has one. */
export function drawInPlace(chance: Chance, given: readonly string[]): InPlace | null {
  if (given.length > 0 ? !given.includes('inPlace') : !chance.happens(0.4)) return null;
  const primary = chance.pick([null, null, 'InPlace', 'AfterSwitchover'] as const);
  return {
    setting: {
      mode: 'IfPossible',
      containers: [agentContainer, sidecarContainer],
      metadata: [userLabel],
      ...(primary !== null && { primary }),
    },
    // Longer than the agent may be away, now and then: its node has lost the image since it last reported.
    nodes: { pullMilliseconds: chance.happens(0.15) ? 40 * second : chance.span(0, 8) },
    plan: (plan, replicas) =>
      inOrder([
        ...withFirst(plan, chance),
        ...drawMore(chance, replicas),
        ...drawForbidden(chance.fork('forbidden')),
        ...drawStopped(chance.fork('stopped')),
      ]),
  };
}

/** The first rollout is one in place, most often. */
function withFirst(plan: readonly Planned[], chance: Chance): readonly Planned[] {
  const what = rollout(chance);
  if (!chance.happens(0.7)) return [...plan, { atMilliseconds: chance.span(1, 120), what }];
  return plan.map((one) => (one.what.kind === 'rollOut' && one.atMilliseconds === 0 ? { ...one, what } : one));
}

function drawMore(chance: Chance, replicas: number): readonly Planned[] {
  return Array.from({ length: chance.whole(1, 3) }, () => ({
    atMilliseconds: chance.span(-5, horizonMilliseconds / second),
    what: chance.happens(0.5) ? trouble(chance, replicas) : rollout(chance),
  }));
}

/** The CPU changes while nothing may be taken: a maintenance window has closed, or a check fails. */
function drawForbidden(chance: Chance): readonly Planned[] {
  if (!chance.happens(0.3)) return [];
  const what: Happening = { kind: 'changePod', part: 'cpu', value: String(chance.whole(10, 19)) };
  const forMilliseconds = chance.span(200, 400);
  const forbids: Happening = chance.happens(0.5)
    ? { kind: 'maintenance', openMilliseconds: second, forMilliseconds }
    : { kind: 'failCheck', forMilliseconds };
  const beganMilliseconds = chance.span(100, 240);
  const begun = { afterMilliseconds: 0, what: forbids };
  // A check fails after a quarter of its time.
  const changed = { afterMilliseconds: forMilliseconds / 4 + 10 * second, what };
  const window = { afterMilliseconds: 3 * second, what };
  const all = [begun, forbids.kind === 'failCheck' ? changed : window];
  return [{ atMilliseconds: beganMilliseconds, what: { kind: 'together', all } }];
}

/** Other CPU is taken back, and updates in place are turned off, while members are resized to it. */
function drawStopped(chance: Chance): readonly Planned[] {
  if (!chance.happens(0.3)) return [];
  const cpu = (value: string): Happening => ({ kind: 'changePod', part: 'cpu', value });
  const [value, back] = [chance.whole(20, 29), chance.whole(30, 39)];
  const afterMilliseconds = chance.span(1, 30);
  const stop: Happening = { kind: 'stopInPlace', forMilliseconds: chance.span(60, 400) };
  const all = [
    { afterMilliseconds: 0, what: cpu(String(back)) },
    { afterMilliseconds: 60 * second, what: cpu(String(value)) },
    { afterMilliseconds: 60 * second + afterMilliseconds, what: stop },
    { afterMilliseconds: 60 * second + afterMilliseconds, what: cpu(String(back)) },
  ];
  return [{ atMilliseconds: chance.span(100, 240), what: { kind: 'together', all } }];
}

function rollout(chance: Chance): Happening {
  const number = chance.whole(2, 9);
  switch (chance.pick(['label', 'sidecar', 'cpu', 'cpu', 'agent', 'agent', 'bad'] as const)) {
    case 'label':
      return { kind: 'changePod', part: 'label', value: `b${number}` };
    case 'sidecar':
      return { kind: 'changePod', part: 'sidecar', value: `example/sidecar:${number}`, pulled: chance.happens(0.8) };
    case 'cpu':
      return { kind: 'changePod', part: 'cpu', value: String(number) };
    case 'agent':
      return { kind: 'upgradeMoco', agent: `example/agent:${number}`, pulled: chance.happens(0.8) };
    case 'bad':
      return {
        kind: 'badSidecar',
        image: `example/sidecar:${number}-missing`,
        corrected: `example/sidecar:${number}`,
        forMilliseconds: chance.span(5, 120),
      };
  }
}

function trouble(chance: Chance, replicas: number): Happening {
  const ordinal = chance.whole(0, replicas - 1);
  const forMilliseconds = chance.span(5, 400);
  switch (chance.pick(['resize', 'resize', 'agent', 'killed'] as const)) {
    case 'resize':
      return {
        kind: 'refuseResize',
        ordinal,
        how: chance.pick(['Deferred', 'Deferred', 'Infeasible', 'Error'] as const),
        forMilliseconds,
      };
    case 'agent':
      return { kind: 'kill', ordinal, container: agentContainer, forMilliseconds: chance.span(5, 60) };
    case 'killed':
      // Between the resize and the label, among others.
      return {
        kind: 'crashAtWrite',
        process: chance.whole(0, 1),
        writes: chance.whole(1, 4),
        to: 'pod',
        when: chance.pick(['before', 'onItsWay', 'after'] as const),
      };
  }
}

const inOrder = (plan: readonly Planned[]): readonly Planned[] =>
  plan.toSorted((left, right) => left.atMilliseconds - right.atMilliseconds);
