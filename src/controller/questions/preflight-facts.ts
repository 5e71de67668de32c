import type { MySQLRollout } from '../../api/rollout.ts';
import type { PreflightStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { type AwaitedNode, type NodeRefusal, type Preflight, retryAfterSeconds } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';

// The facts about a preflight that follow from its pods and from the status.

/** The preflight of a revision, as in the status. */
export interface KnownPreflight extends PreflightStatus {
  /** On the monotonic clock. */
  readonly readAtMilliseconds: number;
  /** Since when the kubelet has had no image for these pods, by uid, on the monotonic clock. */
  readonly failing: ReadonlyMap<string, number>;
}

/** What is checked on a node: the images of its members, or on one node the configuration. */
export type NodeQuestion = PreflightStatus['nodes'][number] & Pick<AwaitedNode, 'about'>;

export const questionsOf = (preflight: PreflightStatus | null): readonly NodeQuestion[] => [
  ...(preflight?.nodes ?? []).map((one) => ({ ...one, about: 'images' as const })),
  ...(preflight?.configuration ? [{ ...preflight.configuration, about: 'configuration' as const }] : []),
];

export function statusOfQuestions(questions: readonly NodeQuestion[]): Omit<PreflightStatus, 'revision'> {
  const [images, [configuration]] = [questionsAbout(questions, 'images'), questionsAbout(questions, 'configuration')];
  return { nodes: images, ...(configuration && { configuration }) };
}

const questionsAbout = (questions: readonly NodeQuestion[], what: NodeQuestion['about']) =>
  questions.flatMap(({ about, ...one }) => (about === what ? [one] : []));

export const isRefused = ({ result }: Pick<NodeQuestion, 'result'>): boolean =>
  result === 'ImageUnavailable' || result === 'ConfigurationRefused';

/** A node may remove unused images, and another node may get its name. */
const knownSeconds = 3600;
/** After this time the reason why a node was not asked may have ended. */
const askAgainSeconds = 60;

/** The age in seconds at which a result has to be checked again, before the next participating member is replaced. */
const lastsSeconds: Readonly<Partial<Record<NonNullable<NodeQuestion['result']>, number>>> = {
  Present: knownSeconds,
  Fetched: knownSeconds,
  Skipped: askAgainSeconds,
  Unknown: askAgainSeconds,
};

/** The last preflight, of any revision, as this process knows it, or otherwise as the status has it. */
export const lastPreflight = (
  known: KnownPreflight | null,
  rollout: Pick<MySQLRollout, 'status'> | null,
): PreflightStatus | null => known ?? rollout?.status?.preflight ?? null;

/** The preflight of the update revision. `null` while the setting is off, or before it has begun. */
export function preflightOf(
  { statefulSet }: Pick<ClusterObjects, 'statefulSet'>,
  { preflight }: Pick<RolloutPolicy, 'preflight'>,
  last: PreflightStatus | null,
): PreflightStatus | null {
  return preflight !== 'Never' && last !== null && last.revision === statefulSet?.updateRevision ? last : null;
}

/** The due members by their nodes, at least one for each node. */
export function dueOnNodes(
  { statefulSet, pods }: Pick<ClusterObjects, 'statefulSet' | 'pods'>,
  { pinnedOrdinals, partition }: Pick<RolloutPolicy, 'pinnedOrdinals' | 'partition'>,
): ReadonlyMap<string, readonly PodRecord[]> {
  const due = pods.filter(
    ({ node, ordinal, revision, deletionTimestamp }) =>
      node !== null &&
      deletionTimestamp === null &&
      revision !== statefulSet?.updateRevision &&
      ordinal >= partition &&
      !pinnedOrdinals.includes(ordinal),
  );
  return Map.groupBy(due, ({ node }) => node ?? '');
}

/**
 * `null` while the setting is off, or MOCO drives the rollout.
 *
 * @param age seconds since a timestamp of the status, by a unique name
 */
export function preflightFacts(
  objects: ClusterObjects,
  policy: RolloutPolicy,
  last: PreflightStatus | null,
  age: (fact: string, timestamp: string) => number,
): Preflight | null {
  if (policy.preflight === 'Never' || policy.mode === 'MOCO' || objects.statefulSet === null) return null;
  const questions = questionsOf(preflightOf(objects, policy, last));
  const due = dueOnNodes(objects, policy);
  const names = [...due.keys()].toSorted();
  const awaited: AwaitedNode[] = [];
  const refusals: NodeRefusal[] = [];
  const note = (
    about: NodeQuestion['about'],
    known: NodeQuestion | undefined,
    first: string,
    next: string | null,
  ): void => {
    if (known === undefined) {
      awaited.push({ about, nodeName: first, forSeconds: 0, message: null });
      return;
    }
    const { name: nodeName, result, since, at, message = null, trying = false } = known;
    const seconds = age(`${about} of ${nodeName} asked`, at);
    // The question about the configuration moves from node to node.
    const sinceSeconds = age(about === 'images' ? `images of ${nodeName} since` : 'configuration since', since);
    if (result === undefined) {
      awaited.push({ about, nodeName, forSeconds: sinceSeconds, message });
    } else if (result === 'ImageUnavailable' || result === 'ConfigurationRefused') {
      const lastedSeconds = ((milliseconds(at) ?? 0) - (milliseconds(since) ?? 0)) / 1000;
      const againInSeconds = trying ? 0 : Math.max(0, retryAfterSeconds(lastedSeconds) - seconds);
      const members = [...due].filter(([name]) => about === 'configuration' || name === nodeName);
      const ordinals = members.flatMap(([, pods]) => pods.map(({ ordinal }) => ordinal));
      refusals.push({ nodeName, result, message: message ?? '', againInSeconds, members: ordinals });
    } else if (next !== null || seconds >= (lastsSeconds[result] ?? Infinity)) {
      // All tries that ended without an answer share one limit. No step waits for a node that is not asked.
      const { preflightTimeoutSeconds: limit } = policy;
      const isContinued = result === 'Unknown' ? sinceSeconds < knownSeconds : next !== null && sinceSeconds < limit;
      const forSeconds = isContinued ? sinceSeconds : 0;
      if (forSeconds < limit) awaited.push({ about, nodeName: next ?? first, forSeconds, message: null });
    }
  };
  for (const name of names) {
    const known = questions.find((one) => one.about === 'images' && one.name === name);
    note('images', known, name, null);
  }
  const [first] = names;
  if (policy.preflight === 'NodesAndConfiguration' && first !== undefined) {
    const known = questions.find(({ about }) => about === 'configuration');
    const isOpen = known?.result === 'Unknown' || known?.result === 'Skipped';
    note('configuration', known, first, (isOpen && names.find((name) => name > known.name)) || null);
  }
  const fetched = questions.flatMap(({ about, name: nodeName, result, at }) =>
    about === 'images' && (result === 'Present' || result === 'Fetched')
      ? [{ nodeName, ageSeconds: age(`images of ${nodeName} asked`, at) }]
      : [],
  );
  return { awaited, refusals, fetched };
}
