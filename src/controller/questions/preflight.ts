import { rolloutKind } from '../../api/rollout.ts';
import { identityOf, type Json, milliseconds, object, objects } from '../../base/json.ts';
import { parseMysqlVersion } from '../../core/mysql-versions.ts';
import { versionOfMysqld } from '../../core/mysqld-data.ts';
import type { AwaitedNode } from '../../core/on-demand-facts.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { ApiError, isAlreadyExists, refusesCreation } from '../../kube/api-error.ts';
import { apiVersion } from '../../kube/resource.ts';
import { hasImage } from '../../moco/in-place/images.ts';
import { mysqldIn } from '../../moco/mysqld-version.ts';
import { hasDiskPressure, refusalsOf } from '../../moco/nodes.ts';
import { imagesOf, preflightName, preflightPod } from '../../moco/preflight-pod.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { Asking, Given, Observed, Row } from './asking.ts';
import {
  dueOnNodes,
  type KnownPreflight,
  lastPreflight,
  type NodeQuestion,
  preflightFacts,
  preflightOf,
  questionsOf,
  statusOfQuestions,
} from './preflight-facts.ts';
import {
  describe,
  failingAmong,
  inspected,
  isTerminating,
  type ListedPod,
  settled,
  stillAsked,
} from './preflight-pods.ts';
import { type NodeRead, readNode } from './recent-nodes.ts';

// The question `preflight`: creates short-lived pods on nodes and follows them.

/** The shortest time between two checks of the pods, because passes may follow each other faster than pods change. */
const againMilliseconds = 900;

export const preflight: Row<
  'preflight',
  KnownPreflight | null,
  Pick<ClusterSnapshot, 'preflight' | 'preflightPodsExist'>
> = {
  asks: 'the nodes of due members, by short-lived pods: whether they can pull the images of the update revision, and on one of them whether its mysqld accepts its configuration',
  lasts: 'an hour on a node; a refusal until the node is asked again, after 1 to 10 minutes',
  silence: 'after `preflightTimeoutSeconds` members are replaced anyway',
  initial: null,
  inTurn: true,
  ask: ({ begins }, asking, known) => askNodes(begins, asking, known),
  facts: (known, given) => {
    const { objects: cluster, policy, rollout } = given;
    const last = lastPreflight(known, rollout);
    return {
      preflight: preflightFacts(cluster, policy, last, askedAge(given)),
      preflightPodsExist: questionsOf(last).some(({ trying }) => trying),
    };
  },
  confirm: null,
  status: {
    whileOutstanding: 'its hold',
    shows: '`preflight`',
    fields: (known, { objects: cluster, policy, rollout }) => {
      const last = preflightOf(cluster, policy, lastPreflight(known, rollout));
      return {
        preflight: last === null ? undefined : { revision: last.revision, ...statusOfQuestions(questionsOf(last)) },
      };
    },
  },
};

const noObject = { uid: '', resourceVersion: '' };

const askedAge =
  ({ ages, rollout }: Given) =>
  (fact: string, timestamp: string): number =>
    ages.since(rollout?.metadata ?? noObject, fact, timestamp, milliseconds(timestamp));

/**
 * Once nothing else holds the first step, asks the nodes of due members whether they can run the update revision.
 * Follows the pods of these questions until none is left, even if the rollout is held meanwhile. Resolves to `null` if
 * there is nothing to do. An error from the API server becomes a result and never ends a pass.
 */
