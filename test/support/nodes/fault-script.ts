import { type ContainerFault, noPodFaults, type PodFaults } from './faults.ts';

/** Faults of a name: of one incarnation of the pod, or (uid `null`) of whichever pod has that name. */
interface Entry {
  readonly uid: string | null;
  readonly faults: PodFaults;
}

/** The current faults of pods. The successor of a faulty pod has none. */
export class FaultScript {
  readonly #entries = new Map<string, Entry>();

  of(namespace: string, name: string, uid: string): PodFaults {
    const entry = this.#entries.get(`${namespace}/${name}`);
    return entry === undefined || (entry.uid !== null && entry.uid !== uid) ? noPodFaults : entry.faults;
  }

  change(namespace: string, name: string, uid: string | null, change: (faults: PodFaults) => PodFaults): void {
    const key = `${namespace}/${name}`;
    const before = this.#entries.get(key);
    const faults = before !== undefined && before.uid === uid ? before.faults : noPodFaults;
    this.#entries.set(key, { uid, faults: change(faults) });
  }

  heal(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const before = this.#entries.get(key);
    if (before !== undefined) {
      // Requested restarts stay counted, or the next request would count as done.
      this.#entries.set(key, { ...before, faults: { ...noPodFaults, restarts: before.faults.restarts } });
    }
  }
}

export function withContainerFault(container: string, fault: ContainerFault): (faults: PodFaults) => PodFaults {
  return (faults) => ({ ...faults, containers: { ...faults.containers, [container]: fault } });
}

export function withRestart(container: string): (faults: PodFaults) => PodFaults {
  return (faults) => ({
    ...faults,
    restarts: { ...faults.restarts, [container]: (faults.restarts[container] ?? 0) + 1 },
  });
}
