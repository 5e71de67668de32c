import { type MySQLRollout, pluginManager, type RolloutSpec, rolloutKind } from '../../api/rollout.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../kube/api-error.ts';
import { ownersOf } from '../../moco/managed-fields.ts';
import { annotationOn, forceRollingUpdateAnnotation, reconciliationStoppedAnnotation } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { CommandError } from '../command-error.ts';
import { rolloutOf } from './clusters.ts';
import type { Session } from './session.ts';

// Writes settings as a user, by server-side apply, and explains which other manager owns a field.

type SettingVerb = 'pause' | 'approve' | 'override' | 'pin' | 'restore';

type KeyedList = 'overrides' | 'pinnedMembers';
type Entry<Field extends KeyedList> = NonNullable<RolloutSpec[Field]>[number];

/**
 * The current settings, from which a verb (a command such as `pause`) derives its new settings: the spec, and the
 * fields that the verb itself has set.
 */
interface Current {
  readonly spec: RolloutSpec;
  readonly isOwn: (field: keyof RolloutSpec) => boolean;
  /**
   * The list entries that the verb itself has set, except the entry with this key. A new write must repeat them,
   * because apply removes the entries that the new write omits.
   */
  readonly others: <Field extends KeyedList>(field: Field, key: Partial<Entry<Field>>) => readonly Entry<Field>[];
}

/** An empty list in the result sets nothing. */
export type SettingsOf = (current: Current) => RolloutSpec;

function currentOf(rollout: MySQLRollout, verb: SettingVerb): Current {
  const { spec = {} } = rollout;
  const isOwn = (field: string, key?: object): boolean => ownersOf(rollout, field, key).includes(pluginManager(verb));
  return {
    spec,
    isOwn: (field) => isOwn(field),
    others: <Field extends KeyedList>(field: Field, key: Partial<Entry<Field>>) => {
      const entries = (spec[field] ?? []) as readonly Entry<Field>[];
      const [[name, value] = ['', null]] = Object.entries(key);
      const valueOf = (one: Entry<Field>): unknown => one[name as keyof Entry<Field>];
      return entries.filter((one) => valueOf(one) !== value && isOwn(field, { [name]: valueOf(one) }));
    },
  };
}

/**
 * Writes the settings of a verb by server-side apply. `settings` derives them from the current settings. Fields that
 * the verb set earlier and does not set now are removed. The write does not force conflicts, so it takes no field away
 * from another manager. Throws `CommandError` if another manager owns a field with a different value, or if the setting
 * would have no effect.
 */
export const applySettings = (
  session: Session,
  cluster: ClusterRecord,
  verb: SettingVerb,
  settings: SettingsOf,
): Promise<MySQLRollout> =>
  apply(session, cluster, verb, settings, (rollout) =>
    refuseWithoutEffect(verb, cluster, rollout, session.host.program),
  );

/**
 * Removes settings of a verb, under any strategy. Throws `CommandError` if `remains` shows that the field or list entry
 * still exists because another manager owns it.
 */
export async function removeSettings(
  session: Session,
  cluster: ClusterRecord,
  verb: SettingVerb,
  settings: SettingsOf,
  remains: (spec: RolloutSpec) => boolean,
  { what, field, key }: { readonly what: string; readonly field: keyof RolloutSpec; readonly key?: object },
): Promise<void> {
  const rollout = await apply(session, cluster, verb, settings, () => undefined);
  if (!remains(rollout.spec ?? {})) return;
  const [owner = 'unknown'] = ownersOf(rollout, field, key);
  const where = whereToChange(owner, rolloutKind.kind, cluster.name, cluster.namespace, session.host.program);
  throw new CommandError(`${what}: \`${owner}\` owns spec.${field} of the MySQLRollout; ${where}`);
}

async function apply(
  session: Session,
  cluster: ClusterRecord,
  verb: SettingVerb,
  settings: SettingsOf,
  check: (rollout: MySQLRollout) => void,
): Promise<MySQLRollout> {
  for (;;) {
    const rollout = await findOrMakeRollout(session, cluster);
    check(rollout);
    const all = Object.entries(settings(currentOf(rollout, verb)));
    const spec = Object.fromEntries(all.filter(([, value]) => !Array.isArray(value) || value.length > 0));
    try {
      return await session.api.applyRollout(rollout, spec, pluginManager(verb));
    } catch (error) {
      if (!(error instanceof ApiError) || !isConflict(error)) throw error;
      const conflicts = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict');
      if (conflicts.length > 0) throw new CommandError(conflictsText(conflicts, session, cluster));
    }
  }
}

