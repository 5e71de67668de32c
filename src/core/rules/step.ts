import { withoutFullStop } from '../sentences.ts';
import { checks } from './checks.ts';
import { rule } from './rule.ts';

/** The step that was chosen is not done. */
export const step = {
  OutsideMaintenanceWindow: rule<{
    /** When the window closes that is open, but not for long enough. */
    readonly closesAt: string | null;
    /** How long the step is expected to take. */
    readonly neededSeconds: number;
    /** When the next window opens that is long enough, within 30 days. */
    readonly opensAt: string | null;
  }>({
    sentence: ({ closesAt, neededSeconds, opensAt }) =>
      (closesAt === null
        ? 'no maintenance window is open'
        : `the maintenance window closes at ${closesAt}, and the next step takes about ${neededSeconds} s`) +
      nextOpening(opensAt, neededSeconds),
    meaning: 'A member that works would be taken outside of the maintenance windows (maintenanceWindows).',
    details:
      'A step begins only if its expected time fits into what is left of the window: the median of the measured times of members, or expectedMemberSeconds as long as there are none. For the primary, switchoverTimeoutSeconds is added. Members that are down, and clusters whose primary does not participate, do not wait.',
    endedBy: ['time'],
    ends: 'By itself, when the next window opens that is long enough. `plan NAME` shows what is done in which window.',
    overridable: true,
    requestedBy: '`maintenanceWindows`',
  }),
  Blackout: rule<{
    readonly from: string;
    readonly until: string;
    readonly reason: string;
    /** Otherwise the step would not be over before it. */
    readonly begun: boolean;
    readonly neededSeconds: number;
    readonly opensAt: string | null;
  }>({
    sentence: ({ from, until, reason, begun, neededSeconds, opensAt }) =>
      (begun
        ? `there is a blackout until ${until} (${withoutFullStop(reason)})`
        : `a blackout begins at ${from} (${withoutFullStop(reason)}), and the next step takes about ${neededSeconds} s`) +
      nextOpening(opensAt, neededSeconds),
    meaning: 'A member that works would be taken during a blackout (blackouts), or too shortly before one.',
    details: 'What fits, and what does not wait, is as with OutsideMaintenanceWindow.',
    endedBy: ['time'],
    ends: 'By itself, when the blackout is over.',
    overridable: true,
    requestedBy: '`blackouts`',
  }),
  ...checks,
  ReleaseUnsafe: rule<{ readonly message: string }>({
    sentence: ({ message }) =>
      `the StatefulSet can't be released without risk to its pods: ${withoutFullStop(message)}`,
    meaning: 'A dry run of the release has shown that Kubernetes would replace pods at once.',
    details: 'The StatefulSet would not have had a partition above its last member.',
    endedBy: ['a person'],
    ends: "Check what came back, which the message says. MOCO's webhook has to be reachable. The controller tries again every 10 seconds.",
    alarms: true,
    phase: 'Failing',
  }),
  ConfirmationTooSlow: rule<{ readonly message: string }>({
    sentence: ({ message }) => `the API server is too slow for a safe step: ${withoutFullStop(message)}`,
    meaning: 'The API server took too long to confirm the facts for a step, so the step was not done.',
    details:
      'Before the controller takes a member, it reads the objects of the cluster again, and acts within two seconds. Older facts prove nothing.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, once the API server answers faster. The controller tries again after 2, 4, 8 and 16 seconds, then every 30 seconds. Check the latency of the API server, etcd, the webhooks and the network.',
    brief: true,
  }),
  StepRefused: rule<{ readonly message: string }>({
    sentence: ({ message }) => `the API server did not carry out the step: ${withoutFullStop(message)}`,
    meaning: 'The API server did not carry out a step, or the result of an earlier step is unknown.',
    details:
      "The message has the API server's words. An admission policy or a webhook refuses the step, the controller lacks a permission, or the API server fails.",
    endedBy: ['a person'],
    ends: 'Change what the message names. The controller tries again after 2, 4, 8 and 16 seconds, then every 30 seconds, or later if the API server asks for that.',
    alarms: true,
    brief: true,
    phase: 'Failing',
  }),
};

const nextOpening = (opensAt: string | null, neededSeconds: number): string =>
  opensAt === null
    ? `; no opening of the next 30 days has ${neededSeconds} s for the next step`
    : `; the next step may begin at ${opensAt}`;
