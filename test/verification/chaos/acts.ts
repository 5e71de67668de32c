import { Chance } from '../simulation/chance.ts';

/** One MySQLCluster and the images that it is given, one after the other. */
export interface ClusterPlan {
  readonly name: string;
  readonly replicas: 3 | 5;
  readonly images: readonly string[];
}

/** Clusters that meet the same kind of replicas of the controller. */
export interface Act {
  /** Who lowers partitions: MOCO, while this program takes members at OnDelete; or this program, with the gate off. */
  readonly driver: 'moco' | 'own';
  /** `false`: all of them act at once, all the time. */
  readonly elects: boolean;
  readonly plans: readonly ClusterPlan[];
}

/** With their share of all clusters. */
const casts: readonly (Omit<Act, 'plans'> & { readonly share: number })[] = [
  { driver: 'moco', elects: true, share: 0.4 },
  { driver: 'moco', elects: false, share: 0.3 },
  { driver: 'own', elects: true, share: 0.15 },
  { driver: 'own', elects: false, share: 0.15 },
];
const images = ['mysql:8.4.9', 'mysql:8.4.10'];

/** The same for the same seed. More than two template changes of a cluster in ten minutes cause RevisionFlapping. */
export function drawActs(seed: string, rollouts: number): readonly Act[] {
  const chance = new Chance(seed);
  const count = Math.ceil(rollouts / images.length);
  let number = 0;
  let shares = 0;
  return casts.map(({ share, ...act }) => {
    shares += share;
    const plans: ClusterPlan[] = [];
    for (const upTo = Math.round(count * shares); number < upTo; number += 1) {
      plans.push({ name: `chaos-${number}`, replicas: chance.happens(0.4) ? 5 : 3, images });
    }
    return { ...act, plans };
  });
}

/** What befalls a whole process, whatever it does. What befalls single requests and watches, the simulation plays. */
export type Disturbance =
  | { readonly kind: 'kill' }
  /** SIGSTOP, then SIGCONT. */
  | { readonly kind: 'freeze'; readonly forMilliseconds: number }
  /** All connections break. */
  | { readonly kind: 'cut' }
  /** And no new one is made for a while. */
  | { readonly kind: 'sever'; readonly forMilliseconds: number };

/** Without end. */
export function* drawDisturbances(seed: string): Generator<Disturbance, never> {
  const chance = new Chance(`${seed}/disturbances`);
  const draws: readonly (() => Disturbance)[] = [
    () => ({ kind: 'kill' }),
    () => ({ kind: 'freeze', forMilliseconds: chance.whole(500, 8000) }),
    () => ({ kind: 'cut' }),
    () => ({ kind: 'sever', forMilliseconds: chance.whole(300, 3000) }),
  ];
  for (;;) yield chance.pick(draws)();
}
