import { expect } from 'chai';
import type { MemberFacts } from '../../src/core/snapshot.ts';
import { Ages } from '../../src/moco/ages.ts';
import { type ObjectFacts, objectFacts } from '../../src/moco/cluster-facts.ts';
import {
  projectBudget,
  projectCluster,
  projectJob,
  projectPod,
  projectStatefulSet,
} from '../../src/moco/projections.ts';
import type { ClusterObjects } from '../../src/moco/records.ts';
import { budget, containersOf, mysqlCluster, type PodOptions, pod, statefulSet } from '../controller/moco-objects.ts';
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
  change(ordinal: number, { metadata, status }: { readonly metadata?: Json; readonly status?: Json }): void {
    const before = this.#pods.get(ordinal) as { metadata: Json; status: Json };
    this.#put(ordinal, {
      ...before,
      metadata: { ...before.metadata, ...metadata },
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
      return { ...raw, metadata: { ...metadata, uid: name, resourceVersion: '1' } };
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

describe('how long a pod has been what its revision asks for', () => {
  const relabelled = (revision: string, at: string, container: object = {}): Json => ({
    labels: { 'app.kubernetes.io/instance': 'test', 'controller-revision-hash': revision },
    managedFields: [revisionOwner('moco-rollout', at)],
    ...container,
  });

  it('counts since the pod was created with it, for a process that starts later', () => {
    expect(new Look().member(1).revisionForSeconds).to.equal(3599);
  });

  it('counts since its running pod was given it, for this process and for one that starts later', () => {
    const look = new Look();
    look.facts();
    look.change(1, { metadata: relabelled('another', look.now) });
    expect(look.member(1).revisionForSeconds).to.equal(0);
    look.pass(5);
    expect(look.member(1).revisionForSeconds).to.equal(5);
    look.restart();
    expect(look.member(1).revisionForSeconds).to.equal(4);
    expect(look.member(1).participatingForSeconds).to.equal(3604);
  });

  it('counts since a process has first seen it where nothing shows when it was set', () => {
    const look = new Look();
    look.change(1, { metadata: { managedFields: undefined } });
    expect(look.member(1).revisionForSeconds).to.equal(0);
    look.pass(5);
    expect(look.member(1).revisionForSeconds).to.equal(5);
  });

  it('begins anew when a resize of this program changes it, and nothing shows when the kubelet has made that', () => {
    const look = new Look();
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
    expect(look.member(1).revisionForSeconds).to.equal(0);
    look.pass(5);
    expect(look.member(1).revisionForSeconds).to.equal(5);
    look.restart();
    expect(look.member(1).revisionForSeconds).to.equal(0);
  });
});

describe('how long a member has participated', () => {
  it('counts since its pod became ready, for a process that starts later', () => {
    expect(new Look().member(1).participatingForSeconds).to.equal(3599);
  });

  it('counts from the moment when mysqld is ready, whether or not MOCO has set a role', () => {
    const look = new Look();
    look.facts();
    look.pod(2, { ready: false, role: null, at: look.now });
    expect(look.member(2).participatingForSeconds).to.equal(null);
    look.pass(3);
    look.mysqld(2, 'ready');
    expect(look.member(2).participatingForSeconds).to.equal(0);
    look.pass(3);
    look.change(2, roleOf('replica'));
    expect(look.member(2).participatingForSeconds).to.equal(3);
  });

  it('continues for the primary of a cluster that replicates from elsewhere, which is not ready while its source is unavailable', () => {
    const look = new Look();
    look.spec({ replicationSourceSecretName: 'upstream' });
    look.facts();
    look.mysqld(0, 'starting');
    look.pass(5);
    expect(look.member(0).participatingForSeconds).to.equal(3604);
    expect(look.facts().cluster).to.include({ primaryUnavailableForSeconds: null, primarySettledForSeconds: 3604 });
    look.change(0, roleOf(null));
    expect(look.member(0).participatingForSeconds).to.equal(null);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
  });

  it('restarts when it becomes not ready', () => {
    const look = new Look();
    look.facts();
    look.mysqld(1, 'starting');
    expect(look.member(1).participatingForSeconds).to.equal(null);
    look.mysqld(1, 'ready');
    look.pass(1);
    expect(look.member(1).participatingForSeconds).to.equal(0);
  });

  it('restarts with a restart of mysqld that was not observed', () => {
    const look = new Look();
    look.facts();
    look.pass(10);
    look.mysqld(1, 'ready', 1);
    expect(look.member(1).participatingForSeconds).to.equal(0);
  });

  it('continues through a switchover', () => {
    const look = new Look();
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.change(1, roleOf('primary'));
    expect(look.member(1).participatingForSeconds).to.equal(3609);
  });

  it('is zero for a member that is errant or terminating', () => {
    const look = new Look();
    look.cluster({ errantReplicaList: [1] });
    look.change(2, { metadata: { deletionTimestamp: '2026-07-01T12:05:00Z' } });
    expect(look.member(1).participatingForSeconds).to.equal(null);
    expect(look.member(2).participatingForSeconds).to.equal(null);
  });

  it('continues, slightly younger, in a restarted process', () => {
    const look = new Look();
    look.facts();
    look.pod(2, { role: 'replica', at: look.now });
    look.pass(10);
    look.restart();
    expect(look.member(2).participatingForSeconds).to.equal(9);
  });
});

describe('how long the primary has been settled', () => {
  const settled = (look: Look): number | null => look.facts().cluster.primarySettledForSeconds;

  it('counts since its pod became ready, for a process that starts later', () => {
    expect(settled(new Look())).to.equal(3599);
  });

  it('restarts with another primary, once its label agrees', () => {
    const look = new Look();
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    expect(settled(look), 'the index is ahead of the label').to.equal(null);
    look.pass(10);
    look.change(1, roleOf('primary'));
    expect(settled(look)).to.equal(0);
    look.pass(4);
    expect(settled(look)).to.equal(4);
  });

  it('restarts with another primary when index and label change together', () => {
    const look = new Look();
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.change(1, roleOf('primary'));
    expect(settled(look)).to.equal(0);
  });

  it('restarts when the primary returns', () => {
    const look = new Look();
    look.facts();
    look.pass(10);
    look.cluster({ currentPrimaryIndex: 1 });
    look.facts();
    look.cluster({ currentPrimaryIndex: 0 });
    expect(settled(look)).to.equal(0);
  });

  it('is zero while it does not participate or does not exist', () => {
    const look = new Look();
    look.facts();
    look.mysqld(0, 'starting');
    expect(settled(look)).to.equal(null);
    look.mysqld(0, 'ready', 1);
    expect(settled(look)).to.equal(0);
    look.cluster({ currentPrimaryIndex: 7 });
    expect(settled(look)).to.equal(null);
  });
});

describe('how long ago the startup probe of mysqld passed', () => {
  const passed = (look: Look): number => look.member(1).mysqldStartedForSeconds;

  it('counts from when that was observed, and restarts with every restart', () => {
    const look = new Look();
    look.mysqld(1, 'CrashLoopBackOff', 1);
    expect(passed(look)).to.equal(0);
    look.pass(50);
    look.mysqld(1, 'starting', 1);
    expect(passed(look)).to.equal(0);
    look.pass(7);
    expect(passed(look)).to.equal(7);
    look.mysqld(1, 'starting', 2);
    expect(passed(look)).to.equal(0);
  });
});

describe('how long mysqld has been idle', () => {
  it('is zero while it runs', () => {
    expect(new Look().member(1).mysqldIdleForSeconds).to.equal(0);
  });

  it('counts from when a new pod was observed', () => {
    const look = new Look();
    look.facts();
    look.pod(2, { ready: false, role: null, at: '2026-07-01T11:30:00Z' });
    look.mysqld(2, 'ImagePullBackOff');
    expect(look.member(2).mysqldIdleForSeconds).to.equal(0);
    look.pass(61);
    expect(look.member(2).mysqldIdleForSeconds).to.equal(61);
  });

  it("counts from its last termination, else from the pod's creation, for a process that starts later", () => {
    const look = new Look();
    look.mysqld(1, 'ImagePullBackOff');
    expect(look.member(1).mysqldIdleForSeconds).to.equal(3599);
    const ended = { waiting: { reason: 'CrashLoopBackOff' } };
    const lastState = { terminated: { finishedAt: '2026-07-01T11:59:00Z' } };
    look.change(2, { status: { containerStatuses: [{ name: 'mysqld', state: ended, lastState }] } });
    look.restart();
    expect(look.member(2).mysqldIdleForSeconds).to.equal(59);
  });

  it('restarts with every restart, observed or not', () => {
    const look = new Look();
    look.mysqld(1, 'CrashLoopBackOff', 3);
    look.facts();
    look.pass(50);
    look.mysqld(1, 'CrashLoopBackOff', 4);
    expect(look.member(1).mysqldIdleForSeconds).to.equal(0);
  });
});

describe('whether a container has been ready since its last restart', () => {
  const ready = (look: Look) => look.container(1, 'mysqld').readySinceRestart;

  it('is remembered since it was ready', () => {
    const look = new Look();
    look.facts();
    look.mysqld(1, 'starting');
    expect(ready(look), 'it lags behind').to.equal(true);
    for (let looks = 0; looks < 3; looks += 1) look.facts();
    expect(ready(look)).to.equal(true);
  });

  it('is forgotten with the next restart: the container crash-loops, whatever its present state', () => {
    const look = new Look();
    look.facts();
    look.mysqld(1, 'CrashLoopBackOff', 1);
    expect(ready(look)).to.equal(false);
    look.mysqld(1, 'starting', 2);
    expect(ready(look)).to.equal(false);
    look.mysqld(1, 'ready', 2);
    look.facts();
    look.mysqld(1, 'starting', 2);
    expect(ready(look)).to.equal(true);
  });

  it('is recognized by a process that starts later if the pod became not ready after the run began', () => {
    const look = new Look();
    const status = containersOf('starting', '2026-07-01T11:30:00Z');
    look.change(1, { status });
    expect(ready(look), 'it stopped when the run began').to.equal(false);
    const running = { running: { startedAt: '2026-07-01T11:00:00Z' } };
    look.change(1, {
      status: { containerStatuses: [{ name: 'mysqld', state: running, ready: false, restartCount: 1 }] },
    });
    look.restart();
    expect(ready(look)).to.equal(true);
  });
});

describe('how long a container has not been ready', () => {
  it('is zero while it is ready, and counts from when that was seen to end', () => {
    const look = new Look();
    expect(look.container(1, 'mysqld').notReadyForSeconds).to.equal(0);
    look.mysqld(1, 'starting');
    expect(look.container(1, 'mysqld').notReadyForSeconds).to.equal(0);
    look.pass(61);
    expect(look.container(1, 'mysqld').notReadyForSeconds).to.equal(61);
    expect(look.container(1, 'agent').notReadyForSeconds).to.equal(0);
  });

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

  it('does not count the time before its first container started', () => {
    const look = new Look();
    look.facts();
    slowToBegin(look);
    expect(look.container(1, 'agent').notReadyForSeconds).to.equal(0);
    look.pass(59);
    expect(look.container(1, 'agent').notReadyForSeconds).to.equal(59);
  });

  it('counts from the last container start of its pod for a process that starts later', () => {
    const look = new Look();
    slowToBegin(look);
    look.pass(40);
    look.restart();
    expect(look.container(1, 'agent').notReadyForSeconds).to.equal(39);
  });
});

describe('how long the primary has been unavailable', () => {
  it('is zero while it participates', () => {
    expect(new Look().facts().cluster.primaryUnavailableForSeconds).to.equal(null);
  });

  it('continues when its pod is replaced, as long as the index stays', () => {
    const look = new Look();
    look.facts();
    look.mysqld(0, 'starting');
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
    look.pass(10);
    look.removePod(0);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(10);
    look.pass(10);
    look.pod(0, { ready: false, role: null, at: look.now });
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(20);
    look.mysqld(0, 'ready');
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(null);
  });

  it('restarts when the index moves to another unavailable member', () => {
    const look = new Look();
    look.mysqld(0, 'starting');
    look.mysqld(1, 'starting');
    look.facts();
    look.pass(100);
    look.cluster({ currentPrimaryIndex: 1 });
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
  });

  it('counts from the first observation for a process that starts later: the index may have moved to an unavailable member', () => {
    const look = new Look();
    look.mysqld(0, 'starting');
    look.pass(100);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
    look.pass(30);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(30);
  });

  it('counts for an errant one too', () => {
    const look = new Look();
    look.pass(150);
    look.cluster({ errantReplicaList: [0] });
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(0);
    look.pass(30);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(30);
  });

  it('counts for an unreachable one: every container is ready, and the pod is not', () => {
    const look = new Look();
    look.facts();
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: look.now }];
    look.change(0, { status: { conditions } });
    look.pass(7);
    look.facts();
    look.pass(3);
    expect(look.facts().cluster.primaryUnavailableForSeconds).to.equal(3);
  });
});

