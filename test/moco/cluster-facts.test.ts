import { expect } from 'chai';
import type { MemberFacts } from '../../src/core/snapshot.ts';
import { Ages } from '../../src/moco/ages.ts';
import { type ObjectFacts, objectFacts } from '../../src/moco/cluster-facts.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectBudget, projectCluster, projectJob, projectStatefulSet } from '../../src/moco/projections.ts';
import type { ClusterObjects } from '../../src/moco/records.ts';
import {
  budget,
  containersOf,
  mysqlCluster,
  type PodOptions,
  pod,
  revisionBefore,
  statefulSet,
} from '../controller/moco-objects.ts';
import { revisionOwner } from '../support/label-owner.ts';

type Json = { readonly [field: string]: unknown };

const longAgo = '2026-07-01T11:00:00Z';

/** A cluster of three seen again and again by one process, by clocks that are driven by hand. */
class Look {
  monotonicMilliseconds = 0;
  wallMilliseconds = Date.parse('2026-07-01T12:00:00Z');
  #version = 100;
  #ages = new Ages(this.clocks);
  #cluster: object = mysqlCluster();
  readonly #pods = new Map<number, Json>();
  demotionAskedAt: string | null = null;
  budgets: readonly object[] = [budget()];
  jobs: readonly object[] = [];
  jobsUnreadable: string | null = null;
  killedPods: readonly { readonly ordinal: number; readonly createdAt: string }[] = [];

  constructor() {
    for (const ordinal of [0, 1, 2]) this.pod(ordinal, { role: ordinal === 0 ? 'primary' : 'replica' });
  }

  get clocks() {
    return { monotonic: () => this.monotonicMilliseconds, wall: () => this.wallMilliseconds };
  }

  get now(): string {
    return new Date(this.wallMilliseconds).toISOString();
  }

  /** Another process: it has seen nothing before. */
  restart(): void {
    this.#ages = new Ages(this.clocks);
  }

  pass(seconds: number): void {
    this.monotonicMilliseconds += seconds * 1000;
    this.wallMilliseconds += seconds * 1000;
  }

  cluster(change: Json, options: Parameters<typeof mysqlCluster>[0] = {}): void {
    const before = mysqlCluster(options) as { status: Json };
    this.#cluster = { ...before, status: { ...before.status, ...change } };
  }

  spec(change: Json): void {
    const before = this.#cluster as { spec: Json };
    this.#cluster = { ...before, spec: { ...before.spec, ...change } };
  }

  /** A new pod of that ordinal. */
  pod(ordinal: number, options: PodOptions = {}): void {
    this.#version += 1;
    const raw = pod(ordinal, { at: longAgo, ...options }) as { metadata: Json };
    this.#put(ordinal, { ...raw, metadata: { ...raw.metadata, uid: `uid-${this.#version}` } });
  }

  removePod(ordinal: number): void {
    this.#pods.delete(ordinal);
  }

