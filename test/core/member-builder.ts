import type { ContainerResources, InPlaceChange, Resize } from '../../src/core/in-place-changes.ts';
import type { MysqldFacts } from '../../src/core/mysql-versions.ts';
import {
  type CloneReading,
  type EndingClaim,
  justCreated,
  type LastReading,
  notAsked,
  type Recreatable,
} from '../../src/core/on-demand-facts.ts';
import type {
  ClaimEvidence,
  ContainerFacts,
  DataRecord,
  DataRecordFacts,
  LastRun,
  MemberFacts,
} from '../../src/core/snapshot.ts';

export const revisionBefore = '5897fd84f8';
export const revisionAfter = '7966559688';

/** Of every member, and of every revision, that says nothing else. */
export const usualVersion = '8.4.8';

/** The mysqld of a pod or a template, by the tag of its image; `null` for an image that does not tell its version. */
export const mysqldAt = (version: string | null, digest = 'ab'): MysqldFacts =>
  version === null
    ? { image: `mysql@sha256:${digest}`, version: null }
    : { image: `mysql:${version}`, version: { version, source: 'tag' } };

/** What is known of the data of a member; nothing of what is left out. */
export interface KnownData {
  readonly lastRun?: Omit<LastRun, 'ordinal'>;
  readonly record?: DataRecord | null;
  readonly claim?: ClaimEvidence;
  readonly ageSeconds?: number;
}

/** A mysqld of this revision, of the version that the revision brings. */
export const dataRecord = (revision: string): DataRecord => ({
  revision,
  image: null,
  version: revision === revisionAfter ? '8.4.9' : '8.4.8',
});

/** What the scheduler says of the nodes that are not cordoned. */
const reasonsOfNodes = {
  'other volumes': '2 node(s) had volume node affinity conflict',
  'other volumes, in newer words': "2 node(s) didn't match PersistentVolume's node affinity",
  'anti-affinity': "2 node(s) didn't match pod anti-affinity rules",
  'topology spread': "2 node(s) didn't match pod topology spread constraints",
  'node selector': "2 node(s) didn't match Pod's node affinity/selector",
  'no room': '1 Insufficient cpu, 1 Too many pods',
  taints: '2 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }',
} as const;

/** Why no other node takes the pod of a member whose own node is cordoned. */
type ReasonOfNodes = keyof typeof reasonsOfNodes;
export const reasonsOfOtherNodes = Object.keys(reasonsOfNodes) as readonly ReasonOfNodes[];

/** A fresh answer of an agent. */
const cloneRead = (reading: CloneReading): LastReading<CloneReading> => ({
  reading,
  ageSeconds: 0,
  unknownForSeconds: 0,
});

/** A member that has served for an hour, until it is told otherwise. */
export const member = (ordinal: number): MemberBuilder => new MemberBuilder(ordinal);

export const longSeconds = 3600;

const running = (name: string, part: ContainerFacts['part']): ContainerFacts => ({
  name,
  part,
  state: 'running',
  reason: null,
  ready: true,
  started: true,
  restarts: 0,
  hasRun: true,
  sidecar: false,
  injected: false,
  readySinceRestart: true,
  restartsInVain: 0,
  notReadyForSeconds: 0,
});

/** Every restart of a container that has not been ready since. */
const inVain = (container: ContainerFacts): ContainerFacts => ({
  ...container,
  restartsInVain: container.ready || container.readySinceRestart ? 0 : container.restarts,
});

/** What follows from the rest, unless it is given. */
const told = (container: ContainerFacts, { hasRun }: Partial<ContainerFacts>): ContainerFacts => {
  const { state, restarts, reason } = container;
  return inVain({
    ...container,
    hasRun: hasRun ?? (state !== 'waiting' || restarts > 0 || reason === 'CrashLoopBackOff'),
  });
};

const notReady: Partial<ContainerFacts> = { ready: false, readySinceRestart: false, notReadyForSeconds: 10 };