describe('how long a member has been terminating', () => {
  it('is zero without a deletion request', () => {
    expect(new Look().member(1).terminatingForSeconds).to.equal(null);
  });

  it('counts from the moment of the request, which is not the timestamp', () => {
    const look = new Look();
    const metadata = { deletionTimestamp: '2026-07-01T12:04:50Z', deletionGracePeriodSeconds: 300 };
    look.change(1, { metadata });
    expect(look.member(1)).to.include({ terminatingForSeconds: 9, graceSeconds: 300 });
    look.pass(5);
    expect(look.member(1).terminatingForSeconds).to.equal(14);
  });

  it('counts from when a running process observed it', () => {
    const look = new Look();
    look.facts();
    look.change(1, { metadata: { deletionTimestamp: '2026-07-01T12:00:00Z', deletionGracePeriodSeconds: 300 } });
    expect(look.member(1).terminatingForSeconds).to.equal(0);
  });

  // The kubelet's last DELETE, as seen with real pods: deletionTimestamp jumps back to the first request.
  const asked = { deletionTimestamp: '2026-07-01T12:05:00Z', deletionGracePeriodSeconds: 300 };
  const ended = { deletionTimestamp: '2026-07-01T12:00:00Z', deletionGracePeriodSeconds: 0 };

  it('is zero when the kubelet has ended the grace period, for a running process', () => {
    const look = new Look();
    look.facts();
    look.change(1, { metadata: asked });
    look.facts();
    look.pass(21);
    look.change(1, { metadata: ended });
    expect(look.member(1)).to.include({ terminatingForSeconds: 0, graceSeconds: 0 });
  });

  it('is zero when the kubelet has ended the grace period, for a process that starts at that moment', () => {
    const look = new Look();
    look.pass(21);
    look.change(1, { metadata: ended });
    expect(look.member(1)).to.include({ terminatingForSeconds: 0, graceSeconds: 0 });
  });

  it('continues if the pod stays after that', () => {
    const look = new Look();
    look.change(1, { metadata: ended });
    look.facts();
    look.pass(11);
    expect(look.member(1)).to.include({ terminatingForSeconds: 11, graceSeconds: 0 });
  });

  it('restarts when the grace period is shortened', () => {
    const look = new Look();
    look.change(1, { metadata: asked });
    look.facts();
    look.pass(200);
    look.change(1, { metadata: { deletionTimestamp: '2026-07-01T12:00:30Z', deletionGracePeriodSeconds: 30 } });
    expect(look.member(1)).to.include({ terminatingForSeconds: 0, graceSeconds: 30 });
  });
});

