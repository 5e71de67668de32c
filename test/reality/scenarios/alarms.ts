import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import { isAlarming } from '../../../src/core/rules/catalogue.ts';
import type { Change } from '../../verification/witness/moment.ts';

/** An Event of events.k8s.io, as much of it as is read. */
export interface EventObject {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly reportingController?: string;
  readonly eventTime?: string | null;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
}

/** Of the Events of this controller. */
const reporter = 'moco-rollout';

/** What a person would have been called for: each once, in the words of status and Events. */
export function alarmsOf(changes: readonly Change[], events: readonly EventObject[]): readonly string[] {
  const ofStatus = changes.flatMap(({ kind, object }) =>
    kind === 'MySQLRollout' && object !== null
      ? alarmsOfStatus((object as { readonly status?: RolloutStatus }).status ?? {})
      : [],
  );
  const warnings = events
    .filter(({ type, reportingController }) => type === 'Warning' && reportingController === reporter)
    .map(({ reason, note }) => `Warning ${reason}: ${note}`);
  return [...new Set([...ofStatus, ...warnings])];
}

function alarmsOfStatus({ hold, conditions = [] }: RolloutStatus): readonly string[] {
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  return [
    ...(hold !== undefined && isAlarming(hold.rule) ? [`held by ${hold.rule}: ${hold.message}`] : []),
    ...(stalled === undefined ? [] : [`Stalled: ${stalled.message}`]),
  ];
}
