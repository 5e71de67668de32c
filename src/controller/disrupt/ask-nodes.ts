import { rolloutKind } from '../../api/rollout.ts';
import type { AwaitedNode } from '../../core/on-demand-facts.ts';
import { ApiError, isAlreadyExists, withoutRequest } from '../../kube/api-error.ts';
import { apiVersion } from '../../kube/resource.ts';
import { shortened } from '../../kube/text.ts';
import { hasImage } from '../../moco/in-place/images.ts';
import { identityOf, type Json, milliseconds, object, objects, omitUndefined, timestampOf } from '../../moco/json.ts';
import { hasDiskPressure, refusalsOf } from '../../moco/nodes.ts';
import {
  imagesOf,
  type PreflightSaid,
  preflightName,
  preflightPod,
  readPreflightPod,
} from '../../moco/preflight-pod.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import {
  dueOnNodes,
  isRefused,
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
import { isRefusal } from '../reads/read-comebacks.ts';

/** Passes may follow each other faster than pods change. */
const againMilliseconds = 900;
const longestMessage = 448;
/**
 * Within this time the kubelet has tried a second time. A registry that was busy once, or a connection that broke,
 * holds no rollout.
 */
const failingMilliseconds = 30_000;

/**
 * Asks the nodes of due members whether they can run the update revision, once nothing else holds the first step, and
 * looks at the pods that find it out until none is left, whatever holds the rollout meanwhile. Resolves to `null` if
 * there is nothing to do. What the API server answers to any of it is at most a result: it never ends a pass.
 */
export async function askNodes(
  observed: Observation,
  pass: Pass<ClusterApi>,
): Promise<Pick<Readings, 'preflight'> | null> {
  const { objects: cluster, policy, rollout, decision } = observed;
  const { key, api, context } = pass;
  const { world, log, metrics } = context;
  const known = pass.memory.readings.preflight;
  const last = lastPreflight(known, rollout);
  const asks = isAsking(decision.hold?.rule);
  if (rollout === null || cluster.statefulSet === null || !(asks || questionsOf(last).some(({ trying }) => trying)))
    return null;
  const now = world.monotonic();
  if (known !== null && now - known.readAtMilliseconds < againMilliseconds) return null;
  const { namespace, name } = cluster.cluster;
  // Those of this look, or why there are none.
  const pods = await answerOrError(api.listPreflightPods(namespace, name, rollout.metadata.uid));
  const revision = cluster.statefulSet.updateRevision;
  const before = questionsOf(preflightOf(cluster, policy, last));
  const run = new Run(observed, pass, pods);
  const [trying, idle] = [before.filter((one) => one.trying), before.filter((one) => !one.trying)];
  const looked = trying.map((one) => run.look(one));
  const tried = [...looked, ...(asks ? await run.askAll(idle, looked) : idle)];
  const kept = new Set(tried.filter(({ trying }) => trying).map((one) => run.podName(one)));
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
  const failing = (pods instanceof ApiError && known?.failing) || run.failing;
  return { preflight: { revision, ...statusOfQuestions(tried), readAtMilliseconds: now, failing } };
}

/** The reason, without who says it and about what: the status has little room. */
const wordsOf = (error: ApiError): string => withoutRequest(error).replace(/^.* denied (the )?request: /s, '');

/** Rejects with any other error, such as that of a shutdown. */
async function answerOrError<Answer>(asked: Promise<Answer>): Promise<Answer | ApiError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const isTerminating = (pod: Json): boolean => object(pod['metadata'])['deletionTimestamp'] !== undefined;

/** One look at the nodes of a cluster. */
class Run {
  readonly #observed: Observation;
  readonly #pass: Pass<ClusterApi>;
  /** As they were listed at the beginning of this look, or why they were not. */
  readonly #pods: readonly Json[] | ApiError;
  readonly #at: string;
  #template: Promise<Json | null> | null = null;
  #mayCreate: Promise<boolean> | null = null;

  /** As it is after this look. */
  readonly failing = new Map<string, number>();

