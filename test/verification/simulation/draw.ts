import { realEnd } from '../../support/nodes/settings.ts';
import { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import type { Happening, Planned } from './happening.ts';
import { drawHardTimes, hardThemes } from './hard-times.ts';
import { drawInPlace } from './in-place.ts';
import { drawLosses, lossThemes } from './losses.ts';
import { drawMisleading, misleadingThemes } from './misleading.ts';
import { drawNodeMaintenance } from './node-maintenance.ts';
import { drawPreflight } from './preflight.ts';
import { firstImage } from './simulation.ts';
import { budgets, imageNamed, narrowThemes, themes } from './themes.ts';

/** One run: a world, and what happens in it, in order. */
export interface Scenario {
  readonly circumstances: Circumstances;
  readonly plan: readonly Planned[];
}

const second = 1000;
/** What happens during a rollout happens within this time of its beginning. */
const horizonMilliseconds = 180 * second;
const badImages = ['crash', 'missing', 'hang', 'notready'] as const;
const modes = [
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'OnDelete',
  'Partition',
  'Partition',
  'MOCO',
] as const;
const themeNames = Object.keys(themes);
const everyTheme = { ...themes, ...narrowThemes, ...hardThemes, ...lossThemes, ...misleadingThemes };

/** Every theme, those included that no seed draws by itself. */
export const everyThemeName: readonly string[] = Object.keys(everyTheme);

/**
 * The scenario of a seed as people name it: `7` has the themes that it draws itself, `watches:7` only that theme.
 * Throws `RangeError` for a theme that does not exist.
 */
export function drawNamed(name: string): Scenario {
  const [seed = '', theme] = name.split(':').toReversed();
  if (theme === undefined) return draw(seed);
  if (!everyThemeName.includes(theme)) {
    throw new RangeError(`expected a theme before the colon of SEED (${everyThemeName.join(', ')}), got ${theme}`);
  }
  return draw(seed, [theme]);
}

/** The scenario of a seed, always the same. Given themes replace those of the seed. */
export function draw(seed: string, given: readonly string[] = []): Scenario {
  const chance = new Chance(`scenario ${seed}`);
  const drawnReplicas = chance.pick(given.length > 0 ? [3, 5] : [1, 3, 3, 3, 3, 5]);
  const isAlone = given.includes('losses') && chance.fork('alone').happens(0.2);
  const replicas = isAlone ? 1 : drawnReplicas;
  const calm = chance.happens(0.1) && given.length === 0;
  const drawn = calm ? [] : [chance.pick(themeNames), chance.pick(themeNames)];
  const own = given.length > 0 ? given : drawn;
  const several = own.includes('processes') || own.includes('late') || chance.happens(0.2);
  const mode = given.length > 0 ? 'OnDelete' : chance.pick(modes);
  const inPlace = mode === 'OnDelete' ? drawInPlace(chance.fork('in place'), given) : null;
  const preflight = mode === 'OnDelete' ? drawPreflight(chance.fork('preflight'), replicas, given) : null;
  const maintenance = mode === 'OnDelete' && !calm ? drawNodeMaintenance(chance.fork('nodes'), given) : null;
  const circumstances: Circumstances = {
    seed,
    replicas,
    mode,
    movesCurrentRevision: chance.happens(0.3),
    onDeleteKeeper: chance.pick(['policy', 'policy', 'webhook'] as const),
    processes: several ? 2 : 1,
    electsLeader: several && chance.happens(0.5),
    nodes: {
      scheduleMilliseconds: chance.span(0, 1),
      initMilliseconds: chance.span(0, 2),
      startMilliseconds: chance.span(0.5, 8),
      startupMilliseconds: chance.span(0, 4),
      ...drawEnd(chance),
      crashAfterMilliseconds: chance.span(0.2, 20),
      restartMilliseconds: chance.span(0.2, 2),
      readinessPatienceMilliseconds: chance.fork('probes').span(0, 30),
      silenceMilliseconds: chance.fork('silence').span(0, 50),
      ...inPlace?.nodes,
    },
    moco: {
      notice: chance.span(0.02, 2),
      silence: chance.span(0.2, 9),
      drain: chance.span(0.1, 4),
      failedTry: chance.span(1, 50),
      retry: chance.span(0.2, 5),
      failover: chance.span(1, 30),
      healthyFalse: chance.span(0.02, 3),
      repoint: chance.span(0.02, 3),
      label: chance.span(0.02, 1),
      open: chance.span(0.02, 3),
      healthyTrue: chance.span(0.05, 3),
    },
    lagMilliseconds: chance.pick([5, 30, 30, 300]),
    longestPage: chance.happens(0.2) ? 2 : Number.POSITIVE_INFINITY,
    streamsLists: chance.fork('lists').happens(0.5),
    backups: own.includes('user'),
    spec: own.includes('burdens') ? drawBurdens(chance) : {},
    ...(inPlace !== null && { inPlace: inPlace.setting }),
    ...(preflight !== null && { preflight: preflight.circumstances }),
    ...(maintenance !== null && { nodeMaintenance: maintenance.setting }),
    maxUnavailable: given.length === 0 && replicas > 3 && chance.happens(0.5) ? chance.pick(budgets) : null,
  };
  const plan = calm ? calmPlan(chance) : wildPlan(chance, replicas, own);
  const hard = calm || given.length > 0 ? [] : drawHardTimes(chance.fork('hard times'), replicas);
  const byHand = circumstances.backups ? drawBackups(chance.fork('backups')) : [];
  const hasLosses = !calm && given.length === 0 && mode === 'OnDelete';
  const losses = hasLosses ? drawLosses(chance.fork('losses'), replicas) : [];
  const ofPreflight = calm ? [] : (preflight?.plan ?? []);
  const flips = calm || given.length > 0 ? [] : drawFlips(chance.fork('flips'), replicas);
  const misleads = !calm && given.length === 0 && mode === 'OnDelete';
  const misleading = misleads ? drawMisleading(chance.fork('misleading'), replicas) : [];
  const upgrades = maintenance === null ? [] : [maintenance.upgrades];
  const all = [...plan, ...hard, ...byHand, ...losses, ...ofPreflight, ...flips, ...misleading, ...upgrades].sort(
    byTime,
  );
  return { circumstances, plan: inPlace === null ? all : inPlace.plan(all, replicas) };
}

/** Some take longer than the rollout would. */
function drawBackups(chance: Chance): readonly Planned[] {
  if (chance.happens(0.5)) return [];
  const forMilliseconds = chance.happens(0.2) ? chance.span(600, 900) : chance.span(5, 120);
  return [{ atMilliseconds: chance.span(0, 60), what: { kind: 'backUpByHand', forMilliseconds } }];
}

/** The gate or the strategy changes in the middle of some rollouts. */
function drawFlips(chance: Chance, replicas: number): readonly Planned[] {
  if (!chance.happens(0.15)) return [];
  return Array.from({ length: chance.whole(1, 2) }, () => {
    const what = chance.pick(narrowThemes['flips'] ?? [])(chance, replicas);
    return { atMilliseconds: chance.span(-5, 90), what };
  });
}

/** A cluster that protects its primary while a replica lags, or that replicates from elsewhere. */
function drawBurdens(chance: Chance): Circumstances['spec'] {
  return chance.happens(0.6) ? { maxDelaySecondsForPodDeletion: 10 } : { replicationSourceSecretName: 'donor' };
}

/** Mostly as MOCO's pods end; the others differ more from each other. */
function drawEnd(chance: Chance): Circumstances['nodes'] {
  return chance.happens(0.7)
    ? { ...realEnd, stopMilliseconds: chance.span(0.2, 4) }
    : { stopMilliseconds: chance.span(0.2, 25) };
}

function calmPlan(chance: Chance): readonly Planned[] {
  return [{ atMilliseconds: 0, what: { kind: 'rollOut', image: imageNamed(chance) } }];
}

function wildPlan(chance: Chance, replicas: number, own: readonly string[]): readonly Planned[] {
  const plan: Planned[] = [{ atMilliseconds: 0, what: firstRollout(chance) }];
  if (chance.happens(0.25)) {
    const image = chance.happens(0.3) ? firstImage : imageNamed(chance);
    plan.push({ atMilliseconds: chance.span(1, 120), what: { kind: 'rollOut', image } });
  }
  const count = chance.whole(1, 5);
  for (let index = 0; index < count; index++) {
    const what = chance.pick(everyTheme[chance.pick(own)] ?? [])(chance, replicas);
    plan.push({ atMilliseconds: Math.round(chance.between(-5 * second, horizonMilliseconds / 2)), what });
  }
  return plan.sort(byTime);
}

const byTime = (left: Planned, right: Planned): number => left.atMilliseconds - right.atMilliseconds;

function firstRollout(chance: Chance): Happening {
  if (!chance.happens(0.2)) return { kind: 'rollOut', image: imageNamed(chance) };
  return {
    kind: 'rollOutBad',
    image: `mysql:8.4.${chance.whole(1, 9)}-${chance.pick(badImages)}`,
    corrected: imageNamed(chance),
    forMilliseconds: chance.span(5, 240),
  };
}