async function askNodes(
  begins: boolean,
  asking: Asking<ClusterApi>,
  known: KnownPreflight | null,
): Promise<KnownPreflight | null> {
  const { key, observed, api, log, metrics } = asking;
  const { objects: cluster, policy, rollout, nowMilliseconds: now } = observed;
  if (rollout === null || cluster.statefulSet === null) return null;
  if (known !== null && now - known.readAtMilliseconds < againMilliseconds) return null;
  const last = lastPreflight(known, rollout);
  const { uid } = rollout.metadata;
  const { updateRevision: revision } = cluster.statefulSet;
  const nameOf = ({ name, about }: NodeQuestion): string => preflightName(uid, revision, name, about);
  // The pods that this pass has listed, or the error if there is no list.
  const { namespace, name: clusterName } = cluster.cluster;
  // Without config/preflight this program creates no pods, so it does not read those that others have created.
  const mayCreate = api.mayPreflight(namespace);
  const listed = async (): Promise<readonly Json[]> =>
    (await mayCreate) ? await api.listPreflightPods(namespace, clusterName, uid) : [];
  const pods = await answerOrError(listed());
  const podOf = (one: NodeQuestion): ListedPod =>
    pods instanceof ApiError ? pods : (pods.find((pod) => identityOf(pod).name === nameOf(one)) ?? null);
  const failingBefore = known?.failing ?? new Map<string, number>();
  const failing = pods instanceof ApiError ? failingBefore : failingAmong(pods, failingBefore, now);
  const before = questionsOf(preflightOf(cluster, policy, last));
  const followed = before.filter(({ trying }) => trying).map((one) => inspected(one, podOf(one), failing, observed));
  const idle = before.filter(({ trying }) => !trying);
  const tried = [...followed, ...(begins ? await askAll(idle, followed, new Asker(asking, podOf, mayCreate)) : idle)];
  const kept = new Set(tried.filter(({ trying }) => trying).map(nameOf));
  const over = (pods instanceof ApiError ? [] : pods).filter(
    (pod) => !kept.has(identityOf(pod).name) && !isTerminating(pod),
  );
  await Promise.all(over.map((pod) => answerOrError(api.deletePreflightPod(pod))));
  for (const { about, name: node, result, message } of tried) {
    const earlier = before.find((one) => one.about === about && one.name === node);
    if (result === undefined || result === earlier?.result) continue;
    metrics.countPreflight(result);
    log.info({ cluster: key, node, result, reason: message }, 'Preflight finished on node');
  }
  return { revision, ...statusOfQuestions(tried), readAtMilliseconds: now, failing };
}

/** Resolves to the error if it is an `ApiError`. Rejects with any other error, such as the one after a shutdown. */
async function answerOrError<Answer>(asked: Promise<Answer>): Promise<Answer | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/**
 * Asks the questions that were not asked yet, those with answers that may have changed, and refused ones after their
 * delay.
 */
async function askAll(
  idle: readonly NodeQuestion[],
  followed: readonly NodeQuestion[],
  asker: Asker,
): Promise<readonly NodeQuestion[]> {
  const { objects: cluster, policy, snapshot, now: at } = asker.observed;
  const due = dueOnNodes(cluster, policy);
  const { awaited = [], refusals = [] } = snapshot.preflight ?? {};
  const isSame = ({ name, about }: NodeQuestion, next: AwaitedNode): boolean =>
    about === next.about && (about === 'configuration' || name === next.nodeName);
  // After a refusal only the refused question is asked again, because the cluster's turn to ask other nodes may be
  // over.
  const begins = refusals.length > 0 ? [] : awaited.filter((next) => !followed.some((one) => isSame(one, next)));
  const kept = idle.filter((one) => !begins.some((next) => isSame(one, next)));
  const begun = begins.map((next): NodeQuestion => {
    const { about, nodeName: name, forSeconds } = next;
    const earlier = idle.find((one) => isSame(one, next));
    const { version } = earlier ?? {};
    return { about, name, since: (forSeconds === 0 ? null : earlier?.since) ?? at, at, ...(version && { version }) };
  });
  const isDue = ({ name, result }: NodeQuestion): boolean =>
    refusals.some((one) => one.result === result && one.nodeName === name && one.againInSeconds <= 0);
  const memberOf = (one: NodeQuestion): PodRecord | undefined => {
    if (!begun.includes(one) && !isDue(one)) return undefined;
    // If possible, the same node is asked again, because one node may accept a configuration that another refuses.
    return (due.get(one.name) ?? (one.about === 'configuration' ? [...due.values()][0] : undefined))?.[0];
  };
  const all = [...kept, ...begun];
  const full = all.some(memberOf) ? await asker.nodeWithoutRoom(due) : null;
  return Promise.all(
    all.map(async (one) => {
      const member = memberOf(one);
      if (member === undefined) return one;
      if (full !== null) return settled(one, asker.observed, 'Skipped', `node ${full} is short of disk space`);
      return asker.ask(member, { ...one, name: member.node ?? one.name });
    }),
  );
}

/** Whether the version of the new image is unknown: its tag names no release, and there is no other source. */
function isVersionUnknown(observed: Pick<Observed, 'snapshot'>, template: Json): boolean {
  const version = versionOfMysqld(observed, mysqldIn(object(template['spec'])))?.version ?? null;
  return version === null || (parseMysqlVersion(version)?.patch ?? null) === null;
}

