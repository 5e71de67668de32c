import type { Mishap, RequestKind } from './trouble.ts';

/** Several things that belong together, each so long after the first. */
export interface Together {
  readonly kind: 'together';
  readonly all: readonly { readonly afterMilliseconds: number; readonly what: Happening }[];
}

/** What people, machines and MOCO do to a cluster. What lasts ends after `forMilliseconds`. */
export type Happening =
  | Together
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
  | { readonly kind: 'allow'; readonly maxUnavailable: number | string; readonly forMilliseconds: number }
  // Other actors.
  | { readonly kind: 'deletePod'; readonly ordinal: number }
  | { readonly kind: 'evictPod'; readonly ordinal: number }
  | { readonly kind: 'drain'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'recreateStatefulSet' }
  | { readonly kind: 'removeRollout' }
  | { readonly kind: 'touchRollout' }
  | { readonly kind: 'copyRollout'; readonly forMilliseconds: number }
  | { readonly kind: 'keepRollout'; readonly forMilliseconds: number }
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
  | { readonly kind: 'pullFails'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'slowPull'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'hangTerminating'; readonly ordinal: number; readonly forMilliseconds: number }
  // MOCO.
  /** `otherReplica`: one that doesn't lead goes on answering webhooks. */
  | { readonly kind: 'stopMoco'; readonly otherReplica: boolean; readonly forMilliseconds: number }
  | { readonly kind: 'switchover'; readonly how: 'ignored' | 'failing'; readonly forMilliseconds: number }
  | { readonly kind: 'nextPrimary'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'lag'; readonly ordinal: number; readonly seconds: number; readonly forMilliseconds: number }
  | { readonly kind: 'errant'; readonly ordinal: number; readonly forMilliseconds: number }
  | { readonly kind: 'staleStatus'; readonly byMilliseconds: number; readonly forMilliseconds: number }
  | { readonly kind: 'upstreamAway'; readonly forMilliseconds: number }
  // The API server and the way to it.
  /** By whoever may not, or by a policy. */
  | { readonly kind: 'refuseEvictions'; readonly code: 403 | 422; readonly forMilliseconds: number }
  /** A quota is used up: no pod is made. */
  | { readonly kind: 'refusePods'; readonly forMilliseconds: number }
  | {
      readonly kind: 'mishaps';
      readonly mishap: Mishap;
      readonly requests: RequestKind;
      readonly probability: number;
      readonly process: number | null;
      /** What becomes of the open watches when it begins. */
      readonly watches: 'stay' | 'break' | 'expire';
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
  | { readonly kind: 'watchForgets'; readonly plural: string | null; readonly forMilliseconds: number }
  | { readonly kind: 'watchRepeats'; readonly plural: string; readonly lines: number }
  | { readonly kind: 'slowControllers'; readonly milliseconds: number; readonly forMilliseconds: number }
  // The program's own processes.
  | { readonly kind: 'programAway'; readonly forMilliseconds: number }
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
