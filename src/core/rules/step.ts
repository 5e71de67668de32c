import { withoutFullStop } from '../sentences.ts';
import { rule } from './rule.ts';

/** The step that was chosen is not done. */
export const step = {
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
      'Before the controller takes a member, it reads the objects of the cluster again, within a second. Older facts prove nothing.',
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
