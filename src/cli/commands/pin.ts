import { UsageError } from '../../failure.ts';
import { applySettings, removeSettings, type SettingsOf } from '../cluster/apply.ts';
import { memberNamed } from '../cluster/clusters.ts';
import { textOf } from '../cluster/session.ts';
import { volumeWarning } from '../terminal/view.ts';
import type { ClusterCommand } from './command.ts';

const verb = 'pin';

/** Pins a member to its revision: an entry of `spec.pinnedMembers`. */
export const pinCommand: ClusterCommand = {
  name: 'pin',
  arguments: '<MEMBER>',
  completes: ['pod'],
  summary: 'Pin a member to its revision',
  help:
    'MEMBER is the name of its pod. Adds an entry to `spec.pinnedMembers` of the MySQLRollout. Under OnDelete a pinned member ' +
    'whose pod somebody else takes comes back at its revision. The primary is not updated while another member is pinned.',
  examples: [['Keep one member as it is', 'pin moco-test-2 --reason="comparing query plans"']],
  options: [{ flags: '--reason <text>', description: 'why, for others who find it (required)' }],
  connects: true,
  run: async (session, [pod = '']) => {
    const { host, given } = session;
    const reason = textOf(given['reason']) ?? '';
    if (reason === '') throw new UsageError('expected --reason, for others who find the pinned member, got none');
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    await applySettings(session, cluster, verb, ({ others }) => ({
      pinnedMembers: [...others('pinnedMembers', { ordinal }), { ordinal, reason }],
    }));
    host.out(`${cluster.namespace}/${name}: pinned\n`);
    host.err(`${volumeWarning}\n`);
    return 0;
  },
};

/** Removes the entry of `pin`, and reports who else pins the member. */
export const unpinCommand: ClusterCommand = {
  name: 'unpin',
  arguments: '<MEMBER>',
  completes: ['pod'],
  summary: 'Unpin a member, so that it is updated again',
  help: 'MEMBER is the name of its pod.',
  examples: [['Let a pinned member be updated', 'unpin moco-test-2']],
  connects: true,
  run: async (session, [pod = '']) => {
    const { host } = session;
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    const without: SettingsOf = ({ others }) => ({ pinnedMembers: others('pinnedMembers', { ordinal }) });
    await removeSettings(session, cluster, verb, without, {
      of: ({ pinnedMembers }) => pinnedMembers?.some((one) => one.ordinal === ordinal) === true,
      what: `${name} is still pinned`,
      field: 'pinnedMembers',
      key: { ordinal },
    });
    host.out(`${cluster.namespace}/${name}: unpinned\n`);
    return 0;
  },
};
