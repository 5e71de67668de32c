import { type MySQLRollout, pluginManager } from '../../api/rollout.ts';
import { milliseconds } from '../../moco/json.ts';
import { ownersOf } from '../../moco/managed-fields.ts';
import { brief } from './words.ts';

/** A rule that is overridden now. */
export interface OverrideInForce {
  readonly rule: string;
  /** A sentence: until when, by whom, and why. */
  readonly sentence: string;
}

/**
 * The overrides in force, as the status has them. Who wrote one follows from the spec, or else from its field manager.
 */
export function overridesInForce(rollout: MySQLRollout | null, nowMilliseconds: number): readonly OverrideInForce[] {
  const { spec, status } = rollout ?? {};
  return (status?.settings?.overrides?.value ?? []).flatMap(({ rule, until, by }) => {
    const leftSeconds = ((milliseconds(until) ?? 0) - nowMilliseconds) / 1000;
    const entry = spec?.overrides?.find((one) => one.rule === rule);
    if (leftSeconds <= 0 || entry === undefined) return [];
    const manager = ownersOf(rollout, 'overrides', { rule }).find((one) => !one.startsWith(pluginManager('')));
    const who = by ?? manager;
    const sentence = `${rule} is overridden until ${until} (${brief(leftSeconds)} left)${who ? ` by ${who}` : ''}: ${entry.reason}`;
    return [{ rule, sentence }];
  });
}
