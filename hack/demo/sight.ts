import type { RolloutStatus } from '../../src/controller/rollout-resource.ts';

/** A member as it is at one moment, its pod's own words. */
export interface MemberSight {
  readonly ordinal: number;
  readonly name: string;
  /** `null` where there is no pod. */
  readonly uid: string | null;
  readonly revision: string | null;
  /** The role label; `null` until MOCO has set it. */
  readonly role: 'primary' | 'replica' | null;
  readonly ready: boolean;
  readonly leaving: boolean;
  /** The state in the program's own words, and `starting` for one whose mysqld has not run yet. */
  readonly state:
    | 'missing'
    | 'leaving'
    | 'starting'
    | 'running'
    | 'participating'
    | 'impaired'
    | 'down'
    | 'unreachable';
  readonly demoted: boolean;
}

/** One cluster as the watches show it at one moment. */
export interface Sight {
  /** Of the monotonic clock. */
  readonly atMilliseconds: number;
  /** Since 1970, for comparing with timestamps of the API. */
  readonly wallMilliseconds: number;
  readonly name: string;
  readonly generation: number;
  /** By ordinal, the missing ones included. */
  readonly members: readonly MemberSight[];
  /** -1 before MOCO has chosen one. */
  readonly primary: number;
  readonly healthy: boolean;
  readonly available: boolean;
  readonly updateRevision: string;
  /** Condition `moco-rollout.io/RolloutComplete` is True at this very generation. */
  readonly complete: boolean;
  readonly status: RolloutStatus | null;
}

export const isUpdated = ({ revision }: MemberSight, { updateRevision }: Sight): boolean =>
  revision !== null && revision === updateRevision;

/** Ready and looked after by MOCO. */
export const isBack = ({ ready, leaving, role }: MemberSight): boolean => ready && !leaving && role !== null;

/** Every member has the role that MOCO's status gives it, and MOCO is content. */
export const isSettled = ({ members, primary, healthy, available }: Sight): boolean =>
  healthy &&
  available &&
  members.every(({ ordinal, role }) => role === null || role === (ordinal === primary ? 'primary' : 'replica'));

/** What tells one revision from the next; the StatefulSet's name before it is the same for all. */
export function shortRevision(revision: string): string {
  return revision.slice(revision.lastIndexOf('-') + 1);
}
