import type { RolloutSpec } from '../../api/rollout.ts';
import { milliseconds, omitUndefined, timestampOf } from '../../base/json.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import { decide } from '../../core/decide.ts';
import { explainHold, type Hold, type HoldRule, isOverridable, rules } from '../../core/rules/catalogue.ts';
import { durationText } from '../../core/sentences.ts';
import { UsageError } from '../../failure.ts';
import { nameOf } from '../../kube/store.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { onRollouts, toSet } from '../check/rights.ts';
import { applySettings, removeSettings, type SettingsOf } from '../cluster/apply.ts';
import { userName } from '../cluster/authorship.ts';
import { observeCluster } from '../cluster/cluster-snapshot.ts';
import { clusterNamed, unlessRefused } from '../cluster/clusters.ts';
import { publishedFlags } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { anyText, duration, toggle, type Values } from '../option.ts';
import { clusterCommand } from './command.ts';
import { ruleNamed } from './explain.ts';

// The command `override`.

const verb = 'override';

const ownOptions = {
  for: duration('--for <duration>', 'duration, such as 30m; required without --clear'),
  reason: anyText('--reason <text>', 'reason, for other people; required without --clear'),
  clear: toggle('--clear', 'end the override of RULE now; without RULE, all overrides of the cluster'),
};

type Given = Values<typeof ownOptions>;

/** Switches a rule off for a limited time, by an entry in `spec.overrides`. */
export const overrideCommand = clusterCommand({
  name: verb,
  arguments: '<NAME> [RULE]',
  rights: [...toSet, onRollouts('override')],
  summary: 'Override a rule for a limited time, or end overrides',
  help: 'Adds an entry to `spec.overrides` of the MySQLRollout. `explain` lists the rules that can be overridden; rules that protect data or quorum cannot.',
  examples: [
    [
      'Continue outside of the window for 30 minutes',
      'override test OutsideMaintenanceWindow --for=30m --reason="urgent fix"',
    ],
    ['End this override now', 'override test OutsideMaintenanceWindow --clear'],
    ['End all overrides of a cluster', 'override test --clear'],
  ],
  options: ownOptions,
  run: (session, [name = '', ruleName], given) => {
    const rule = ruleName === undefined ? null : ruleNamed(ruleName);
    return given.clear ? clear(session, name, rule, given) : override(session, name, rule, given);
  },
});

async function override(session: Session, name: string, rule: HoldRule | null, given: Given): Promise<number> {
  const { host, world } = session;
  const { for: forMilliseconds, reason } = given;
  if (rule === null) throw new UsageError('expected a RULE to override, got none');
  if (!isOverridable(rule)) {
    throw new UsageError(
      `expected a rule that can be overridden, got ${rule}, which cannot; see \`${host.program} explain ${rule}\``,
    );
  }
  if (forMilliseconds === undefined || reason === undefined) {
    throw new UsageError(
      `expected --for and --reason, got ${forMilliseconds === undefined ? 'no --for' : 'no --reason'}`,
    );
  }
  const cluster = await clusterNamed(session, name);
  const { options, unknown } = await publishedFlags(session);
  const most = options.maxOverrideMilliseconds;
  const longest = durationText(most / 1000);
  if (forMilliseconds > most) {
    const flag = '(--max-override-duration)';
    if (unknown === null)
      throw new UsageError(
        `expected --for to be at most ${longest} ${flag}, got ${durationText(forMilliseconds / 1000)}`,
      );
    host.err(`warning: an override of more than ${longest} may have no effect yet ${flag}: ${unknown}\n`);
  }
  const until = timestampOf(world.wall() + forMilliseconds);
  const by = await userName(session);
  const then = await holdWith(session, cluster, { rule, until, reason });
  if (then !== null && 'inVain' in then.hold && then.hold.inVain === rule) {
    throw new CommandError(`overriding ${rule} would have no effect on ${name}: ${then.sentence}`);
  }
  await applySettings(session, cluster, verb, ({ others }) => ({
    overrides: [...notEnded(others('overrides', { rule }), world.wall()), omitUndefined({ rule, until, reason, by })],
  }));
  host.out(`${nameOf(cluster)}: ${rule} overridden until ${until}\n`);
  const { overriding } = rules[rule];
  if (overriding !== undefined) host.err(`WARNING: ${overriding}.\n`);
  if (then !== null) host.err(`warning: the rollout still waits for ${then.hold.rule}: ${then.sentence}\n`);
  return 0;
}

/**
 * The hold that remains once the rule is overridden; `null` if there is none, or if the user may not read the cluster.
 */
async function holdWith(
  session: Session,
  cluster: ClusterRecord,
  entry: Overrides[number],
): Promise<{ readonly hold: Hold; readonly sentence: string } | null> {
  const observation = await unlessRefused(observeCluster(session, cluster));
  if (observation === null) return null;
  const others = (observation.rollout?.spec?.overrides ?? []).filter(({ rule }) => rule !== entry.rule);
  const assumed = observation.observe({ overrides: [...others, entry] });
  const { hold } = decide(assumed.snapshot, assumed.policy);
  return hold && { hold, sentence: explainHold(hold, memberName(assumed)) };
}

async function clear(session: Session, name: string, rule: HoldRule | null, given: Given): Promise<number> {
  const { host, world } = session;
  if (given.for !== undefined || given.reason !== undefined) {
    throw new UsageError('expected either --clear, or --for and --reason, got both');
  }
  const cluster = await clusterNamed(session, name);
  const without: SettingsOf = ({ others }) =>
    rule === null ? {} : { overrides: notEnded(others('overrides', { rule }), world.wall()) };
  const remains = ({ overrides = [] }: RolloutSpec) => overrides.some((one) => rule === null || one.rule === rule);
  const what = `${rule ?? 'a rule'} is still overridden`;
  const key = rule !== null && { key: { rule } };
  await removeSettings(session, cluster, verb, without, remains, { what, field: 'overrides', ...key });
  host.out(`${nameOf(cluster)}: ${rule ?? 'no rule is'} ${rule === null ? '' : 'no longer '}overridden\n`);
  return 0;
}

type Overrides = NonNullable<RolloutSpec['overrides']>;

/** The overrides that have not expired. */
const notEnded = (overrides: Overrides, nowMilliseconds: number): Overrides =>
  overrides.filter(({ until }) => (milliseconds(until) ?? 0) > nowMilliseconds);
