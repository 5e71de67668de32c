import type { MySQLRollout } from '../../api/rollout.ts';
import type { PreflightStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { type AwaitedNode, type NodeRefusal, type Preflight, retryAfterSeconds } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';

// The facts about a preflight that follow from its pods and from the status.

/** The preflight of a revision, as in the status. */
export interface KnownPreflight extends PreflightStatus {
  /** The time of the last read, on the monotonic clock. */
  readonly readAtMilliseconds: number;
  /** Since when the kubelet has been without an image for a pod, by the uid of the pod, on the monotonic clock. */
  readonly failing: ReadonlyMap<string, number>;
}

/** What to check on a node: the images of its members, or the configuration, which is checked on one node only. */
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

/** How long a node's acceptance counts. A node may remove unused images, and a new node may have the same name. */
const knownSeconds = 3600;
/** A node that was not asked is asked after this time, because the reason may no longer apply. */
const askAgainSeconds = 60;

/**
 * How old each kind of result may become, in seconds. An older one is checked again before the next participating
 * member is replaced.
 */
const lastsSeconds: Readonly<Partial<Record<NonNullable<NodeQuestion['result']>, number>>> = {
  Present: knownSeconds,
  Fetched: knownSeconds,
  Skipped: askAgainSeconds,
  Unknown: askAgainSeconds,
};

/** The last preflight, of any revision: as this process knows it or, if it knows none, as the status shows it. */
export const lastPreflight = (
  known: KnownPreflight | null,
  rollout: Pick<MySQLRollout, 'status'> | null,
): PreflightStatus | null => known ?? rollout?.status?.preflight ?? null;

/** The preflight of the update revision. `null` while the setting is off, or before the preflight has begun. */
export function preflightOf(
  { statefulSet }: Pick<ClusterObjects, 'statefulSet'>,
  { preflight }: Pick<RolloutPolicy, 'preflight'>,
  last: PreflightStatus | null,
): PreflightStatus | null {
  return preflight !== 'Never' && last !== null && last.revision === statefulSet?.updateRevision ? last : null;
}

/** The due members by node: at least one for each node. */
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
 * Returns `null` while the setting is off, or while MOCO drives the rollout.
 *
 * @param age the number of seconds since a timestamp of the status; `fact` is its unique name
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
    // Different nodes may be asked about the configuration one after another, so this age does not depend on the node.
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
      // All attempts that ended without an answer share one time limit. After that limit, no step waits for the node.
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
  const mysqldVersion = questions.find(({ version }) => version !== undefined)?.version ?? null;
  return { awaited, refusals, fetched, mysqldVersion };
}
