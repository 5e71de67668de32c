import { Deadlines } from '../../../src/core/deadlines.ts';
import { classify, crashLoop } from '../../../src/core/member.ts';
import { Ages } from '../../../src/moco/ages.ts';
import { objectFacts } from '../../../src/moco/cluster-facts.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import { projectCluster } from '../../../src/moco/projections.ts';
import { mysqlCluster } from '../../controller/moco-objects.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import { PodStage } from '../../support/nodes/pod-stage.ts';

const began = Date.UTC(2026, 0, 1);

/** One pod of the stand-in for nodes, with what this program's own classifier says of it whenever it is written. */
export class PodStory extends PodStage {
  /** Every state that the pod was seen in, in order, each once in a row. */
  readonly seen: string[] = [];
  #made = 0;
  readonly #ages = new Ages({ monotonic: () => this.now, wall: () => began + this.now });

  constructor() {
    super(null, { tolerationMilliseconds: 20_000, backOffMilliseconds: 1_000 });
    this.onVersion = (pod) => this.#look(pod);
  }

  create(): void {
    this.#made++;
    this.pod = {
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
  }

  override pass(milliseconds: number): this {
    super.pass(milliseconds);
    this.#look(this.pod);
    return this;
  }

  #look(pod: Pod | null): void {
    const state = pod === null ? 'missing' : this.#classified(pod);
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
