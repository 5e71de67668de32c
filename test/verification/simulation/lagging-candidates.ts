import type { CloneReading, DelayReading } from '../../../src/core/on-demand-facts.ts';
import type { DelayReader } from '../../../src/moco/agent.ts';
import { record } from '../../support/api-server/stored-object.ts';
import type { Disruption } from '../witness/disruption.ts';
import { participates } from '../witness/member.ts';
import type { Simulation } from './simulation.ts';

/** From this on the agent calls a replica not ready: MOCO's `maxDelaySeconds`. */
const notReadySeconds = 60;

/**
 * The agents of the members, which say how far their replicas lag. Objects if the program asks for a switchover while
 * the replica that MOCO chooses has lagged since before the confirmation began: writes would be blocked.
 */
export class LaggingCandidates implements DelayReader {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  read({ ordinal }: { readonly ordinal: number }): Promise<DelayReading> {
    const { faults } = this.#simulation.moco;
    if (faults.unreachable.includes(ordinal)) return Promise.resolve({ kind: 'unknown', message: 'no route to host' });
    const seconds = faults.lagSeconds[ordinal] ?? 0;
    return Promise.resolve(
      seconds < notReadySeconds ? { kind: 'delay', seconds } : { kind: 'notReplicating', message: `lag=${seconds}s` },
    );
  }

  /** MOCO clones no member here. */
  readClone(): Promise<CloneReading> {
    return Promise.resolve({ kind: 'notCloning' });
  }

  disrupted({ verb, ordinal, uid, confirmingSince }: Disruption): void {
    const { moco, cluster, witness, clock, members } = this.#simulation;
    const primary = Number(record(cluster?.['status'])['currentPrimaryIndex'] ?? 0);
    const demotes = verb === 'demote';
    // MOCO fails over then, and waits for the same replica.
    const takes = verb === 'delete' || verb === 'evict';
    const serves = takes && ordinal === primary && members.length > 1 && this.#participated(uid);
    if (!demotes && !serves) return;
    const candidate = primary === 0 ? 1 : 0;
    const { seconds, sinceMilliseconds } = moco.lagOf(candidate);
    if (seconds === 0 || sinceMilliseconds >= confirmingSince.atMilliseconds) return;
    const what = demotes ? 'asked for a switchover' : 'deleted a primary that works: a failover';
    const text = `${what} towards ordinal ${candidate}, which was ${seconds} s behind`;
    witness.object('lag', text, clock.nowMilliseconds);
  }

  /** Until it was taken. */
  #participated(uid: string): boolean {
    const { moment } = this.#simulation;
    const found = moment.members.find(({ pod }) => pod.metadata.uid === uid);
    if (found === undefined) return false;
    const { deletionTimestamp: _, ...metadata } = found.pod.metadata;
    return participates(moment, { ...found, pod: { ...found.pod, metadata } });
  }
}
