import type { MySQLRollout } from '../../controller/rollout-resource.ts';
import { annotationOn, forceRollingUpdateAnnotation, reconciliationStoppedAnnotation } from '../../moco/names.ts';
import { CommandError } from '../failure.ts';
import type { WishVerb } from './apply.ts';

const takenOver =
  'or let this program update the cluster: `strategy: OnDelete` in its MySQLRollout, with the feature gate UpdateStrategyOnDelete';

/** What does work where MOCO's own partition controller lowers the partition. */
const instead: Readonly<Record<WishVerb, (program: string, name: string) => string>> = {
  pause: (program, name) =>
    `put back what was changed (\`${program} undo ${name}\`); annotation ${reconciliationStoppedAnnotation}: "${annotationOn}" on the MySQLCluster keeps further changes from the StatefulSet, but does not stop what is under way; ${takenOver}`,
  approve: () => `MOCO takes members by ordinal and asks nobody before the primary; ${takenOver}`,
  override: () =>
    `what makes it go on whatever the cluster is like is annotation ${forceRollingUpdateAnnotation}: "${annotationOn}" on the MySQLCluster, with which Kubernetes replaces one pod after another and looks at nothing else; ${takenOver}`,
  hold: () => `MOCO lowers the partition through every ordinal and can't leave one out; ${takenOver}`,
};

/** Throws `CommandError` where the strategy in force knows nothing of what the verb wishes. */
export function refuseInVain(verb: WishVerb, name: string, rollout: MySQLRollout | null, program: string): void {
  if (rollout?.status?.strategy !== 'MOCO') return;
  throw new CommandError(
    `${verb} has no effect on ${name}, where MOCO's own partition controller lowers the partition: ${instead[verb](program, name)}`,
  );
}
