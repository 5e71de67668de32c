import { rolloutKind } from '../../api/rollout.ts';
import { projectSequence, type SequenceRecord, sequenceKind } from '../../api/rollout-sequence.ts';
import { Cache } from '../../controller/cache/cache.ts';
import { Fleet, noFleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { followFleet } from '../../controller/fleet/follow-fleet.ts';
import type { Stages } from '../../controller/fleet/sequence-stages.ts';
import { splitKey } from '../../kube/store.ts';
import type { World } from '../../kube/world.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import { CommandError, didYouMean } from '../command-error.ts';
import { type SequenceView, sequenceViewOf } from '../terminal/sequence-view.ts';
import { clustersIn, listIfThere } from './clusters.ts';
import type { Session } from './session.ts';
import { projectRollout, type Watching, watching } from './watch-clusters.ts';

/** The MySQLRolloutSequences of the API server. Throws `CommandError` where the kind does not exist. */
export async function sequencesOf(session: Session): Promise<readonly Json[]> {
  const found = await listIfThere(session, sequenceKind, null);
  if (found !== null) return found;
  throw new CommandError(`there is no kind ${sequenceKind.kind} on ${session.server}: is moco-rollout installed?`);
}

/** The only one with that name. Throws `CommandError`. */
export function sequenceNamed(sequences: readonly Json[], name: string): Json {
  const names = sequences.map((one) => projectSequence(one).name);
  const found = sequences[names.indexOf(name)];
  if (found !== undefined) return found;
  const { plural, group } = sequenceKind;
  const hint = names.length === 0 ? ': there are no sequences' : didYouMean(name, names);
  throw new CommandError(`${plural}.${group} "${name}" not found${hint}`);
}

/**
 * Sequences and the clusters of all namespaces, and what follows from them by the functions of the controller.
 * StatefulSets are left out: the controller's status follows them within seconds.
 */
export class Sequences {
  readonly #cache = new Cache();
  readonly #world: World;
  readonly #stages: Stages;

  constructor({ world }: Pick<Session, 'world'>) {
    this.#world = world;
    const fleet = new Fleet(noFleetLimits, world, () => undefined);
    followFleet(this.#cache, fleet);
    this.#stages = fleet.stages;
  }

  /** Reads every cluster once. Rejects with `ApiError` or `CommandError`. */
  async read(session: Session, sequences: readonly Json[]): Promise<void> {
    const [clusters, rollouts] = await Promise.all([
      clustersIn(session, null),
      listIfThere(session, rolloutKind, null),
    ]);
    for (const one of clusters) this.#cache.clusters.put(one);
    for (const one of rollouts ?? []) this.#cache.rollouts.put(projectRollout(one));
    for (const one of sequences) this.#cache.sequences.put(projectSequence(one));
  }

  /** Keeps everything up to date until the signal is aborted. */
  watch(session: Session, signal: AbortSignal): Watching {
    const { clusters, rollouts, sequences } = this.#cache;
    return watching(session, null, signal, (watch) => {
      watch({ kind: clusterKind, store: clusters, project: projectCluster });
      watch({ kind: rolloutKind, store: rollouts, project: projectRollout });
      watch({ kind: sequenceKind, store: sequences, project: projectSequence });
    });
  }

  /** By name; with a name only that one. */
  views(name?: string): readonly SequenceView[] {
    return this.#cache.sequences
      .values()
      .filter((one) => name === undefined || one.name === name)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((record) => this.#viewOf(record));
  }

  #viewOf(record: SequenceRecord): SequenceView {
    const statusOf = (key: string) => this.#cache.rollouts.get(...splitKey(key))?.object.status ?? {};
    return sequenceViewOf(record, this.#stages, statusOf, this.#world.wall() / 1000);
  }
}
