import { rolloutKind } from '../../api/rollout.ts';
import type { PreflightStatus } from '../../api/rollout-status.ts';
import type { Decision } from '../../core/decision.ts';
import { ApiError, isAlreadyExists, withoutRequest } from '../../kube/api-error.ts';
import { apiVersion } from '../../kube/resource.ts';
import { keyOf } from '../../kube/store.ts';
import { shortened } from '../../kube/text.ts';
import type { Log, World } from '../../kube/world.ts';
import { hasImage } from '../../moco/in-place/images.ts';
import { type Json, milliseconds, object, objects, omitUndefined, text, timestampOf } from '../../moco/json.ts';
import { refusalsOf } from '../../moco/nodes.ts';
import {
  imagesOf,
  type PreflightSaid,
  preflightName,
  preflightPod,
  readPreflightPod,
} from '../../moco/preflight-pod.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import {
  dueOnNodes,
  type KnownPreflight,
  lastPreflight,
  type NodeResult,
  preflightOf,
} from '../facts/preflight-facts.ts';
import { isRefusal } from '../reads/read-comebacks.ts';
import type { NodeContext, RecentNodes } from '../reads/read-node.ts';
import type { ClusterApi } from './cluster-client.ts';

export interface PreflightContext extends NodeContext {
  readonly api: ClusterApi;
  readonly nodes: RecentNodes;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Pick<RolloutMetrics, 'countPreflight'>;
}

/** Passes may follow each other faster than pods change. */
const againMilliseconds = 900;
const longestMessage = 448;

const asking: readonly string[] = ['PreflightRunning', 'ImageUnavailable', 'ConfigurationRefused'];

/**
 * Asks the nodes of due members whether they can run the update revision, once nothing else holds the first step, and
 * looks at the pods that find it out until none is left, whatever holds the rollout meanwhile. Resolves to `null` if
 * there is nothing to do. Rejects with `ApiError` if the API server does not answer; a pod that it refuses is a result.
 */
export async function askNodes(
  observed: ObservedFacts & { readonly decision: Decision },
  known: KnownPreflight | null,
  context: PreflightContext,
): Promise<KnownPreflight | null> {
  const { objects: cluster, policy, rollout, decision } = observed;
  const { api, world, log } = context;
  const last = lastPreflight(known, rollout);
  const asks = asking.includes(decision.hold?.rule ?? '');
  if (rollout === null || cluster.statefulSet === null || !(asks || last?.nodes.some(({ trying }) => trying)))
    return null;
  const now = world.monotonic();
  if (known !== null && now - known.readAtMilliseconds < againMilliseconds) return null;
  const { namespace, name } = cluster.cluster;
  const pods = await api.listPreflightPods(namespace, name);
  const revision = cluster.statefulSet.updateRevision;
  const before = preflightOf(cluster, policy, last)?.nodes ?? [];
  const run = new Run(observed, context, before);
  const looked = before.map((node) => (node.trying ? run.look(node, podOf(pods, run.podName(node.name))) : node));
  const tried = asks ? await run.tryAll(looked) : looked;
  const kept = new Set(tried.filter(({ trying }) => trying).map((node) => run.podName(node.name)));
  const over = pods.filter(
    (pod) => !kept.has(nameOf(pod)) && object(pod['metadata'])['deletionTimestamp'] === undefined,
  );
  await Promise.all(over.map((pod) => api.deletePreflightPod(namespace, nameOf(pod))));
  for (const { name: node, result, message } of tried) {
    const earlier = before.find((one) => one.name === node);
    if (result === undefined || result === earlier?.result) continue;
    context.metrics.countPreflight(result);
    log.info(
      { cluster: keyOf(namespace, name), node, result, reason: message },
      'a node was asked for the update revision',
    );
  }
  return { revision, nodes: tried, readAtMilliseconds: now };
}

/** The reason, without who says it and about what: the status has little room. */
const wordsOf = (error: ApiError): string => withoutRequest(error).replace(/^.* denied (the )?request: /s, '');

const nameOf = (pod: Json): string => text(object(pod['metadata'])['name']) ?? '';
const podOf = (pods: readonly Json[], name: string): Json | null => pods.find((pod) => nameOf(pod) === name) ?? null;

/** One look at the nodes of a cluster. */
class Run {
  readonly #observed: ObservedFacts;
  readonly #context: PreflightContext;
  readonly #at: string;
  /** Every node finds out the same about the configuration: the first one is asked. */
  readonly #checking: string | null;
  #template: Promise<Json | null> | null = null;

