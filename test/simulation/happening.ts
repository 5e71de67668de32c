import type { Mishap, RequestKind } from './trouble.ts';

/** What people, machines and MOCO do to a cluster. What lasts ends after `forMilliseconds`. */
export type Happening =
  // The user.
  | { readonly kind: 'rollOut'; readonly image: string }
  | {
      readonly kind: 'rollOutBad';
      readonly image: string;
      readonly corrected: string;
      readonly forMilliseconds: number;
    }
  | { readonly kind: 'pause'; readonly forMilliseconds: number }
  | { readonly kind: 'keepBelow'; readonly partition: number; readonly forMilliseconds: number }
  | { readonly kind: 'stopClustering'; readonly forMilliseconds: number }
  | { readonly kind: 'stopReconciliation'; readonly forMilliseconds: number }
  | { readonly kind: 'forceRollingUpdate'; readonly forMilliseconds: number }
  | { readonly kind: 'goOffline'; readonly forMilliseconds: number }
  | { readonly kind: 'scale'; readonly replicas: number }
  | { readonly kind: 'growVolumes'; readonly size: string }
  | { readonly kind: 'recreateCluster' }
  | { readonly kind: 'backup'; readonly forMilliseconds: number }
  // Other actors.
  | { readonly kind: 'deletePod'; readonly ordinal: number }
  | { readonly kind: 'evictPod'; readonly ordinal: number }
  | { readonly kind: 'recreateStatefulSet' }
  | { readonly kind: 'removeRollout' }
  | { readonly kind: 'foreignDemote'; readonly ordinal: number; readonly forMilliseconds: number }
  // Nodes.
  | { readonly kind: 'kill'; readonly ordinal: number; readonly container: string; readonly forMilliseconds: number }
  | {
      readonly kind: 'crashLoop';
      readonly ordinal: number;
      readonly container: string;
      readonly forMilliseconds: number;
    }
  | { readonly kind: 'flap'; readonly ordinal: number; readonly container: string; readonly forMilliseconds: number }
  | { readonly kind: 'restart'; readonly ordinal: number; readonly container: string }
  | { readonly kind: 'loseNode'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'unschedulable'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'hangTerminating'; readonly ordinal: number; readonly forMilliseconds: number }
  // MOCO.
  | { readonly kind: 'stopMoco'; readonly forMilliseconds: number }
  | { readonly kind: 'switchover'; readonly how: 'ignored' | 'failing'; readonly forMilliseconds: number }
  | { readonly kind: 'nextPrimary'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'lag'; readonly ordinal: number; readonly seconds: number; readonly forMilliseconds: number }
  | { readonly kind: 'errant'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'staleStatus'; readonly byMilliseconds: number; readonly forMilliseconds: number }
  // The API server and the way to it.
  | {
      readonly kind: 'mishaps';
      readonly mishap: Mishap;
      readonly requests: RequestKind;
      readonly probability: number;
      readonly process: number | null;
      readonly forMilliseconds: number;
    }
  | {
      readonly kind: 'watchLag';
      readonly plural: string;
      readonly milliseconds: number;
      readonly forMilliseconds: number;
    }
  | {
      readonly kind: 'watchStalls';
      readonly plural: string | null;
      readonly process: number | null;
      readonly forMilliseconds: number;
    }
  | { readonly kind: 'watchBreaks'; readonly plural: string | null; readonly process: number | null }
  | { readonly kind: 'watchExpires'; readonly plural: string | null }
  | { readonly kind: 'watchRepeats'; readonly plural: string; readonly lines: number }
  | { readonly kind: 'slowControllers'; readonly milliseconds: number; readonly forMilliseconds: number }
  // The program's own processes.
  | { readonly kind: 'crash'; readonly process: number; readonly downMilliseconds: number }
  | {
      readonly kind: 'crashAtWrite';
      readonly process: number;
      readonly writes: number;
      readonly to: 'pod' | 'any';
      readonly when: 'before' | 'onItsWay' | 'after';
    }
  /** Just before, or right after, the n-th write from now on, to a pod or to anything. */
  | {
      readonly kind: 'atWrite';
      readonly process: number;
      readonly writes: number;
      readonly to: 'pod' | 'any';
      readonly when: 'before' | 'onItsWay' | 'after';
      readonly what: Happening;
    }
  | { readonly kind: 'stop'; readonly process: number; readonly downMilliseconds: number }
  | { readonly kind: 'freeze'; readonly process: number; readonly forMilliseconds: number }
  | { readonly kind: 'moveClock'; readonly process: number; readonly byMilliseconds: number };

/** A happening and its time, since the first rollout was asked for. */
export interface Planned {
  readonly atMilliseconds: number;
  readonly what: Happening;
}

/** One line of a story. */
export function words({ atMilliseconds, what }: Planned): string {
  return `${(atMilliseconds / 1000).toFixed(3)} s: ${sentenceOf(what)}`;
}

function sentenceOf(what: Happening): string {
  const { kind, ...rest } = what;
  const details = Object.entries(rest).map(([name, value]) =>
    name.endsWith('Milliseconds')
      ? `${name.slice(0, -'Milliseconds'.length)} ${Number(value) / 1000} s`
      : `${name} ${shown(value)}`,
  );
  return [sentences[kind], ...details].join(', ');
}

function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return 'kind' in value && String(value.kind) in sentences ? sentenceOf(value as Happening) : JSON.stringify(value);
}

const sentences: Readonly<Record<Happening['kind'], string>> = {
  rollOut: 'the user asks for another image',
  rollOutBad: 'the user asks for an image that fails, and corrects it later',
  pause: 'the user pauses the rollout',
  keepBelow: 'the user keeps the lower members at their revision',
  stopClustering: "the user stops MOCO's clustering",
  stopReconciliation: "the user stops MOCO's reconciliation",
  forceRollingUpdate: "the user forces Kubernetes' own rolling update",
  goOffline: 'the user takes the cluster offline',
  scale: 'the user wants more members',
  growVolumes: 'the user wants bigger volumes',
  recreateCluster: 'the user deletes the cluster and makes it again',
  backup: 'a backup runs',
  deletePod: 'somebody deletes a pod',
  evictPod: 'somebody evicts a pod',
  recreateStatefulSet: 'somebody deletes the StatefulSet and leaves its pods',
  removeRollout: 'somebody deletes the MySQLRollout',
  foreignDemote: 'somebody demotes a member',
  kill: 'a container dies and does not come back',
  crashLoop: 'a container crashes again and again',
  flap: 'a container is not ready',
  restart: 'a container restarts',
  loseNode: 'a node is lost',
  unschedulable: 'no node takes the member, once it is made anew',
  hangTerminating: "a pod's containers don't end",
  stopMoco: 'MOCO is down',
  switchover: "MOCO's switchovers don't come about",
  nextPrimary: 'MOCO prefers a certain member as primary',
  lag: 'a replica lags behind',
  errant: 'a replica has transactions of its own',
  staleStatus: "MOCO's status is late",
  mishaps: 'requests meet with a mishap',
  watchLag: 'the watches of a kind are late',
  watchStalls: 'watches say nothing',
  watchBreaks: 'watches break off',
  watchExpires: 'watches are answered with 410',
  watchRepeats: 'watches repeat what they have said',
  slowControllers: "Kubernetes' controllers are slow",
  crash: 'a process of the controller dies',
  atWrite: 'something happens at a write of a process',
  crashAtWrite: 'a process of the controller dies at a write',
  stop: 'a process of the controller is stopped',
  freeze: 'a process of the controller stands still',
  moveClock: "the wall clock of a process's machine moves",
};
