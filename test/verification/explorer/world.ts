import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';
import * as c from './cells.ts';

/** What can be added to the base model, each alone or together with others. */
export const families = [
  'budget',
  'prevent-delete',
  'errant',
  'partition',
  'two-at-once',
  'scaling',
  'template',
  'user',
  'foreign-demote',
  'partition-mode',
  'late-write',
  'impaired',
  'upstream',
  'recovery',
  'maintenance',
  'in-place',
  'resize',
  'slow-log',
  'relay-log',
  'agents',
  'unconfigurable',
  'delay',
  'leaving-nodes',
  'new-pods',
] as const;
export type Family = (typeof families)[number];

/** What a person may do at any time, and take back. */
export const requests = ['pauses', 'pins', 'approves', 'restores'] as const;
export type Request = (typeof requests)[number];

/** What is explored. */
export interface World {
  readonly replicas: number;
  readonly families: ReadonlySet<Family>;
  /** How many times something may go wrong; `null` for any number of times. */
  readonly faults: number | null;
  /** How often the template changes again, with the family template. */
  readonly changes: number;
  /** A revision that never starts is rolled out; without folding one that does as well. */
  readonly badRevision: boolean;
  /** Count the primaries: only where nothing goes wrong. */
  readonly countMoves: boolean;
  /**
   * `fine`: mysqld that never ran for a minute, drains of every pod, and MOCO's parts of a configuration one by one.
   * `coarse`: those parts that no reader can tell apart at once, so that any number of faults can be explored.
   */
  readonly detail: 'coarse' | 'fine';
  /** A state that another one stands for is that other one: `fold.ts` says which, and why nothing is lost by it. */
  readonly folded: boolean;
  /** A late write carries uid and resourceVersion, as it should. */
  readonly preconditions: boolean;
  /** What a person does; with the family `user` all but restores. */
  readonly requests: ReadonlySet<Request>;
  /** Who keeps the strategy of the StatefulSet. */
  readonly keeper: 'policy' | 'webhook';
  /** The current revision in the beginning: that of the members, the update revision, or one that no member has. */
  readonly current: 'old' | 'updated' | 'older';
  /** The members in the beginning: stale, or, where there is no rollout, updated. */
  readonly begins: 'stale' | 'updated';
  readonly policy: RolloutPolicy;
}

export function worldOf(
  replicas: number,
  wanted: Partial<Omit<World, 'replicas' | 'policy'>> = {},
  settings: Partial<RolloutPolicy> = {},
): World {
  const chosen = wanted.families ?? new Set<Family>();
  return {
    replicas,
    families: chosen,
    faults: null,
    changes: 2,
    badRevision: true,
    countMoves: false,
    detail: 'fine',
    folded: true,
    preconditions: true,
    requests: new Set(),
    keeper: 'policy',
    current: 'old',
    begins: 'stale',
    ...wanted,
    policy: {
      ...defaultPolicy,
      ...(chosen.has('partition') ? { partition: 1 } : {}),
      ...(chosen.has('two-at-once') ? { maxUnavailable: 2 } : {}),
      ...(chosen.has('partition-mode') ? { mode: 'Partition' as const } : {}),
      ...(updatesInPlace(chosen)
        ? { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' as const } }
        : {}),
      ...(chosen.has('leaving-nodes') ? { nodeMaintenance: 'Evacuate' as const } : {}),
      ...(chosen.has('user') || wanted.requests?.has('approves') ? { primaryUpdatePolicy: 'Manual' as const } : {}),
      ...settings,
    },
  };
}

const updatesInPlace = (chosen: ReadonlySet<Family>): boolean =>
  chosen.has('in-place') || chosen.has('slow-log') || chosen.has('resize');

/** Whether a person may ask for that in the world. */
export const mayAsk = ({ families: chosen, requests: asked }: World, request: Request): boolean =>
  asked.has(request) || (request !== 'restores' && chosen.has('user'));

/** Members before scaling in a world that scales, which has room for two more. */
export const membersBeforeScaling = (world: World): number => world.replicas - 2;

/**
 * Every way in which a world begins: everything healthy, and stale unless the world says otherwise, whoever is primary; or, which counts as a fault, with
 * one replica that MOCO has not configured, for it clones or could never be.
 */
export function beginnings(world: World): readonly c.Cells[] {
  const has = (family: Family): boolean => world.families.has(family);
  const members = has('scaling') ? membersBeforeScaling(world) : world.replicas;
  const found: c.Cells[] = [];
  for (let primary = 0; primary < members; primary++) {
    for (const bad of world.badRevision ? (world.folded ? [1] : [0, 1]) : [0]) {
      const cells = new Uint16Array(c.cellCount);
      for (let ordinal = 0; ordinal < members; ordinal++) {
        cells[c.HEALTH + ordinal] = c.Health.Serving;
        cells[c.SETTLED + ordinal] = 1;
        cells[c.REVISION + ordinal] = world.begins === 'updated' ? 1 : 0;
      }
      cells[c.INDEX] = primary;
      cells[c.STATUS] = c.Status.Healthy;
      cells[c.SYNCED] = members;
      cells[c.TARGET] = 1;
      cells[c.WANTED] = 1;
      cells[c.BAD] = bad;
      if (world.begins === 'updated') cells[c.VERIFIED] = 1;
      if (world.folded && !world.badRevision && !has('new-pods')) cells[c.VERIFIED] = 1;
      if (has('new-pods')) {
        cells[c.CURRENT] = { old: 0, updated: 1, older: c.olderRevision }[world.current];
        cells[c.WAITING] = c.bit(members) - 1;
        if (has('scaling')) cells[c.BORN] = c.bit(members) - 1;
      }
      cells[c.OPEN] = members >= 3 ? 1 : 0;
      cells[c.COMPUTED] = 1;
      cells[c.PROMOTED] = 1;
      cells[c.UPSTREAM] = has('upstream') ? c.Upstream.Answers : c.Upstream.None;
      cells[c.SCALE] = has('scaling') ? c.Scale.Before : c.Scale.Done;
      cells[c.PARTITION] = has('partition-mode') ? world.replicas : 0;
      found.push(cells);
      if (!world.countMoves && world.faults !== 0 && !has('new-pods'))
        found.push(...withOneUnconfigured(cells, members));
    }
  }
  return found;
}

function withOneUnconfigured(well: c.Cells, members: number): readonly c.Cells[] {
  const found: c.Cells[] = [];
  for (let ordinal = 0; ordinal < members; ordinal++) {
    if (ordinal === well[c.INDEX]) continue;
    const cells = well.slice();
    cells[c.HEALTH + ordinal] = c.Health.Up;
    cells[c.SETTLED + ordinal] = 0;
    cells[c.STATUS] = c.Status.Available;
    cells[c.SYNCED] = members - 1;
    cells[c.OPEN] = 0;
    cells[c.FAULTS] = 1;
    found.push(cells);
  }
  return found;
}
