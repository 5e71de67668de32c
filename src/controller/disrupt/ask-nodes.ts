import { rolloutKind } from '../../api/rollout.ts';
import { identityOf, type Json, object, objects } from '../../base/json.ts';
import type { AwaitedNode } from '../../core/on-demand-facts.ts';
import { ApiError, isAlreadyExists } from '../../kube/api-error.ts';
import { apiVersion } from '../../kube/resource.ts';
import { hasImage } from '../../moco/in-place/images.ts';
import { hasDiskPressure, refusalsOf } from '../../moco/nodes.ts';
import { imagesOf, preflightName, preflightPod } from '../../moco/preflight-pod.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import {
  dueOnNodes,
  lastPreflight,
  type NodeQuestion,
  preflightOf,
  questionsOf,
  statusOfQuestions,
} from '../facts/preflight-facts.ts';
import type { Readings } from '../facts/readings.ts';
import { isAsking } from '../fleet/fleet-standing.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';
import { isRefusal } from '../reads/read-recreatable.ts';
import {
  failingAmong,
  isTerminating,
  type ListedPod,
  lookedAt,
  settled,
  stillAsked,
  wordsOf,
} from './look-at-nodes.ts';

/** Passes may follow each other faster than pods change. */
const againMilliseconds = 900;

/**
 * Asks the nodes of due members whether they can run the update revision, once nothing else holds the first step, and
 * looks at the pods that find it out until none is left, whatever holds the rollout meanwhile. Resolves to `null` if
 * there is nothing to do. What the API server answers to any of it is at most a result: it never ends a pass.
 */
export async function askNodes(
  observed: Observation,
  pass: Pass<ClusterApi>,
): Promise<Pick<Readings, 'preflight'> | null> {
  const { objects: cluster, policy, rollout, decision, nowMilliseconds: now } = observed;
  const { key, api, context } = pass;
  const { log, metrics } = context;
  const known = pass.memory.readings.preflight;
  const last = lastPreflight(known, rollout);
  const asks = isAsking(decision.hold?.rule);
  if (rollout === null || cluster.statefulSet === null || !(asks || questionsOf(last).some(({ trying }) => trying)))
    return null;
  if (known !== null && now - known.readAtMilliseconds < againMilliseconds) return null;
  const { uid } = rollout.metadata;
  const { updateRevision: revision } = cluster.statefulSet;
  const nameOf = ({ name, about }: NodeQuestion): string => preflightName(uid, revision, name, about);
  // Those of this look, or why there are none.
  const { namespace, name: clusterName } = cluster.cluster;
  const pods = await answerOrError(api.listPreflightPods(namespace, clusterName, uid));
  const podOf = (one: NodeQuestion): ListedPod =>
    pods instanceof ApiError ? pods : (pods.find((pod) => identityOf(pod).name === nameOf(one)) ?? null);
  const failingBefore = known?.failing ?? new Map<string, number>();
  const failing = pods instanceof ApiError ? failingBefore : failingAmong(pods, failingBefore, now);
  const before = questionsOf(preflightOf(cluster, policy, last));
  const looked = before.filter(({ trying }) => trying).map((one) => lookedAt(one, podOf(one), failing, observed));
  const idle = before.filter(({ trying }) => !trying);
  const tried = [...looked, ...(asks ? await askAll(idle, looked, new Asker(observed, pass, podOf)) : idle)];
  const kept = new Set(tried.filter(({ trying }) => trying).map(nameOf));
  const over = (pods instanceof ApiError ? [] : pods).filter(
    (pod) => !kept.has(identityOf(pod).name) && !isTerminating(pod),
  );
  await Promise.all(over.map((pod) => answerOrError(api.deletePreflightPod(pod))));
  for (const { about, name: node, result, message } of tried) {
    const earlier = before.find((one) => one.about === about && one.name === node);
    if (result === undefined || result === earlier?.result) continue;
    metrics.countPreflight(result);
    log.info({ cluster: key, node, result, reason: message }, 'a node was asked for the update revision');
  }
  return { preflight: { revision, ...statusOfQuestions(tried), readAtMilliseconds: now, failing } };
}

