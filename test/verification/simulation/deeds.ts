import type { StrategySettings } from '../../../src/controller/facts/mode.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusterNameLabel,
  demoteAnnotation,
  restartInPlaceAnnotation,
  revisionHashLabel,
  statefulSetName,
  strategyLabel,
} from '../../../src/moco/names.ts';
import { type ApiAnswer, type ApiRequest, isDryRun } from '../../support/api-server/api-answer.ts';
import { type ResourcePath, resourceAt } from '../../support/api-server/resource-path.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Disruption } from '../witness/disruption.ts';
import { isMember } from './members.ts';
import type { Sent } from './network.ts';
import type { Platform } from './platform.ts';
import { clusterName } from './simulation.ts';

const controllers = /^controller-/;

/**
 * Finds the members that the controller disrupts among all requests, and when the confirmation began: with the last
 * read of the StatefulSet by name.
 */
export class Deeds {
  readonly #platform: Platform;
  /** By process and namespace. */
  readonly #asked = new Map<string, Sent>();
  /** By process. */
  readonly #strategies = new Map<string, StrategySettings>();

  readonly #onDisruption: (disruption: Disruption, namespace: string) => void;

  constructor(platform: Platform, onDisruption: (disruption: Disruption, namespace: string) => void) {
    this.#platform = platform;
    this.#onDisruption = onDisruption;
    platform.server.onRequest((request, answer, before) => this.#answered(request, answer, before));
  }

  started(actor: string, strategies: StrategySettings): void {
    this.#strategies.set(actor, strategies);
  }

  sent(sent: Sent): void {
    if (sent.method !== 'GET') return;
    const target = resourceAt(sent.path);
    if (target?.kind === statefulSets && target.name !== null)
      this.#asked.set(`${sent.actor} ${target.namespace}`, sent);
  }

  #answered(request: ApiRequest, { code }: ApiAnswer, before: number): void {
    const { method, path, actor, body } = request;
    if (!controllers.test(actor) || code >= 300 || method === 'GET' || isDryRun(request)) return;
    const target = resourceAt(path);
    if (target === null || target.name === null) return;
    const { kind, namespace, name, subresource } = target;
    if (this.#isForbidden(request, target)) {
      const { witness, clock } = this.#platform;
      witness.object('I10', `${method} ${path} by ${actor}, with the gate off`, clock.nowMilliseconds);
    }
    if (kind === pods && (method === 'DELETE' || subresource === 'eviction')) {
      this.#disrupted(method === 'DELETE' ? 'delete' : 'evict', actor, namespace, name, before);
    }
    if (kind === pods && method === 'PATCH' && subresource === 'resize') {
      this.#disrupted('resize', actor, namespace, name, before);
    }
    if (kind === pods && method === 'PATCH' && subresource === null) {
      const { containers = [] } = record(record(body)['spec']);
      const annotations = record(record(record(body)['metadata'])['annotations']);
      if (annotations[demoteAnnotation] === annotationOn) this.#disrupted('demote', actor, namespace, name, before);
      this.#restartedInPlace(containers as readonly Json[], actor, namespace, name, before);
    }
    const strategy = record(record(record(body)['spec'])['updateStrategy']);
    const { partition } = record(strategy['rollingUpdate']);
    if (kind === statefulSets && method === 'PATCH' && typeof partition === 'number') {
      const set = this.#platform.server.store.get(kind, namespace, name);
      const pod = this.#platform.server.store.get(pods, namespace, `${name}-${partition}`);
      if (set !== null && pod !== null && isStale(set, pod)) {
        this.#disrupted('setPartition', actor, namespace, pod.metadata.name, before);
      }
    }
  }

  /**
   * With the gate off a process releases what another one has taken, for which it promotes a revision, and lowers partitions
   * if that is this program's. Which members it may delete then, the witness judges.
   */
  #isForbidden({ actor, body }: ApiRequest, { kind, name, subresource }: ResourcePath): boolean {
    const { onDeleteEnabled, partitionDriver } = this.#strategies.get(actor) ?? {};
    const isOfMoco = name?.startsWith(statefulSetName(clusterName)) === true;
    if (onDeleteEnabled === true || !isOfMoco || (kind !== pods && kind !== statefulSets)) return false;
    const { labels, annotations } = record(record(body)['metadata']);
    const { [demoteAnnotation]: demote, [restartInPlaceAnnotation]: restart } = record(annotations);
    const label = record(labels)[strategyLabel];
    if (partitionDriver === 'own') return subresource === 'eviction' || Boolean(label ?? demote);
    // With the gate off, the controller releases clusters: it may remove the label and the annotations that it has set.
    return subresource !== 'status' && ![label, demote, restart].includes(null);
  }

  /** A container restarts only where its image is: the kubelet stops it first and pulls afterwards. */
  #restartedInPlace(restarted: readonly Json[], actor: string, namespace: string, name: string, before: number): void {
    if (restarted.length === 0) return;
    const { server, nodeImages, witness, clock } = this.#platform;
    const { store } = server;
    const node = String(record(store.get(pods, namespace, name)?.['spec'])['nodeName']);
    for (const { name: container, image: given } of restarted) {
      const image = String(given);
      if (nodeImages.has(node, image)) continue;
      const text = `${String(container)} of ${name} restarts as ${image}, which its node does not have`;
      witness.object('I17', text, clock.nowMilliseconds);
    }
    const containers = restarted.map((one) => String(one['name']));
    this.#disrupted('restartInPlace', actor, namespace, name, before, containers);
  }

  #disrupted(
    verb: Disruption['verb'],
    actor: string,
    namespace: string,
    name: string,
    before: number,
    containers: readonly string[] = [],
  ): void {
    const { server, witness, clock } = this.#platform;
    const { store } = server;
    const last = store.get(pods, namespace, name) ?? lastOf(store.changesAfter(pods, before), name);
    if (last === null) return;
    if (!isMember(last)) {
      if (this.#platform.clusterIn(namespace)?.fetchers.isOfProgram(last)) return;
      return witness.object('preflight', `${actor} deleted ${name} of another client`, clock.nowMilliseconds);
    }
    const asked = this.#asked.get(`${actor} ${namespace}`);
    const atMilliseconds = clock.nowMilliseconds;
    const disruption = {
      verb,
      containers,
      actor,
      cluster: `${namespace}/${last.metadata.labels?.[clusterNameLabel] ?? ''}`,
      uid: last.metadata.uid,
      ordinal: Number(name.slice(name.lastIndexOf('-') + 1)),
      confirmingSince: asked ?? { revision: before, atMilliseconds },
      before,
      atMilliseconds,
    };
    this.#onDisruption(disruption, namespace);
  }
}

function lastOf(changes: readonly { readonly object: StoredObject }[], name: string): StoredObject | null {
  return changes.findLast(({ object }) => object.metadata.name === name)?.object ?? null;
}

function isStale(set: StoredObject, pod: StoredObject): boolean {
  return pod.metadata.labels?.[revisionHashLabel] !== record(set['status'])['updateRevision'];
}
