import type { Member, Situation } from './situation.ts';

// Members on nodes that are being taken out of service, and what the setting `nodeMaintenance` asks for.

/** Whether the primary has to move off its node: the setting asks for that, and there are other members. */
export const movesPrimaryOff = ({ policy, replicas }: Situation, { facts }: Member): boolean =>
  policy.nodeMaintenance !== 'Ignore' && facts.leaving !== null && replicas > 1;

/**
 * The replica to which MOCO would move the primary: the lowest ordinal among those that are ready and follow the
 * primary (MOCO 0.36, clustering/status.go, DecideState). `null` if no replica participates.
 */
export const nextPrimary = ({ members }: Situation): Member | null =>
  members.find(({ primary, participates }) => participates && !primary) ?? null;
