import type { MocoLease } from '../on-demand-facts.ts';
import type { Question } from '../questions.ts';
import type { Situation } from '../situation.ts';
import { after, holdsIf, rule } from './rule.ts';

// Without moco-controller, a stopped member does not come back: a fresh mysqld is read-only and follows no primary
// until MOCO has configured it. MOCO's last status does not show whether MOCO still works, but its Lease does.

/** How long a reading is valid. During a rollout every pass renews the reading, so a step seldom waits for it. */
const freshSeconds = 10;
/** How often the Lease is read while a step waits. The second interval applies once MOCO has been away for long. */
const againSeconds = 2;
const laterSeconds = 8;
const longSeconds = 60;
/** How often the controller checks again whether it may read the Lease. */
const forbiddenSeconds = 60;
/**
 * This is added to the duration of the Lease. A reading only shows that the Lease was renewed after the previous
 * reading, not when.
 */
const slackSeconds = 15;

interface Absence {
  readonly lease: string;
  /** `unseen`: this process has not seen any renewal yet. */
  readonly cause: 'missing' | 'free' | 'unseen' | 'notRenewed';
  readonly holder: string;
}

/** One of the last rules, because a step waits for the Lease only once nothing else holds. */
export const mocoAway = {
  MocoNotAsked: rule({
    holds: ({ situation: { snapshot } }) => holdsIf(!isKnown(snapshot.moco)),
    asks: () => [{ kind: 'moco' }],
    awaits: 'moco',
    sentence: () => 'waiting to read the Lease of moco-controller',
    meaning: 'The Lease of moco-controller has not been read recently enough for a step.',
    details: 'It is read during a rollout, and again right before the step. A reading is valid for 10 s.',
    endedBy: ['time'],
    ends: 'By itself, within seconds.',
    routine: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, moco: justRenewed(snapshot.moco) })),
  }),
  MocoUnavailable: rule<Absence>({
    holds: ({ situation }) => absenceOf(situation),
    asks: (_, { snapshot: { moco }, deadlines }) =>
      moco.ageSeconds === null || deadlines.reached(moco.ageSeconds, againAfter(moco)) ? [{ kind: 'moco' }] : [],
    sentence: ({ lease, cause, holder }) => causes[cause](lease, holder),
    meaning: 'No instance of moco-controller is renewing its Lease, so MOCO is not working.',
    details:
      "Without moco-controller a member that is stopped stays down: a fresh mysqld is read-only and follows no member until MOCO has configured it, and a switchover needs MOCO. A renewal counts if moco-rollout has seen it within the Lease's duration plus 15 s; no clocks are compared. Members that are down are replaced anyway. This rule does not notice a leader that hangs but still renews its Lease: its last status remains. Without the right to read the Lease this rule never holds, and `kubectl moco-rollout check` reports that.",
    endedBy: ['MOCO', 'a person'],
    ends: 'By itself, once moco-controller renews its Lease. Look at `kubectl get lease -A`, and at the pods and the log of moco-controller. If MOCO uses a different Lease, name that one: --moco-lease-namespace, --moco-lease-name.',
    overridable: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, moco: justRenewed(snapshot.moco) })),
  }),
};

const causes: Readonly<Record<Absence['cause'], (lease: string, holder: string) => string>> = {
  missing: (lease) => `there is no Lease ${lease}: moco-controller is not running, or uses a different Lease`,
  free: (lease) => `no instance of moco-controller is the leader: its Lease ${lease} is free`,
  unseen: (lease) => `moco-controller has not been seen to renew its Lease ${lease}`,
  notRenewed: (lease, holder) => `moco-controller is not renewing its Lease ${lease}, which ${holder} holds`,
};

export const justRenewed = (moco: MocoLease): MocoLease => ({
  ...moco,
  state: 'held',
  ageSeconds: 0,
  renewedForSeconds: 0,
});

/** A reading that becomes too old does not change the decision, so it sets no deadline. */
const isKnown = ({ state, ageSeconds }: MocoLease): boolean =>
  ageSeconds !== null && (state === 'forbidden' || ageSeconds < freshSeconds);

/**
 * The time until the next reading. Every waiting cluster decides again with each reading. While the Lease is held, it
 * may be renewed at any moment.
 */
function againAfter({ state, renewedForSeconds }: MocoLease): number {
  const isShort = renewedForSeconds === null ? state === 'held' : renewedForSeconds < longSeconds;
  return isShort ? againSeconds : laterSeconds;
}

function absenceOf({ snapshot: { moco }, deadlines }: Situation): Absence | null {
  const { state, lease, holder, ageSeconds, renewedForSeconds, durationSeconds } = moco;
  if (state === 'forbidden' || !isKnown(moco)) return null;
  if (state === 'held' && renewedForSeconds !== null && renewedForSeconds < durationSeconds + slackSeconds) return null;
  deadlines.reached(ageSeconds ?? 0, againAfter(moco));
  if (state !== 'held') return { lease, cause: state, holder };
  return { lease, cause: renewedForSeconds === null ? 'unseen' : 'notRenewed', holder };
}

/** During a rollout every pass reads the Lease again, so that the next step has seen a renewal. */
export function asksMoco({ snapshot: { moco }, policy, members }: Situation): readonly Question[] {
  if (policy.mode === 'MOCO' || policy.paused || !members.some(({ due }) => due)) return [];
  const limitSeconds = moco.state === 'forbidden' ? forbiddenSeconds : freshSeconds / 2;
  return moco.ageSeconds === null || !(moco.ageSeconds < limitSeconds) ? [{ kind: 'moco' }] : [];
}
