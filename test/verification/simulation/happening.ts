import type { ResizeFault } from '../../support/nodes/faults.ts';
import type { Mishap, RequestKind } from './trouble.ts';

/** What ends after a while, by its kind alone. */
type Lasting<Kind extends string> = Kind extends string
  ? { readonly kind: Kind; readonly forMilliseconds: number }
  : never;
type Bare<Kind extends string> = Kind extends string ? { readonly kind: Kind } : never;
type ToMember<Kind extends string> = Kind extends string ? { readonly kind: Kind; readonly ordinal: number } : never;
type ToMemberForAWhile<Kind extends string> = Kind extends string
  ? { readonly kind: Kind; readonly ordinal: number; readonly forMilliseconds: number }
  : never;
type ToContainerForAWhile<Kind extends string> = Kind extends string
  ? { readonly kind: Kind; readonly ordinal: number; readonly container: string; readonly forMilliseconds: number }
  : never;
type ToProcess<Kind extends string, More> = { readonly kind: Kind; readonly process: number } & More;

export type LastingKind =
  // The user.
  | 'pause'
  | 'stopClustering'
  | 'stopReconciliation'
  | 'forceRollingUpdate'
  | 'goOffline'
  | 'backup'
  | 'backUpByHand'
  | 'failCheck'
  /** The primary waits for approval. */
  | 'manual'
  /** Lost members keep their revision. */
  | 'keepLost'
  /** Running pods are not changed. */
  | 'stopInPlace'
  /** No node is asked to fetch images. */
  | 'stopPrepull'
  // Others: the MySQLRollout is that of another cluster, or a finalizer keeps it.
  | 'copyRollout'
  | 'keepRollout'
  // MOCO.
  | 'upstreamUnavailable'
  // MySQL and its agents: every replica applies a long DDL; no probe is answered.
  | 'backlog'
  | 'agentsDie'
  /** Somebody's pods look as those that fetch images. */
  | 'foreignFetchers'
  // A quota is exhausted: no pod is created.
  | 'refusePods'
  | 'programStopped';
export type MemberKind =
  | 'drain'
  | 'foreignDemote'
  | 'loseNode'
  | 'nodeGone'
  | 'unschedulable'
  | 'pullFails'
  | 'slowPull'
  | 'hangTerminating'
  | 'nextPrimary'
  | 'receiverBehind'
  | 'pin'
  /** With the label of pods that fetch images. */
  | 'labelMember'
  | 'errant';
export type ContainerKind = 'kill' | 'crashLoop' | 'flap';

/** A write of a process: the n-th from now on, to a pod or to anything. */
interface AtWrite {
  readonly writes: number;
  readonly to: 'pod' | 'any';
  readonly when: 'before' | 'onItsWay' | 'after';
}

/** Related happenings, each with its delay after the first. */
export interface AllOrAbort {
  readonly kind: 'together';
  readonly all: readonly { readonly afterMilliseconds: number; readonly what: Happening }[];
}

/** What people, machines and MOCO do to a cluster. What lasts ends after `forMilliseconds`. */
export type Happening =
  | AllOrAbort
  | Lasting<LastingKind>
  | ToMember<'deletePod' | 'forceDelete' | 'failPod' | 'evictPod' | 'breakReplica'>
  | ToMemberForAWhile<MemberKind>
  | ToContainerForAWhile<ContainerKind>
  // The user.
  | { readonly kind: 'rollOut'; readonly image: string }
  | (Lasting<'rollOutBad'> & { readonly image: string; readonly corrected: string })
  | (Lasting<'keepBelow'> & { readonly partition: number })
  | (Lasting<'allow'> & { readonly maxUnavailable: number | string })
  | { readonly kind: 'scale'; readonly replicas: number }
  /** What can change in a running pod. */
  | { readonly kind: 'changePod'; readonly part: 'label' | 'cpu'; readonly value: string }
  /** The nodes may have its image already. */
  | { readonly kind: 'changePod'; readonly part: 'sidecar'; readonly value: string; readonly pulled: boolean }
  /** The nodes have reported it, and have lost it since. */
  | (Lasting<'badSidecar'> & { readonly image: string; readonly corrected: string })
  | { readonly kind: 'upgradeMoco'; readonly agent: string; readonly pulled: boolean }
  | (ToMemberForAWhile<'refuseResize'> & { readonly how: ResizeFault })
  | { readonly kind: 'growVolumes'; readonly size: string }
  | Bare<'recreateCluster' | 'recreateStatefulSet' | 'removeRollout' | 'touchRollout'>
  | (Lasting<'overridePreflight'> & { readonly rule: 'ImageUnavailable' | 'PreflightRunning' })
  // Nodes and MOCO.
  /** Pods that fetch images. */
  | (Lasting<'failFetch'> & {
      readonly how: 'imagePull' | 'hangs' | 'neverScheduled' | 'evicted' | 'deleted';
    })
  | (ToMember<'restart'> & { readonly container: string })
  /** `otherReplica`: a replica that doesn't lead keeps serving webhooks. */
  | (Lasting<'stopMoco'> & { readonly otherReplica: boolean })
  | (Lasting<'switchover'> & { readonly how: 'ignored' | 'failing' })
  | (ToMemberForAWhile<'lag'> & { readonly seconds: number })
  | (Lasting<'staleStatus'> & { readonly byMilliseconds: number })
  /** A maintenance window is open, closes and opens again. In the end there are none. */
  | (Lasting<'maintenance'> & { readonly openMilliseconds: number })
  // The API server and the way to it.
  /** By missing rights, or by a policy. */
  | (Lasting<'refuseEvictions'> & { readonly code: 403 | 422 })
  | (Lasting<'mishaps'> & {
      readonly mishap: Mishap;
      readonly requests: RequestKind;
      readonly probability: number;
      readonly process: number | null;
      /** What becomes of the open watches when it begins. */
      readonly watches: 'stay' | 'break' | 'expire';
    })
  | (Lasting<'watchLag'> & { readonly plural: string; readonly milliseconds: number })
  | (Lasting<'watchStalls'> & { readonly plural: string | null; readonly process: number | null })
  | { readonly kind: 'watchBreaks'; readonly plural: string | null; readonly process: number | null }
  | { readonly kind: 'watchExpires'; readonly plural: string | null }
  | (Lasting<'watchForgets'> & { readonly plural: string | null })
  | { readonly kind: 'watchRepeats'; readonly plural: string; readonly lines: number }
  | (Lasting<'slowControllers'> & { readonly milliseconds: number })
  // The program's own processes.
  | ToProcess<'crash', { readonly downMilliseconds: number }>
  | ToProcess<'stop', { readonly downMilliseconds: number }>
  | ToProcess<'crashAtWrite', AtWrite>
  | ToProcess<'atWrite', AtWrite & { readonly what: Happening }>
  | ToProcess<'freeze', { readonly forMilliseconds: number }>
  | ToProcess<'moveClock', { readonly byMilliseconds: number }>;

/** A happening and its time, since the first rollout was asked for. */
export interface Planned {
  readonly atMilliseconds: number;
  readonly what: Happening;
}
