import { type AwaitedNode, lookAtPodsSeconds, type NodeRefusal } from '../on-demand-facts.ts';
import type { Question } from '../questions.ts';
import { andMore, plural, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { type Asked, after, asksFor, rule } from './rule.ts';

// Rules about what a preflight has found on nodes.

const asksNodes = { kind: 'preflight', begins: true } as const;

interface Refused extends Pick<NodeRefusal, 'nodeName' | 'message'> {
  readonly others: number;
}

interface Awaited {
  readonly nodes: readonly string[];
  /** The node that checks the configuration, or `null`. */
  readonly checking: string | null;
  /** The message of the first node that has one. */
  readonly message: string | null;
  readonly limitSeconds: number;
}

/**
 * Nodes can show problems of the update revision before any member is touched. These rules come before those of the
 * fleet, which counts such a cluster as failing: so even while other clusters fail, users see what to fix, and the
 * nodes try again.
 */
export const refusedOnNodes = {
  ImageUnavailable: rule<Refused>({
    holds: (asked) => refused(asked, 'ImageUnavailable'),
    asks: () => [asksNodes],
    keepsTurn: true,
    sentence: ({ nodeName, message, others }) =>
      `node ${nodeName}${andMore(others)} cannot get an image of the update revision: ${withoutFullStop(message)}`,
    meaning: 'A node of a due member cannot get an image of the update revision (preflight).',
    details:
      "A short-lived pod on the node has tried, with the pull secrets and the ServiceAccount of the member. The message has the kubelet's words. No member is down because of it. A member that does not participate waits only if its own node refuses, and one that is down does not wait.",
    endedBy: ['a person', 'time'],
    ends: 'Push the image, or give the pods the right to pull it. The node tries again after a minute, then after twice as long each time, up to ten minutes. Another image in the template ends the wait immediately. If a webhook gives the pods of members other images, set `preflight: Never`.',
    overridable: true,
    alarms: true,
    assumed: null,
  }),
  ConfigurationRefused: rule<Refused>({
    holds: (asked) => refused(asked, 'ConfigurationRefused'),
    asks: () => [asksNodes],
    keepsTurn: true,
    sentence: ({ nodeName, message }) =>
      `the mysqld of the update revision refuses its configuration on node ${nodeName}: ${withoutFullStop(message)}`,
    meaning: 'The mysqld of the update revision rejects its my.cnf (preflight: NodesAndConfiguration).',
    details:
      "A short-lived pod has run `mysqld --validate-config` of the new image with MOCO's ConfigMap. The message names the variables that mysqld refused, without values, and the numbers of other errors. No member is down because of it.",
    endedBy: ['a person', 'time'],
    ends: 'Change the ConfigMap that `spec.mysqlConfigMapName` names, or the image: MOCO then creates another revision. The same revision is retried as with ImageUnavailable.',
    overridable: true,
    alarms: true,
    assumed: null,
  }),
};

export const preflightRunning = {
  PreflightRunning: rule<Awaited>({
    holds: (asked) => awaited(asked),
    asks: () => [asksNodes],
    awaits: 'preflight',
    keepsTurn: true,
    sentence: ({ nodes, checking, message, limitSeconds }) =>
      [
        ...(nodes.length === 0
          ? []
          : [
              `${plural(nodes, 'node', 'nodes')} ${nodes.join(', ')} ${plural(nodes, 'fetches', 'fetch')} the images of the update revision`,
            ]),
        ...(checking === null ? [] : [`its mysqld checks its configuration on node ${checking}`]),
      ].join(', and ') +
      `, for at most ${limitSeconds} s` +
      (message === null ? '' : `: ${withoutFullStop(message)}`),
    meaning: 'The nodes of due members fetch the images of the update revision (preflight).',
    details:
      'No member is down meanwhile, and members that do not participate are replaced without waiting. Each node does this once for each revision.',
    endedBy: ['Kubernetes', 'time'],
    ends: 'By itself, when the images are there, or after preflightTimeoutSeconds: then the members are replaced anyway. `status.preflight` of the MySQLRollout has the result of each node.',
    overridable: true,
    routine: true,
    assumed: after('moment', (snapshot) => withoutAwaited(snapshot)),
  }),
};

/**
 * A participating member waits for every node, any other member only for its own. A restore does not need the revision.
 */
function refused(asked: Asked, result: NodeRefusal['result']): Refused | null {
  const { situation, step, members } = asked;
  const { snapshot, deadlines } = situation;
  const of = (snapshot.preflight?.refusals ?? []).filter((one) => one.result === result);
  for (const { againInSeconds } of of)
    deadlines.reached(0, againInSeconds > 0 ? againInSeconds : lookAtPodsSeconds(60));
  const counts = (one: NodeRefusal): boolean =>
    asksFor(asked, 'reduces', 'comesUpdated') || members.some(({ ordinal }) => one.members.includes(ordinal));
  const all = step.kind === 'restore' ? [] : of.filter(counts);
  const [first, ...others] = all;
  return first === undefined ? null : { nodeName: first.nodeName, message: first.message, others: others.length };
}

function awaited({ situation: { snapshot, policy, deadlines } }: Asked): Awaited | null {
  const limitSeconds = policy.preflightTimeoutSeconds;
  const all: readonly AwaitedNode[] = snapshot.preflight?.awaited ?? [];
  const waiting = all.filter(({ forSeconds }) => !deadlines.reached(forSeconds, limitSeconds));
  if (waiting.length === 0) return null;
  deadlines.reached(0, Math.min(...waiting.map(({ forSeconds }) => lookAtPodsSeconds(forSeconds))));
  const message = waiting.find((one) => one.message !== null)?.message ?? null;
  const named = (what: AwaitedNode['about']) =>
    waiting.flatMap(({ about, nodeName }) => (about === what ? [nodeName] : []));
  return { nodes: named('images'), checking: named('configuration')[0] ?? null, message, limitSeconds };
}

const withoutAwaited = (snapshot: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  preflight: snapshot.preflight && { ...snapshot.preflight, awaited: [] },
});

/**
 * The pods of a preflight are followed even while the rollout is held, and no node is asked for longer than the limit.
 */
export function asksNodesStill({ snapshot, policy, deadlines }: Situation): readonly Question[] {
  for (const { forSeconds } of snapshot.preflight?.awaited ?? []) {
    if (forSeconds > 0) deadlines.reached(forSeconds, policy.preflightTimeoutSeconds);
  }
  return snapshot.preflightPodsExist ? [{ kind: 'preflight', begins: false }] : [];
}
