import { Deadlines } from '../../../src/core/deadlines.ts';
import { classify, crashLoop } from '../../../src/core/member.ts';
import { Ages } from '../../../src/moco/ages.ts';
import { objectFacts } from '../../../src/moco/cluster-facts.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import { projectCluster } from '../../../src/moco/projections.ts';
import { mysqlCluster } from '../../controller/moco-objects.ts';
import { type ContainerFault, noPodFaults, type PodFaults } from '../../support/nodes/faults.ts';
import { kubeletStep } from '../../support/nodes/kubelet.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import type { PodMemory } from '../../support/nodes/pod-memory.ts';
import { defaultSettings } from '../../support/nodes/settings.ts';
import type { PodWrite } from '../../support/nodes/write.ts';

const began = Date.UTC(2026, 0, 1);
const settings = { ...defaultSettings, tolerationMilliseconds: 20_000, backOffMilliseconds: 1_000 };

/** One pod of the stand-in for nodes, with what this program's own classifier says of it whenever it is written. */
export class PodStory {
  /** Every state that the pod was seen in, in order, each once in a row. */
  readonly seen: string[] = [];
  faults: PodFaults = noPodFaults;
  /** MOCO has configured it, and its source answers. */
  serves = true;
  #pod: Pod | null = null;
  #memory: PodMemory | null = null;
  #now = 0;
  #made = 0;
  readonly #ages = new Ages({ monotonic: () => this.#now, wall: () => began + this.#now });

  create(): void {
    this.#made++;
    this.#pod = {
      metadata: {
        namespace: 'ns',
        name: 'moco-test-1',
        uid: `uid-${this.#made}`,
        resourceVersion: '1',
        labels: {
          'app.kubernetes.io/name': 'mysql',
          'app.kubernetes.io/instance': 'test',
          'app.kubernetes.io/created-by': 'moco',
        },
      },
      spec: { containers: ['mysqld', 'agent', 'slow-log'].map((name) => ({ name, image: `${name}:1` })) },
    };
    this.#look();
  }

  delete(): void {
    if (this.#pod === null) return;
    const deletionTimestamp = new Date(began + this.#now + 300_000).toISOString();
    this.#pod = {
      ...this.#pod,
      metadata: { ...this.#pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 300 },
    };
    this.#look();
  }

  fault(container: string, fault: ContainerFault | null): void {
    const { [container]: _, ...others } = this.faults.containers;
    this.faults = { ...this.faults, containers: fault === null ? others : { ...others, [container]: fault } };
  }

  /** Lets everything happen that happens within so many seconds. */
  pass(seconds: number): void {
    const end = this.#now + seconds * 1000;
    for (;;) {
      const wait = this.#step();
      if (wait === null || this.#now + wait > end) break;
      this.#now += wait;
      this.#look();
    }
    this.#now = end;
    this.#look();
  }

  #step(): number | null {
    if (this.#pod === null) return null;
    const { memory, writes, requeueAfterMilliseconds } = kubeletStep({
      pod: this.#pod,
      memory: this.#memory,
      faults: this.faults,
      settings,
      now: { monotonicMilliseconds: this.#now, wallMilliseconds: began + this.#now },
      mysqldServes: this.serves,
      address: '127.0.1.7',
      nodes: ['node-a'],
    });
    for (const write of writes) this.#perform(write);
    this.#memory = memory;
    return writes.length > 0 && requeueAfterMilliseconds === null ? 0 : requeueAfterMilliseconds;
  }

  #perform(write: PodWrite): void {
    const pod = this.#pod;
    if (pod === null) return;
    switch (write.verb) {
      case 'bind':
        this.#pod = { ...pod, spec: { ...pod.spec, nodeName: write.node } };
        break;
      case 'patchStatus': {
        const { conditions = [] } = write.status;
        const types = new Set(conditions.map(({ type }) => type));
        const kept = (pod.status?.conditions ?? []).filter(({ type }) => !types.has(type));
        this.#pod = { ...pod, status: { ...pod.status, ...write.status, conditions: [...kept, ...conditions] } };
        break;
      }
      case 'delete':
        if (write.graceSeconds === null) this.delete();
        else this.#pod = null;
    }
    this.#look();
  }

  #look(): void {
    const state = this.#pod === null ? 'missing' : this.#classified(this.#pod);
    if (this.seen.at(-1) !== state) this.seen.push(state);
  }

  #classified(pod: Pod): string {
    const cluster = projectCluster(mysqlCluster() as never);
    const record = projectPod(pod as never);
    if (cluster === null || record === null) throw new Error('expected a pod of a cluster');
    const objects = { cluster, statefulSet: null, pods: [record], budgets: [], jobs: [], jobsUnreadable: null };
    const { members } = this.#ages.observe(() => objectFacts(objects as never, this.#ages, null));
    const [member] = members;
    if (member === undefined) throw new Error('expected a member');
    const { state } = classify(member, false, new Deadlines());
    return crashLoop(member) === null || state === 'terminating' ? state : `${state}, crash-looping`;
  }
}