  constructor(observed: ObservedFacts, context: PreflightContext, before: PreflightStatus['nodes']) {
    const first = before[0]?.name ?? [...dueOnNodes(observed.objects, observed.policy).keys()].toSorted()[0];
    this.#observed = observed;
    this.#context = context;
    this.#at = timestampOf(context.world.wall());
    this.#checking = observed.policy.prepull === 'NodesAndConfiguration' ? (first ?? null) : null;
  }

  get #revision(): string {
    return this.#observed.objects.statefulSet?.updateRevision ?? '';
  }

  podName(node: string): string {
    return preflightName(this.#observed.rollout?.metadata.uid ?? '', this.#revision, node);
  }

  look(node: NodeResult, pod: Json | null): NodeResult {
    const said: PreflightSaid =
      pod === null
        ? { kind: 'unknown', message: 'its pod was deleted' }
        : readPreflightPod(pod, node.name === this.#checking);
    switch (said.kind) {
      case 'fetched':
        return this.#settled(node, 'Fetched');
      case 'unknown':
        return this.#settled(node, 'Unknown', said.message);
      case 'running':
        if (this.#isLate(node)) return this.#settled(node, node.result ?? 'TimedOut', said.message ?? node.message);
        return node.result === undefined ? omitUndefined({ ...node, message: said.message ?? undefined }) : node;
      default:
        return this.#settled(node, said.kind, said.message);
    }
  }

  #isLate({ name, at }: NodeResult): boolean {
    const { snapshot, policy } = this.#observed;
    const awaited = snapshot.preflight?.awaited.find(({ nodeName }) => nodeName === name)?.forSeconds;
    const seconds = awaited ?? (this.#context.world.wall() - (milliseconds(at) ?? 0)) / 1000;
    return seconds >= policy.prepullTimeoutSeconds;
  }

  #settled(
    { name, at, result: before, since }: NodeResult,
    result: NonNullable<NodeResult['result']>,
    message?: string,
  ) {
    return omitUndefined<NodeResult>({
      name,
      since: before === result ? since : this.#at,
      at,
      result,
      message: message === undefined ? undefined : shortened(message, longestMessage),
      trying: undefined,
    });
  }

  /** Asks the nodes that were not asked yet, and those again whose refusal is old enough. */
  async tryAll(nodes: readonly NodeResult[]): Promise<readonly NodeResult[]> {
    const { objects: cluster, policy, snapshot } = this.#observed;
    const due = dueOnNodes(cluster, policy);
    const isDue = ({ name, trying }: NodeResult): boolean =>
      !trying && snapshot.preflight?.refusals.some((one) => one.nodeName === name && one.againInSeconds <= 0) === true;
    const fresh = [...due].filter(([node]) => !nodes.some(({ name }) => name === node));
    const [again, begun] = await Promise.all([
      Promise.all(
        nodes.map(async (node) => {
          const pod = due.get(node.name);
          return pod !== undefined && isDue(node) ? this.#try(pod, node) : node;
        }),
      ),
      Promise.all(
        fresh
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, pod]) => this.#try(pod, { name, since: this.#at, at: this.#at })),
      ),
    ]);
    return [...again, ...begun];
  }

  async #try(member: PodRecord, before: NodeResult): Promise<NodeResult> {
    const { rollout, policy } = this.#observed;
    const { api, nodes } = this.#context;
    const { namespace, node: name } = member;
    const entry = { ...before, at: this.#at };
    this.#template ??= api.readTemplate(namespace, this.#revision);
    const [template, templateBefore, node] = await Promise.all([
      this.#template,
      api.readTemplate(namespace, member.revision),
      nodes.read(this.#context, member),
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
    const checksConfiguration = name === this.#checking;
    const has = ({ image, pullPolicy }: ReturnType<typeof imagesOf>[number]): boolean =>
      pullPolicy === 'IfNotPresent' && node !== null && node !== 'unreadable' && hasImage(node, image);
    if (!checksConfiguration && imagesOf(template).every(has)) return this.#settled(entry, 'Present');
    const { uid } = rollout.metadata;
    const pod = preflightPod({
      namespace,
      clusterName: member.clusterName,
      rollout: { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, name: rollout.metadata.name, uid },
      node: name,
      revision: this.#revision,
      template,
      templateBefore,
      checksConfiguration,
      timeoutSeconds: policy.prepullTimeoutSeconds,
    });
    try {
      await api.createPreflightPod(pod, namespace);
    } catch (error) {
      if (isAlreadyExists(error)) return { ...entry, trying: true };
      if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
      return this.#settled(entry, 'Unknown', wordsOf(error));
    }
    return { ...entry, trying: true };
  }
}
