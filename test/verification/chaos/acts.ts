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
