import { text } from '../../../src/base/json.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../src/kube/resource.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { dataVolume } from '../../support/moco/names.ts';
import type { Disruption } from '../witness/disruption.ts';
import { participates } from '../witness/member.ts';
import type { Member } from '../witness/moment.ts';
import type { Simulation } from './simulation.ts';

/** Answers count for 5 s, and are asked for again before the confirmation begins. */
const answersMilliseconds = 6_000;
/** So long a member that does not answer is waited for. */
const silenceMilliseconds = 120_000;
/** A Lease counts for its duration and 15 s, from a reading that may be half as old as one counts. */
const leaseMilliseconds = 45_000;

/**
 * What a step that takes a member that works relies on, in truth and not by the objects: the other members can be
 * reached, moco-controller runs, and the claim still has the data.
 */
export class Reliance {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  disrupted({ verb, ordinal, uid, confirmingSince }: Disruption): void {
    const { moco, witness, clock, moment } = this.#simulation;
    if (verb !== 'delete' && verb !== 'evict') return;
    const taken = moment.members.find(({ pod }) => pod.metadata.uid === uid);
    if (taken === undefined || !participates(moment, undeleted(taken))) return;
    const before = confirmingSince.atMilliseconds;
    for (const other of moment.members.filter((one) => one !== taken && participates(moment, one))) {
      const since = moco.unreachedSince.get(other.ordinal) ?? before;
      if (since >= before - answersMilliseconds || clock.nowMilliseconds - since > silenceMilliseconds) continue;
      const seconds = Math.round((clock.nowMilliseconds - since) / 1000);
      witness.object(
        'silent',
        `took ${ordinal} although ${other.ordinal} had not answered for ${seconds} s`,
        clock.nowMilliseconds,
      );
    }
    const away = moco.awaySinceMilliseconds;
    if (away !== null && away < before - leaseMilliseconds) {
      const seconds = Math.round((clock.nowMilliseconds - away) / 1000);
      witness.object('moco', `took ${ordinal} although MOCO had been away for ${seconds} s`, clock.nowMilliseconds);
    }
    const lie = this.#lieOf(taken);
    if (lie !== null) witness.object('claim', `took ${ordinal} although its claim ${lie}`, clock.nowMilliseconds);
  }

  #lieOf({ pod }: Member): string | null {
    const { namespace, server } = this.#simulation;
    const { store } = server;
    const claim = store.get(persistentVolumeClaims, namespace, `${dataVolume}-${pod.metadata.name}`);
    if (claim === null) return 'did not exist';
    const { phase } = record(claim['status']);
    if (phase !== 'Bound') return `was ${String(phase)}`;
    if (store.get(persistentVolumes, '', String(record(claim['spec'])['volumeName'])) === null) return 'had no volume';
    const made = claim.metadata['creationTimestamp'] ?? '';
    const started = text(record(pod.status)['startTime']);
    return started !== null && made > started ? 'was made after the pod had started' : null;
  }
}

/** Until it was taken. */
function undeleted(member: Member): Member {
  const { deletionTimestamp: _, ...metadata } = member.pod.metadata;
  return { ...member, pod: { ...member.pod, metadata } };
}
