import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';
import { jsonOf, textOf } from '../base/text.ts';
import type { ClusterEntry, ExecConfig } from './kubeconfig-files.ts';

// Credentials from an exec plugin of a kubeconfig.

/** The credential that a plugin returns. Times are in RFC 3339 format. */
interface Credential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

const kind = 'ExecCredential';
/**
 * The name of the extension in a cluster entry of the kubeconfig. Administrators put the plugin's configuration there.
 */
const pluginExtension = 'client.authentication.k8s.io/exec';

/** The name under which client-node finds this provider. */
export const execProvider = 'moco-rollout-exec';

/**
 * Credentials from a command (client.authentication.k8s.io/v1 and v1beta1), which is run as client-go runs it. The
 * command gets KUBERNETES_EXEC_INFO, which client-node 2.0.1 leaves out, and uses the terminal if the plugin is
 * interactive. A credential is kept until it expires.
 */
export class ExecCredential {
  readonly #exec: ExecConfig;
  readonly #cluster: ClusterEntry;
  #known: Credential | null = null;

  constructor(exec: ExecConfig, cluster: ClusterEntry) {
    this.#exec = exec;
    this.#cluster = cluster;
  }

  isAuthProvider(user: User): boolean {
    return user.authProvider?.name === execProvider;
  }

  /** Rejects if the command returns no credential. The message of the error is meant for people. */
  async applyAuthentication(_: User, options: RequestOptions): Promise<void> {
    if (this.#known === null || isExpired(this.#known)) this.#known = await this.#run();
    const { token, clientCertificateData: cert, clientKeyData: key } = this.#known;
    if (cert && key) Object.assign(options, { cert, key });
    if (token) options.headers = Object.assign({}, options.headers, { Authorization: `Bearer ${token}` });
  }

  async #run(): Promise<Credential> {
    const { command, args, env, apiVersion, interactiveMode = 'IfAvailable', installHint } = this.#exec;
    if (!command) throw new Error('expected a command in exec of the user, got none');
    const interactive = interactiveMode !== 'Never' && process.stdin.isTTY;
    if (interactiveMode === 'Always' && !interactive) throw new Error(`${command} needs a terminal as standard input`);
    const spec = {
      interactive,
      ...(this.#exec.provideClusterInfo === true && { cluster: clusterInfo(this.#cluster) }),
    };
    const [input, errors] = interactive ? (['inherit', 'inherit'] as const) : (['ignore', 'pipe'] as const);
    const subprocess = spawn(command, [...(args ?? [])], {
      stdio: [input, 'pipe', errors],
      env: {
        ...process.env,
        ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind, spec }),
      },
    });
    const [out, err] = [textOf(subprocess.stdout), textOf(subprocess.stderr)];
    const status = await new Promise<number | null>((settle, fail) => {
      subprocess.once('error', (error: NodeJS.ErrnoException) => {
        const hint = installHint ? `; ${installHint}` : '';
        fail(error.code === 'ENOENT' ? new Error(`there is no command ${command}${hint}`, { cause: error }) : error);
      });
      subprocess.once('close', settle);
    });
    if (status !== 0) throw new Error(`${command} exited with ${status}: ${(await err).trim()}`);
    return credentialOf(await out, command, apiVersion);
  }
}

function credentialOf(text: string, command: string, apiVersion: string | undefined): Credential {
  const said = jsonOf(text);
  const came =
    said === undefined ? null : (Object(said) as { kind?: string; apiVersion?: string; status?: Credential });
  if (came?.kind !== kind || came.apiVersion !== apiVersion) {
    const got = came === null ? 'no JSON' : `${came.kind} of ${came.apiVersion}`;
    throw new Error(`expected ${command} to write an ${kind} of ${apiVersion}, got ${got}`);
  }
  const { token, clientCertificateData, clientKeyData } = came.status ?? {};
  if (!token && !(clientCertificateData && clientKeyData)) {
    throw new Error(`expected ${command} to return a token, or a client certificate with its key; got neither`);
  }
  return came.status ?? {};
}

function isExpired({ expirationTimestamp }: Credential): boolean {
  // oxlint-disable-next-line no-restricted-globals -- client-go compares this time of day so
  return expirationTimestamp !== undefined && Date.parse(expirationTimestamp) <= Date.now();
}

/**
 * `spec.cluster` of an ExecCredential: the kubeconfig's cluster entry without file paths, and the extension as
 * `config`.
 */
function clusterInfo({ 'certificate-authority': file, extensions, ...cluster }: ClusterEntry): object {
  const data = file === undefined ? cluster['certificate-authority-data'] : readFileSync(file).toString('base64');
  const config = extensions?.find(({ name }) => name === pluginExtension)?.extension;
  return { ...cluster, 'certificate-authority-data': data, config };
}
