import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AuditEvent } from './audit-log.ts';

/** A right that a user needed for a request, counted once. */
export interface AskedRight {
  /** As the API server calls them. */
  readonly user: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  /** Empty: the core group. */
  readonly group: string;
  /** With the subresource, such as `pods/eviction`. */
  readonly resource: string;
  /** Of a Lease, since a namespace has others' as well; empty for everything else. */
  readonly name: string;
  /** Whose rule allows it, such as `ClusterRole moco-rollout-controller`; `null`: it was refused. */
  readonly role: string | null;
}

/**
 * Where the control planes of a run record the used rights; `null`: nowhere. Set by the environment, since the runner
 * of all tests and the tests that start control planes share nothing else.
 */
export const rightsFolderVariable = 'MOCO_ROLLOUT_RIGHTS_FOLDER';

export function rightsFolder(): string | null {
  return process.env[rightsFolderVariable] || null;
}

/** The users and their requests, only of users that RBAC applies to. */
export const rightsPolicy: Readonly<Record<string, unknown>> = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', userGroups: ['system:masters'] }, { level: 'Metadata' }],
};

/** Such as `system:serviceaccount:moco-rollout-system:moco-rollout`, in whichever namespace it is installed. */
export const isOurAccount = (user: string): boolean => /^system:serviceaccount:[^:]+:moco-rollout$/.test(user);

/** RBAC's own words (Kubernetes' plugin/pkg/auth/authorizer/rbac), by the API server in the annotations of every event. */
const allowedBy = /^RBAC: allowed by .* of (ClusterRole|Role) "([^"/]+)/;
const ours = /^(Cluster)?Role moco-rollout-/;

/**
 * Leaves what the ServiceAccount asked for, and what anybody was allowed by our roles, in the folder of the run.
 *
 * @param refusals `false`: leaves out what it was refused
 */
export async function leaveRights(
  log: string | undefined,
  { folder = rightsFolder(), refusals = true }: { readonly folder?: string | null; readonly refusals?: boolean } = {},
): Promise<void> {
  if (log === undefined || folder === null) return;
  const rights = new Map<string, AskedRight>();
  for await (const line of createInterface({ input: createReadStream(log) })) {
    // Most of it is about others, and some lines are long.
    if (!line.includes('moco-rollout')) continue;
    const right = askedRight(JSON.parse(line) as AuditEvent);
    if (right !== null && (refusals || right.role !== null)) rights.set(JSON.stringify(right), right);
  }
  const name = `${basename(join(log, '..'))}.json`;
  await writeFile(join(folder, name), `${JSON.stringify([...rights.values()])}\n`);
}

export async function readRights(folder: string): Promise<readonly AskedRight[]> {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => JSON.parse(text) as readonly AskedRight[]);
}

/** `null` for requests that neither come from one of our users nor are allowed by one of our roles. */
export function askedRight(
  { user, verb, objectRef, annotations = {} }: AuditEvent,
  isMeant: (user: string) => boolean = isOurAccount,
): AskedRight | null {
  const decision = annotations['authorization.k8s.io/decision'];
  // A request that was broken off before RBAC was asked has none.
  if (objectRef === undefined || decision === undefined) return null;
  const { resource, subresource, apiGroup = '', name = '' } = objectRef;
  const [, kind, roleName] = allowedBy.exec(annotations['authorization.k8s.io/reason'] ?? '') ?? [];
  const role = decision === 'allow' ? `${kind} ${roleName}` : null;
  if (!isMeant(user.username) && (role === null || !ours.test(role))) return null;
  return {
    user: user.username,
    verb,
    group: apiGroup,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    name: resource === 'leases' ? name : '',
    role,
  };
}
