import { sequenceKind } from '../../api/rollout-sequence.ts';
import { UsageError } from '../../failure.ts';
import { Sequences, sequenceNamed, sequencesOf } from '../cluster/sequences.ts';
import { type Render, showLive } from '../terminal/live.ts';
import { formatOf, objectOutputOption, type ShownObject, writeLines, writeObjects } from '../terminal/output.ts';
import { sequenceBlock, sequenceList, toldOfStages } from '../terminal/sequence-lines.ts';
import type { SequenceView } from '../terminal/sequence-view.ts';
import type { ClusterCommand } from './command.ts';

/** For output that goes to no terminal. */
const columnsElsewhere = 100;

/** Shows how far the stages of a sequence are, or a table of all sequences. */
export const sequenceCommand: ClusterCommand = {
  name: 'sequence',
  arguments: '[SEQUENCE]',
  summary: 'Show the stages of a fleet and what they wait for',
  help:
    'With a SEQUENCE, shows the stages of that MySQLRolloutSequence, with a sign for each of their clusters. Without one, ' +
    'lists all of them. Needs the right to list the MySQLClusters of all namespaces.',
  examples: [
    ['List the sequences', 'sequence'],
    ['Show the stages of one, until interrupted', 'sequence production --watch'],
    ['Print one as YAML', 'sequence production -o yaml'],
  ],
  options: [objectOutputOption, { flags: '-w, --watch', description: 'keep showing changes until interrupted' }],
  run: async (session, [name]) => {
    const { given, host } = session;
    const format = formatOf(given, objectOutputOption);
    const known = await sequencesOf(session);
    const shown = name === undefined ? known : [sequenceNamed(known, name)];
    if (format !== 'table' && format !== 'wide') {
      if (given['watch'] === true) throw new UsageError(`expected either --watch or -o ${format}, got both`);
      writeObjects(host, format, sequenceKind, shown as unknown as readonly ShownObject[], name !== undefined);
      return 0;
    }
    const isWide = format === 'wide';
    const lines: Render<SequenceView> = (views, room) =>
      name !== undefined && !isWide ? views.flatMap((view) => sequenceBlock(view, room)) : sequenceList(views, isWide);
    const sequences = new Sequences(session);
    if (given['watch'] === true) {
      const source = (signal: AbortSignal) => ({
        ...sequences.watch(session, signal),
        views: () => sequences.views(name),
      });
      return showLive(session, source, lines, toldOfStages);
    }
    await sequences.read(session, known);
    const views = sequences.views(name);
    if (views.length > 0)
      writeLines(host, lines(views, { columns: host.terminal()?.columns ?? columnsElsewhere, rows: null }));
    else host.err('No MySQLRolloutSequences found\n');
    return 0;
  },
};
