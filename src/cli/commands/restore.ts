import type { RolloutSpec } from '../../api/rollout.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import { isVerified } from '../../core/failing-revision.ts';
import { isOverridden } from '../../core/gates.ts';
import { hasNeverStarted } from '../../core/member.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { type Member, type Situation, survey } from '../../core/situation.ts';
import { revisionHash } from '../../moco/names.ts';
import { restoring } from '../../plan/rollout-plan.ts';
import { toDecide, toSet } from '../check/rights.ts';
import { applySettings, refuseWithoutEffect, removeSettings, type SettingsOf } from '../cluster/apply.ts';
import { type ClusterObservation, observeCluster } from '../cluster/cluster-snapshot.ts';
import { memberNamed, type NamedMember } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { explainWayBack, isRisky, wayBack } from '../cluster/way-back.ts';
import { CommandError } from '../command-error.ts';
import { toggle } from '../option.ts';
import { clusterCommand } from './command.ts';

// The commands `restore` and `unrestore`. Both explain what their change means for the data.

const verb = 'restore';

/** Returns a failed member to its previous revision, by an entry in `spec.restore`. */
export const restoreCommand = clusterCommand({
  name: 'restore',
  arguments: '<MEMBER>',
  rights: [...toDecide, ...toSet],
  summary: 'Give a failed member its previous revision back',
  help:
    'MEMBER is the name of its pod. Without --yes it only shows what this means for the data of the member: MySQL supports going ' +
    'back within series 8.4, and an older mysqld refuses to start on data that a later series has upgraded. Adds an entry to ' +
    '`spec.restore` of the MySQLRollout. The controller deletes the pod, which comes back at its previous revision. No member ' +
    'gets the update revision until the MySQLCluster is corrected or `unrestore` is run. A member that participates is never restored.',
  examples: [
    ['Show what restoring a member means', 'restore moco-test-2'],
    ['Restore it', 'restore moco-test-2 --yes'],
  ],
  options: { yes: toggle('--yes', 'restore the member; without this flag nothing is changed') },
  run: async (session, [pod = ''], { yes }) => {
    const { host } = session;
    const named = await memberNamed(session, pod);
    const { cluster, ordinal, name } = named;
    const observation = await observeCluster(session, cluster);
    refuseWithoutEffect(verb, cluster, observation.rollout, host.program);
    const found = restorable(session, observation, named);
    host.out(preview(session, named, found));
    if (!yes) {
      const line = `${host.program} restore ${name} -n ${cluster.namespace} --yes`;
      throw new CommandError(`nothing has been changed, because --yes is missing; to restore ${name}: ${line}`);
    }
    await applySettings(session, cluster, verb, ({ spec }) => {
      const members = [...membersOf(spec, found.after).filter((one) => one !== ordinal), ordinal];
      return { restore: { revision: found.after, members } };
    });
    host.out(`${cluster.namespace}/${name}: will get revision ${revisionHash(found.before, cluster.name)} back\n`);
    if (isRisky(found.wayBack)) host.err(`WARNING: the data of ${name} may not be usable: watch its mysqld start\n`);
    return 0;
  },
});

/** Removes the entry that `restore` has set. If another manager still restores the member, reports that manager. */
export const unrestoreCommand = clusterCommand({
  name: 'unrestore',
  arguments: '<MEMBER>',
  rights: [...toDecide, ...toSet],
  summary: 'Withdraw a restore, so that the member is updated again',
  help:
    'MEMBER is the name of its pod. Without --yes it only shows what this means: without another entry in `spec.restore`, the ' +
    'rollout continues with the same update revision, at which the member failed, and evicts it at once. ' +
    'If the MySQLCluster was corrected, the entry no longer has an effect and can stay.',
  examples: [
    ['Show what withdrawing a restore means', 'unrestore moco-test-2'],
    ['Let a restored member be updated', 'unrestore moco-test-2 --yes'],
  ],
  options: { yes: toggle('--yes', 'withdraw the restore; without this flag nothing is changed') },
  run: async (session, [pod = ''], { yes }) => {
    const { host } = session;
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    const { rollout } = await observeCluster(session, cluster);
    const { revision = '', members: restored = [] } = rollout?.spec?.restore ?? {};
    // Once the template has been corrected, the restore is over, and withdrawing it has no effect.
    if (!yes && restored.includes(ordinal) && revision === rollout?.status?.updateRevision) {
      const hash = revisionHash(revision, cluster.name);
      const failure = rollout?.status?.rollout?.failing?.message;
      host.out(
        `${cluster.namespace}/${name}\n  then      ${name} is evicted and starts at revision ${hash}, at which it failed${failure === undefined ? '' : `: ${failure}`}\n  instead   correct the MySQLCluster: \`${host.program} undo ${cluster.name} -n ${cluster.namespace}\`\n`,
      );
      const line = `${host.program} unrestore ${name} -n ${cluster.namespace} --yes`;
      throw new CommandError(`nothing has been changed, because --yes is missing; to update ${name} again: ${line}`);
    }
    const without: SettingsOf = ({ spec: { restore }, isOwn }) => {
      const members = restore?.members.filter((one) => one !== ordinal) ?? [];
      return restore && members.length > 0 && isOwn('restore') ? { restore: { ...restore, members } } : {};
    };
    const remains = ({ restore }: RolloutSpec) => restore?.members.includes(ordinal) === true;
    const what = `${name} is still to be restored`;
    await removeSettings(session, cluster, verb, without, remains, { what, field: 'restore' });
    host.out(`${cluster.namespace}/${name}: no longer restored\n`);
    return 0;
  },
});

