import { rolloutKind } from '../../api/rollout.ts';
import { projectSequence, sequenceKind } from '../../api/rollout-sequence.ts';
import type { Json } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { Fleet, noFleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { followFleet } from '../../controller/fleet/follow-fleet.ts';
import { byName, splitKey } from '../../kube/store.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import { Cache } from '../../objects/cache.ts';
import { onClusters, onRollouts } from '../check/rights.ts';
import { clustersIn, ifThere, listAll, listOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { projectRollout, watching } from '../cluster/watch-clusters.ts';
import { CommandError, didYouMean } from '../command-error.ts';
import { toggle } from '../option.ts';
import { type Render, showLive, type Watching } from '../terminal/live.ts';
import { objectFormat, objectOutputOption, writeLines, writeObjects } from '../terminal/output.ts';
import {
  type SequenceView,
  sequenceBlock,
  sequenceList,
  sequenceViewOf,
  toldOfStages,
} from '../terminal/sequence-view.ts';
import { clusterCommand } from './command.ts';

// The command `sequence`.

/** The width if the output is not a terminal. */
const columnsElsewhere = 100;

/** Shows the progress of a sequence's stages, or a table of all sequences. */
export const sequenceCommand = clusterCommand({
  name: 'sequence',
  arguments: '[SEQUENCE]',
  rightsEverywhere: [onClusters('list'), onRollouts('list'), [sequenceKind.group, sequenceKind.plural, ['list']]],
  summary: 'Show the stages of a fleet and what they wait for',
  help:
    'With a SEQUENCE, shows the stages of that MySQLRolloutSequence, with a symbol for each of their clusters. Without one, ' +
    'lists all of them. Needs the right to list the MySQLClusters of all namespaces.',
  examples: [
    ['List the sequences', 'sequence'],
    ['Show the stages of one, until interrupted', 'sequence production --watch'],
    ['Print one as YAML', 'sequence production -o yaml'],
  ],
  options: { output: objectOutputOption, watch: toggle('-w, --watch', 'keep showing changes until interrupted') },
  run: async (session, [name], given) => {
    const { host } = session;
    const format = objectFormat(given);
    const known = await sequencesOf(session);
    const shown = name === undefined ? known : [sequenceNamed(known, name)];
    if (format !== null) {
      writeObjects(host, format, sequenceKind, shown, name !== undefined);
      return 0;
    }
    const isWide = given.output === 'wide';
    const lines: Render<SequenceView> = (views, room) =>
      name !== undefined && !isWide
        ? views.flatMap((view) => sequenceBlock(view, room, host.program))
        : sequenceList(views, isWide);
    const sequences = new Sequences(session);
    if (given.watch) {
      const views = () => sequences.views(name);
      const source = (signal: AbortSignal) => ({ ...sequences.watch(session, signal), views });
      return showLive(session, source, lines, toldOfStages);
    }
    await sequences.read(session, known);
    const views = sequences.views(name);
    const room = { columns: host.terminal()?.columns ?? columnsElsewhere, rows: null };
    if (views.length > 0) writeLines(host, lines(views, room));
    else host.err('No MySQLRolloutSequences found\n');
    return 0;
  },
});

/** The MySQLRolloutSequences of the API server. Throws `CommandError` if the kind does not exist. */
async function sequencesOf(session: Session): Promise<readonly Json[]> {
  const found = await ifThere(listAll(session, sequenceKind, null));
  if (found !== null) return found;
  throw new CommandError(`there is no kind ${sequenceKind.kind} on ${session.server}: is moco-rollout installed?`);
}

/** The sequence with that name. Throws `CommandError` if it does not exist. */
function sequenceNamed(sequences: readonly Json[], name: string): Json {
  const names = sequences.map((one) => projectSequence(one).name);
  const found = sequences[names.indexOf(name)];
  if (found !== undefined) return found;
  const { plural, group } = sequenceKind;
  const hint = names.length === 0 ? ': there are no sequences' : didYouMean(name, names);
  throw new CommandError(`${plural}.${group} "${name}" not found${hint}`);
}

/**
 * The sequences, and the clusters of all namespaces, evaluated by the controller's functions. StatefulSets are not
 * read, because the controller's status shows their changes within seconds.
 */
class Sequences {
  readonly #cache = new Cache();
  readonly #world: World;
  readonly #fleet: Fleet;

  constructor({ world }: Pick<Session, 'world'>) {
    this.#world = world;
    this.#fleet = new Fleet(noFleetLimits, world, () => undefined);
    followFleet(this.#cache, this.#fleet);
  }

  /** Reads every cluster once. Rejects with `ApiError` or `CommandError`. */
  async read(session: Session, sequences: readonly Json[]): Promise<void> {
    const [clusters, rollouts] = await Promise.all([
      clustersIn(session, null),
      listOrNothing(session, rolloutKind, null),
    ]);
    for (const one of clusters) this.#cache.clusters.put(one);
    for (const one of rollouts) this.#cache.rollouts.put(projectRollout(one));
    for (const one of sequences) this.#cache.sequences.put(projectSequence(one));
  }

  /** Keeps the sequences and clusters up to date until the signal is aborted. */
  watch(session: Session, signal: AbortSignal): Watching {
    const { clusters, rollouts, sequences } = this.#cache;
    return watching(session, null, signal, (watch) => {
      watch({ kind: clusterKind, store: clusters, project: projectCluster });
      watch({ kind: rolloutKind, store: rollouts, project: projectRollout });
      watch({ kind: sequenceKind, store: sequences, project: projectSequence });
    });
  }

  /** All sequences, sorted by name, or only the named one. */
  views(name?: string): readonly SequenceView[] {
    const statusOf = (key: string) => this.#cache.rollouts.get(...splitKey(key))?.object.status ?? {};
    return this.#cache.sequences
      .values()
      .filter((one) => name === undefined || one.name === name)
      .toSorted(byName)
      .map((record) => sequenceViewOf(record, this.#fleet.stages, statusOf, this.#world.wall() / 1000));
  }
}