  /** The same pod, changed. */
  change(
    ordinal: number,
    { metadata, spec, status }: { readonly metadata?: Json; readonly spec?: Json; readonly status?: Json },
  ): void {
    const before = this.#pods.get(ordinal) as { metadata: Json; spec: Json; status: Json };
    this.#put(ordinal, {
      ...before,
      metadata: { ...before.metadata, ...metadata },
      spec: { ...before.spec, ...spec },
      status: { ...before.status, ...status },
    });
  }

  /** What mysqld of a member does from now on. */
  mysqld(ordinal: number, does: Parameters<typeof containersOf>[0], restarts?: number): void {
    const status = containersOf(does, this.now) as { containerStatuses: readonly Json[] };
    const containerStatuses = status.containerStatuses.map((container) =>
      container['name'] === 'mysqld' && restarts !== undefined ? { ...container, restartCount: restarts } : container,
    );
    this.change(ordinal, { status: { ...status, containerStatuses } });
  }

  #put(ordinal: number, raw: { metadata: Json; [field: string]: unknown }): void {
    this.#version += 1;
    this.#pods.set(ordinal, { ...raw, metadata: { ...raw.metadata, resourceVersion: String(this.#version) } });
  }

  facts(): ObjectFacts {
    const named = (raw: object, name: string): Json => {
      const { metadata } = raw as { metadata: Json };
      return { ...raw, metadata: { uid: name, ...metadata, resourceVersion: '1' } };
    };
    const records = <R>(raws: readonly Json[], project: (raw: Json) => R | null): readonly R[] =>
      raws.map(project).filter((record) => record !== null);
    const [cluster] = records([named(this.#cluster, 'cluster')], projectCluster);
    if (!cluster) throw new Error('expected a cluster');
    const objects: ClusterObjects = {
      cluster,
      statefulSet: projectStatefulSet(named(statefulSet(), 'set')),
      pods: records([...this.#pods.values()], projectPod),
      budgets: records(
        this.budgets.map((raw) => named(raw, 'budget')),
        projectBudget,
      ),
      jobs: records(
        this.jobs.map((raw) => named(raw, 'job')),
        projectJob,
      ),
      jobsUnreadable: this.jobsUnreadable,
      killedPods: this.killedPods,
    };
    return this.#ages.observe(() => objectFacts(objects, this.#ages, this.demotionAskedAt));
  }

  member(ordinal: number): MemberFacts {
    const found = this.facts().members.find((member) => member.ordinal === ordinal);
    if (!found) throw new Error(`expected a member ${ordinal}, got none`);
    return found;
  }

  container(ordinal: number, name: string) {
    const found = this.member(ordinal).containers.find((container) => container.name === name);
    if (!found) throw new Error(`expected a container ${name}, got none`);
    return found;
  }
}

const roleOf = (role: string | null) => ({
  metadata: {
    labels: { 'app.kubernetes.io/instance': 'test', ...(role !== null && { 'moco.cybozu.com/role': role }) },
  },
});

/** What happens to a cluster of three, and what a fact is after it. */
type Story = (look: Look, is: (expected: unknown, why?: string) => void) => void;

function tells(what: string, fact: (look: Look) => unknown, stories: Readonly<Record<string, Story>>): void {
  describe(what, () => {
    for (const [sentence, story] of Object.entries(stories)) {
      it(sentence, () => {
        const look = new Look();
        story(look, (expected, why) => expect(fact(look), why).to.deep.equal(expected));
      });
    }
  });
}

describe('an undisturbed cluster, for a process that starts later', () => {
  it('has been so since its pods became ready', () => {
    const look = new Look();
    const { cluster, backupJobs } = look.facts();
    expect(cluster).to.include({ primaryUnavailableForSeconds: null, primarySettledForSeconds: 3599 });
    expect(backupJobs).to.deep.equal([]);
    expect(look.member(1)).to.include({
      revisionForSeconds: 3599,
      participatingForSeconds: 3599,
      mysqldIdleForSeconds: 0,
      terminatingForSeconds: null,
      demoteForSeconds: 0,
    });
    expect(look.container(1, 'mysqld')).to.include({ readySinceRestart: true, notReadyForSeconds: 0 });
  });
});

tells('how long a pod has been what its revision asks for', (look) => look.member(1).revisionForSeconds, {
  'counts since its running pod was given it, for this process and for one that starts later': (look, is) => {
    look.facts();
    const labels = { 'app.kubernetes.io/instance': 'test', 'controller-revision-hash': 'another' };
    look.change(1, { metadata: { labels, managedFields: [revisionOwner('moco-rollout', look.now)] } });
    is(0);
    look.pass(5);
    is(5);
    look.restart();
    is(4);
    expect(look.member(1).participatingForSeconds).to.equal(3604);
  },
  'counts since a process has first seen it where nothing shows when it was set': (look, is) => {
    look.change(1, { metadata: { managedFields: undefined } });
    is(0);
    look.pass(5);
    is(5);
  },
  'begins anew when a resize of this program changes it, and nothing shows when the kubelet has made that': (
    look,
    is,
  ) => {
    look.facts();
    const resized = {
      manager: 'moco-rollout',
      operation: 'Update',
      subresource: 'resize',
      time: look.now,
      fieldsV1: {
        'f:spec': { 'f:containers': { 'k:{"name":"mysqld"}': { 'f:resources': { 'f:limits': { 'f:cpu': {} } } } } },
      },
    };
    look.change(1, { metadata: { managedFields: [revisionOwner('kube-controller-manager', longAgo), resized] } });
    is(0);
    look.pass(5);
    is(5);
    look.restart();
    is(0);
  },
});

const participating = (ordinal: number) => (look: Look) => look.member(ordinal).participatingForSeconds;

tells('how long a replica has participated', participating(1), {
  'restarts when it becomes not ready': (look, is) => {
    look.facts();
    look.mysqld(1, 'starting');
    is(null);
    look.mysqld(1, 'ready');
    look.pass(1);
    is(0);
  },
  'restarts with a restart of mysqld that was not observed': (look, is) => {
    look.facts();
    look.pass(10);
    look.mysqld(1, 'ready', 1);
    is(0);
  },
  'continues through a switchover': (look, is) => {
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.change(1, roleOf('primary'));
    is(3609);
  },
  'is zero for a member that is errant': (look, is) => {
    look.cluster({ errantReplicaList: [1] });
    is(null);
  },
  'is zero for a member that is terminating': (look, is) => {
    look.change(1, { metadata: { deletionTimestamp: '2026-07-01T12:05:00Z' } });
    is(null);
  },
});

tells('how long a new pod has participated', participating(2), {
  'counts from the moment when mysqld is ready, whether or not MOCO has set a role': (look, is) => {
    look.facts();
    look.pod(2, { ready: false, role: null, at: look.now });
    is(null);
    look.pass(3);
    look.mysqld(2, 'ready');
    is(0);
    look.pass(3);
    look.change(2, roleOf('replica'));
    is(3);
  },
  'continues, slightly younger, in a restarted process': (look, is) => {
    look.facts();
    look.pod(2, { role: 'replica', at: look.now });
    look.pass(10);
    look.restart();
    is(9);
  },
});

tells('how long a primary has participated', participating(0), {
  'continues where the cluster replicates from elsewhere: it is not ready while its source is unavailable': (
    look,
    is,
  ) => {
    look.spec({ replicationSourceSecretName: 'upstream' });
    look.facts();
    look.mysqld(0, 'starting');
    look.pass(5);
    is(3604);
    expect(look.facts().cluster).to.include({ primaryUnavailableForSeconds: null, primarySettledForSeconds: 3604 });
    look.change(0, roleOf(null));
    is(null);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
  },
});

tells('how long the primary has been settled', (look) => look.facts().cluster.primarySettledForSeconds, {
  'restarts with another primary, once its label agrees': (look, is) => {
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    is(null, 'the index is ahead of the label');
    look.pass(10);
    look.change(1, roleOf('primary'));
    is(0);
    look.pass(4);
    is(4);
  },
  'restarts with another primary when index and label change together': (look, is) => {
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.change(1, roleOf('primary'));
    is(0);
  },
  'restarts when the primary returns': (look, is) => {
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.facts();
    look.cluster({ currentPrimaryIndex: 0 });
    is(0);
  },
  'is zero while it does not participate or does not exist': (look, is) => {
    look.facts();
    look.mysqld(0, 'starting');
    is(null);
    look.mysqld(0, 'ready', 1);
    is(0);
    look.cluster({ currentPrimaryIndex: 7 });
    is(null);
  },
});

tells('how long ago the startup probe of mysqld passed', (look) => look.member(1).mysqldStartedForSeconds, {
  'counts from when that was observed, and restarts with every restart': (look, is) => {
    look.mysqld(1, 'CrashLoopBackOff', 1);
    is(0);
    look.pass(50);
    look.mysqld(1, 'starting', 1);
    is(0);
    look.pass(7);
    is(7);
    look.mysqld(1, 'starting', 2);
    is(0);
  },
});

tells('how long mysqld has been idle', (look) => look.member(1).mysqldIdleForSeconds, {
  'counts from when a new pod was observed': (look, is) => {
    look.facts();
    look.pod(1, { ready: false, role: null, at: '2026-07-01T11:30:00Z' });
    look.mysqld(1, 'ImagePullBackOff');
    is(0);
    look.pass(61);
    is(61);
  },
  "counts from its last termination, else from the pod's creation, for a process that starts later": (look, is) => {
    look.mysqld(1, 'ImagePullBackOff');
    is(3599);
    const ended = { waiting: { reason: 'CrashLoopBackOff' } };
    const lastState = { terminated: { finishedAt: '2026-07-01T11:59:00Z' } };
    look.change(1, { status: { containerStatuses: [{ name: 'mysqld', state: ended, lastState }] } });
    look.restart();
    is(59);
  },
  'counts from when this process saw it, after a run whose end is not reported': (look, is) => {
    const lost = { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt: null } };
    const waits = { waiting: { reason: 'ContainerCreating' } };
    look.change(1, { status: { containerStatuses: [{ name: 'mysqld', state: waits, lastState: lost }] } });
    is(0);
    look.pass(61);
    is(61);
  },
  'restarts with every restart, observed or not': (look, is) => {
    look.mysqld(1, 'CrashLoopBackOff', 3);
    look.facts();
    look.pass(50);
    look.mysqld(1, 'CrashLoopBackOff', 4);
    is(0);
  },
});

tells(
  'whether a container has been ready since its last restart',
  (look) => look.container(1, 'mysqld').readySinceRestart,
  {
    'is remembered since it was ready': (look, is) => {
      look.facts();
      look.mysqld(1, 'starting');
      is(true, 'it lags behind');
      for (let looks = 0; looks < 3; looks += 1) look.facts();
      is(true);
    },
    'is forgotten with the next restart: the container crash-loops, whatever its present state': (look, is) => {
      look.facts();
      look.mysqld(1, 'CrashLoopBackOff', 1);
      is(false);
      look.mysqld(1, 'starting', 2);
      is(false);
      look.mysqld(1, 'ready', 2);
      look.facts();
      look.mysqld(1, 'starting', 2);
      is(true);
    },
    'is recognized by a process that starts later if the pod became not ready after the run began': (look, is) => {
      look.change(1, { status: containersOf('starting', '2026-07-01T11:30:00Z') });
      is(false, 'it stopped when the run began');
      const running = { running: { startedAt: '2026-07-01T11:00:00Z' } };
      look.change(1, {
        status: { containerStatuses: [{ name: 'mysqld', state: running, ready: false, restartCount: 1 }] },
      });
      look.restart();
      is(true);
    },
  },
);

/** Neither scheduled nor through with its init containers, and then mysqld is quicker than the agent. */
const slowToBegin = (look: Look): void => {
  const waits = ['mysqld', 'agent'].map((name) => ({ name, ready: false, state: { waiting: {} } }));
  const conditions = [{ type: 'ContainersReady', status: 'False', lastTransitionTime: look.now }];
  look.pod(1, { at: look.now });
  look.change(1, { status: { conditions, containerStatuses: waits } });
  look.facts();
  look.pass(100);
  const state = { running: { startedAt: look.now } };
  const containerStatuses = ['mysqld', 'agent'].map((name) => ({ name, ready: name === 'mysqld', state }));
  look.change(1, { status: { conditions, containerStatuses } });
};

tells('how long a container has not been ready', (look) => look.container(1, 'agent').notReadyForSeconds, {
  'counts from when that was seen to end, for each container by itself': (look, is) => {
    const mysqld = (): number => look.container(1, 'mysqld').notReadyForSeconds;
    look.facts();
    look.mysqld(1, 'starting');
    expect(mysqld()).to.equal(0);
    look.pass(61);
    expect(mysqld()).to.equal(61);
    is(0);
  },
  'does not count the time before its first container started': (look, is) => {
    look.facts();
    slowToBegin(look);
    is(0);
    look.pass(59);
    is(59);
  },
  'counts from the last container start of its pod for a process that starts later': (look, is) => {
    slowToBegin(look);
    look.pass(40);
    look.restart();
    is(39);
  },
});

tells('how long the primary has been unavailable', (look) => look.facts().cluster.primaryUnavailableForSeconds, {
  'continues when its pod is replaced, as long as the index stays': (look, is) => {
    look.facts();
    look.mysqld(0, 'starting');
    is(0);
    look.pass(10);
    look.removePod(0);
    is(10);
    look.pass(10);
    look.pod(0, { ready: false, role: null, at: look.now });
    is(20);
    look.mysqld(0, 'ready');
    is(null);
  },
  'restarts when the index moves to another unavailable member': (look, is) => {
    look.mysqld(0, 'starting');
    look.mysqld(1, 'starting');
    look.facts();
    look.pass(100);
    look.cluster({ currentPrimaryIndex: 1 });
    is(0);
  },
  'counts from the first observation for a process that starts later: the index may have moved to an unavailable member':
    (look, is) => {
      look.mysqld(0, 'starting');
      look.pass(100);
      is(0);
      look.pass(30);
      is(30);
    },
  'counts for an errant one too': (look, is) => {
    look.pass(150);
    look.cluster({ errantReplicaList: [0] });
    is(0);
    look.pass(30);
    is(30);
  },
  'counts for an unreachable one: every container is ready, and the pod is not': (look, is) => {
    look.facts();
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: look.now }];
    look.change(0, { status: { conditions } });
    look.pass(7);
    look.facts();
    look.pass(3);
    is(3);
  },
});

// The kubelet's last DELETE, as seen with real pods: deletionTimestamp jumps back to the first request.
const asked = { deletionTimestamp: '2026-07-01T12:05:00Z', deletionGracePeriodSeconds: 300 };
const ended = { deletionTimestamp: '2026-07-01T12:00:00Z', deletionGracePeriodSeconds: 0 };

tells(
  'how long a member has been terminating, and its grace period',
  (look) => [look.member(1).terminatingForSeconds, look.member(1).graceSeconds],
  {
    'counts from the moment of the request, which is not the timestamp': (look, is) => {
      const metadata = { deletionTimestamp: '2026-07-01T12:04:50Z', deletionGracePeriodSeconds: 300 };
      look.change(1, { metadata });
      is([9, 300]);
      look.pass(5);
      is([14, 300]);
    },
    'counts from when a running process observed it': (look, is) => {
      look.facts();
      look.change(1, { metadata: { ...asked, deletionTimestamp: '2026-07-01T12:00:00Z' } });
      is([0, 300]);
    },
    'is zero when the kubelet has ended the grace period, for a running process': (look, is) => {
      look.facts();
      look.change(1, { metadata: asked });
      look.facts();
      look.pass(21);
      look.change(1, { metadata: ended });
      is([0, 0]);
    },
    'is zero when the kubelet has ended it, for a process that starts at that moment, and continues if the pod stays': (
      look,
      is,
    ) => {
      look.pass(21);
      look.change(1, { metadata: ended });
      is([0, 0]);
      look.pass(11);
      is([11, 0]);
    },
    'restarts when the grace period is shortened': (look, is) => {
      look.change(1, { metadata: asked });
      look.facts();
      look.pass(200);
      look.change(1, { metadata: { deletionTimestamp: '2026-07-01T12:00:30Z', deletionGracePeriodSeconds: 30 } });
      is([0, 30]);
    },
  },
);

const demoted = (look: Look, mark: string | null = 'r'): void => {
  const own = mark === null ? {} : { 'moco-rollout.io/demoted-for': mark };
  look.change(0, { metadata: { annotations: { 'moco.cybozu.com/demote': 'true', ...own } } });
};

tells('how long a demotion has lasted', (look) => look.member(0).demoteForSeconds, {
  'counts from when it was observed': (look, is) => {
    look.facts();
    demoted(look);
    is(0);
    expect(look.member(0)).to.include({ demote: true, demotedFor: 'r' });
    look.pass(90);
    is(90);
  },
  'counts from the recorded request, for a process that starts later': (look, is) => {
    demoted(look);
    look.demotionAskedAt = '2026-07-01T11:59:00Z';
    is(59);
  },
  'restarts with another demotion': (look, is) => {
    demoted(look, null);
    look.facts();
    look.pass(30);
    demoted(look);
    is(0);
  },
});

/** Of member 1. */
const lastRun = (look: Look) => {
  const { revision, worked } = look.facts().lastRuns.find(({ ordinal }) => ordinal === 1) ?? {};
  return { revision, worked };
};

tells('the last mysqld that has run on the data of a member', lastRun, {
  'has worked once the member participates': (look, is) => {
    look.pod(1, { ready: false });
    is({ revision: revisionBefore, worked: false });
    look.pod(1, { role: 'replica' });
    is({ revision: revisionBefore, worked: true });
  },
  'is remembered while the member has no pod': (look, is) => {
    look.facts();
    look.removePod(1);
    is({ revision: revisionBefore, worked: true });
    look.restart();
    is({ revision: undefined, worked: undefined });
  },
  'has worked if a process starts while the pod is terminating and its mysqld is still ready': (look, is) => {
    const terminates = { deletionTimestamp: '2026-07-01T12:05:00Z', deletionGracePeriodSeconds: 300 };
    look.change(1, { metadata: terminates });
    look.restart();
    is({ revision: revisionBefore, worked: true });
    look.pod(1, { ready: false });
    look.change(1, { metadata: terminates });
    look.restart();
    is({ revision: revisionBefore, worked: false });
  },
  'has worked when it starts in the next pod of the revision': (look, is) => {
    look.facts();
    look.removePod(1);
    look.facts();
    look.pod(1, { ready: false, at: look.now });
    is({ revision: revisionBefore, worked: true });
  },
  'is the one before if the kubelet has not admitted the next pod, by what that reported first': (look, is) => {
    look.facts();
    look.pod(1, { ready: false, revision: 'moco-test-2', at: look.now });
    const failedAt = (time: string): void => {
      const managedFields = [{ manager: 'kubelet', time, fieldsV1: { 'f:status': { 'f:phase': {} } } }];
      const none = { containerStatuses: undefined, initContainerStatuses: undefined, conditions: [] };
      look.change(1, {
        metadata: { managedFields },
        status: { ...none, phase: 'Failed', reason: 'OutOfcpu', startTime: look.now },
      });
    };
    failedAt(look.now);
    is({ revision: revisionBefore, worked: true });
    failedAt(new Date(look.wallMilliseconds + 2000).toISOString());
    is({ revision: 'moco-test-2', worked: false });
  },
  'has not worked yet when it starts at another revision, nor when it starts at the one before that again': (
    look,
    is,
  ) => {
    look.facts();
    look.pod(1, { ready: false, revision: 'moco-test-2', at: look.now });
    is({ revision: 'moco-test-2', worked: false });
    look.pod(1, { ready: false, at: look.now });
    is({ revision: revisionBefore, worked: false });
  },
});

/** How the mysqld of a pod has ended. */
const mysqldEnds = (look: Look, exitCode: number, more: Json = {}): void =>
  look.change(1, {
    status: {
      phase: 'Running',
      conditions: [],
      containerStatuses: [
        {
          name: 'mysqld',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode, reason: 'Error' } },
          ...more,
        },
      ],
    },
  });

