import { pluginManager } from '../../api/rollout.ts';
import { policyKind, policySource } from '../../api/rollout-policy.ts';
import { type Json, object, objects, text } from '../../base/json.ts';
import { UsageError } from '../../failure.ts';
import { ApiError, isConflict, isNotFound } from '../../kube/api-error.ts';
import { apiVersion, path } from '../../kube/resource.ts';
import type { Right } from '../check/rights.ts';
import { pauseOf, pauseOptions } from '../cluster/authorship.ts';
import { listOrNothing } from '../cluster/clusters.ts';
import type { connectionOptions } from '../cluster/connection-flags.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import type { Values } from '../option.ts';
import { clusterCommand } from './command.ts';

// The commands `freeze` and `unfreeze`. They write and delete a MySQLRolloutPolicy that enforces a pause.

const manager = pluginManager('freeze');
/** Takes precedence over other policies, which have priority 0 by default. */
const priority = 1000;
/** The API server sets this label on every namespace. */
const namespaceLabel = 'kubernetes.io/metadata.name';
const rights: readonly Right[] = [
  [policyKind.group, policyKind.plural, ['get', 'list', 'create', 'patch', 'delete', 'enforce']],
];

/** What the command freezes, and the name of the policy that does so. */
function scopeOf({ namespace }: Pick<Values<typeof connectionOptions>, 'namespace'>) {
  return namespace === undefined
    ? { name: 'freeze', what: 'all clusters', selection: {} }
    : {
        name: `freeze-${namespace}`,
        what: `the clusters of namespace ${namespace}`,
        selection: { namespaceSelector: { matchLabels: { [namespaceLabel]: namespace } } },
      };
}

/** The command that ends the freeze from which a cluster's pause comes; `null` if the pause has a different source. */
export function unfreezing(source: string, namespace: string): string | null {
  if (source === policySource(scopeOf({ namespace: undefined }).name)) return 'unfreeze';
  return source === policySource(scopeOf({ namespace }).name) ? `unfreeze -n ${namespace}` : null;
}

export const freezeCommand = clusterCommand({
  name: 'freeze',
  arguments: '',
  rightsEverywhere: rights,
  summary: 'Pause the rollouts of all clusters, whatever their settings say',
  help:
    'Applies a MySQLRolloutPolicy with `spec.enforced.paused`: `freeze` for all clusters, `freeze-NAMESPACE` for those of ' +
    '--namespace. No MySQLRollout can end it. Clusters that MOCO drives, and that were never adopted, still continue.',
  examples: [
    ['Freeze everything until a person ends it', 'freeze --reason="incident 4711"'],
    ['Freeze one namespace for four hours', 'freeze -n shop --reason="sale" --for=4h'],
  ],
  options: pauseOptions,
  run: async (session, _names, given) => {
    const { name, what, selection } = scopeOf(given);
    if (given.reason === undefined)
      throw new UsageError('expected --reason, so that other people understand the freeze, got none');
    const pause = await pauseOf(session, given);
    const existing = await readPolicy(session, name);
    const others = existing === null ? [] : otherOwners(existing);
    if (others.length > 0) throw new CommandError(ownedByOthers(name, others));
    await apply(session, name, { ...selection, priority, enforced: { paused: true, pause } });
    const end = pause.until === undefined ? '' : ` until ${pause.until}`;
    session.host.out(`${policySource(name)}: ${what} frozen${end}\n`);
    return 0;
  },
});

export const unfreezeCommand = clusterCommand({
  name: 'unfreeze',
  arguments: '',
  rightsEverywhere: rights,
  summary: 'End what `freeze` began',
  help:
    'Deletes the MySQLRolloutPolicy of `freeze`: that of --namespace, or that of all clusters. Rollouts continue 30 seconds ' +
    'later. Fails if another policy still freezes clusters.',
  examples: [
    ['End the freeze of everything', 'unfreeze'],
    ['End the freeze of one namespace', 'unfreeze -n shop'],
  ],
  run: async (session, _names, given) => {
    const { host } = session;
    const { name, what } = scopeOf(given);
    const existing = await readPolicy(session, name);
    if (existing === null) host.out(`${policySource(name)}: nothing to end, there is no such policy\n`);
    else {
      const others = otherOwners(existing);
      if (others.length > 0) throw new CommandError(ownedByOthers(name, others));
      await remove(session, name, existing);
      host.out(`${policySource(name)}: ${what} no longer frozen; rollouts continue in 30 s\n`);
    }
    const left = (await listOrNothing(session, policyKind, null)).filter((policy) => isFreeze(policy, session));
    if (left.length === 0) return 0;
    const names = left.slice(0, mostNamed).map((policy) => text(object(policy['metadata'])['name']) ?? '');
    const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : '';
    throw new CommandError(
      `clusters are still frozen by ${names.map(policySource).join(', ')}${more}; see \`kubectl get ${policyKind.plural}\``,
    );
  },
});

const mostNamed = 5;

/** Whether the policy enforces a pause that has not ended. */
function isFreeze({ spec }: Json, { world }: Session): boolean {
  const { paused, pause } = object(object(spec)['enforced']);
  const until = text(object(pause)['until']);
  return paused === true && (until === null || Date.parse(until) > world.wall());
}

/** The field managers besides this command that have set the policy's spec. */
const otherOwners = ({ metadata }: Json): readonly string[] => [
  ...new Set(
    objects(object(metadata)['managedFields'])
      .filter(({ subresource = '', fieldsV1 }) => subresource === '' && object(fieldsV1)['f:spec'] !== undefined)
      .map((entry) => text(entry['manager']) ?? 'unknown')
      .filter((owner) => owner !== manager),
  ),
];

const ownedByOthers = (name: string, others: readonly string[]): string =>
  `${policySource(name)} is not only a freeze of this command: ${others.map((owner) => `\`${owner}\``).join(', ')} ` +
  `wrote it as well; change \`spec.enforced.paused\` there, or with: kubectl edit ${policyKind.kind.toLowerCase()} ${name}`;

const readPolicy = ({ api }: Session, name: string): Promise<Json | null> => api.read(policyKind, { name }, 'read');

/** Rejects with `CommandError` if the kind does not exist, or if another manager owns one of the fields. */
async function apply({ client, server }: Session, name: string, spec: Json): Promise<void> {
  try {
    await client.call({
      method: 'PATCH',
      path: path(policyKind, { name }),
      query: { fieldManager: manager, fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: apiVersion(policyKind), kind: policyKind.kind, metadata: { name }, spec },
      priority: 'status',
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isNotFound(error)) {
      throw new CommandError(`there is no kind ${policyKind.kind} on ${server}: is moco-rollout installed?`);
    }
    if (isConflict(error)) throw new CommandError(`${policySource(name)}: ${error.message}`);
    throw error;
  }
}

/** Deletes the policy only if it is unchanged since it was read. */
async function remove({ client }: Session, name: string, { metadata }: Json): Promise<void> {
  const { uid, resourceVersion } = object(metadata);
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
  await client.call({ method: 'DELETE', path: path(policyKind, { name }), body, priority: 'status' });
}
