import { type ContainerFault, noPodFaults, type PodFaults } from './faults.ts';
import { kubeletStep } from './kubelet.ts';
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from './objects.ts';
import type { PodMemory } from './pod-memory.ts';
import { defaultSettings, type NodesSettings } from './settings.ts';
import type { PodWrite } from './write.ts';

/** The API server's part for one pod, and a clock that jumps from one thing to happen to the next. */
export class PodStage {
  faults: PodFaults = noPodFaults;
  mysqldServes = true;
  /** Answers the kubelet's own DELETE with a refusal. */
  refuseDelete = false;
  readonly writes: PodWrite[] = [];
  /** Called with every version of the pod; `null` once it is gone. */
  onVersion: (pod: Pod | null) => void = () => undefined;
  settings: NodesSettings;
  now = 0;
  #pod: Pod | null;
  #memory: PodMemory | null = null;

  constructor(pod: Pod | null, settings: Partial<NodesSettings> = {}) {
    this.#pod = pod;
    this.settings = { ...defaultSettings, ...settings };
  }

  get pod(): Pod | null {
    return this.#pod;
  }

  set pod(pod: Pod | null) {
    this.#pod = pod;
    this.onVersion(pod);
  }

  /** Lets everything happen that happens by `milliseconds` from now. */
  pass(milliseconds: number): this {
    const end = this.now + milliseconds;
    for (;;) {
      const wait = this.#look();
      if (wait === null || this.now + wait > end) {
        this.now = end;
        return this;
      }
      this.now += wait;
    }
  }

  fault(container: string, fault: ContainerFault): this {
    this.faults = { ...this.faults, containers: { ...this.faults.containers, [container]: fault } };
    return this;
  }

  heal(): this {
    this.faults = noPodFaults;
    return this;
  }

  askDeletion(graceSeconds = 300): this {
    const pod = this.existing();
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: graceSeconds };
    this.pod = { ...pod, metadata: { ...pod.metadata, ...deletion, generation: next(pod) } };
    return this;
  }

  /** As the API server carries out an Eviction. */
  evict(): this {
    const { status = {}, ...pod } = this.existing();
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    this.pod = { ...pod, status: { ...status, conditions: [...(status.conditions ?? []), target] } };
    return this.askDeletion();
  }

  restart(container: string): this {
    const { restarts } = this.faults;
    this.faults = { ...this.faults, restarts: { ...restarts, [container]: (restarts[container] ?? 0) + 1 } };
    return this;
  }

  label(name: string): this {
    const pod = this.existing();
    this.pod = { ...pod, metadata: { ...pod.metadata, labels: { [name]: 'replica' } } };
    return this;
  }

  image(container: string, image: string): this {
    return this.#change(container, { image });
  }

  resize(container: string, resources: NonNullable<Container['resources']>): this {
    return this.#change(container, { resources });
  }

  existing(): Pod {
    if (this.pod === null) {
      throw new Error('Expected the pod to be there, it has been deleted');
    }
    return this.pod;
  }

  get status(): PodStatus {
    return this.existing().status ?? {};
  }

  container(name: string): ContainerStatus {
    const { containerStatuses = [], initContainerStatuses = [] } = this.status;
    const found = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
    if (found === undefined) {
      throw new Error(`Expected a status of container ${name}, got none`);
    }
    return found;
  }

  condition(type: string): PodCondition | undefined {
    return this.status.conditions?.find((condition) => condition.type === type);
  }

  #change(container: string, changed: Partial<Container>): this {
    const { spec, ...pod } = this.existing();
    const containers = spec.containers.map((one) => (one.name === container ? { ...one, ...changed } : one));
    this.pod = { ...pod, metadata: { ...pod.metadata, generation: next(pod) }, spec: { ...spec, containers } };
    return this;
  }

  #look(): number | null {
    if (this.pod === null) {
      return null;
    }
    const step = kubeletStep({
      pod: this.pod,
      memory: this.#memory,
      faults: this.faults,
      settings: this.settings,
      now: { monotonicMilliseconds: this.now, wallMilliseconds: Date.UTC(2026, 0, 1) + this.now },
      mysqldServes: this.mysqldServes,
      address: '127.0.1.7',
      nodes: ['node-a', 'node-b'],
    });
    for (const write of step.writes) {
      this.writes.push(write);
      this.#perform(write);
    }
    this.#memory = step.memory;
    return step.writes.length > 0 && step.requeueAfterMilliseconds === null ? 0 : step.requeueAfterMilliseconds;
  }

  #perform(write: PodWrite): void {
    const pod = this.existing();
    switch (write.verb) {
      case 'bind':
        this.pod = { ...pod, spec: { ...pod.spec, nodeName: write.node } };
        return;
      case 'patchStatus': {
        const { conditions = [] } = write.status;
        const kept = (pod.status?.conditions ?? []).filter(
          ({ type }) => !conditions.some((fresh) => fresh.type === type),
        );
        this.pod = { ...pod, status: { ...pod.status, ...write.status, conditions: [...kept, ...conditions] } };
        return;
      }
      case 'delete':
        if (write.graceSeconds === null) {
          this.askDeletion();
        } else if (!this.refuseDelete) {
          this.pod = null;
        }
    }
  }
}

/** The generation after a change of the spec, or a deletion. */
function next({ metadata }: Pick<Pod, 'metadata'>): number {
  return (metadata.generation ?? 0) + 1;
}
