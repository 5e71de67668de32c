import { readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { load as parseYaml } from 'js-yaml';

// Reads kubeconfig files and merges them.

/**
 * The configuration lacks an address or a user, or cannot be used. The message is meant for the person who wrote the
 * configuration.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** A command that returns credentials; the fields are those of client-go's `ExecConfig`. */
export interface ExecConfig {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo?: boolean;
}

export interface ClusterEntry {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[] | null;
}

/** The fields of a user entry that client-node does not know, that are paths, or that options can replace. */
export interface UserEntry {
  readonly 'client-certificate'?: string;
  readonly 'client-key'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly exec?: ExecConfig;
  readonly 'auth-provider'?: { readonly name?: string } | null;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** The fields of a kubeconfig. client-node rejects an entry without a name, or with a different structure. */
export interface KubeconfigContent {
  readonly clusters: readonly { readonly name: string; readonly cluster?: ClusterEntry | null | undefined }[];
  readonly users: readonly { readonly name: string; readonly user?: UserEntry | null | undefined }[];
  readonly contexts: readonly { readonly name: string; readonly context?: ContextEntry | null }[];
  readonly 'current-context'?: string;
}

/**
 * Reads kubeconfigs and merges them as kubectl does: the first entry with a given name wins, and so does the first
 * current context. Relative paths are resolved against the file that contains them. Throws `ConfigurationError`.
 */
export function readKubeconfigs(files: readonly string[]): KubeconfigContent {
  const contents = files.map(readOne);
  const current = contents.map((one) => one['current-context']).find((name) => name !== undefined && name !== '');
  return {
    clusters: firstOfEach(contents.flatMap(({ clusters }) => clusters)),
    users: firstOfEach(contents.flatMap(({ users }) => users)),
    contexts: firstOfEach(contents.flatMap(({ contexts }) => contexts)),
    ...(current !== undefined && { 'current-context': current }),
  };
}

const firstOfEach = <Entry extends { readonly name: string }>(entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ name }, index) => entries.findIndex((other) => other.name === name) === index);

function readOne(file: string): KubeconfigContent {
  const text = readKubeconfig(file);
  let found: Partial<Record<'clusters' | 'users' | 'contexts', unknown>> & { readonly 'current-context'?: string };
  try {
    found = parseYaml(text) ?? {};
  } catch (error) {
    const came = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ConfigurationError(`expected a kubeconfig in ${file}, got: ${came}`, { cause: error });
  }
  if (typeof found !== 'object') throw new ConfigurationError(`expected a kubeconfig in ${file}, got ${typeof found}`);
  const list = (entries: unknown) =>
    Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'object' && entry !== null) : [];
  const at = (path: string): string => resolve(dirname(resolve(file)), path);
  const users: KubeconfigContent['users'] = list(found.users);
  const clusters: KubeconfigContent['clusters'] = list(found.clusters);
  return {
    ...found,
    clusters: clusters.map((one) => ({ ...one, cluster: one.cluster && withPaths(one.cluster, clusterPaths, at) })),
    users: users.map((one) => ({ ...one, user: one.user && withExecPath(withPaths(one.user, userPaths, at), at) })),
    contexts: list(found.contexts),
  };
}

const clusterPaths = ['certificate-authority'] as const;
const userPaths = ['client-certificate', 'client-key', 'tokenFile'] as const;

function withPaths<Entry extends object>(
  entry: Entry,
  names: readonly (keyof Entry)[],
  at: (path: string) => string,
): Entry {
  const given = names.filter((name) => typeof entry[name] === 'string' && entry[name] !== '');
  return { ...entry, ...Object.fromEntries(given.map((name) => [name, at(String(entry[name]))])) };
}

/** A command without a slash is looked up in PATH. */
function withExecPath(user: UserEntry, at: (path: string) => string): UserEntry {
  const { exec } = user;
  return exec?.command?.includes(sep) ? { ...user, exec: { ...exec, command: at(exec.command) } } : user;
}

function readKubeconfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const came = code === 'ENOENT' ? 'no such file' : (code ?? String(error));
    throw new ConfigurationError(
      `expected a kubeconfig at ${file}, got: ${came}; name another one with --kubeconfig or KUBECONFIG`,
      { cause: error },
    );
  }
}
