import { type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import { overridable } from '../core/overrides.ts';
import { UsageError } from '../failure.ts';
import { milliseconds, timestampOf } from '../moco/timestamp.ts';
import { clusterNamed, find } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { ruleNamed } from './explain.ts';
import { CommandError } from './failure.ts';
import { durationOf, textOf } from './session.ts';
import { applyWishes } from './wishes/apply.ts';
import { refuseInVain } from './wishes/in-vain.ts';
import { ownersOf, whereToChange } from './wishes/owners.ts';

/** One rule off for a while: an entry of `spec.overrides`. */
export const overrideCommand: ClusterCommand = {
  name: 'override',
  arguments: '<NAME> <RULE>',
  completes: ['cluster', 'rule'],
  summary: 'Switch one rule off for a while',
  help: 'Only rules that keep a rollout from something unwise; `explain` says which. None that keeps the data or the quorum.',
  options: [
    { flags: '--for <duration>', description: 'for how long, such as 30m' },
    { flags: '--reason <text>', description: 'why, for the people who find it' },
    { flags: '--end', description: 'switch it on again now' },
  ],
  connects: true,
  run: async (session, [name = '', ruleName = '']) => {
    const { host, given, world } = session;
    const rule = ruleNamed(ruleName);
    const end = given['end'] === true;
    if (!overridable[rule]) {
      throw new UsageError(
        `expected a rule that can be overridden, got ${rule}, which never can; \`${host.program} explain ${rule}\` says how it ends`,
      );
    }
    if (end && (given['for'] !== undefined || given['reason'] !== undefined)) {
      throw new UsageError('expected either --end, or --for and --reason, got both');
    }
    const reason = textOf(given['reason']) ?? '';
    if (!end && (given['for'] === undefined || reason === '')) {
      throw new UsageError('expected --for, how long, and --reason, why, got neither or one of them');
    }
    const until = end ? '' : timestampOf(world.wall() + durationOf('for', given['for'] ?? ''));
    const cluster = await clusterNamed(session, name);
    if (!end) {
      const rollout = (await find(session, rolloutKind, cluster.namespace, name)) as MySQLRollout | null;
      refuseInVain('override', name, rollout, host.program);
    }
    const after = await applyWishes(session, cluster, 'override', ({ spec }, isOwn) => {
      // What is over goes with the next one.
      const others = (spec?.overrides ?? []).filter(
        (one) =>
          one.rule !== rule && isOwn('overrides', { rule: one.rule }) && (milliseconds(one.until) ?? 0) > world.wall(),
      );
      const overrides = end ? others : [...others, { rule, until, reason }];
      return overrides.length === 0 ? {} : { overrides };
    });
    if (end && after.spec?.overrides?.some((one) => one.rule === rule)) {
      const [owner = 'somebody'] = ownersOf(after, 'overrides', { rule });
      const where = whereToChange(owner, rolloutKind.kind, name, cluster.namespace, host.program);
      throw new CommandError(
        `${rule} is still overridden: the entry of the MySQLRollout belongs to \`${owner}\`; ${where}`,
      );
    }
    host.out(`${cluster.namespace}/${name}: ${rule} ${end ? 'is on again' : `is off until ${until}`}\n`);
    return 0;
  },
};