function conflictsText(conflicts: ApiError['causes'], { host }: Session, { namespace, name }: ClusterRecord): string {
  return conflicts
    .map(({ field, message }) => {
      const manager = /"([^"]+)"/.exec(message)?.[1] ?? message;
      const where = whereToChange(manager, rolloutKind.kind, name, namespace, host.program);
      return `\`${manager}\` owns ${(field ?? 'the field').replace(/^\./, '')} of the MySQLRollout with a different value; ${where}`;
    })
    .join('; ');
}

/**
 * The MySQLRollout of a cluster. A missing MySQLRollout is created as the controller would create it. Rejects with
 * `ApiError`.
 */
async function findOrMakeRollout(session: Session, cluster: ClusterRecord): Promise<MySQLRollout> {
  const { api, server } = session;
  const found = await rolloutOf(session, cluster);
  if (found !== null) return found;
  try {
    return await api.createRollout(cluster);
  } catch (error) {
    if (error instanceof ApiError && isAlreadyExists(error)) return findOrMakeRollout(session, cluster);
    if (!isNotFound(error)) throw error;
    throw new CommandError(`there is no kind ${rolloutKind.kind} on ${server}: is moco-rollout installed?`);
  }
}

const adopted =
  'or let moco-rollout update the cluster: set `strategy: OnDelete` in its MySQLRollout, with the feature gate UpdateStrategyOnDelete on';

/** What a user can do instead in clusters where MOCO's own partition controller lowers the partition. */
const instead: Readonly<Record<SettingVerb, (undo: string) => string>> = {
  pause: (undo) =>
    `undo the change (\`${undo}\`); annotation ${reconciliationStoppedAnnotation}: "${annotationOn}" on the MySQLCluster keeps further changes away from the StatefulSet, but does not stop a rollout in progress; ${adopted}`,
  approve: () => `MOCO updates members by ordinal and waits for no approval; ${adopted}`,
  override: () =>
    `annotation ${forceRollingUpdateAnnotation}: "${annotationOn}" on the MySQLCluster makes Kubernetes replace one pod after another without any other check; ${adopted}`,
  pin: () => `MOCO lowers the partition through every ordinal and cannot skip one; ${adopted}`,
  restore: (undo) => `restore the template of all members (\`${undo}\`); ${adopted}`,
};

/** Throws `CommandError` if the cluster's strategy ignores the setting. */
export function refuseWithoutEffect(
  verb: SettingVerb,
  { namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>,
  rollout: MySQLRollout | null,
  program: string,
): void {
  const strategy = rollout?.status?.strategy;
  if (verb === 'restore' && strategy === undefined) throw new CommandError(`no controller has observed ${name} yet`);
  let cause = '';
  if (verb === 'restore' && strategy === 'Partition') cause = 'its StatefulSet replaces pods by partitions';
  if (strategy === 'MOCO') cause = "MOCO's own partition controller updates it";
  if (cause === '') return;
  const alternative = instead[verb](`${program} undo ${name} -n ${namespace}`);
  throw new CommandError(`${verb} has no effect on ${name}: ${cause}; ${alternative}`);
}

/** Where a user can change the values that a field manager owns, as a phrase that completes a sentence. */
export function whereToChange(manager: string, kind: string, name: string, namespace: string, program: string): string {
  const own = manager.startsWith(pluginManager('')) && manager.slice(pluginManager('').length);
  if (own) return `it is \`${program} ${own}\``;
  if (/^(kustomize|helm)-controller$/.test(manager)) return 'change it in the repository that Flux applies';
  if (manager.startsWith('argocd')) return 'change it in the repository that Argo CD applies';
  if (manager === 'helm') return 'change it in the values of the Helm release';
  const isKubectl = manager.startsWith('kubectl');
  return isKubectl ? `change it with: kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}` : 'change it there';
}
