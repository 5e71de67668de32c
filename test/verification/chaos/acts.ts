import { Chance } from '../simulation/chance.ts';

/** As a MySQLRollout asks for it. */
export type Strategy = 'OnDelete' | 'Partition';
/** Who lowers partitions if a cluster isn't at OnDelete: MOCO, or this program. */
export type Driver = 'moco' | 'own';

/** What the user of a cluster asks for. */
export type Task =
  | { readonly kind: 'image'; readonly image: string }
  /** The template changes again after a member was disrupted. The first one may be an image that nobody can run. */
  | { readonly kind: 'changeOfMind'; readonly first: string; readonly image: string }
  /** The strategy changes after a member was disrupted, and stays changed. */
  | { readonly kind: 'flip'; readonly image: string; readonly to: Strategy };

/** One MySQLCluster and its rollouts, one after the other. */
export interface ClusterPlan {
  readonly name: string;
  readonly replicas: 3 | 5;
  /** Until a task changes it. */
  readonly strategy: Strategy;
  readonly tasks: readonly Task[];
}

/** Clusters that meet the same kind of replicas of the controller. */
export interface Act {
  readonly driver: Driver;
  /** `false`: all of them act at once, all the time. */
  readonly elects: boolean;
  /** Whether the gate alternates between off and on, from one process to the next. */
  readonly flipsGate: boolean;
  readonly plans: readonly ClusterPlan[];
}

/** With their share of all clusters, and how many of theirs are at OnDelete at the beginning. */
const casts: readonly (Omit<Act, 'plans'> & { readonly share: number; readonly onDelete: number })[] = [
  { driver: 'moco', elects: true, flipsGate: false, share: 0.34, onDelete: 0.85 },
  { driver: 'moco', elects: false, flipsGate: false, share: 0.2, onDelete: 0.85 },
  { driver: 'moco', elects: true, flipsGate: true, share: 0.14, onDelete: 1 },
  { driver: 'own', elects: true, flipsGate: true, share: 0.14, onDelete: 1 },
  { driver: 'own', elects: false, flipsGate: false, share: 0.18, onDelete: 0.3 },
];
const [first, second, bad] = ['mysql:8.4.9', 'mysql:8.4.10', 'mysql:8.4.9-crash'];

/** The same for the same seed. More than two template changes of a cluster in ten minutes cause RevisionFlapping. */
export function drawActs(seed: string, rollouts: number): readonly Act[] {
  const chance = new Chance(seed);
  const count = Math.ceil(rollouts / 2);
  let number = 0;
  let shares = 0;
  return casts.map(({ share, onDelete, ...act }) => {
    shares += share;
    const plans: ClusterPlan[] = [];
    for (const upTo = Math.round(count * shares); number < upTo; number += 1) {
      const own = chance.fork(`cluster ${number}`);
      const strategy = own.happens(onDelete) ? 'OnDelete' : 'Partition';
      const tasks = drawTasks(own, strategy, act.flipsGate);
      plans.push({ name: `chaos-${number}`, replicas: own.happens(0.4) ? 5 : 3, strategy, tasks });
    }
    return { ...act, plans };
  });
}

function drawTasks(chance: Chance, strategy: Strategy, flipsGate: boolean): readonly Task[] {
  if (chance.happens(0.3)) {
    const isBad = chance.happens(0.5);
    return [{ kind: 'changeOfMind', first: isBad ? bad : first, image: isBad ? first : second }];
  }
  let present = strategy;
  return [first, second].map((image): Task => {
    if (flipsGate || !chance.happens(0.3)) return { kind: 'image', image };
    present = present === 'OnDelete' ? 'Partition' : 'OnDelete';
    return { kind: 'flip', image, to: present };
  });
}

export const changesOf = ({ kind }: Task): number => (kind === 'changeOfMind' ? 2 : 1);

/** How often the primary may move in a cluster that stays at OnDelete; `null` if partitions are lowered in between. */
export function mostSwitchovers({ strategy, tasks }: ClusterPlan, { flipsGate }: Act): number | null {
  if (flipsGate || strategy === 'Partition' || tasks.some(({ kind }) => kind === 'flip')) return null;
  return tasks.reduce((sum, task) => sum + changesOf(task), 0);
}
