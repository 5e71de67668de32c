import type { DelayReading } from '../../../src/core/on-demand-facts.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import type { DelayReader } from '../../../src/moco/agent.ts';
import { annotationOn, demoteAnnotation } from '../../../src/moco/names.ts';
import type { ApiAnswer, ApiRequest } from '../../support/api-server/api-answer.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { participates } from '../witness/member.ts';
import type { Sent } from './network.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';

const controllers = /^controller-/;
/** From this on the agent calls a replica not ready: MOCO's `maxDelaySeconds`. */
const notReadySeconds = 60;

/**
 * The agents of the members, which say how far their replicas lag. Objects if the program asks for a switchover while
 * the replica that MOCO chooses has lagged since before the confirmation began: writes would be blocked.
 */
export class LaggingCandidates implements DelayReader {
  readonly #simulation: Simulation;
  /** By process: when its last confirmation began. */
  readonly #confirmingSince = new Map<string, number>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    simulation.server.onRequest((request, answer) => this.#answered(request, answer));
  }

  read({ ordinal }: { readonly ordinal: number }): Promise<DelayReading> {
    const { faults } = this.#simulation.moco;
    if (faults.unreachable.includes(ordinal)) return Promise.resolve({ kind: 'unknown', message: 'no route to host' });
    const seconds = faults.lagSeconds[ordinal] ?? 0;
    return Promise.resolve(
      seconds < notReadySeconds ? { kind: 'delay', seconds } : { kind: 'notReplicating', message: `lag=${seconds}s` },
    );
  }

  sent({ method, path, actor, atMilliseconds }: Sent): void {
    const target = resourceAt(path);
    if (method !== 'GET' || target?.kind !== statefulSets || target.name === null) return;
    this.#confirmingSince.set(actor, atMilliseconds);
  }

  #answered({ method, path, actor, body }: ApiRequest, { code }: ApiAnswer): void {
    const target = resourceAt(path);
    if (!controllers.test(actor) || code >= 300 || target?.kind !== pods || target.name === null) return;
    const { moco, cluster, witness, clock, members } = this.#simulation;
    const primary = Number(record(cluster?.['status'])['currentPrimaryIndex'] ?? 0);
    const annotations = record(record(record(body)['metadata'])['annotations']);
    const demotes = method === 'PATCH' && annotations[demoteAnnotation] === annotationOn;
    // MOCO fails over then, and waits for the same replica.
    const takes = method === 'DELETE' || target.subresource === 'eviction';
    const serves =
      takes && target.name.endsWith(`-${primary}`) && members.length > 1 && this.#participated(target.name);
    if (!demotes && !serves) return;
    const candidate = primary === 0 ? 1 : 0;
    const { seconds, sinceMilliseconds } = moco.lagOf(candidate);
    if (seconds === 0 || sinceMilliseconds >= (this.#confirmingSince.get(actor) ?? 0)) return;
    const what = demotes ? 'asked for a switchover' : 'deleted a primary that works: a failover';
    const text = `${what} towards ordinal ${candidate}, which was ${seconds} s behind`;
    witness.object('lag', text, clock.nowMilliseconds);
  }

  /** Until it was taken. */
  #participated(podName: string): boolean {
    const { witness } = this.#simulation;
    const moment = witness.latest(`${namespace}/${clusterName}`);
    const found = moment.members.find(({ pod }) => pod.metadata.name === podName);
    if (found === undefined) return false;
    const { deletionTimestamp: _, ...metadata } = found.pod.metadata;
    return participates(moment, { ...found, pod: { ...found.pod, metadata } });
  }
}
