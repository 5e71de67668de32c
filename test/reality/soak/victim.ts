import type { Chance } from '../../verification/simulation/chance.ts';

/** A process that is to be killed next. */
export type Victim =
  | { readonly kind: 'container'; readonly namespace: string; readonly pod: string; readonly container: string }
  | { readonly kind: 'moco-controller' }
  | { readonly kind: 'moco-rollout' };

export type Container = Extract<Victim, { readonly kind: 'container' }>;

/** Of all kills: those of each controller. */
const controllerShare = 0.15;

/** Any process, controllers more often than the many servers would leave them. */
export function drawVictim(chance: Chance, containers: readonly Omit<Container, 'kind'>[]): Victim {
  const drawn = chance.next();
  if (drawn < controllerShare) return { kind: 'moco-controller' };
  const container = containers[Math.floor(chance.next() * containers.length)];
  if (drawn < 2 * controllerShare || container === undefined) return { kind: 'moco-rollout' };
  const { namespace, pod, container: name } = container;
  return { kind: 'container', namespace, pod, container: name };
}