  constructor(observed: Observation, pass: Pass<ClusterApi>, pods: readonly Json[] | ApiError) {
    this.#pods = pods;
    this.#observed = observed;
    this.#pass = pass;
    this.#at = timestampOf(pass.context.world.wall());
  }

  get #revision(): string {
    return this.#observed.objects.statefulSet?.updateRevision ?? '';
  }

  podName({ name, about }: NodeQuestion): string {
    return preflightName(this.#observed.rollout?.metadata.uid ?? '', this.#revision, name, about);
  }

  #podOf(one: NodeQuestion): Json | ApiError | null {
    const name = this.podName(one);
    return this.#pods instanceof ApiError
      ? this.#pods
      : (this.#pods.find((pod) => identityOf(pod).name === name) ?? null);
  }

  look(one: NodeQuestion): NodeQuestion {
    const pod = this.#podOf(one);
    const said = this.#said(one, pod);
    switch (said.kind) {
      case 'fetched':
        return this.#settled(one, one.about === 'configuration' ? 'Accepted' : 'Fetched');
      case 'timedOut':
        return this.#settled(one, 'TimedOut', one.message);
      case 'unknown':
        return this.#settled(one, 'Unknown', said.message);
      case 'failing':
        return isRefused(one) || this.#isLate(one) || this.#isFailing(pod)
          ? this.#settled(one, 'ImageUnavailable', said.message)
          : { ...one, message: shortened(said.message, longestMessage) };
      case 'running':
        if (this.#isLate(one)) return this.#settled(one, 'TimedOut', said.message ?? one.message);
        return isRefused(one) ? one : omitUndefined({ ...one, message: said.message ?? undefined });
      default:
        return this.#settled(one, said.kind, said.message);
    }
  }

  #said({ about }: NodeQuestion, pod: Json | ApiError | null): PreflightSaid {
    if (pod instanceof ApiError) return { kind: 'running', message: wordsOf(pod) };
    if (pod === null)
      return { kind: 'unknown', message: 'its pod was deleted, or a pod of somebody else has its name' };
    // What it says may be the answer to an earlier question.
    if (isTerminating(pod)) return { kind: 'running', message: 'its pod is being deleted' };
    return readPreflightPod(pod, about === 'configuration');
  }

  /** Whether it has been for long enough to be no accident. */
  #isFailing(pod: Json | ApiError | null): boolean {
    const uid = pod instanceof ApiError || pod === null ? '' : identityOf(pod).uid;
    const now = this.#pass.context.world.monotonic();
    const since = this.#pass.memory.readings.preflight?.failing.get(uid) ?? now;
    this.failing.set(uid, since);
    return now - since >= failingMilliseconds;
  }

  #isLate({ name, about, at }: NodeQuestion): boolean {
    const { snapshot, policy } = this.#observed;
    const awaited = snapshot.preflight?.awaited.find((one) => one.nodeName === name && one.about === about)?.forSeconds;
    const seconds = awaited ?? (this.#pass.context.world.wall() - (milliseconds(at) ?? 0)) / 1000;
    return seconds >= policy.prepullTimeoutSeconds;
  }

  /** A refusal stands until the question has an answer. */
  #settled(one: NodeQuestion, answered: NonNullable<NodeQuestion['result']>, message?: string): NodeQuestion {
    const { about, name, at, result: before, since } = one;
    const stands = isRefused(one) && (answered === 'Unknown' || answered === 'Skipped' || answered === 'TimedOut');
    const result = stands ? before : answered;
    const words = stands ? one.message : message;
    // What could not be found out is asked again, and all tries together have one limit.
    const isOpen = result === 'Unknown' || result === 'Skipped';
    return omitUndefined<NodeQuestion>({
      about,
      name,
      since: before === result || isOpen ? since : this.#at,
      at,
      result,
      message: words === undefined ? undefined : shortened(words, longestMessage),
      trying: undefined,
    });
  }

  /** Asks what was not asked yet or may have changed, and those again whose refusal is old enough. */
  async askAll(idle: readonly NodeQuestion[], looked: readonly NodeQuestion[]): Promise<readonly NodeQuestion[]> {
    const { objects: cluster, policy, snapshot } = this.#observed;
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
      return { about, name, since: before?.since ?? this.#at, at: this.#at };
    });
    const isDue = ({ name, result }: NodeQuestion): boolean =>
      refusals.some((one) => one.result === result && one.nodeName === name && one.againInSeconds <= 0);
    const memberOf = (one: NodeQuestion): PodRecord | undefined => {
      if (!begun.includes(one) && !isDue(one)) return undefined;
      // What one node says of the configuration, another one may take back.
      return (due.get(one.name) ?? (one.about === 'configuration' ? [...due.values()][0] : undefined))?.[0];
    };
    const all = [...kept, ...begun];
    const full = all.some(memberOf) ? await this.#nodeWithoutRoom(due) : null;
    return Promise.all(
      all.map(async (one) => {
        const member = memberOf(one);
        if (member === undefined) return one;
        if (full !== null) return this.#settled(one, 'Skipped', `node ${full} is short of disk space`);
        return this.#ask(member, { ...one, name: member.node ?? one.name });
      }),
    );
  }

  /** A node that runs short of disk while all of them fetch the same images: the others may be as full. */
  async #nodeWithoutRoom(due: ReadonlyMap<string, readonly PodRecord[]>): Promise<string | null> {
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
  async #ask(member: PodRecord, before: NodeQuestion): Promise<NodeQuestion> {
    const entry = { ...before, at: this.#at };
    const asked = await answerOrError(this.#try(member, entry));
    if (!(asked instanceof ApiError)) return asked;
    if (isAlreadyExists(asked)) {
      const listed = this.#podOf(entry);
      if (listed === null || listed instanceof ApiError || !isTerminating(listed)) return { ...entry, trying: true };
      return isRefused(before) ? before : { ...entry, message: 'its last pod is not gone yet' };
    }
    if (isRefusal(asked)) return this.#settled(entry, 'Unknown', wordsOf(asked));
    return isRefused(entry) ? entry : { ...entry, message: shortened(wordsOf(asked), longestMessage) };
  }

  async #try(member: PodRecord, entry: NodeQuestion): Promise<NodeQuestion> {
    const { rollout, policy } = this.#observed;
    const { api, context } = this.#pass;
    const { namespace, node: name } = member;
    this.#template ??= api.readTemplate(namespace, this.#revision);
    const [template, templateBefore, node] = await Promise.all([
      this.#template,
      api.readTemplate(namespace, member.revision),
      context.nodes.read({ ...context, api }, member),
    ]);
    if (rollout === null || template === null || templateBefore === null || name === null) {
      return this.#settled(
        entry,
        'Unknown',
        `the template of revision ${this.#revision} or ${member.revision} is not kept`,
      );
    }
    const tolerations = objects(object(template['spec'])['tolerations']);
    const refusals = node === 'unreadable' ? [] : refusalsOf(node, tolerations);
    if (refusals.length > 0) return this.#settled(entry, 'Skipped', `the node ${refusals.join(' and ')}`);
    const has = ({ image, pullPolicy }: ReturnType<typeof imagesOf>[number]): boolean =>
      pullPolicy !== 'Always' && node !== null && node !== 'unreadable' && hasImage(node, image);
    if (entry.about === 'images' && imagesOf(template).every(has)) return this.#settled(entry, 'Present');
    this.#mayCreate ??= api.mayPreflight(namespace);
    if (!(await this.#mayCreate)) {
      return this.#settled(
        entry,
        'Unknown',
        `moco-rollout may not create mysqlrollouts/preflight in namespace ${namespace}: apply config/prepull there`,
      );
    }
    const { uid } = rollout.metadata;
    const pod = preflightPod({
      namespace,
      clusterName: member.clusterName,
      rollout: { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, name: rollout.metadata.name, uid },
      node: name,
      revision: this.#revision,
      template,
      templateBefore,
      about: entry.about,
      timeoutSeconds: policy.prepullTimeoutSeconds,
    });
    await api.createPreflightPod(pod, namespace);
    return { ...entry, trying: true };
  }
}
