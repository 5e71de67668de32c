import type { ExchangeRequest } from '../../../src/kube/world.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import type { Happening } from './happening.ts';
import type { Mishap } from './trouble.ts';

/** What strikes while a rollout is under way: what happens, and what follows from how things are put together. */
export type Fault =
  | Exclude<Happening['kind'], 'together' | 'rollOut' | 'mishaps' | 'switchover' | 'crashAtWrite'>
  | 'change'
  | 'revert'
  | 'switchoverIgnored'
  | 'switchoverFailing'
  | 'crashBeforeWrite'
  | 'crashOnItsWay'
  | 'crashAfterWrite'
  | 'twoLeaders'
  | 'leaderChange'
  | 'lateRequest'
  | 'conflict'
  | 'reordered';

/** Every fault, and what it does. A test holds the README's table against this, and wants each to strike. */
export const faults: Readonly<Record<Fault, string>> = {
  rollOutBad: 'the user asks for an image that crashes, is missing, hangs or never gets ready, and corrects it later',
  change: 'the user asks for another image in the middle of a rollout',
  revert: 'the user goes back to the image before in the middle of a rollout',
  changePod: 'the user changes a label, a sidecar or the CPU of the pods, which may be done while they run',
  badSidecar: 'the user asks for a sidecar whose image is missing, in pods that may be changed while they run',
  upgradeMoco: 'MOCO is upgraded, with another agent that the nodes may have or not',
  refuseResize: 'a kubelet defers a resize, calls it infeasible, or reports an error',
  pause: 'the user pauses the rollout for a while',
  keepBelow: 'the user keeps the lower members as they are for a while',
  maintenance: 'the user has a maintenance window that closes, and opens again a minute later',
  allow: 'the user lets more members be away at once for a while',
  stopClustering: "the user stops MOCO's clustering for a while",
  stopReconciliation: "the user stops MOCO's reconciliation for a while",
  forceRollingUpdate: "the user forces Kubernetes' own rolling update for a while",
  goOffline: 'the user takes the cluster offline for a while',
  scale: 'the user wants two more members',
  growVolumes: 'the user wants bigger volumes: MOCO makes the StatefulSet again',
  recreateCluster: 'the user deletes the cluster and makes it again',
  manual: 'the user lets the primary wait for approval for a while',
  keepLost: 'the user wants members that somebody else takes to keep their revision, for a while',
  stopInPlace: 'the user takes other CPU back and turns updates in place off, for a while',
  stopPrepull: 'the user wants no images fetched any more before members are taken, for a while',
  overridePreflight: 'the user overrides a rule about images that are fetched before members are taken',
  pin: 'the user pins a member for a while',
  failCheck: 'a check of the user fails for a while',
  backup: "a backup runs: MOCO closes the cluster's PodDisruptionBudget",
  backUpByHand: 'a person begins a backup that MOCO does not know of',
  deletePod: 'somebody else deletes a member',
  forceDelete: 'somebody else deletes a member by force, without a grace period',
  failPod: 'a pod fails, as when its kubelet evicts it, and the StatefulSet controller deletes it',
  evictPod: 'somebody else evicts a member',
  drain:
    "somebody drains a member's node: evicts it again and again until that is let, and no node takes it for a while",
  recreateStatefulSet: 'somebody deletes the StatefulSet and leaves its pods; MOCO makes it again',
  removeRollout: 'somebody deletes the MySQLRollout',
  touchRollout: 'somebody annotates the MySQLRollout',
  copyRollout: 'the MySQLRollout is overwritten by one that belongs to another cluster, and deleted later',
  keepRollout: "somebody deletes the MySQLRollout, and somebody's finalizer keeps it for a while",
  foreignDemote: 'somebody else demotes a member',
  kill: 'a container dies and does not come back for a while',
  crashLoop: 'a container crashes again and again',
  flap: 'a container is not ready for a while',
  restart: 'a container restarts',
  loseNode: 'a node is lost: its kubelet says nothing any more, nobody reaches the member, and later it is back',
  nodeGone: 'a node is lost and does not come back: its pods fail, and are deleted by force',
  unschedulable: 'no node takes a member that was made anew',
  pullFails: "a member's image can't be fetched where it is started",
  hangTerminating: "the containers of a member that goes don't end",
  failFetch: 'pods that fetch images on nodes fail, wait, or are deleted by somebody',
  labelMember: 'somebody gives a member the label of a pod that fetches images',
  foreignFetchers: "somebody's pods have the label or the name of a pod that fetches images",
  slowPull: 'a member that is made anew waits for its image',
  stopMoco: 'moco-controller is killed, and another process of it starts',
  upstreamUnavailable: 'what an intermediate primary replicates from is away',
  refuseEvictions: 'evictions are refused, by RBAC or by a policy',
  refusePods: 'no pod can be made, as where a quota is used up',
  programStopped: 'every process of the program is killed, and none comes back for a while',
  switchoverIgnored: 'a switchover is asked for that never comes',
  switchoverFailing: 'a switchover is asked for that fails, try after try',
  nextPrimary: 'a switchover or failover goes to a member that MOCO would not have chosen',
  lag: 'a replica lags behind',
  errant: "a replica has transactions that the primary doesn't have",
  backlog: 'every replica applies a long DDL: it has received more than it has applied',
  receiverBehind: 'a replica that is ready has not received the newest transactions',
  breakReplica: 'a replica does not replicate any more, and MOCO fails to configure it',
  agentsDie: 'no agent of any member answers any more, until its pod is replaced',
  staleStatus: "MOCO's status is late",
  watchLag: 'the watches of a kind are late',
  watchStalls: 'watches say nothing for a while',
  watchBreaks: 'watches break off; what was on its way is lost',
  watchExpires: 'watches are answered with 410, and older revisions and pages can not be had any more',
  watchForgets: 'watches never tell what was in between: states are missed',
  watchRepeats: 'watches say again what they have said: time goes backwards for a cache',
  reordered: 'a watch tells of something older than what a watch of another kind has told',
  slowControllers: "Kubernetes' own controllers are slow",
  crash: 'a process of the program is killed',
  crashBeforeWrite: 'a process is killed between two writes, right before the second',
  crashOnItsWay: 'a process is killed while its write is on the way, which arrives all the same',
  crashAfterWrite: 'a process is killed between two writes, right after the first',
  atWrite: 'one of the things above happens at a write of a process: right before it, on its way, or right after it',
  stop: 'a process is stopped as by SIGTERM',
  freeze: 'a process stands still as by SIGSTOP, and goes on',
  moveClock: "the wall clock of a process's machine moves by a minute or an hour, forwards or backwards",
  leaderChange: 'another process becomes leader in the middle of a rollout',
  twoLeaders: 'two processes that are alive both write within a few seconds',
  lateRequest: 'a request arrives after its author has given it up',
  conflict: 'a request is refused with 409, since somebody was quicker',
};

