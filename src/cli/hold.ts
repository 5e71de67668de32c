import { type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import { UsageError } from '../failure.ts';
import { find } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import { textOf } from './session.ts';
import { volumeWarning } from './volume-warning.ts';
import { applyWishes } from './wishes/apply.ts';
import { refuseInVain } from './wishes/in-vain.ts';
import { memberNamed } from './wishes/member.ts';
import { ownersOf, whereToChange } from './wishes/owners.ts';

const verb = 'hold';

/** One member keeps its revision: an entry of `spec.heldMembers`. */
export const holdCommand: ClusterCommand = {
  name: 'hold',
  arguments: '<POD>',
  completes: ['pod'],
  summary: 'Let one member keep its revision',
  help: 'One that restarts for another reason still comes up at the update revision. The primary waits for members that are held.',
  options: [{ flags: '--reason <text>', description: 'why, for the people who find it' }],
  connects: true,
  run: async (session, [pod = '']) => {
    const { host, given } = session;
    const reason = textOf(given['reason']) ?? '';
    if (reason === '')
      throw new UsageError('expected --reason, for the people who find a member that is held, got none');
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    const rollout = (await find(session, rolloutKind, cluster.namespace, cluster.name)) as MySQLRollout | null;
    refuseInVain(verb, cluster.name, rollout, host.program);
    await applyWishes(session, cluster, verb, ({ spec }, isOwn) => {
      const others = (spec?.heldMembers ?? []).filter(
        (one) => one.ordinal !== ordinal && isOwn('heldMembers', { ordinal: one.ordinal }),
      );
      return { heldMembers: [...others, { ordinal, reason }] };
    });
    host.out(`${cluster.namespace}/${name}: held\n`);
    host.err(`${volumeWarning}\n`);
    return 0;
  },
};

/** Takes `hold` back, and says who else holds it. */
export const unholdCommand: ClusterCommand = {
  name: 'unhold',
  arguments: '<POD>',
  completes: ['pod'],
  summary: 'Take `hold` back',
  connects: true,
  run: async (session, [pod = '']) => {
    const { host } = session;
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    const after = await applyWishes(session, cluster, verb, ({ spec }, isOwn) => {
      const heldMembers = (spec?.heldMembers ?? []).filter(
        (one) => one.ordinal !== ordinal && isOwn('heldMembers', { ordinal: one.ordinal }),
      );
      return heldMembers.length === 0 ? {} : { heldMembers };
    });
    if (after.spec?.heldMembers?.some((one) => one.ordinal === ordinal)) {
      const [owner = 'somebody'] = ownersOf(after, 'heldMembers', { ordinal });
      const where = whereToChange(owner, rolloutKind.kind, cluster.name, cluster.namespace, host.program);
      throw new CommandError(`${name} is still held: the entry of the MySQLRollout belongs to \`${owner}\`; ${where}`);
    }
    host.out(`${cluster.namespace}/${name}: not held any more\n`);
    return 0;
  },
};