const completed = (name: string): ContainerFacts => ({
  ...running(name, 'side'),
  state: 'terminated',
  reason: 'Completed',
  started: false,
});

/** The change that restarts these containers, or that changes nothing but the revision. */
export const changeOf = (...containers: readonly string[]): InPlaceChange => ({
  resources: [],
  resized: [],
  labels: {},
  annotations: {},
  containers: containers.map((name) => ({ name, image: `example/${name}:2` })),
  initContainers: [],
});

/** A new limit of CPU for this container. */
export const resourcesOf = (name: string, restarts = false): ContainerResources => ({
  name,
  limits: { cpu: '2' },
  requests: {},
  restarts,
});

/** Says what is special about one member. */
export class MemberBuilder {
  readonly ordinal: number;
  isErrant = false;
  #isUnreachable = false;
  #revision: string | null = null;
  #special: Partial<MemberFacts> = {};
  #data: KnownData | string | null = null;
  readonly #containers = new Map<string, ContainerFacts>(
    [running('mysqld', 'mysqld'), running('agent', 'agent'), running('slow-log', 'side')].map((container) => [
      container.name,
      container,
    ]),
  );
  readonly #initContainers = new Map<string, ContainerFacts>(
    [completed('copy-moco-init'), completed('moco-init')].map((container) => [container.name, container]),
  );

  constructor(ordinal: number) {
    this.ordinal = ordinal;
  }

  /** Container mysqld is ready, the pod is not being deleted, and MOCO reports no problem with it. */
  get serves(): boolean {
    const ready = this.#containers.get('mysqld')?.ready === true;
    return ready && (this.#special.terminatingForSeconds ?? null) === null && !this.isErrant && !this.#isUnreachable;
  }

  stale(): this {
    this.#revision = revisionBefore;
    return this;
  }

  updated(): this {
    this.#revision = revisionAfter;
    return this;
  }

  /** The newest mysqld that has started on its data, which is otherwise that of its pod, or what is known of it. */
  data(data: KnownData | string): this {
    this.#data = data;
    return this;
  }

  /** It is not known which mysqld has started on its data. */
  dataUnknown(): this {
    return this.data({});
  }

  /** Anything that has no word of its own. */
  but(special: Partial<MemberFacts>): this {
    this.#special = { ...this.#special, ...special };
    return this;
  }

  /** What was read about whether it can come back; `null` if nothing was. */
  recreatable(special: Partial<Recreatable> | null): this {
    const { recreatable: before } = this.#special;
    const known = before?.kind === 'asked' ? before : justCreated;
    return this.but({ recreatable: special === null ? notAsked : { ...known, ...special } });
  }

  /** Nothing but its pod keeps its data. */
  claimEnds(state: EndingClaim['state'] = 'terminating'): this {
    return this.recreatable({ claims: [{ name: `mysql-data-moco-test-${this.ordinal}`, state }] });
  }

  /** Its node is cordoned, and is to be emptied. */
  onCordonedNode(): this {
    return this.but({ leaving: 'is cordoned' });
  }

  /** The same, and its volume allows no other node. */
  tiedToCordonedNode(): this {
    const tied = { nodeName: `n-${this.ordinal}`, refusals: ['is cordoned'], ties: [`the volume pvc-${this.ordinal}`] };
    return this.onCordonedNode().recreatable({ tied });
  }

  /** What its agent has said about a clone; `null` if it was not asked. */
  clone(reading: CloneReading | null, ages: Partial<LastReading<CloneReading>> = {}): this {
    return this.but({ clone: reading && { ...cloneRead(reading), ...ages } });
  }

  /** Its pod runs a mysqld of this version; `null` for one whose image does not tell it. */
  mysqld(version: string | null): this {
    return this.but({ mysqld: mysqldAt(version) });
  }

  container(name: string, special: Partial<ContainerFacts>): this {
    const before = this.#containers.get(name) ?? running(name, 'side');
    this.#containers.set(name, told({ ...before, ...special }, special));
    return this;
  }

  initContainer(name: string, special: Partial<ContainerFacts>): this {
    const before = this.#initContainers.get(name) ?? completed(name);
    this.#initContainers.set(name, told({ ...before, ...special }, special));
    return this;
  }

  /** mysqld waits for this reason and does no work. */
  down(reason: string, restarts = reason === 'CrashLoopBackOff' ? 7 : 0): this {
    return this.container('mysqld', { ...notReady, state: 'waiting', reason, started: false, restarts }).#unready();
  }

  /** Its mysqld runs, replicates and acknowledges, but is too far behind to be ready. */
  lagging(forSeconds = 100): this {
    return this.container('mysqld', {
      ...notReady,
      readySinceRestart: true,
      notReadyForSeconds: forSeconds,
    }).#unready();
  }

  /** Its mysqld has been started and has not yet been ready. Nobody has asked its agent. */
  starting(): this {
    return this.container('mysqld', notReady).but({ role: null, clone: null }).#unready();
  }

  /** Its mysqld has started again, and its startup probe has not passed since. */
  recovering(forSeconds = 10): this {
    return this.lagging(forSeconds).container('mysqld', { started: false, readySinceRestart: false, restarts: 1 });
  }

  /** Its startup probe has passed after a restart, and it is not ready yet. */
  catchingUp(forSeconds = 2): this {
    return this.lagging(forSeconds + 10)
      .container('mysqld', { readySinceRestart: false, restarts: 1 })
      .but({ mysqldStartedForSeconds: forSeconds });
  }

  /** Its mysqld runs at the moment, after some restarts that never made it ready. */
  crashLooping(container = 'mysqld', restarts = 3): this {
    this.container(container, { ...notReady, restarts });
    return this.container('mysqld', { ...notReady, readySinceRestart: container !== 'mysqld' }).#unready();
  }

  /** The agent, which answers mysqld's probes, is dead; mysqld itself goes on. */
  agentDead(): this {
    return this.container('agent', {
      ...notReady,
      state: 'waiting',
      reason: 'CrashLoopBackOff',
      restarts: 4,
    }).lagging();
  }

  /** Its containers are being created; mysqld has not been running for so long. */
  creating(idleForSeconds: number): this {
    return this.container('mysqld', { ...notReady, state: 'waiting', reason: 'ContainerCreating', started: false })
      .but({ phase: 'Pending', mysqldIdleForSeconds: idleForSeconds, role: null })
      .#unready();
  }

  unschedulable(message = '0/3 nodes are available: 3 Insufficient memory.'): this {
    return this.creating(0).but({ unschedulable: message });
  }

  /** Its node is cordoned, and the others do not accept the pod, because of its volume or for another reason. */
  awaitingNode(others: ReasonOfNodes = 'other volumes'): this {
    return this.unschedulable(
      `0/3 nodes are available: 1 node(s) were unschedulable, ${reasonsOfNodes[others]}. no new claims to deallocate, ` +
        'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    );
  }

  /** No node is cordoned, and each refuses the pod for a reason that a taint only adds to. */
  findingNoNode(): this {
    return this.unschedulable(
      '0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory.',
    );
  }

  /** Its node is attaching the volume or pulling the first image: no container of the pod has run. */
  preparing(idleForSeconds: number): this {
    return this.creating(idleForSeconds)
      .container('mysqld', { reason: 'PodInitializing', hasRun: false })
      .initContainer('moco-init', { state: 'waiting', reason: 'PodInitializing', hasRun: false });
  }

  failed(): this {
    return this.container('mysqld', { ...notReady, state: 'terminated', reason: 'Error', started: false })
      .but({ phase: 'Failed' })
      .#unready();
  }

  /** Its node was short of something; or it used more storage than its own limits allow. */
  evictedByKubelet(forItsOwnLimits = false): this {
    return this.failed().but({
      failedReason: 'Evicted',
      disruption: forItsOwnLimits ? null : 'TerminationByKubelet',
      exceededLimits: forItsOwnLimits,
    });
  }

  /** Ready, but nothing is reported about its containers: its status was emptied. */
  unreported(idleForSeconds = 100): this {
    for (const name of this.#containers.keys()) {
      this.container(name, { ...notReady, state: 'waiting', reason: null, started: false, hasRun: false });
    }
    return this.but({ mysqldIdleForSeconds: idleForSeconds });
  }

  /** The container has another name, and so is no longer what it was. */
  withContainer(name: string, otherName: string): this {
    const before = this.#containers.get(name) ?? running(name, 'side');
    this.#containers.delete(name);
    return this.container(otherName, { ...before, name: otherName, part: 'side' }).but({ mysqldIdleForSeconds: 100 });
  }

  /** A sidecar runs that has been started before everything else, and goes on. */
  besideSidecar(name = 'istio-proxy'): this {
    return this.initContainer(name, { state: 'running', reason: null, started: true, sidecar: true });
  }

  /** A pod with the labels of a member that the StatefulSet has not made. */
  ofNobody(): this {
    return this.but({ ofStatefulSet: false });
  }

  /** The kubelet is gone, and the node controller has said so. */
  unreachable(): this {
    this.#isUnreachable = true;
    return this.but({ ready: false });
  }

  terminating(forSeconds = 5): this {
    return this.but({ terminatingForSeconds: forSeconds });
  }

  /** A sidecar waits in vain. */
  impaired(container: string, reason = 'CrashLoopBackOff'): this {
    return this.container(container, { ...notReady, state: 'waiting', reason, restarts: 4 }).but({ ready: false });
  }

  /** A sidecar has not been ready for so long, for no reason that Kubernetes could name. */
  sidecarNotReady(container: string, forSeconds: number): this {
    return this.container(container, { ...notReady, notReadyForSeconds: forSeconds }).but({ ready: false });
  }

  errant(): this {
    this.isErrant = true;
    return this;
  }

  role(role: MemberFacts['role']): this {
    return this.but({ role });
  }

  /** It has participated for so long, and MOCO has given it no role. */
  unlabelled(forSeconds = 10): this {
    return this.role(null).participatingFor(forSeconds);
  }

  /** Its running pod was given its revision so long ago, however long it has participated. */
  relabelledFor(revisionForSeconds: number): this {
    return this.but({ revisionForSeconds });
  }

  participatingFor(seconds: number): this {
    return this.but({ participatingForSeconds: seconds });
  }

  /** It carries `demote` and our mark. */
  demotedByUs(forSeconds = 1, revision: string = revisionAfter): this {
    return this.but({ demote: true, demotedFor: revision, demoteForSeconds: forSeconds });
  }

  demotedBySomebody(forSeconds = 1): this {
    return this.but({ demote: true, demotedFor: null, demoteForSeconds: forSeconds });
  }

  /** MOCO has removed `demote`; our mark is still there. */
  markAlone(revision: string = revisionAfter): this {
    return this.but({ demote: false, demotedFor: revision });
  }

  preventDelete(): this {
    return this.but({ preventDelete: true });
  }

  /** Its running pod can be changed, which restarts these containers. */
  changeable(...containers: readonly string[]): this {
    return this.but({ inPlace: { kind: 'possible', change: changeOf(...containers), resize: null } });
  }

  /** Its containers can be resized, and the others restarted after that. */
  resizable(resources: readonly ContainerResources[], ...containers: readonly string[]): this {
    const change = { ...changeOf(...containers), resources };
    return this.but({ inPlace: { kind: 'possible', change, resize: null } });
  }

  /** It was resized, and the kubelet has still to resize these containers. Others restart after that. */
  resizing(resize: Partial<Resize>, ...containers: readonly string[]): this {
    const known = { awaited: ['mysqld'], deferred: null, forSeconds: 10, mysqldRestarted: false, ...resize };
    return this.but({ inPlace: { kind: 'possible', change: changeOf(...containers), resize: known } });
  }

  /** It is being resized for a revision that is over, and has to be resized anew. */
  resizableAnew(resources: readonly ContainerResources[], resize: Partial<Resize> = {}): this {
    const known = { awaited: ['mysqld'], deferred: null, forSeconds: 10, mysqldRestarted: false, ...resize };
    const change = { ...changeOf(), resources };
    return this.but({ inPlace: { kind: 'possible', change, resize: known } });
  }

  notChangeable(...reasons: readonly string[]): this {
    return this.but({ inPlace: { kind: 'impossible', reasons } });
  }

  /** Its pod was changed, and the kubelet has not restarted the container yet. */
  restartsInPlace(container: string): this {
    const restarts = { [container]: 1 };
    return this.but({ restartInPlace: { restarts, awaited: [container], doneForSeconds: 0, mysqldRestarted: false } });
  }

  restartedInPlace(container: string, doneForSeconds: number): this {
    return this.but({
      restartInPlace: { restarts: { [container]: 1 }, awaited: [], doneForSeconds, mysqldRestarted: false },
    });
  }

  /** Its mysqld has worked at the revision of its pod, unless it is told otherwise. */
  dataFacts(revision: string): {
    readonly lastRuns: readonly LastRun[];
    readonly dataRecords: readonly DataRecordFacts[];
  } {
    const { ordinal } = this;
    const own = this.#special.revision ?? this.#revision ?? revision;
    const known = typeof this.#data === 'string' || this.#data === null ? null : this.#data;
    const { mysqld } = this.#special;
    const ownVersion = mysqld && { version: mysqld.version?.version ?? null };
    const {
      record,
      claim,
      ageSeconds = 0,
      lastRun,
    } = known ?? {
      lastRun: { ...dataRecord(typeof this.#data === 'string' ? this.#data : own), ...ownVersion, worked: true },
    };
    return {
      lastRuns: lastRun === undefined ? [] : [{ ordinal, ...lastRun }],
      dataRecords: record === undefined ? [] : [{ ordinal, record, ...(claim && { claim }), ageSeconds }],
    };
  }

  facts(primary: number, revision: string): MemberFacts {
    return {
      ordinal: this.ordinal,
      name: `moco-test-${this.ordinal}`,
      uid: `uid-${this.ordinal}`,
      resourceVersion: `${1000 + this.ordinal}`,
      revision: this.#revision ?? revision,
      role: this.ordinal === primary ? 'primary' : 'replica',
      phase: 'Running',
      ready: true,
      readinessGateClosed: false,
      node: `n-${this.ordinal}`,
      unschedulable: null,
      failedReason: null,
      disruption: null,
      exceededLimits: false,
      ofStatefulSet: true,
      startupSeconds: longSeconds,
      containers: [...this.#containers.values()],
      initContainers: [...this.#initContainers.values()],
      terminatingForSeconds: null,
      graceSeconds: 300,
      mysqldIdleForSeconds: 0,
      mysqldStartedForSeconds: longSeconds,
      revisionForSeconds: longSeconds,
      participatingForSeconds: this.serves ? longSeconds : null,
      demote: false,
      demotedFor: null,
      demoteForSeconds: 0,
      preventDelete: false,
      inPlace: null,
      restartInPlace: null,
      recreatable: justCreated,
      leaving: null,
      clone: cloneRead({ kind: 'notCloning' }),
      mysqld: mysqldAt(usualVersion),
      mysqldKilled: false,
      serverVersion: null,
      ...this.#special,
    };
  }

  #unready(): this {
    return this.but({ ready: false, participatingForSeconds: null });
  }
}