describe('how long a demotion has lasted', () => {
  const demoted = (look: Look, mark: string | null = 'r'): void =>
    look.change(0, {
      metadata: {
        annotations: {
          'moco.cybozu.com/demote': 'true',
          ...(mark !== null && { 'moco-rollout.io/demoted-for': mark }),
        },
      },
    });

  it('counts from when it was observed', () => {
    const look = new Look();
    look.facts();
    demoted(look);
    expect(look.member(0)).to.include({ demote: true, demotedFor: 'r', demoteForSeconds: 0 });
    look.pass(90);
    expect(look.member(0).demoteForSeconds).to.equal(90);
  });

  it('counts from the recorded request, for a process that starts later', () => {
    const look = new Look();
    demoted(look);
    look.demotionAskedAt = '2026-07-01T11:59:00Z';
    expect(look.member(0).demoteForSeconds).to.equal(59);
  });

  it('restarts with another demotion', () => {
    const look = new Look();
    demoted(look, null);
    look.facts();
    look.pass(30);
    demoted(look);
    expect(look.member(0).demoteForSeconds).to.equal(0);
  });
});

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
      expect(look.facts().backupJobs).to.deep.equal([]);
      look.restart();
      look.jobs = [job('emergency')];
      const { startTime: startedAt } = job('').status;
      const active = { name: 'emergency', restores: false, startedAt };
      expect(look.facts().backupJobs).to.deep.equal([{ ...active, activeForSeconds: 59 }]);
      look.pass(3);
      expect(look.facts().backupJobs).to.deep.equal([{ ...active, activeForSeconds: 62 }]);
    }
  });

  it('say why Jobs can not be read if the cluster has a backup policy', () => {
    const look = new Look();
    look.jobsUnreadable = 'jobs is forbidden';
    expect(look.facts().backupsUnreadable).to.equal(null);
    look.spec({ backupPolicyName: 'daily' });
    expect(look.facts().backupsUnreadable).to.equal('jobs is forbidden');
    look.jobsUnreadable = null;
    expect(look.facts().backupsUnreadable).to.equal(null);
  });

  it('list the members in ascending order, with ten members too', () => {
    const look = new Look();
    for (const ordinal of [10, 9]) look.pod(ordinal);
    expect(look.facts().members.map(({ ordinal }) => ordinal)).to.deep.equal([0, 1, 2, 9, 10]);
  });
});
