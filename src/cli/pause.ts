import type { MySQLRollout } from '../controller/rollout-resource.ts';
import { rolloutKind } from '../controller/rollout-resource.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { lookAt } from './cluster-look.ts';
import { clusterNamed, find } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import type { Session } from './session.ts';
import { volumeWarning } from './volume-warning.ts';
import { applyWishes } from './wishes/apply.ts';
import { refuseInVain } from './wishes/in-vain.ts';
import { ownersOf, whereToChange } from './wishes/owners.ts';

const verb = 'pause';

/** `spec.paused: true`. */
export const pauseCommand: ClusterCommand = {
  name: 'pause',
  arguments: '<NAME...>',
  completes: ['cluster'],
  summary: 'Take no further member down',
  help: 'A member that restarts for another reason still comes up at the update revision.',
  options: [{ flags: '--repair', description: 'members that are down may go all the same' }],
  connects: true,
  run: (session, names) =>
    forEach(
      session,
      names,
      async (cluster) => {
        const rollout = (await find(session, rolloutKind, cluster.namespace, cluster.name)) as MySQLRollout | null;
        refuseInVain(verb, cluster.name, rollout, session.host.program);
        const repair = session.given['repair'] === true;
        await applyWishes(session, cluster, verb, () => ({ paused: true, ...(repair && { repairWhilePaused: true }) }));
        return repair ? 'paused but for members that are down' : 'paused';
      },
      volumeWarning,
    ),
};

/** Takes the wish of `pause` back, and says who else wishes it. */
export const resumeCommand: ClusterCommand = {
  name: 'resume',
  arguments: '<NAME...>',
  completes: ['cluster'],
  summary: 'Take `pause` back',
  connects: true,
  run: (session, names) =>
    forEach(
      session,
      names,
      async (cluster) => {
        const rollout = await applyWishes(session, cluster, verb, () => ({}));
        if (rollout.spec?.paused === true) throw new CommandError(stillPaused(rollout, cluster, session));
        const { wishes } = (await lookAt(session, cluster)).gathered();
        const paused = wishes.problem === null ? wishes.sources['paused'] : undefined;
        if (paused?.value !== 'true') return 'not paused any more';
        throw new CommandError(`${cluster.name} is still paused by ${paused.source}; change it there`);
      },
      null,
    ),
};

function stillPaused(rollout: MySQLRollout, { namespace, name }: ClusterRecord, { host }: Session): string {
  const [owner = 'somebody'] = ownersOf(rollout, 'paused');
  const where = whereToChange(owner, rolloutKind.kind, name, namespace, host.program);
  return `${name} is still paused: spec.paused of the MySQLRollout belongs to \`${owner}\`; ${where}`;
}

/** One after another; the first that can't be done ends it. */
async function forEach(
  session: Session,
  names: readonly string[],
  wish: (cluster: ClusterRecord) => Promise<string>,
  warning: string | null,
): Promise<number> {
  for (const name of new Set(names)) {
    const cluster = await clusterNamed(session, name);
    const said = await wish(cluster);
    session.host.out(`${cluster.namespace}/${name}: ${said}\n`);
    if (warning !== null) session.host.err(`${warning}\n`);
  }
  return 0;
}
