import type { Happening, Planned } from './happening.ts';
import type { Mishap, RequestKind } from './trouble.ts';

/** One line of a story. */
export function words({ atMilliseconds, what }: Planned): string {
  return `${(atMilliseconds / 1000).toFixed(3)} s: ${sentenceOf(what)}`;
}

type Of<Kind extends Happening['kind']> = Extract<Happening, { readonly kind: Kind }>;

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
const lasting = ({ forMilliseconds }: { readonly forMilliseconds: number }): string =>
  `for ${seconds(forMilliseconds)}`;
const kindsOf = (plural: string | null): string => plural ?? 'every kind';
const points = { before: 'right before', onItsWay: 'on the way of', after: 'right after' } as const;

function pointOf({ writes, to, when, process }: Pick<Of<'atWrite'>, 'writes' | 'to' | 'when' | 'process'>): string {
  return `${points[when]} write ${writes} of process ${process} ${to === 'pod' ? 'to a pod' : 'to anything'} from now on`;
}

const fetchTroubles: Readonly<Record<Of<'failFetch'>['how'], string>> = {
  imagePull: "can't have one",
  hangs: 'wait for the registry',
  neverScheduled: 'are taken by no node',
  evicted: 'are evicted by the kubelet',
  deleted: 'are deleted by somebody',
};

const requestsOf: Readonly<Record<RequestKind, string>> = {
  read: 'lists and watches',
  confirm: 'reads of single objects',
  pod: 'writes to pods',
  status: 'writes to anything but pods',
  lease: 'requests about the lease',
  any: 'requests',
};

function mishapOf(mishap: Mishap): string {
  switch (mishap.kind) {
    case 'error': {
      const again = mishap.retryAfterSeconds;
      return `are answered with ${mishap.code}${again === null ? '' : `, to come again after ${again} s`}`;
    }
    case 'lost':
      return 'are carried out, and the connection breaks before the answer';
    case 'reset':
      return 'break off before they arrive';
    case 'refused':
      return 'find nobody who listens';
    case 'silent':
      return 'arrive and are never answered';
    case 'slow':
      return `take ${seconds(mishap.thereMilliseconds)} to arrive and their answers ${seconds(mishap.backMilliseconds)}`;
  }
}

function sentenceOf<Kind extends Happening['kind']>(what: Of<Kind>): string {
  const sentence = sentences[what.kind] as (what: Happening) => string;
  return sentence(what);
}

