import { realEnd } from '../../../support/nodes/settings.ts';
import { Chance } from '../chance.ts';
import { type Circumstances, plainCircumstances } from '../circumstances.ts';
import type { Planned } from '../happening.ts';
import type { NodeUpgrades } from '../node-upgrades.ts';

// What a fleet is like, and what happens to it in a day: the same for the same seed, however the program is set up.

export interface DayOptions {
  readonly seed: string;
  readonly clusters: number;
  readonly nodes: number;
  readonly hours: number;
  /** How often every node is upgraded. */
  readonly rounds: number;
}

interface PlannedCluster {
  readonly circumstances: Circumstances;
  readonly plan: readonly Planned[];
  /** Its image changes whenever an upgrade of the nodes begins, and at no other time. It has three members. */
  readonly isBeside: boolean;
}

export interface DayPlan {
  readonly common: Circumstances;
  readonly clusters: readonly PlannedCluster[];
  readonly upgrades: readonly (NodeUpgrades & { readonly atMilliseconds: number })[];
}

const hour = 3600_000;
/** The members of clusters, again and again. The first of them has `isBeside`. */
const sizes = [3, 1, 3, 5, 3] as const;
/** An upgrade begins in this part of its share of the day. */
const earliest = 0.1;
const latest = 0.3;

/** A member takes some forty seconds to come back. */
const pace: Partial<Circumstances> = {
  nodes: { ...realEnd, initMilliseconds: 1_000, startMilliseconds: 8_000, startupMilliseconds: 4_000 },
  moco: { notice: 500, drain: 3_000 },
};

export function planDay(options: DayOptions, nodeMaintenance: NonNullable<Circumstances['nodeMaintenance']>): DayPlan {
  const { seed, hours, rounds } = options;
  const chance = new Chance(`fleet ${seed}`);
  const common = { ...plainCircumstances, ...pace, seed, apart: true, backups: true, nodeMaintenance } as const;
  const length = hours * hour;
  const starts = Array.from(
    { length: rounds },
    (_, round) => ((round + chance.between(earliest, latest)) * length) / rounds,
  );
  const upgrades = starts.map((atMilliseconds, round) => ({
    atMilliseconds,
    noticeMilliseconds: chance.span(60, 240),
    bootMilliseconds: chance.span(60, 240),
    forMilliseconds: (starts[round + 1] ?? length) - atMilliseconds - 1,
  }));
  const clusters = Array.from({ length: options.clusters }, (_, number) => {
    const own = chance.fork(`cluster ${number}`);
    const replicas = sizes[number % sizes.length] ?? 3;
    const isBeside = number % sizes.length === 0;
    const times = isBeside ? starts : Array.from({ length: own.whole(0, 3) }, () => own.between(0, length));
    const plan = [...imagesAt(times), ...drawTroubles(own, replicas, length)];
    return { circumstances: { ...common, seed: `${seed} ${number}`, replicas }, plan, isBeside };
  });
  return { common, clusters, upgrades };
}

const imagesAt = (times: readonly number[]): readonly Planned[] =>
  times
    .toSorted((one, other) => one - other)
    .map((atMilliseconds, index) => ({ atMilliseconds, what: { kind: 'rollOut', image: `mysql:8.4.${index + 1}` } }));

/** Backups of some minutes, and replicas that lag. */
function drawTroubles(chance: Chance, replicas: number, untilMilliseconds: number): readonly Planned[] {
  const backups = Array.from({ length: chance.whole(0, 3) }, () => ({
    kind: 'backup' as const,
    forMilliseconds: chance.span(120, 900),
  }));
  const lags = Array.from({ length: replicas === 1 ? 0 : chance.whole(0, 3) }, () => ({
    kind: 'lag' as const,
    ordinal: chance.whole(0, replicas - 1),
    seconds: 20,
    forMilliseconds: chance.span(60, 900),
  }));
  return [...backups, ...lags].map((what) => ({ atMilliseconds: chance.between(0, untilMilliseconds), what }));
}
