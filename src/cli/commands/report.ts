import { projectSequence, sequenceKind } from '../../api/rollout-sequence.ts';
import type { Json } from '../../base/json.ts';
import { events } from '../../kube/resource.ts';
import { byName } from '../../kube/store.ts';
import { clusterKind } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { toLook } from '../check/rights.ts';
import { backupSentence } from '../cluster/backup-sentence.ts';
import { clusterNamed, ifAllowed, listAll, listOrNothing, rolloutOf } from '../cluster/clusters.ts';
import type { connectionOptions } from '../cluster/connection-flags.ts';
import { publishedFlags } from '../cluster/controller-lease.ts';
import { listedClusters } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { page, timelinesOf } from '../html/cluster-page.ts';
import { fleetClusters } from '../html/figures.ts';
import { fleetPage } from '../html/fleet-page.ts';
import { duration, toggle, type Values } from '../option.ts';
import { viewOf } from '../terminal/view.ts';
import { clusterCommand, fleetSelectionOptions, isAboutFleet } from './command.ts';

// The command `report`.

const defaultSinceHours = 720;

const fleetOptions = {
  fleet: toggle('--fleet', 'write a page about all clusters: what rolled when, and what it waited for'),
  ...fleetSelectionOptions,
  since: duration(
    '--since <duration>',
    `with --fleet, leave out rollouts that ended earlier (default ${defaultSinceHours}h)`,
  ),
};

export const reportCommand = clusterCommand({
  name: 'report',
  arguments: '[NAME]',
  rights: toLook,
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
  run: async (session, names, given) => {
    const isFleet = isAboutFleet(given, names, fleetOptions);
    if (session.host.terminal() !== null) {
      const [what, file] = isFleet ? ['--fleet', 'fleet.html'] : ['NAME', 'rollout.html'];
      throw new CommandError(`cannot write a page to a terminal; redirect it to a file: report ${what} > ${file}`);
    }
    if (isFleet) return reportFleet(session, given);
    const [name = ''] = names;
    const { host, world } = session;
    const cluster = await clusterNamed(session, name);
    const [rollout, reported, backup] = await Promise.all([
      rolloutOf(session, cluster),
      eventsAbout(session, cluster),
      backupSentence(session, cluster),
    ]);
    const now = world.wall();
    const timelines = timelinesOf(cluster, rollout?.status ?? {}, reported, now);
    const view = viewOf(cluster, rollout, now);
    host.out(page({ ...view, standing: [['backup', backup], ...view.standing] }, timelines, now));
    return 0;
  },
});

function eventsAbout(session: Session, { namespace, name, uid }: ClusterRecord): Promise<readonly Json[]> {
  const fieldSelector = `regarding.kind=${clusterKind.kind},regarding.name=${name},regarding.uid=${uid}`;
  const list = listAll(session, events, namespace, { fieldSelector });
  return orWithout(session, list, 'events: the page lacks the times of single steps');
}

/** If the user may not read the objects, warns and resolves to an empty list. */
async function orWithout({ host }: Session, list: Promise<readonly Json[]>, what: string): Promise<readonly Json[]> {
  const found = await ifAllowed(list);
  if (found === null) host.err(`warning: you may not read ${what}\n`);
  return found ?? [];
}

/** Writes a page with everything that the MySQLRollouts of the fleet have recorded. */
async function reportFleet(
  session: Session,
  {
    since: period = defaultSinceHours * 3_600_000,
    namespace: asked,
  }: Values<Pick<typeof fleetOptions, 'since'> & Pick<typeof connectionOptions, 'namespace'>>,
): Promise<number> {
  const { host, world, selector } = session;
  const now = world.wall();
  const since = now - period;
  const namespace = asked === undefined ? null : session.namespace;
  const [listed, sequences, flags] = await Promise.all([
    listedClusters({ ...session, namespace }, []),
    orWithout(session, listOrNothing(session, sequenceKind, null), 'MySQLRolloutSequences: the page lacks them'),
    publishedFlags(session),
  ]);
  const where = namespace === null ? 'all namespaces' : `namespace ${namespace}`;
  const whole = fleetPage({
    scope: selector === undefined ? where : `${where}, ${selector}`,
    clusters: fleetClusters(listed, since, now),
    sequences: sequences.map(projectSequence).toSorted(byName),
    sinceMilliseconds: since,
    nowMilliseconds: now,
    queriesMysql: flags.unknown === null ? flags.options.featureGates.ReplicationFacts : null,
  });
  host.out(whole);
  return 0;
}
