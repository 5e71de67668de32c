import { sequenceKind } from '../../api/rollout-sequence.ts';
import { projectSequence } from '../../controller/facts/sequence-record.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { events } from '../../kube/resource.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { backupSentence } from '../cluster/backup-sentence.ts';
import { clusterNamed, listAll, listIfThere, rolloutOf } from '../cluster/clusters.ts';
import { listedClusters } from '../cluster/selection.ts';
import { durationOf, type Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { fleetClusters } from '../html/fleet-figures.ts';
import { fleetPage } from '../html/fleet-page.ts';
import { page } from '../html/page.ts';
import { timelinesOf } from '../html/timeline.ts';
import { viewOf } from '../terminal/view.ts';
import { type ClusterCommand, type CommandOption, fleetSelectionOptions, isAboutFleet } from './command.ts';

const defaultSince = '720h';

/** The options of `report` that are about a fleet. */
const fleetOptions: readonly CommandOption[] = [
  { flags: '--fleet', description: 'write a page about all clusters: what rolled when, and what it waited for' },
  ...fleetSelectionOptions,
  {
    flags: '--since <duration>',
    description: `with --fleet, leave out rollouts that ended earlier (default ${defaultSince})`,
  },
];

/** Writes the last rollouts as a page to share. */
export const reportCommand: ClusterCommand = {
  name: 'report',
  arguments: '[NAME]',
  completes: ['cluster'],
  summary: 'Write an HTML page with a timeline of the last rollouts',
  help: 'The page loads nothing. The times of single steps come from Events, which the API server keeps for an hour by default.',
  examples: [
    ['Write a page to share', 'report test > rollout.html'],
    ['Write a page about all clusters', 'report --fleet > fleet.html'],
    [
      'Write a page about production clusters and the last two days',
      'report --fleet -l env=production --since=48h > fleet.html',
    ],
  ],
  options: fleetOptions,
  connects: true,
  run: async (session, names) => {
    const isFleet = isAboutFleet(session, names, fleetOptions);
    if (session.host.terminal() !== null) {
      const [what, file] = isFleet ? ['--fleet', 'fleet.html'] : ['NAME', 'rollout.html'];
      throw new CommandError(`cannot write a page to a terminal; redirect it to a file: report ${what} > ${file}`);
    }
    if (isFleet) return reportFleet(session);
    const [name = ''] = names;
    const { host, world } = session;
    const cluster = await clusterNamed(session, name);
    const [rollout, reported, backup] = await Promise.all([
      rolloutOf(session, cluster),
      eventsAbout(session, cluster),
      backupSentence(session, cluster),
    ]);
    const now = world.wall();
    const { status = {} } = rollout ?? {};
    const timelines = timelinesOf(cluster, status, reported, now);
    const view = viewOf(cluster, rollout, now);
    host.out(page({ ...view, standing: [['backup', backup], ...view.standing] }, timelines, now));
    return 0;
  },
};

async function eventsAbout(session: Session, { namespace, name, uid }: ClusterRecord): Promise<readonly Json[]> {
  const fieldSelector = `regarding.kind=${clusterKind.kind},regarding.name=${name},regarding.uid=${uid}`;
  try {
    return await listAll(session, events, namespace, { fieldSelector });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    session.host.err('warning: you may not read events: the page lacks the times of single steps\n');
    return [];
  }
}

/** Writes what the MySQLRollouts of the fleet have recorded as a page. */
async function reportFleet(session: Session): Promise<number> {
  const { given, host, world, selector } = session;
  const now = world.wall();
  const since = now - durationOf('since', given['since'] ?? defaultSince);
  const namespace = given['namespace'] === undefined ? null : session.namespace;
  const [listed, sequences] = await Promise.all([listedClusters({ ...session, namespace }, []), sequencesOf(session)]);
  const where = namespace === null ? 'all namespaces' : `namespace ${namespace}`;
  const page = fleetPage({
    scope: selector === undefined ? where : `${where}, ${selector}`,
    clusters: fleetClusters(listed, since, now),
    sequences: sequences.map(projectSequence).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    sinceMilliseconds: since,
    nowMilliseconds: now,
  });
  host.out(page);
  return 0;
}

/** The page is about the clusters: it does without the sequences if they may not be read. */
async function sequencesOf(session: Session): Promise<readonly Json[]> {
  try {
    return (await listIfThere(session, sequenceKind, null)) ?? [];
  } catch (error) {
    if (!isForbidden(error)) throw error;
    session.host.err('warning: you may not read MySQLRolloutSequences: the page lacks them\n');
    return [];
  }
}
