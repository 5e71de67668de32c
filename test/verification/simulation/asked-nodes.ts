import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { revisionHashLabel } from '../../../src/moco/names.ts';
import { type ApiAnswer, type ApiRequest, isDryRun } from '../../support/api-server/api-answer.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { nodeNames } from '../../support/nodes/cluster-objects.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import { askedFor } from '../../support/nodes/scheduler.ts';
import { isMember } from './members.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';

/** So long may a process that sees and writes go by what was before. */
const patienceMilliseconds = 30_000;

/**
 * Which pods the program makes to have images fetched, and deletes. Objects if it makes one although for a while nothing
 * is to be asked, or touches one that it has not made.
 */
export class AskedNodes {
  readonly #simulation: Simulation;
  /** Of the MySQLRollouts that there have been. */
  readonly #rollouts = new Set<string>();
  /** Why no node, or one of them, is to be asked, since when. */
  #reasons: ReadonlyMap<string, number> = new Map();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  changed({ kind, object }: StoreChange): void {
    if (kind === rolloutKind) this.#rollouts.add(object.metadata.uid);
    if (kind !== rolloutKind && kind !== pods && kind !== statefulSets) return;
    const now = this.#simulation.clock.nowMilliseconds;
    const before = this.#reasons;
    this.#reasons = new Map(this.#reasonsNow().map((reason) => [reason, before.get(reason) ?? now]));
  }

  answered(request: ApiRequest, { code }: ApiAnswer): void {
    const { method, path, actor, body } = request;
    const target = resourceAt(path);
    const isNewPod = method === 'POST' && target?.kind === pods && target.name === null;
    if (!isNewPod || code >= 300 || !actor.startsWith('controller-') || isDryRun(request)) return;
    const made = body as unknown as StoredObject;
    if (!this.isOfProgram(made))
      this.#object(`${actor} made ${made.metadata.name}, which its MySQLRollout does not own`);
    const node = askedFor(made as unknown as Pod) ?? '';
    const { clock, ability } = this.#simulation;
    const from = clock.nowMilliseconds - patienceMilliseconds;
    if (!ability.isGiven(from, clock.nowMilliseconds)) return;
    for (const reason of ['prepull is off', 'the rollout is paused', notStale(node)]) {
      const since = this.#reasons.get(reason);
      if (since !== undefined && since < from) this.#object(`${actor} asked ${node} although ${reason}`);
    }
  }

  /** Made by the program: it is of the kind, and a MySQLRollout owns it. */
  isOfProgram({ metadata, spec }: StoredObject): boolean {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    return record(spec)['restartPolicy'] === 'Never' && this.#rollouts.has(owner?.uid ?? '');
  }

  #reasonsNow(): readonly string[] {
    const { store } = this.#simulation.server;
    const { prepull, paused } = record(store.get(rolloutKind, namespace, clusterName)?.['spec']);
    const set = record(store.get(statefulSets, namespace, `moco-${clusterName}`)?.['status']);
    const stale = store
      .all(pods)
      .filter((pod) => isMember(pod) && pod.metadata.labels?.[revisionHashLabel] !== set['updateRevision'])
      .map(({ spec }) => record(spec)['nodeName']);
    return [
      ...(prepull === 'Nodes' ? [] : ['prepull is off']),
      ...(paused === true ? ['the rollout is paused'] : []),
      ...nodeNames.filter((name) => !stale.includes(name)).map(notStale),
    ];
  }

  #object(text: string): void {
    this.#simulation.witness.object('preflight', text, this.#simulation.clock.nowMilliseconds);
  }
}

const notStale = (node: string): string => `no member on ${node} is stale`;