/** Where requests go wrong, the lease apart. */
export const requestVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'evict', 'lease'] as const;
export type RequestVerb = (typeof requestVerbs)[number];

/** What requests meet with, each of them on each kind of request. */
export const mishapSentences: Readonly<Record<Mishap['kind'], string>> = {
  error: 'answered with 429, 500, 503 or 504',
  lost: 'carried out, the connection broken before the answer',
  reset: 'the connection broken before it arrived',
  refused: 'nobody listened',
  silent: 'carried out and never answered',
  slow: 'seconds on its way, or its answer',
};

export type Strike = Fault | `${Mishap['kind']} ${RequestVerb}`;
export type Strikes = Readonly<Partial<Record<Strike, number>>>;

export function verbOf({ method, path }: ExchangeRequest): RequestVerb {
  const [place = '', query = ''] = path.split('?');
  if (place.includes('/leases')) return 'lease';
  if (place.endsWith('/eviction')) return 'evict';
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    case 'GET':
      if (query.includes('watch=true')) return 'watch';
      return resourceAt(place)?.name === null ? 'list' : 'get';
  }
}

/** Every strike that there can be. */
export function allStrikes(): readonly Strike[] {
  const mishaps = Object.keys(mishapSentences) as Mishap['kind'][];
  return [
    ...(Object.keys(faults) as Fault[]),
    ...mishaps.flatMap((mishap) => requestVerbs.map((verb) => `${mishap} ${verb}` as const)),
  ];
}

/** Two tables in Markdown: how often each fault has struck. */
export function faultTables(strikes: Strikes): string {
  const count = (strike: Strike): string => String(strikes[strike] ?? 0);
  const mishaps = Object.entries(mishapSentences) as [Mishap['kind'], string][];
  return [
    '| fault | what it does | struck |\n| --- | --- | --- |',
    ...Object.entries(faults).map(([fault, sentence]) => `| ${fault} | ${sentence} | ${count(fault as Fault)} |`),
    '',
    `| requests | ${requestVerbs.join(' | ')} |\n| --- |${' --- |'.repeat(requestVerbs.length)}`,
    ...mishaps.map(
      ([mishap, sentence]) =>
        `| ${mishap}: ${sentence} | ${requestVerbs.map((verb) => count(`${mishap} ${verb}`)).join(' | ')} |`,
    ),
  ].join('\n');
}
