import type { MySQLRollout } from '../../api/rollout.ts';
import { annotationOn, forceRollingUpdateAnnotation, reconciliationStoppedAnnotation } from '../../moco/names.ts';
import { CommandError } from '../failure.ts';

/** The verbs that write settings. */
export type SettingVerb = 'pause' | 'approve' | 'override' | 'pin' | 'restore';

const adopted =
  'or let moco-rollout update the cluster: set `strategy: OnDelete` in its MySQLRollout, with the feature gate UpdateStrategyOnDelete on';

/** Alternatives for clusters whose partition MOCO's own partition controller lowers. */
const instead: Readonly<Record<SettingVerb, (program: string, name: string) => string>> = {
  pause: (program, name) =>
    `undo the change (\`${program} undo ${name}\`); annotation ${reconciliationStoppedAnnotation}: "${annotationOn}" on the MySQLCluster keeps further changes from the StatefulSet, but does not stop a rollout that is under way; ${adopted}`,
  approve: () => `MOCO updates members by ordinal and waits for no approval; ${adopted}`,
  override: () =>
    `annotation ${forceRollingUpdateAnnotation}: "${annotationOn}" on the MySQLCluster makes Kubernetes replace one pod after another without any other check; ${adopted}`,
  pin: () => `MOCO lowers the partition through every ordinal and cannot skip one; ${adopted}`,
  restore: (program, name) => `restore the template of all members (\`${program} undo ${name}\`); ${adopted}`,
};

/** Throws `CommandError` if the strategy in force ignores what the verb sets. */
export function refuseWithoutEffect(
  verb: SettingVerb,
  name: string,
  rollout: MySQLRollout | null,
  program: string,
): void {
  const strategy = rollout?.status?.strategy;
  if (verb === 'restore' && strategy === undefined) throw new CommandError(`no controller has observed ${name} yet`);
  if (verb === 'restore' && strategy === 'Partition') {
    throw new CommandError(
      `${verb} has no effect on ${name}: its StatefulSet replaces pods by partitions; ${instead[verb](program, name)}`,
    );
  }
  if (strategy !== 'MOCO') return;
  throw new CommandError(
    `${verb} has no effect on ${name}: MOCO's own partition controller updates it; ${instead[verb](program, name)}`,
  );
}
