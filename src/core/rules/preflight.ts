import { type AwaitedNode, lookAtPodsSeconds, type NodeRefusal } from '../on-demand-facts.ts';
import type { Question } from '../questions.ts';
import { andMore, plural, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { type Asked, after, asksFor, rule } from './rule.ts';

// Rules about the results of a preflight on nodes.

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
 * A preflight can show problems of the update revision before any member is touched. These rules come before the rules
 * of the fleet, because the fleet counts such a cluster as failing. So even while other clusters fail, users see what
 * to fix, and the nodes try again.
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
      'A short-lived pod on the node has tried, with the pull secrets and the ServiceAccount of the member. The message quotes the kubelet. No member is down because of this. A member that does not participate waits only if its own node cannot get the image. A member that is down does not wait at all, unless it is only waiting to start.',
    endedBy: ['a person', 'time'],
    ends: 'Push the image, or give the pods the right to pull it. The node tries again after a minute, then after twice as long each time, up to ten minutes. A different image in the template ends the wait immediately. If a webhook gives the pods of members different images, set `preflight: Never`.',
    overridable: true,
    alarms: true,
    assumed: null,
  }),
  ConfigurationRefused: rule<Refused>({
    holds: (asked) => refused(asked, 'ConfigurationRefused'),
    asks: () => [asksNodes],
    keepsTurn: true,
    sentence: ({ nodeName, message }) =>
      `the mysqld of the update revision rejects its configuration on node ${nodeName}: ${withoutFullStop(message)}`,
    meaning: 'The mysqld of the update revision rejects its my.cnf (preflight: NodesAndConfiguration).',
    details:
      "A short-lived pod ran `mysqld --validate-config` of the new image with MOCO's ConfigMap. The message names the variables that mysqld rejected, without values, and the numbers of other errors. No member is down because of this.",
    endedBy: ['a person', 'time'],
    ends: 'Change the ConfigMap that `spec.mysqlConfigMapName` names, or the image: MOCO then creates a new revision. A node tries the same revision again at the intervals described for `ImageUnavailable`.',
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
              `${plural(nodes, 'node', 'nodes')} ${nodes.join(', ')} ${plural(nodes, 'is', 'are')} fetching the images of the update revision`,
            ]),
        ...(checking === null ? [] : [`the new mysqld is checking its configuration on node ${checking}`]),
      ].join(', and ') +
      `, for at most ${limitSeconds} s` +
      (message === null ? '' : ` (${withoutFullStop(message)})`),
    meaning: 'The nodes of due members are fetching the images of the update revision (preflight).',
    details:
      'No member is down meanwhile, and members that do not participate are replaced without waiting. Each node does this once for each revision.',
    endedBy: ['Kubernetes', 'time'],
    ends: 'By itself, when the nodes have the images, or after preflightTimeoutSeconds: then the members are replaced anyway. `status.preflight` of the MySQLRollout contains the result of each node.',
    overridable: true,
    routine: true,
    assumed: after('moment', (snapshot) => withoutAwaited(snapshot)),
  }),
};

/**
 * A participating member waits for every node of the preflight. Any other member waits only for its own node. A step
 * that restores a previous revision does not wait.
 */
function refused(asked: Asked, result: NodeRefusal['result']): Refused | null {
  const { situation, step, members } = asked;
  const { snapshot, deadlines } = situation;
  const of = (snapshot.preflight?.refusals ?? []).filter((one) => one.result === result);
  for (const { againInSeconds } of of)
    deadlines.reached(0, againInSeconds > 0 ? againInSeconds : lookAtPodsSeconds(60));
  const counts = (one: NodeRefusal): boolean =>
    asksFor(asked, 'reduces', 'comesUpdated', 'interrupts') ||
    members.some(({ ordinal }) => one.members.includes(ordinal));
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
 * Asks about pods of a preflight as long as such pods exist, even while the rollout is held. No node is asked for
 * longer than the limit.
 */
export function asksNodesStill({ snapshot, policy, deadlines }: Situation): readonly Question[] {
  for (const { forSeconds } of snapshot.preflight?.awaited ?? []) {
    if (forSeconds > 0) deadlines.reached(forSeconds, policy.preflightTimeoutSeconds);
  }
  return snapshot.preflightPodsExist ? [{ kind: 'preflight', begins: false }] : [];
}
