import type { RolloutStatus } from '../../../src/api/rollout-status.ts';

/** The state of a member at one moment, from its pod. */
export interface MemberSight {
  readonly ordinal: number;
  readonly name: string;
  /** `null` without a pod. */
  readonly uid: string | null;
  readonly revision: string | null;
  /** The role label; `null` until MOCO has set it. */
  readonly role: 'primary' | 'replica' | null;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** The program's name of the state, or `starting` if mysqld has not run yet. */
  readonly state:
    | 'missing'
    | 'terminating'
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
export const isBack = ({ ready, terminating, role }: MemberSight): boolean => ready && !terminating && role !== null;

/** Every member has the role of MOCO's status, and MOCO reports Healthy. */
export const isSettled = ({ members, primary, healthy, available }: Sight): boolean =>
  healthy &&
  available &&
  members.every(({ ordinal, role }) => role === null || role === (ordinal === primary ? 'primary' : 'replica'));

export function inWords({ members, status, healthy, updateRevision }: Sight): string {
  const updated = members.filter(({ revision }) => revision === updateRevision).length;
  const others = members.filter(({ state }) => state !== 'participating').map(({ name, state }) => `${name} ${state}`);
  const hold = status?.hold === undefined ? [] : [`held by ${status.hold.rule}`];
  return [
    `${updated} of ${members.length} updated`,
    healthy ? 'Healthy' : 'not Healthy',
    ...(others.length === 0 ? ['all participating'] : others),
    ...hold,
  ].join(', ');
}
