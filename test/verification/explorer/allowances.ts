import type { HoldRule } from '../../../src/core/decision.ts';
import type { Invariant } from './judge.ts';
import type { Family, World } from './world.ts';

/** What the core still does wrong, in worlds with all of these families. */
export interface Allowance {
  readonly finds: Invariant | { readonly stuckWith: HoldRule };
  readonly families: readonly Family[];
  readonly what: string;
  /** How many faults it takes. */
  readonly faults: number;
}

/**
 * The list only gets shorter: a correction of the core takes its entries away. `allowances.test.ts` demands that each is
 * still found.
 */
export const allowances: readonly Allowance[] = [
  {
    finds: 'I20',
    families: ['relay-log'],
    what: 'deletes replicas in the middle of a failover that needs their relay logs',
    faults: 1,
  },
  {
    finds: 'I20',
    families: ['agents'],
    what: 'deletes replicas together with a primary that serves, where no member is ready',
    faults: 1,
  },
  {
    finds: 'I20',
    families: [],
    what: 'deletes replicas together with a primary that is between two attempts of a crash loop',
    faults: 1,
  },
  {
    finds: { stuckWith: 'AwaitingFailover' },
    families: ['relay-log'],
    what: 'so waits for ever for a failover that it has made impossible',
    faults: 1,
  },
  {
    finds: { stuckWith: 'MemberTerminating' },
    families: ['relay-log'],
    what: 'waits for ever in the same way where the pod of the old primary is terminating',
    faults: 1,
  },
  {
    finds: { stuckWith: 'UpdatedMemberNotParticipating' },
    families: ['relay-log'],
    what: 'waits for ever in the same way where an updated primary has died',
    faults: 1,
  },
  {
    finds: { stuckWith: 'RolesNotSettled' },
    families: ['unconfigurable'],
    what: 'waits for ever for the label of a member, which MOCO never reaches',
    faults: 1,
  },
  {
    finds: { stuckWith: 'UpdatedMemberNotParticipating' },
    families: ['unconfigurable'],
    what: 'waits for ever for an updated member, which MOCO never reaches',
    faults: 1,
  },
  {
    finds: 'I21',
    families: ['slow-log'],
    what: 'restarts a sidecar in the pod of a primary, which takes its address away',
    faults: 0,
  },
  {
    finds: 'behind',
    families: ['impaired', 'delay'],
    what: 'deletes a primary with a failing sidecar while replicas are behind',
    faults: 1,
  },
  {
    finds: 'setting',
    families: ['impaired', 'user'],
    what: 'deletes a primary with a failing sidecar without approval, and before a pinned replica',
    faults: 1,
  },
  {
    finds: 'I18',
    families: ['resize', 'maintenance'],
    what: 'resizes a member outside of the maintenance windows',
    faults: 0,
  },
  {
    finds: 'sequence',
    families: ['resize'],
    what: 'resizes a member while another one has not finished its update',
    faults: 1,
  },
];

const applies = ({ families }: Allowance, world: World): boolean => families.every((one) => world.families.has(one));

export const isAllowed = (finds: Invariant, world: World): boolean =>
  allowances.some((allowance) => allowance.finds === finds && applies(allowance, world));

/** It may stay there for ever. */
export const mayStay = (hold: HoldRule | null, world: World): boolean =>
  allowances.some((allowance) => {
    const { finds } = allowance;
    return typeof finds === 'object' && finds.stuckWith === hold && applies(allowance, world);
  });