tells(
  'whether the last mysqld on the data of a member was killed',
  (look) => {
    const run = look.facts().lastRuns.find(({ ordinal }) => ordinal === 1);
    return run?.killed === true;
  },
  {
    'is what the kubelet reports last of a pod that goes': (look, is) => {
      is(false);
      look.change(1, { metadata: { deletionTimestamp: look.now, deletionGracePeriodSeconds: 30 } });
      is(false);
      mysqldEnds(look, 137);
      is(true);
      look.removePod(1);
      is(true);
    },
    'is not so if it has ended by itself': (look, is) => {
      look.facts();
      mysqldEnds(look, 0);
      is(false);
      look.removePod(1);
      is(false);
    },
    'ends with a mysqld in the next pod that is ready, and no earlier': (look, is) => {
      look.facts();
      mysqldEnds(look, 137);
      is(true);
      look.pod(1, { ready: false, at: look.now });
      is(true);
      look.change(1, { status: (pod(1, { at: look.now }) as { status: Json }).status });
      is(false);
    },
    'does not begin with the deletion of a pod whose mysqld was killed long ago and has been ready since': (
      look,
      is,
    ) => {
      look.facts();
      const { status } = pod(1, { at: look.now }) as { status: { containerStatuses: readonly Json[] } };
      const containerStatuses = status.containerStatuses.map((one) =>
        one['name'] === 'mysqld' ? { ...one, lastState: { terminated: { exitCode: 137 } } } : one,
      );
      look.change(1, { status: { ...status, containerStatuses } });
      is(false);
      look.change(1, { metadata: { deletionTimestamp: look.now, deletionGracePeriodSeconds: 30 } });
      is(false);
    },
    'is remembered by the cache if the pod was gone before it was observed': (look, is) => {
      look.facts();
      look.removePod(1);
      look.killedPods = [{ ordinal: 1, createdAt: longAgo }];
      is(true);
      look.killedPods = [{ ordinal: 1, createdAt: '2020-01-01T00:00:00Z' }];
      look.pod(1, { at: look.now });
      is(false);
    },
  },
);

