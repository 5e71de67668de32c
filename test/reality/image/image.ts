/** A directory of this machine that a container sees under a path of its own. */
export interface Bind {
  readonly source: string;
  readonly target: string;
}

/** What a container is started from, instead of an image of layers. */
export interface Image {
  /** The directory that is its root. Containers can't write to it. */
  readonly root: string;
  readonly binds: readonly Bind[];
  /** Runs where the pod's spec has no command. */
  readonly entrypoint: readonly string[];
  /** What the entrypoint is told besides, so that it listens at its pod's address alone: pods share one network. */
  readonly listenFlags: (address: string) => readonly string[];
  readonly path: string;
  /** Variables of MOCO's my.cnf that this mysqld does not know. */
  readonly unknownVariables: readonly string[];
}
