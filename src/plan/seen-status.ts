import { newRollout, type RolloutProgress } from '../api/rollout-progress.ts';
import { type RolloutStatus } from '../api/rollout-status.ts';
import { omitUndefined, timestampOf } from '../base/json.ts';
import { yieldsSlot } from '../controller/fleet/fleet-standing.ts';
import { needsSlot } from '../core/gates.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

// What the other clusters of a fleet see of a cluster: its status, as the controller would write it.

/** The status once the controller has seen the revision: either a rollout to it continues, or a new rollout begins. */
export function begunStatus(
  { completeSince: _, rollout, ...status }: RolloutStatus,
  updateRevision: string,
  nowSeconds: number,
): RolloutStatus {
  const same = rollout?.revision === updateRevision ? rollout : undefined;
  const now = timestampOf(nowSeconds * 1000);
  // A template that corrects a failing revision waits for no other cluster.
  const another = { ...newRollout(updateRevision, now), ...(rollout?.failing !== undefined && { begunAt: now }) };
  return { ...status, updateRevision, rollout: same ?? another };
}

/** The status this many seconds after the beginning, derived from the status at the beginning. */
export function statusAt(
  { entries, hold, endedAt }: SimulatedCluster,
  atFirst: RolloutStatus,
  beginSeconds: number,
  seconds: number,
): RolloutStatus {
  const timeOf = (after: number): string => timestampOf((beginSeconds + after) * 1000);
  const { rollout, conditions: _, members: _members, ...others } = atFirst;
  if (endedAt !== null) return { ...others, completeSince: others.completeSince ?? timeOf(endedAt) };
  const held = hold && { hold: { rule: hold.rule, message: '', since: '' } };
  const steps = entries.filter((entry) => entry.kind === 'step');
  const last = steps.at(-1);
  if (last === undefined) return { ...atFirst, ...held };
  const first = steps.find(({ effects }) => needsSlot(effects));
  // A member that has come back has shown that the revision works.
  const back = rollout?.verified ? undefined : steps.find(({ taken, ends }) => taken.length > 0 && ends <= seconds);
  const { step, begins, effects } = last;
  return omitUndefined<RolloutStatus>({
    ...others,
    ...held,
    // No step is allowed while the revision fails.
    rollout:
      rollout &&
      omitUndefined<RolloutProgress>({
        ...rollout,
        begunAt: rollout.begunAt ?? (first && timeOf(first.begins)),
        yieldedAt: hold !== null && yieldsSlot(hold.rule, []) ? timeOf(seconds) : undefined,
        failing: undefined,
        ...(back && { verified: true, verifiedAt: timeOf(back.ends) }),
      }),
    lastStep: {
      step: step.kind,
      rule: 'rule' in step ? step.rule : '',
      pods: [],
      at: timeOf(begins),
      result: 'done',
      effects: [...effects],
    },
  });
}
