import { explainRefusedOpening } from '../../core/mysql-versions.ts';
import { UsageError } from '../../failure.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { toDecide } from '../check/rights.ts';
import { type AssumedChange, observeCluster, withNewTemplate } from '../cluster/cluster-snapshot.ts';
import { clusterNamed } from '../cluster/clusters.ts';
import { type ManifestChange, manifestChanges } from '../cluster/manifest-changes.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { apart, differenceInWords } from '../terminal/lines.ts';
import { writeResult } from '../terminal/output.ts';
import { planLines, type ShownPlan, shownPlan } from './cluster-plan.ts';
import { clusterCommand, isAboutFleet } from './command.ts';
import { planFleet } from './plan-fleet.ts';
import { planNode } from './plan-node.ts';
import { fleetOptions, formatOfPlan, planOptions } from './plan-options.ts';

// The command `plan`.

/** Shows what would happen next. Uses the same decision logic as the controller. */
export const planCommand = clusterCommand({
  name: 'plan',
  arguments: '[NAME]',
  rights: toDecide,
  summary: 'Show what would happen next, step by step, and what it would cost',
  help:
    'Reads the cluster and simulates the rollout by the rules of the controller. It assumes that pods start and that MOCO works. ' +
    'Writes nothing. With --filename, dry runs of the API server show what the manifests would change. It knows neither the queue of the fleet nor what only the controller observes.\n\n' +
    'With --node, simulates how the members on that node would leave it if it were taken out of service now.\n\n' +
    'With --fleet, simulates the rollouts of all namespaces, or of --namespace and --selector, to their end, and shows when each stage ' +
    'and each cluster would begin and end, from measured times of members, windows, soaks and slots.',
  examples: [
    ['Show the next steps, or what blocks them', 'plan test'],
    ['Show what would happen with other settings', 'plan test --assume=paused=false,maxUnavailable=2'],
    ['Show what would happen if a manifest were applied', 'plan -f orders.yaml'],
    [
      'Show which members would leave a node that is taken out of service, and what would keep them there',
      'plan --node n-2',
    ],
    ['Show how long the rollouts of the fleet will take', 'plan --fleet'],
    ['Show how long a change of all manifests would take', 'plan --fleet -f fleet.yaml'],
    ['Show how long a change of every production cluster would take', 'plan --fleet --assume-stale -l env=production'],
  ],
  options: planOptions,
  run: async (session, names, given) => {
    const { host, world } = session;
    const { filename: file, assume: assumed = {}, assumeStale, fleet, output } = given;
    if (given.node !== undefined) return planNode(session, given.node, names, given);
    if (file !== undefined && names.length > 0) throw new UsageError('expected either a NAME or --filename, got both');
    if ((file === undefined || fleet) && isAboutFleet(given, names, fleetOptions)) {
      return planFleet(session, file === undefined ? [] : await manifestChanges(session, file), given);
    }
    const format = formatOfPlan(output);
    const plans: ShownPlan[] = [];
    for (const { cluster, change, notes } of await planned(session, file, names, assumeStale)) {
      plans.push(shownPlan(await observeCluster(session, cluster, change), assumed, world.wall(), notes));
    }
    const data = plans.length === 1 ? plans[0] : plans;
    writeResult(host, format, data, () => apart(plans.map((shown) => planLines(shown, session))));
    return 0;
  },
});

const noChange = 'applying it would change nothing';
const newTemplate = [
  'MOCO would change the pod template. What restarts is known only after MOCO has applied it, so the plan assumes a new pod for every member',
];

/**
 * The named cluster, or the clusters in the file. Each comes with its assumed changes, and with sentences about them.
 */
async function planned(
  session: Session,
  file: string | undefined,
  [name = '']: readonly string[],
  isStale: boolean,
): Promise<
  readonly {
    readonly cluster: ClusterRecord;
    readonly change: AssumedChange | null;
    readonly notes: readonly string[];
  }[]
> {
  if (file === undefined) {
    const cluster = await clusterNamed(session, name);
    return [
      { cluster, change: isStale ? (objects) => withNewTemplate(objects) : null, notes: isStale ? newTemplate : [] },
    ];
  }
  const changes = await manifestChanges(session, file);
  if (changes.length === 0) throw new CommandError(`there is nothing to plan: no MySQLCluster in ${file} exists`);
  return changes.map(({ cluster, differences, changesTemplate, mysqld }) => ({
    cluster,
    change: (objects) => {
      const after = { ...objects, cluster };
      return changesTemplate ? withNewTemplate(after, mysqld.after) : after;
    },
    notes: [
      ...refusedWay(mysqld),
      ...differences.map((one) => `would change spec.${differenceInWords(one)}`),
      ...(changesTemplate
        ? newTemplate
        : [differences.length === 0 ? noChange : 'none of it changes the pod template']),
    ],
  }));
}

/**
 * A warning if the new mysqld would refuse data that the currently requested mysqld has opened. The currently requested
 * mysqld may have opened the data even if a different mysqld is running.
 */
function refusedWay({ before, after }: ManifestChange['mysqld']): readonly string[] {
  const [data, mysqld] = [before.version?.version, after.version?.version];
  const why = data === undefined || mysqld === undefined ? null : explainRefusedOpening(data, mysqld);
  return why === null ? [] : [`at risk: ${why}`];
}
