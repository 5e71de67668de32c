import { type Json, object, text } from '../base/json.ts';
import type { World } from '../base/world.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { isForbidden, isNotFound, withoutRequest } from '../kube/api-error.ts';
import { path, secrets } from '../kube/resource.ts';
import { nameOf } from '../kube/store.ts';
import { mysqlPort, readOnlyPasswordKey, readOnlyUser } from '../moco/names.ts';
import { statefulSetName } from '../moco/projections.ts';
import type { ClusterRecord, PodRecord } from '../moco/records.ts';
import { type Answers, type AskedMember, readCluster } from './read-cluster.ts';

export interface MysqlQuestion {
  readonly cluster: Pick<ClusterRecord, 'namespace' | 'name'>;
  readonly primary: PodRecord | null;
  readonly replicas: readonly PodRecord[];
  readonly forSwitchover: boolean;
}

export interface MysqlAnswer extends Omit<Answers, 'isDenied'> {
  /** Why nobody could be asked, or who could be has refused: a sentence without a full stop. */
  readonly problem: string | null;
}

/** Asks the members of a cluster. Never rejects. */
export interface MysqlAsker {
  ask(question: MysqlQuestion, signal: AbortSignal): Promise<MysqlAnswer>;
}

/** Of what the API server says. */
const mostCharacters = 300;

/**
 * Asks with the account that MOCO makes for reading. Its password is read from MOCO's Secret each time, is kept
 * nowhere, and is used only with the addresses of that cluster's pods. Whoever has such an address can get it, with any
 * certificate or key of its own: whether it is the member is known only after the login.
 */
export class SecretAsker implements MysqlAsker {
  readonly #client: ApiClient;
  readonly #world: World;

  constructor(client: ApiClient, world: World) {
    this.#client = client;
    this.#world = world;
  }

  async ask({ cluster, primary, replicas, forSwitchover }: MysqlQuestion, signal: AbortSignal): Promise<MysqlAnswer> {
    const place = { namespace: cluster.namespace, name: statefulSetName(cluster.name) };
    const secret = `Secret ${nameOf(place)}`;
    const password = await this.#passwordIn(place, signal).catch((error: unknown) => unreadSecret(error, secret));
    if (typeof password !== 'string') {
      const { problem, isLasting } = password;
      const said = [...(primary === null ? [] : [primary]), ...replicas].map(
        ({ uid }) => [uid, { kind: 'unknown', message: problem }] as const,
      );
      return { said: new Map(said), writes: null, problem: isLasting ? problem : null };
    }
    const member = ({ uid, name, agent }: PodRecord): AskedMember => ({
      uid,
      name,
      address: { ip: agent.ip ?? '', port: mysqlPort },
    });
    const account = { user: readOnlyUser, password };
    const question = { primary: primary && member(primary), replicas: replicas.map(member), forSwitchover, account };
    const { isDenied, ...answers } = await readCluster(this.#world, question, signal);
    const refused = `mysqld refuses the account ${readOnlyUser}: the password in ${secret} is not the one of the cluster`;
    return { ...answers, problem: isDenied ? refused : null };
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

interface Unread {
  readonly problem: string;
  /** It stays so until a person changes something. Else the API server did not answer this time. */
  readonly isLasting: boolean;
}

function unreadSecret(error: unknown, secret: string): Unread {
  if (isNotFound(error)) return { problem: `there is no ${secret}`, isLasting: true };
  if (isForbidden(error)) return { problem: `the controller may not read the ${secret}`, isLasting: true };
  const said = withoutRequest(error as Error).slice(0, mostCharacters);
  return { problem: `the ${secret} can't be read: ${said}`, isLasting: false };
}