/** Asks nodes during one pass. Anything that several questions need is read once. */
class Asker {
  readonly observed: Observed;
  readonly #asking: Asking<ClusterApi>;
  readonly #podOf: (one: NodeQuestion) => ListedPod;
  #template: Promise<Json | null> | null = null;
  /** The nodes with their images, by name. */
  readonly #nodes = new Map<string, Promise<NodeRead>>();
  readonly #mayCreate: Promise<boolean>;

  constructor(asking: Asking<ClusterApi>, podOf: (one: NodeQuestion) => ListedPod, mayCreate: Promise<boolean>) {
    this.observed = asking.observed;
    this.#asking = asking;
    this.#podOf = podOf;
    this.#mayCreate = mayCreate;
  }

  /**
   * The name of a node that is short of disk space. All nodes pull the same images, so the other nodes may be short of
   * it too.
   */
  async nodeWithoutRoom(due: ReadonlyMap<string, readonly PodRecord[]>): Promise<string | null> {
    const read = async ([name, [member]]: readonly [string, readonly PodRecord[]]): Promise<string | null> => {
      if (member === undefined) return null;
      const node = await answerOrError(this.#readNode(member));
      return node !== null && node !== 'unreadable' && !(node instanceof ApiError) && hasDiskPressure(node)
        ? name
        : null;
    };
    const found = await Promise.all([...due].map(read));
    return found.find((name) => name !== null) ?? null;
  }

  #readNode(member: PodRecord): Promise<NodeRead> {
    const { api, sources } = this.#asking;
    const name = member.node ?? '';
    const node = this.#nodes.get(name) ?? readNode({ api, mayLackNodes: sources.mayLackNodes }, member);
    this.#nodes.set(name, node);
    return node;
  }

  /**
   * Creates the pod that answers the question. After an error that may be temporary, the question stays open until the
   * next check.
   */
  async ask(member: PodRecord, before: NodeQuestion): Promise<NodeQuestion> {
    const entry = { ...before, at: this.observed.now };
    const asked = await answerOrError(this.#try(member, entry));
    if (!(asked instanceof ApiError)) return asked;
    if (isAlreadyExists(asked)) {
      const listed = this.#podOf(entry);
      if (listed === null || listed instanceof ApiError || !isTerminating(listed)) return { ...entry, trying: true };
      return stillAsked(before, 'its last pod still exists');
    }
    if (refusesCreation(asked)) return settled(entry, this.observed, 'Unknown', describe(asked));
    return stillAsked(entry, describe(asked));
  }

  async #try(member: PodRecord, entry: NodeQuestion): Promise<NodeQuestion> {
    const { rollout, policy, objects: cluster } = this.observed;
    const { api } = this.#asking;
    const { namespace, node: name } = member;
    const revision = cluster.statefulSet?.updateRevision ?? '';
    const unknown = (why: string): NodeQuestion => settled(entry, this.observed, 'Unknown', why);
    this.#template ??= api.readTemplate(namespace, revision);
    const [template, templateBefore, node] = await Promise.all([
      this.#template,
      api.readTemplate(namespace, member.revision),
      this.#readNode(member),
    ]);
    if (rollout === null || template === null || templateBefore === null || name === null)
      return unknown(`the template of revision ${revision} or ${member.revision} is no longer kept`);
    const tolerations = objects(object(template['spec'])['tolerations']);
    const refusals = node === 'unreadable' ? [] : refusalsOf(node, tolerations);
    if (refusals.length > 0) return settled(entry, this.observed, 'Skipped', `the node ${refusals.join(' and ')}`);
    const has = ({ image, pullPolicy }: ReturnType<typeof imagesOf>[number]): boolean =>
      pullPolicy !== 'Always' && node !== null && node !== 'unreadable' && hasImage(node, image);
    if (entry.about === 'images' && imagesOf(template).every(has)) return settled(entry, this.observed, 'Present');
    if (!(await this.#mayCreate)) {
      return unknown(
        `moco-rollout may not create mysqlrollouts/preflight in namespace ${namespace}: apply config/preflight there`,
      );
    }
    const { uid } = rollout.metadata;
    const pod = preflightPod({
      namespace,
      clusterName: member.clusterName,
      rollout: { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, name: rollout.metadata.name, uid },
      node: name,
      revision,
      template,
      templateBefore,
      about: entry.about,
      asksVersion: isVersionUnknown(this.observed, template),
      timeoutSeconds: policy.preflightTimeoutSeconds,
    });
    await api.createPreflightPod(pod, namespace);
    return { ...entry, trying: true };
  }
}
