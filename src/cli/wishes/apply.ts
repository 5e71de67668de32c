import { type MySQLRollout, type RolloutSpec, rolloutKind } from '../../controller/rollout-resource.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import { apiVersion, path } from '../../kube/resource.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { CommandError } from '../failure.ts';
import { findOrMakeRollout } from '../rollouts.ts';
import type { Session } from '../session.ts';
import { ownersOf, whereToChange } from './owners.ts';

/** Each verb that writes wishes owns its own; never one of kubectl's names, which Flux takes the fields of. */
export type WishVerb = 'pause' | 'approve' | 'override' | 'hold';

const managerOf = (verb: WishVerb): string => `moco-rollout-cli-${verb}`;
const fieldConflict = 'FieldManagerConflict';

/**
 * Makes the wishes of a verb what `wishes` makes of the MySQLRollout as it is: by server-side apply, so that what the
 * verb wished before and doesn't any more goes, and without force, so that nobody else's field is taken. Throws
 * `CommandError` where somebody else owns it and says otherwise, with who that is.
 */
export async function applyWishes(
  session: Session,
  cluster: ClusterRecord,
  verb: WishVerb,
  wishes: (rollout: MySQLRollout, isOwn: (list: keyof RolloutSpec, key: object) => boolean) => RolloutSpec,
): Promise<MySQLRollout> {
  const { namespace, name } = cluster;
  for (;;) {
    const rollout = await findOrMakeRollout(session, cluster);
    const spec = wishes(rollout, (list, key) => owns(rollout, managerOf(verb), list, key));
    try {
      return await session.client.call<MySQLRollout>({
        method: 'PATCH',
        path: path(rolloutKind, { namespace, name }),
        query: { fieldManager: managerOf(verb), fieldValidation: 'Strict' },
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: apiVersion(rolloutKind),
          kind: rolloutKind.kind,
          // Lists are read and written again as a whole: two verbs at once must not lose an entry.
          metadata: { namespace, name, uid: rollout.metadata.uid, resourceVersion: rollout.metadata.resourceVersion },
          ...(Object.keys(spec).length > 0 && { spec }),
        },
        lane: 'status',
        signal: session.signal,
      });
    } catch (error) {
      if (!(error instanceof ApiError) || !isConflict(error)) throw error;
      const conflicts = error.causes.filter(({ reason }) => reason === fieldConflict);
      if (conflicts.length > 0) throw new CommandError(explained(conflicts, session, cluster));
    }
  }
}

function owns(rollout: MySQLRollout, manager: string, list: keyof RolloutSpec, key: object): boolean {
  return ownersOf(rollout, list, key).includes(manager);
}

function explained(conflicts: ApiError['causes'], { host }: Session, { namespace, name }: ClusterRecord): string {
  return conflicts
    .map(({ field, message }) => {
      const manager = /"([^"]+)"/.exec(message)?.[1] ?? message;
      const where = whereToChange(manager, rolloutKind.kind, name, namespace, host.program);
      return `${(field ?? 'the field').replace(/^\./, '')} of the MySQLRollout belongs to \`${manager}\` and says something else; ${where}`;
    })
    .join('; ');
}