describe('the objects around the members', () => {
  it('include the budgets that select any of them', () => {
    const look = new Look();
    const selecting = (selector: object | null) => ({ ...budget(), spec: { selector } });
    look.budgets = [budget(), selecting({}), selecting(null), selecting({ matchLabels: { app: 'other' } })];
    expect(look.facts().budgets).to.have.length(2);
  });

  it('include the active Jobs of backups, in a cluster of any size, and how long they have been active', () => {
    const job = (name: string) => ({
      metadata: { name, labels: { 'app.kubernetes.io/instance': 'test' } },
      status: { startTime: '2026-07-01T11:59:00Z' },
    });
    for (const replicas of [1, 3]) {
      const look = new Look();
      look.cluster({}, { replicas });
      look.jobs = [job('emergency')];
      const { startTime: startedAt } = job('').status;
      const active = { name: 'emergency', restores: false, startedAt };
      expect(look.facts().backupJobs).to.deep.equal([{ ...active, activeForSeconds: 59 }]);
      look.pass(3);
      expect(look.facts().backupJobs).to.deep.equal([{ ...active, activeForSeconds: 62 }]);
    }
  });

  it('say why Jobs cannot be read if the cluster has a backup policy', () => {
    const look = new Look();
    look.jobsUnreadable = 'jobs is forbidden';
    expect(look.facts().backupsUnreadable).to.equal(null);
    look.spec({ backupPolicyName: 'daily' });
    expect(look.facts().backupsUnreadable).to.equal('jobs is forbidden');
    look.jobsUnreadable = null;
    expect(look.facts().backupsUnreadable).to.equal(null);
  });

  it('know the budget of MOCO by its name', () => {
    const look = new Look();
    const named = (name: string) => ({ ...budget(), metadata: { name, namespace: 'default' } });
    look.budgets = [named('moco-test'), named('freeze-nodes'), named('moco-other')];
    expect(look.facts().budgets.map(({ ofMoco }) => ofMoco)).to.deep.equal([true, false, false]);
  });

  it('know the pods that the StatefulSet controls, and the containers that admission has added to them', () => {
    const look = new Look();
    const members = () => look.facts().members.map(({ ofStatefulSet }) => ofStatefulSet);
    expect(members()).to.deep.equal([true, true, true]);
    look.change(1, { metadata: { ownerReferences: [] } });
    expect(members()).to.deep.equal([true, false, true]);
    const { spec } = pod(2) as { spec: { containers: readonly Json[] } };
    look.change(2, { spec: { ...spec, containers: [...spec.containers, { name: 'istio-proxy' }] } });
    expect(look.member(2).containers.map(({ injected }) => injected)).to.deep.equal([false, false, false, true]);
  });

  it('list the members in ascending order, with ten members too', () => {
    const look = new Look();
    for (const ordinal of [10, 9]) look.pod(ordinal);
    expect(look.facts().members.map(({ ordinal }) => ordinal)).to.deep.equal([0, 1, 2, 9, 10]);
  });
});