/** Rejects with any other error, such as that of a shutdown. */
async function answerOrError<Answer>(asked: Promise<Answer>): Promise<Answer | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Asks what was not asked yet or may have changed, and those again whose refusal is old enough. */
async function askAll(
  idle: readonly NodeQuestion[],
  looked: readonly NodeQuestion[],
  asker: Asker,
): Promise<readonly NodeQuestion[]> {
  const { objects: cluster, policy, snapshot, now: at } = asker.observed;
  const due = dueOnNodes(cluster, policy);
  const { awaited = [], refusals = [] } = snapshot.preflight ?? {};
  const isSame = ({ name, about }: NodeQuestion, next: AwaitedNode): boolean =>
    about === next.about && (about === 'configuration' || name === next.nodeName);
  // Where a node refuses, only that is asked: this cluster's turn to ask others may be over.
  const begins = refusals.length > 0 ? [] : awaited.filter((next) => !looked.some((one) => isSame(one, next)));
  const kept = idle.filter((one) => !begins.some((next) => isSame(one, next)));
  const begun = begins.map((next): NodeQuestion => {
    const { about, nodeName: name, forSeconds } = next;
    const before = forSeconds === 0 ? undefined : idle.find((one) => isSame(one, next));
    return { about, name, since: before?.since ?? at, at };
  });
  const isDue = ({ name, result }: NodeQuestion): boolean =>
    refusals.some((one) => one.result === result && one.nodeName === name && one.againInSeconds <= 0);
  const memberOf = (one: NodeQuestion): PodRecord | undefined => {
    if (!begun.includes(one) && !isDue(one)) return undefined;
    // What one node says of the configuration, another one may take back.
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

/** Asks nodes during one look. What the questions have in common is read once. */
class Asker {
  readonly observed: Observation;
  readonly #pass: Pass<ClusterApi>;
  readonly #podOf: (one: NodeQuestion) => ListedPod;
  #template: Promise<Json | null> | null = null;
  #mayCreate: Promise<boolean> | null = null;

  constructor(observed: Observation, pass: Pass<ClusterApi>, podOf: (one: NodeQuestion) => ListedPod) {
    this.observed = observed;
    this.#pass = pass;
    this.#podOf = podOf;
  }

  /** A node that runs short of disk while all of them fetch the same images: the others may be as full. */
  async nodeWithoutRoom(due: ReadonlyMap<string, readonly PodRecord[]>): Promise<string | null> {
    const { api, context } = this.#pass;
    const read = async ([name, [member]]: readonly [string, readonly PodRecord[]]): Promise<string | null> => {
      if (member === undefined) return null;
      const node = await answerOrError(context.nodes.read({ ...context, api }, member));
      return node !== null && node !== 'unreadable' && !(node instanceof ApiError) && hasDiskPressure(node)
        ? name
        : null;
    };
    const found = await Promise.all([...due].map(read));
    return found.find((name) => name !== null) ?? null;
  }

  /** An answer of the API server that may change is asked for again at the next look, for as long as that may take. */
  async ask(member: PodRecord, before: NodeQuestion): Promise<NodeQuestion> {
    const entry = { ...before, at: this.observed.now };
    const asked = await answerOrError(this.#try(member, entry));
    if (!(asked instanceof ApiError)) return asked;
    if (isAlreadyExists(asked)) {
      const listed = this.#podOf(entry);
      if (listed === null || listed instanceof ApiError || !isTerminating(listed)) return { ...entry, trying: true };
      return stillAsked(before, 'its last pod is not gone yet');
    }
    if (isRefusal(asked)) return settled(entry, this.observed, 'Unknown', wordsOf(asked));
    return stillAsked(entry, wordsOf(asked));
  }

  async #try(member: PodRecord, entry: NodeQuestion): Promise<NodeQuestion> {
    const { rollout, policy, objects: cluster } = this.observed;
    const { api, context } = this.#pass;
    const { namespace, node: name } = member;
    const revision = cluster.statefulSet?.updateRevision ?? '';
    const unknown = (why: string): NodeQuestion => settled(entry, this.observed, 'Unknown', why);
    this.#template ??= api.readTemplate(namespace, revision);
    const [template, templateBefore, node] = await Promise.all([
      this.#template,
      api.readTemplate(namespace, member.revision),
      context.nodes.read({ ...context, api }, member),
    ]);
    if (rollout === null || template === null || templateBefore === null || name === null)
      return unknown(`the template of revision ${revision} or ${member.revision} is not kept`);
    const tolerations = objects(object(template['spec'])['tolerations']);
    const refusals = node === 'unreadable' ? [] : refusalsOf(node, tolerations);
    if (refusals.length > 0) return settled(entry, this.observed, 'Skipped', `the node ${refusals.join(' and ')}`);
    const has = ({ image, pullPolicy }: ReturnType<typeof imagesOf>[number]): boolean =>
      pullPolicy !== 'Always' && node !== null && node !== 'unreadable' && hasImage(node, image);
    if (entry.about === 'images' && imagesOf(template).every(has)) return settled(entry, this.observed, 'Present');
    this.#mayCreate ??= api.mayPreflight(namespace);
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
      timeoutSeconds: policy.preflightTimeoutSeconds,
    });
    await api.createPreflightPod(pod, namespace);
    return { ...entry, trying: true };
  }
}
