import { readFile } from 'node:fs/promises';
import { type Json, object, text } from '../base/json.ts';
import type { World } from '../base/world.ts';
import type { CloneProgress } from '../core/on-demand-facts.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { isForbidden, isNotFound, withoutRequest } from '../kube/api-error.ts';
import { path, secrets } from '../kube/resource.ts';
import { nameOf } from '../kube/store.ts';
import { mysqlPort, readOnlyPasswordKey, readOnlyUser } from '../moco/names.ts';
import type { ClusterRecord, PodRecord } from '../moco/records.ts';
import type { Account, MysqlTls } from './mysql-session.ts';
import { type Answers, type AskedMember, readClone, readCluster } from './read-cluster.ts';

// Queries the mysqlds of a cluster: finds the password, reads from each member, and explains why it could not.

export interface MysqlQuestion {
  readonly cluster: Pick<ClusterRecord, 'namespace' | 'name'>;
  readonly primary: PodRecord | null;
  readonly replicas: readonly PodRecord[];
  readonly forSwitchover: boolean;
}

export interface MysqlAnswer extends Omit<Answers, 'isDenied'> {
  /** Why no member could be asked, or why every member refused, as a sentence without a full stop. */
  readonly problem: string | null;
}

/** Asks the members of a cluster about their MySQL servers. Never rejects. */
export interface MysqlAsker {
  ask(question: MysqlQuestion, signal: AbortSignal): Promise<MysqlAnswer>;
  /** The progress of the clone that the member receives; `null` if its mysqld does not report it. */
  cloneProgress(
    cluster: MysqlQuestion['cluster'],
    member: PodRecord,
    signal: AbortSignal,
  ): Promise<CloneProgress | null>;
}

/** The flags about the account's password and about the connection. */
export interface MysqlAccess {
  /** The name of the Secret, in which `{name}` stands for the name of the MySQLCluster. */
  readonly secretName: string;
  readonly tls: 'Prefer' | 'Require';
  /** The path of a PEM file, which is read again each time. */
  readonly caFile: string | null;
}

/** The name of the Secret that contains the password for a cluster. */
export const secretNameOf = (template: string, clusterName: string): string =>
  template.replaceAll('{name}', clusterName);

/** Longer messages of the API server are truncated. */
const mostCharacters = 300;

/**
 * Queries members with the account that MOCO creates for reading. The password is read each time from a Secret (by
 * default MOCO's own). It is not kept, and is sent only to the addresses of that cluster's pods. Unless a CA is pinned,
 * any server at such an address can get the password, with any certificate or key, because only the login shows whether
 * the server is the member.
 */
export class SecretAsker implements MysqlAsker {
  readonly #client: ApiClient;
  readonly #world: World;
  readonly #access: MysqlAccess;

  constructor(client: ApiClient, world: World, access: MysqlAccess) {
    this.#client = client;
    this.#world = world;
    this.#access = access;
  }

  async ask({ cluster, primary, replicas, forSwitchover }: MysqlQuestion, signal: AbortSignal): Promise<MysqlAnswer> {
    const { secret, account } = await this.#account(cluster, signal);
    if ('problem' in account) {
      const { problem, isLasting } = account;
      const said = [...(primary === null ? [] : [primary]), ...replicas].map(
        ({ uid }) => [uid, { kind: 'unknown', message: problem }] as const,
      );
      return { said: new Map(said), writes: null, servers: new Map(), problem: isLasting ? problem : null };
    }
    const question = {
      primary: primary && askedMember(primary),
      replicas: replicas.map(askedMember),
      forSwitchover,
      account,
    };
    const { isDenied, ...answers } = await readCluster(this.#world, question, signal);
    const refused = `mysqld refuses the account ${readOnlyUser}: the password in ${secret} is not the one of the cluster`;
    return { ...answers, problem: isDenied ? refused : null };
  }

  async cloneProgress(
    cluster: MysqlQuestion['cluster'],
    member: PodRecord,
    signal: AbortSignal,
  ): Promise<CloneProgress | null> {
    const { account } = await this.#account(cluster, signal);
    return 'problem' in account ? null : readClone(this.#world, askedMember(member), account, signal);
  }

  /** Resolves to the account to use, or to the reason why there is none. */
  async #account(
    cluster: MysqlQuestion['cluster'],
    signal: AbortSignal,
  ): Promise<{ readonly secret: string; readonly account: Account | Unread }> {
    const place = { namespace: cluster.namespace, name: secretNameOf(this.#access.secretName, cluster.name) };
    const secret = `Secret ${nameOf(place)}`;
    const [password, tls] = await Promise.all([
      this.#passwordIn(place, signal).catch((error: unknown) => unreadSecret(error, secret)),
      this.#tls(),
    ]);
    if (typeof password !== 'string') return { secret, account: password };
    return { secret, account: 'problem' in tls ? tls : { user: readOnlyUser, password, tls } };
  }

  async #tls(): Promise<MysqlTls | Unread> {
    const { tls, caFile } = this.#access;
    const required = tls === 'Require';
    try {
      return { required, ca: caFile === null ? null : await readFile(caFile, 'utf8') };
    } catch {
      return { problem: `the file ${caFile} of --mysql-ca-file can't be read`, isLasting: true };
    }
  }

  async #passwordIn(
    place: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<string | Unread> {
    const secret = await this.#client.call<Json>({
      method: 'GET',
      path: path(secrets, place),
      priority: 'read',
      signal,
    });
    const encoded = text(object(secret['data'])[readOnlyPasswordKey]);
    if (encoded !== null) return Buffer.from(encoded, 'base64').toString();
    return {
      problem: `the Secret ${nameOf(place)} has no ${readOnlyPasswordKey}`,
      isLasting: true,
    };
  }
}

const askedMember = ({ uid, name, agent }: PodRecord): AskedMember => ({
  uid,
  name,
  address: { ip: agent.ip ?? '', port: mysqlPort },
});

interface Unread {
  readonly problem: string;
  /**
   * True if the problem lasts until a person changes something. False if the API server just did not answer this time.
   */
  readonly isLasting: boolean;
}

function unreadSecret(error: unknown, secret: string): Unread {
  if (isNotFound(error)) return { problem: `there is no ${secret}`, isLasting: true };
  if (isForbidden(error)) return { problem: `the controller may not read the ${secret}`, isLasting: true };
  const said = withoutRequest(error as Error).slice(0, mostCharacters);
  return { problem: `the ${secret} can't be read: ${said}`, isLasting: false };
}
