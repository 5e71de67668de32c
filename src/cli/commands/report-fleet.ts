import { sequenceKind } from '../../api/sequence.ts';
import { projectSequence } from '../../controller/observe/sequence-record.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { Json } from '../../moco/json.ts';
import { listIfThere } from '../cluster/clusters.ts';
import { listedClusters } from '../cluster/selection.ts';
import { durationOf, type Session } from '../cluster/session.ts';
import { fleetClusters } from '../html/fleet-figures.ts';
import { fleetPage } from '../html/fleet-page.ts';
import { type CommandOption, fleetSelectionOptions } from './command.ts';

const defaultSince = '720h';

/** The options of `report` that are about a fleet. */
export const reportFleetOptions: readonly CommandOption[] = [
  { flags: '--fleet', description: 'write a page about all clusters: what rolled when, and what it waited for' },
  ...fleetSelectionOptions,
  {
    flags: '--since <duration>',
    description: `with --fleet, leave out rollouts that ended earlier (default ${defaultSince})`,
  },
];

/** Writes what the MySQLRollouts of the fleet have recorded as a page. */
export async function reportFleet(session: Session): Promise<number> {
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