/** The members to restore at this revision. Entries for an earlier revision no longer count. */
const membersOf = (spec: RolloutSpec | undefined, revision: string): readonly number[] =>
  spec?.restore?.revision === revision ? spec.restore.members : [];

/**
 * Returns the member's previous revision (`before`), and the update revision at which the member failed (`after`). If
 * another member has worked at `after`, the rollout continues, so only a pin or the partition keeps this member at
 * `before`. Throws `CommandError` if the member cannot be restored, or if it would be updated again at once.
 */
function restorable({ host }: Session, observation: ClusterObservation, named: NamedMember) {
  const { cluster, ordinal, name } = named;
  const { rollout } = observation;
  const { snapshot, policy } = observation.observe();
  const situation = survey(snapshot, policy);
  const after = snapshot.statefulSet?.updateRevision ?? '';
  const member = situation.members.find((one) => one.ordinal === ordinal);
  const refusal = refusalOf(situation, member, named, host.program);
  if (member === undefined || refusal !== null) throw new CommandError(refusal ?? `pods "${name}" not found`);
  const members = [...new Set([...membersOf(rollout?.spec, after), ordinal])];
  const assumed = observation.observe({ restore: { revision: after, members } });
  const { revision: before, stopsAt } = restoring(assumed.snapshot, assumed.policy, ordinal);
  if (before === null) {
    const held = stopsAt && `${stopsAt.rule}: ${explainHold(stopsAt, memberName(assumed))}`;
    const see = `see \`${host.program} status ${cluster.name} -n ${cluster.namespace}\``;
    throw new CommandError(`${name} cannot be restored now: ${held ?? 'its previous revision is unknown'}; ${see}`);
  }
  const back = wayBack(rollout?.status?.rollout, { before, after }, hasNeverStarted(member.facts));
  return { before, after, wayBack: back, isVerified: isVerified(situation) };
}

/** Why the member cannot be restored, as a sentence without a full stop; `null` if the data allows the restore. */
function refusalOf(
  situation: Situation,
  member: Member | undefined,
  { cluster, name, ordinal }: NamedMember,
  program: string,
): string | null {
  const { statefulSet } = situation.snapshot;
  const hash = (revision: string): string => revisionHash(revision, cluster.name);
  if (!statefulSet?.observed || statefulSet.updateRevision === '') {
    return `the update revision of ${cluster.name} is not known yet: Kubernetes has not observed its newest StatefulSet`;
  }
  if (member === undefined) return null;
  const after = hash(statefulSet.updateRevision);
  if (!member.updated) {
    return `${name} is at revision ${hash(member.facts.revision)} and not at the update revision ${after}: there is nothing to restore`;
  }
  if (member.participates) {
    return (
      `${name} participates at revision ${after}: its mysqld may have upgraded its data, and an older mysqld may refuse that data; ` +
      `restore the template instead: \`${program} undo ${cluster.name} -n ${cluster.namespace}\``
    );
  }
  if (member.pinned || ordinal < situation.policy.partition) return null;
  const again = `the rollout would update ${name} again at once`;
  if (isVerified(situation)) {
    return `another member has worked at revision ${after}, so ${again}; pin it first: \`${program} pin ${name} -n ${cluster.namespace} --reason=…\``;
  }
  if (isOverridden(situation, 'UpdateRevisionFailing')) {
    const clear = `${program} override ${cluster.name} UpdateRevisionFailing --clear -n ${cluster.namespace}`;
    return `UpdateRevisionFailing is overridden, so ${again}; end that first: \`${clear}\``;
  }
  return null;
}

function preview({ host }: Session, { cluster, name }: NamedMember, found: ReturnType<typeof restorable>): string {
  const { before, after, wayBack: back } = found;
  const hash = (revision: string): string => revisionHash(revision, cluster.name);
  const held =
    `no member gets revision ${hash(after)} until the MySQLCluster is corrected (\`${host.program} undo ${cluster.name} -n ${cluster.namespace}\`), ` +
    `or until \`${host.program} unrestore ${name} -n ${cluster.namespace}\``;
  const rows: readonly (readonly [label: string, text: string])[] = [
    ['revision', `${hash(after)} -> ${hash(before)}`],
    ...(back.images === null ? [] : [['mysqld', `${back.images.after} -> ${back.images.before}`] as const]),
    ['data', explainWayBack(back)],
    ['then', found.isVerified ? 'it keeps this revision while it is pinned or below the partition' : held],
  ];
  return `${cluster.namespace}/${name}\n${rows.map(([label, text]) => `  ${label.padEnd(8)}  ${text}\n`).join('')}`;
}