const sentences: { readonly [Kind in Happening['kind']]: (what: Of<Kind>) => string } = {
  rollOut: ({ image }) => `the user asks for ${image}`,
  rollOutBad: ({ image, corrected, forMilliseconds }) =>
    `the user asks for ${image}, which fails, and ${seconds(forMilliseconds)} later for ${corrected}`,
  failCheck: (what) => `a check of the user fails ${lasting(what)}`,
  manual: (what) => `the user lets the primary wait for approval ${lasting(what)}`,
  keepLost: (what) => `the user wants lost members to keep their revision ${lasting(what)}`,
  stopInPlace: (what) => `the user wants no update in place ${lasting(what)}`,
  stopPrepull: (what) => `the user wants no images fetched before members are taken ${lasting(what)}`,
  labelMember: (what) =>
    `somebody gives member ${what.ordinal} the label of a pod that fetches images ${lasting(what)}`,
  foreignFetchers: (what) => `pods of somebody have the label or the name of one that fetches images ${lasting(what)}`,
  overridePreflight: (what) => `the user overrides ${what.rule} ${lasting(what)}`,
  failFetch: (what) => `pods that fetch images ${fetchTroubles[what.how]} ${lasting(what)}`,
  pin: (what) => `the user pins member ${what.ordinal} ${lasting(what)}`,
  pause: (what) => `the user pauses the rollout ${lasting(what)}`,
  maintenance: (what) =>
    `a maintenance window is open for ${seconds(what.openMilliseconds)} and opens again a minute later, ${lasting(what)}`,
  keepBelow: (what) => `the user keeps the members below ${what.partition} as they are ${lasting(what)}`,
  stopClustering: (what) => `the user stops MOCO's clustering ${lasting(what)}`,
  stopReconciliation: (what) => `the user stops MOCO's reconciliation ${lasting(what)}`,
  forceRollingUpdate: (what) => `the user forces Kubernetes' own rolling update ${lasting(what)}`,
  goOffline: (what) => `the user takes the cluster offline ${lasting(what)}`,
  scale: ({ replicas }) => `the user wants ${replicas} members`,
  changePod: (what) =>
    `the user wants ${what.value} as the ${what.part} of the pods${what.part === 'sidecar' ? `, which the nodes ${what.pulled ? 'have' : 'do not have'}` : ''}`,
  badSidecar: ({ image, corrected, forMilliseconds }) =>
    `the user asks for the sidecar ${image}, which can't be fetched, and ${seconds(forMilliseconds)} later for ${corrected}`,
  upgradeMoco: ({ agent, pulled }) =>
    `MOCO is upgraded to the agent ${agent}, which the nodes ${pulled ? 'have' : 'do not have'}`,
  refuseResize: (what) => `the kubelet of member ${what.ordinal} answers a resize with ${what.how} ${lasting(what)}`,
  growVolumes: ({ size }) => `the user wants volumes of ${size}`,
  recreateCluster: () => 'the user deletes the cluster and makes it again',
  backup: (what) => `a backup runs ${lasting(what)}`,
  backUpByHand: (what) => `a backup that a person has begun runs ${lasting(what)}`,
  allow: (what) => `the user lets ${what.maxUnavailable} members be away at once ${lasting(what)}`,
  deletePod: ({ ordinal }) => `somebody deletes member ${ordinal}`,
  forceDelete: ({ ordinal }) => `somebody deletes member ${ordinal} by force`,
  failPod: ({ ordinal }) => `the pod of member ${ordinal} fails`,
  evictPod: ({ ordinal }) => `somebody evicts member ${ordinal}`,
  drain: (what) => `somebody drains the node of member ${what.ordinal} ${lasting(what)}`,
  recreateStatefulSet: () => 'somebody deletes the StatefulSet and leaves its pods, and MOCO makes it again',
  removeRollout: () => 'somebody deletes the MySQLRollout',
  touchRollout: () => 'somebody annotates the MySQLRollout',
  foreignDemote: (what) => `somebody demotes member ${what.ordinal} ${lasting(what)}`,
  kill: (what) => `container ${what.container} of member ${what.ordinal} dies and does not come back ${lasting(what)}`,
  crashLoop: (what) => `container ${what.container} of member ${what.ordinal} crashes again and again ${lasting(what)}`,
  flap: (what) => `container ${what.container} of member ${what.ordinal} is not ready ${lasting(what)}`,
  restart: ({ container, ordinal }) => `container ${container} of member ${ordinal} restarts`,
  loseNode: (what) => `the node of member ${what.ordinal} is lost ${lasting(what)}`,
  nodeGone: (what) =>
    `the node of member ${what.ordinal} is lost, and is deleted ${seconds(what.forMilliseconds)} later`,
  unschedulable: (what) => `no node takes member ${what.ordinal}, should it be made anew, ${lasting(what)}`,
  pullFails: (what) => `no image can be fetched where member ${what.ordinal} runs ${lasting(what)}`,
  hangTerminating: (what) => `the containers of member ${what.ordinal} don't end ${lasting(what)}`,
  together: ({ all }) =>
    all.map(({ afterMilliseconds, what }) => `after ${seconds(afterMilliseconds)} ${sentenceOf(what)}`).join('; '),
  slowPull: (what) => `member ${what.ordinal}, should it be made anew, waits for its image ${lasting(what)}`,
  stopMoco: (what) =>
    `moco-controller is away ${lasting(what)}${what.otherReplica ? ', another replica answers its webhooks' : ''}`,
  upstreamUnavailable: (what) => `what the cluster replicates from is away ${lasting(what)}`,
  refuseEvictions: (what) => `evictions are refused with ${what.code} ${lasting(what)}`,
  refusePods: (what) => `no pod can be made ${lasting(what)}`,
  programStopped: (what) => `every process of the program is away ${lasting(what)}`,
  copyRollout: (what) => `the MySQLRollout is one that belongs to another cluster ${lasting(what)}`,
  keepRollout: (what) => `the MySQLRollout is deleted, and a finalizer keeps it ${lasting(what)}`,
  switchover: (what) =>
    `MOCO ${what.how === 'ignored' ? 'begins no switchover' : 'fails at every switchover'} ${lasting(what)}`,
  nextPrimary: (what) => `MOCO prefers member ${what.ordinal} as its next primary ${lasting(what)}`,
  lag: (what) => `member ${what.ordinal} lags ${what.seconds} s behind ${lasting(what)}`,
  backlog: (what) => `every replica applies a long DDL ${lasting(what)}`,
  agentsDie: (what) => `no agent of any member answers, until its pod is replaced, ${lasting(what)}`,
  receiverBehind: (what) => `member ${what.ordinal} has not received the newest transactions ${lasting(what)}`,
  breakReplica: ({ ordinal }) => `member ${ordinal}, if a replica, stops replicating, and MOCO can't configure it`,
  errant: (what) => `member ${what.ordinal} has transactions of its own ${lasting(what)}`,
  staleStatus: (what) => `MOCO's status is ${seconds(what.byMilliseconds)} late ${lasting(what)}`,
  mishaps: (what) => {
    const share = what.probability === 1 ? 'all' : `${what.probability * 100} % of the`;
    const whose = what.process === null ? '' : ` of process ${what.process}`;
    const watches = { stay: '', break: '; watches break off', expire: '; watches break off and expire' }[what.watches];
    return `${lasting(what)} ${share} ${requestsOf[what.requests]}${whose} ${mishapOf(what.mishap)}${watches}`;
  },
  watchLag: (what) => `watches of ${what.plural} are up to ${seconds(what.milliseconds)} late ${lasting(what)}`,
  watchStalls: (what) =>
    `watches of ${kindsOf(what.plural)}${what.process === null ? '' : ` of process ${what.process}`} say nothing ${lasting(what)}`,
  watchBreaks: ({ plural }) => `watches of ${kindsOf(plural)} break off`,
  watchExpires: ({ plural }) => `watches of ${kindsOf(plural)} are answered with 410`,
  watchForgets: (what) =>
    `watches of ${kindsOf(what.plural)} say nothing ${lasting(what)} and then 410, and never tell what was in between`,
  watchRepeats: ({ plural, lines }) => `watches of ${plural} say their last ${lines} lines once more`,
  slowControllers: (what) => `Kubernetes' controllers are ${seconds(what.milliseconds)} slower ${lasting(what)}`,
  crash: ({ process, downMilliseconds }) =>
    `process ${process} is killed and is back after ${seconds(downMilliseconds)}`,
  crashAtWrite: (what) => `process ${what.process} is killed ${pointOf(what)}`,
  atWrite: (what) => `${pointOf(what)}: ${sentenceOf(what.what)}`,
  stop: ({ process, downMilliseconds }) =>
    `process ${process} is stopped and is back after ${seconds(downMilliseconds)}`,
  freeze: (what) => `process ${what.process} stands still ${lasting(what)}`,
  moveClock: ({ process, byMilliseconds }) =>
    `the wall clock of process ${process} moves by ${seconds(byMilliseconds)}`,
};
