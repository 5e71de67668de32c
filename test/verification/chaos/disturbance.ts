import { Chance } from '../simulation/chance.ts';

/** What befalls a whole process, whatever it is doing. */
export type Disturbance =
  | { readonly kind: 'kill' }
  | { readonly kind: 'freeze'; readonly forMilliseconds: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'sever'; readonly forMilliseconds: number }
  | {
      readonly kind: 'watchLag';
      readonly plural: string;
      readonly byMilliseconds: number;
      readonly forMilliseconds: number;
    }
  | { readonly kind: 'errors'; readonly share: number; readonly forMilliseconds: number }
  | { readonly kind: 'slow'; readonly byMilliseconds: number; readonly forMilliseconds: number };

const plurals = ['pods', 'statefulsets', 'mysqlclusters', 'mysqlrollouts', 'poddisruptionbudgets'] as const;

/** What befalls processes in between, without end. */
export function* drawDisturbances(seed: string): Generator<Disturbance, never> {
  const chance = new Chance(`${seed}/disturbances`);
  const span = (from: number, to: number): number => chance.whole(from, to);
  const draws: readonly (() => Disturbance)[] = [
    () => ({ kind: 'kill' }),
    () => ({ kind: 'freeze', forMilliseconds: span(500, 8000) }),
    () => ({ kind: 'cut' }),
    () => ({ kind: 'sever', forMilliseconds: span(300, 3000) }),
    () => ({
      kind: 'watchLag',
      plural: chance.pick(plurals),
      byMilliseconds: span(100, 2500),
      forMilliseconds: span(2000, 8000),
    }),
    () => ({ kind: 'errors', share: chance.between(0.1, 0.5), forMilliseconds: span(500, 3000) }),
    () => ({ kind: 'slow', byMilliseconds: span(20, 250), forMilliseconds: span(1000, 5000) }),
  ];
  for (;;) yield chance.pick(draws)();
}
