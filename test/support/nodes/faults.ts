/**
 * What can be wrong with one container.
 * - `imagePull`: its image can't be fetched: ErrImagePull and ImagePullBackOff in turn
 * - `crashLoop`: every run of it ends after a moment: CrashLoopBackOff with rising restartCount
 * - `dead`: its process has been killed and does not come back: CrashLoopBackOff for as long as the fault is there
 * - `hangs`: it is never created; an init container runs and never ends
 * - `notReady`: it runs and its readiness probe fails
 */
export type ContainerFault = 'imagePull' | 'crashLoop' | 'dead' | 'hangs' | 'notReady';

/** Why a kubelet does not resize a running pod. */
export type ResizeFault = 'Deferred' | 'Infeasible' | 'Error';

/** The faults of one pod. */
export interface PodFaults {
  readonly containers: Readonly<Record<string, ContainerFault>>;
  /** How many times each container was asked to end and be started again. */
  readonly restarts: Readonly<Record<string, number>>;
  /**
   * No node accepts the pod, either because of its requests, or because the only node with its volume is cordoned or
   * down.
   */
  readonly neverScheduled: boolean | 'forItsNode';
  /** Its containers don't end, whatever its grace period says. */
  readonly hangsTerminating: boolean;
  /** Its node is lost: only the node controller writes its status. */
  readonly nodeLost: boolean;
  readonly resize: ResizeFault | null;
}

export const noPodFaults: PodFaults = {
  containers: {},
  restarts: {},
  neverScheduled: false,
  hangsTerminating: false,
  nodeLost: false,
  resize: null,
};

/** Faults that come with an image, so that a template can bring them: `mysql:8.4.8-missing`. */
const imageFaults: readonly (readonly [part: string, fault: ContainerFault])[] = [
  ['missing', 'imagePull'],
  ['crash', 'crashLoop'],
  ['hang', 'hangs'],
  ['notready', 'notReady'],
];

/**
 * What an image does to a container. MOCO runs mysqld's image in an init container too, which has nothing to do once
 * there is data: there only fetching it and hanging count.
 */
export function faultOfImage(image: string, isInit: boolean): ContainerFault | null {
  const [, fault = null] = imageFaults.find(([part]) => image.includes(part)) ?? [];
  return isInit && (fault === 'crashLoop' || fault === 'notReady') ? null : fault;
}
