import { type ContainerFault, faultOfImage } from './faults.ts';

/** Durations are milliseconds of the monotonic clock. */
export interface NodesSettings {
  /** From a pod being seen to its being bound. */
  readonly scheduleMilliseconds: number;
  /** Each init container's run. */
  readonly initMilliseconds: number;
  /** From the last init container's end (or the binding) to the containers running. */
  readonly startMilliseconds: number;
  /** From mysqld running to its startup probe passing; other containers have none. */
  readonly startupMilliseconds: number;
  /**
   * From SIGTERM to mysqld's end: after the deletion, or after its preStop hook. At most the pod's grace period; at
   * once if no container runs.
   */
  readonly stopMilliseconds: number;
  /** The same of the other containers; `null`: as mysqld. moco-agent ends 5 s after SIGTERM (seen). */
  readonly othersStopMilliseconds: number | null;
  /** preStop hooks run. MOCO gives mysqld one of 20 s. */
  readonly preStopHooks: boolean;
  /** From a container's end to its next start, when it does not have to back off. */
  readonly restartMilliseconds: number;
  /** How long the image of a running container is pulled once it has changed. 0: the node has it. */
  readonly pullMilliseconds: number;
  /** How long a pod that runs once fetches an image on a node. 0: the node has it. */
  readonly fetchMilliseconds: (node: string, image: string) => number;
  /** How long the agent, which answers mysqld's probes, may be away before mysqld is restarted. MOCO: 20 s to 30 s. */
  readonly livenessPatienceMilliseconds: number;
  /** How long a container that crashes runs each time. */
  readonly crashAfterMilliseconds: number;
  /** The first back-off after a second crash in a row; doubles each time. Kubernetes: 10 s. */
  readonly backOffMilliseconds: number;
  /** Kubernetes: 300 s. */
  readonly longestBackOffMilliseconds: number;
  /** How long ErrImagePull and ImagePullBackOff last each. */
  readonly imagePullMilliseconds: number;
  /**
   * From a kubelet's last word to the node controller calling its node lost; until then its pods keep their status.
   * Kubernetes: 50 s, 44 s to 47 s after the power was lost (seen).
   */
  readonly silenceMilliseconds: number;
  /** How long a pod of a lost node is tolerated before it is evicted from there. Kubernetes: 300 s. */
  readonly tolerationMilliseconds: number;
  /** From a refused final DELETE to the next one. Kubernetes' kubelet retries every 10 s. */
  readonly deleteRetryMilliseconds: number;
  /**
   * How long MySQL may not serve before container mysqld is not ready. MOCO's probe may fail three times, 10 s apart:
   * replicas stay ready while a failover takes its time (seen).
   */
  readonly readinessPatienceMilliseconds: number;
  /** From a kubelet's return to its first probe of mysqld, which is not ready until then. MOCO's probes: up to 10 s. */
  readonly firstProbeMilliseconds: number;
  /** A label that mysqld's pod has to have before that container is ready for the first time; `null` for none. */
  readonly labelBeforeReady: string | null;
  readonly imageFault: (image: string, isInit: boolean) => ContainerFault | null;
}

/**
 * How a pod of MOCO ends on a real node (seen with moco-controller 0.36.0): the agent after 5 s, and with it the pod's
 * readiness; mysqld gets SIGTERM after its preStop hook of 20 s, and then needs its own time.
 */
export const realEnd = { othersStopMilliseconds: 5_000, preStopHooks: true } satisfies Partial<NodesSettings>;

/** Quick, so that a member's restart takes about half a second. */
export const defaultSettings: NodesSettings = {
  scheduleMilliseconds: 0,
  initMilliseconds: 20,
  startMilliseconds: 100,
  startupMilliseconds: 50,
  stopMilliseconds: 100,
  othersStopMilliseconds: null,
  preStopHooks: false,
  restartMilliseconds: 100,
  pullMilliseconds: 0,
  fetchMilliseconds: () => 0,
  livenessPatienceMilliseconds: 30_000,
  crashAfterMilliseconds: 100,
  backOffMilliseconds: 10_000,
  longestBackOffMilliseconds: 300_000,
  imagePullMilliseconds: 500,
  silenceMilliseconds: 0,
  tolerationMilliseconds: 300_000,
  deleteRetryMilliseconds: 500,
  readinessPatienceMilliseconds: 0,
  firstProbeMilliseconds: 100,
  labelBeforeReady: null,
  imageFault: faultOfImage,
};
