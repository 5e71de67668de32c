import { resolve } from 'node:path';
import { type ClusterEntry, ConfigurationError, type KubeconfigContent, type UserEntry } from './kubeconfig-files.ts';

// Applies the command-line options to a kubeconfig.

/** What a user specifies in addition to a kubeconfig, like kubectl's options. */
export interface KubeconfigOverrides {
  readonly context?: string;
  /** Names of entries. They replace the names in the context. */
  readonly cluster?: string;
  readonly user?: string;
  /** Fields that replace fields of the entries. Relative paths start from the working directory. */
  readonly clusterEntry: ClusterEntry;
  readonly userEntry: UserEntry;
}

export const noOverrides: KubeconfigOverrides = { clusterEntry: {}, userEntry: {} };

/** The name for entries that exist only because of the overrides. */
export const made = 'flags';

/**
 * The kubeconfig with its overrides, merged like client-go's `clientcmd` (1.36, `client_config.go`):
 *
 * - a new address without a TLS server name removes the kubeconfig's TLS server name
 * - a request to skip TLS verification removes the kubeconfig's certificates, and new certificates turn verification on
 *   again
 * - a token has precedence over every other way to authenticate except a client certificate
 * - new groups replace the groups of the kubeconfig; a new user to impersonate does not
 *
 * With an address, no kubeconfig is needed. Throws `ConfigurationError`.
 */
export function withOverrides(content: KubeconfigContent, overrides: KubeconfigOverrides): KubeconfigContent {
  const { cluster: clusterName, user: userName, clusterEntry, userEntry } = overrides;
  const name = overrides.context ?? content['current-context'];
  const chosen = content.contexts.find((one) => one.name === name)?.context ?? null;
  const isNothing = clusterName === undefined && userName === undefined && isEmpty(clusterEntry) && isEmpty(userEntry);
  if (isNothing || (overrides.context !== undefined && chosen === null)) {
    return name === undefined ? content : { ...content, 'current-context': name };
  }
  const clusterUsed = clusterName ?? chosen?.cluster ?? made;
  const userUsed = userName ?? chosen?.user ?? made;
  const cluster = content.clusters.find((one) => one.name === clusterUsed);
  const user = content.users.find((one) => one.name === userUsed);
  const isMade = clusterUsed === made && userUsed === made;
  if (clusterName !== undefined && cluster === undefined) throw unknown('cluster', clusterName, content.clusters);
  if (userName !== undefined && user === undefined) throw unknown('user', userName, content.users);
  const context = isMade ? made : (name ?? made);
  return {
    clusters: replaced(content.clusters, {
      name: clusterUsed,
      ...((cluster || clusterEntry.server) && { cluster: clusterWith(cluster?.cluster ?? {}, clusterEntry) }),
    }),
    users: replaced(content.users, { name: userUsed, user: userWith(user?.user ?? {}, userEntry) }),
    contexts: replaced(content.contexts, {
      name: context,
      context: { ...chosen, cluster: clusterUsed, user: userUsed },
    }),
    'current-context': context,
  };
}

const isEmpty = (entry: object): boolean => Object.keys(entry).length === 0;

const replaced = <Entry extends { readonly name: string }>(
  entries: readonly Entry[],
  entry: Entry,
): readonly Entry[] => [...entries.filter(({ name }) => name !== entry.name), entry];

function unknown(what: string, name: string, entries: readonly { readonly name: string }[]): ConfigurationError {
  const known = entries.map((one) => one.name).join(', ') || 'none';
  return new ConfigurationError(`expected a ${what} ${name} in the kubeconfig, got: ${known}`);
}

function clusterWith(own: ClusterEntry, override: ClusterEntry): ClusterEntry {
  const { 'certificate-authority': file, 'insecure-skip-tls-verify': insecure, server } = override;
  const verification = ['certificate-authority', 'certificate-authority-data', 'insecure-skip-tls-verify'];
  const dropped = new Set([
    ...(file !== undefined || insecure === true ? verification : []),
    ...(server === undefined ? [] : ['tls-server-name']),
  ]);
  return {
    ...without(own, dropped),
    ...override,
    ...(server !== undefined && { server: /^[a-z]+:\/\//i.test(server) ? server : `https://${server}` }),
    ...(file !== undefined && { 'certificate-authority': resolve(file) }),
  };
}

/** Ways to authenticate that are dropped if a token is given. */
const waysToToken = ['tokenFile', 'exec', 'auth-provider', 'username', 'password'];

function userWith(own: UserEntry, override: UserEntry): UserEntry {
  const { token, 'client-certificate': certificate, 'client-key': key } = override;
  const dropped = new Set([
    ...(token === undefined ? [] : waysToToken),
    ...(certificate === undefined ? [] : ['client-certificate-data']),
    ...(key === undefined ? [] : ['client-key-data']),
  ]);
  const user: UserEntry = {
    ...without(own, dropped),
    ...override,
    ...(certificate !== undefined && { 'client-certificate': resolve(certificate) }),
    ...(key !== undefined && { 'client-key': resolve(key) }),
  };
  const impersonatesMore = override['as-groups'] !== undefined || override['as-uid'] !== undefined;
  if (impersonatesMore && !user.as) {
    throw new ConfigurationError('expected a user to impersonate (--as) with groups or a uid, got none');
  }
  return user;
}

const without = <Entry extends object>(entry: Entry, fields: ReadonlySet<string>): Entry =>
  Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.has(field))) as Entry;
