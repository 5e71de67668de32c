import { rolloutKind } from '../../api/rollout.ts';
import { type Json, object, objects, text } from '../../base/json.ts';
import { andMore } from '../../core/sentences.ts';
import { pods, type ResourceKind, statefulSets } from '../../kube/resource.ts';
import { agentContainer, clusterNameLabel, memberSelector, mysqldContainer } from '../../moco/names.ts';
import { secretNameOf } from '../../mysql/mysql-asker.ts';
import { keyIn, listEach, listEachOrNothing } from '../cluster/clusters.ts';
import { publishedFlags } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok, unknown } from './finding.ts';
import { asController, podSpecOf } from './installation.ts';
import { deniedTo, whereAsked } from './rights.ts';

// Checks the access to MySQL itself, and the plugins that semi-synchronous replication needs.

/** Whether the controller queries MySQL; if it does not, the result says what is unknown. */
export async function mysql(session: Session): Promise<Found> {
  const { options, unknown: why } = await publishedFlags(session);
  if (why !== null) return unknown(why);
  if (!options.featureGates.ReplicationFacts) {
    return ok(
      'it is not queried (feature gate ReplicationFacts): it is unknown whether a ready replica has received what the primary has committed, and what a switchover would cut off',
    );
  }
  return asController(session, (user) => secretsOf(session, user, options.mysqlSecretName));
}

/** Where the controller may read the passwords for MySQL, and whether its queries succeed. */
async function secretsOf(session: Session, user: string, secretName: string): Promise<Found> {
  const mayRead = async (namespace: string | null, name?: string): Promise<boolean> =>
    (await deniedTo({ ...session, namespace }, [['', 'secrets', ['get']]], user, name)).length === 0;
  const problems = await listEachOrNothing(session, rolloutKind, session.namespace, {}, (raw) => {
    const problem = text(object(raw['status'])['mysqlProblem']);
    return problem === null ? [] : [{ cluster: keyIn(raw), problem }];
  });
  const unanswered = (isAsked: (cluster: string) => boolean): Found | null => {
    const [first, ...others] = problems.flat().filter(({ cluster }) => isAsked(cluster));
    if (first === undefined) return null;
    return failed(
      `it was queried and did not answer, so rollouts continue without its facts: ${first.cluster}${andMore(others.length)}: ${first.problem}`,
    );
  };
  if (await mayRead(session.namespace))
    return unanswered(() => true) ?? ok(`it is queried: ${user} may read MOCO's Secrets ${whereAsked(session)}`);
  // A Role can also grant access to individual Secrets by name.
  const sets = await running(session, statefulSets, podSpecOf);
  const clusters = await Promise.all(
    sets.map(async ({ cluster, namespace, clusterName }) => ({
      cluster,
      isAsked: await mayRead(namespace, secretNameOf(secretName, clusterName)),
    })),
  );
  const not = clusters.flatMap(({ cluster, isAsked }) => (isAsked ? [] : [cluster]));
  const found = unanswered((cluster) => clusters.some((one) => one.cluster === cluster && one.isAsked));
  if (found !== null) return found;
  return ok(
    clusters.length > 0 && not.length === 0
      ? `it is queried: ${user} may read the Secret of ${clusters.length === 1 ? 'the cluster' : `each of the ${clusters.length} clusters`} ${whereAsked(session)}`
      : `it is queried where ${user} may read MOCO's Secrets, which it may not ${not.length === 0 ? whereAsked(session) : `of ${not.join(', ')}`}: config/replication-facts grants it in a namespace`,
  );
}

/**
 * The first MySQL series that has the plugins only under their new names (MySQL 9.5 manual, "Installing Semisynchronous
 * Replication").
 */
const renamedAlone = '9.5';
/**
 * The first moco-agent that knows the new names of the plugins (newer than moco-agent 0.16, `server/initialize.go`).
 */
const replacingAgent = '0.17';

/**
 * From version `replacingAgent` on, moco-agent replaces the old plugins by the new ones when it starts next to a mysqld
 * that has both. If a member gets a mysqld without the old plugins before this replacement, the member loses
 * semi-synchronous replication.
 */
export async function semiSync(session: Session): Promise<Found> {
  const templates = await running(session, statefulSets, podSpecOf);
  const members = await running(session, pods, (raw) => object(raw['spec']));
  const wanting = new Set(templates.flatMap((one) => (isFrom(renamedAlone, one.mysqld) ? [one.cluster] : [])));
  const tooEarly = members.filter(({ cluster, agent }) => wanting.has(cluster) && !isFrom(replacingAgent, agent));
  const known = tooEarly.filter(({ agent }) => isFrom(replacingAgent, agent) === false);
  if (known.length > 0) {
    return failed(
      `these will get a mysqld that has only the renamed plugins, and have not restarted with a moco-agent that installs them: ${named(known)}; set their image back to 8.4, and let every member restart under MOCO 0.37 or newer first`,
    );
  }
  if (tooEarly.length > 0) {
    return unknown(`the images of moco-agent have no version in their tags, and mysqld is new: ${named(tooEarly)}`);
  }
  const isReplacing = templates.some(({ agent }) => isFrom(replacingAgent, agent) === true);
  const old = isReplacing ? members.filter(({ agent }) => isFrom(replacingAgent, agent) === false) : [];
  return ok(
    old.length === 0
      ? `no cluster gets MySQL ${renamedAlone} or newer before its members have the renamed plugins`
      : `keep these at MySQL 8.4 until their members have restarted, which brings the renamed plugins: ${named(old)}`,
  );
}

/** Whether an image is of this series or a later one; `null` if its tag does not show that. */
function isFrom(series: string, image: string): boolean | null {
  const [name = ''] = image.split('@', 1);
  const [, tag = ''] = name.slice(name.lastIndexOf('/') + 1).split(':');
  const version = /^v?(\d+\.\d+)(?!\d)/.exec(tag)?.[1];
  return version === undefined ? null : version.localeCompare(series, 'en', { numeric: true }) >= 0;
}

/** Lists members by cluster, for example `shop/orders (moco-orders-0, moco-orders-1)`. */
function named(members: Awaited<ReturnType<typeof running>>): string {
  const clusters = Map.groupBy(members, ({ cluster }) => cluster);
  return [...clusters].map(([one, of]) => `${one} (${of.map(({ name }) => name).join(', ')})`).join(', ');
}

function running(session: Session, kind: ResourceKind, specOf: (raw: Json) => Json) {
  return listEach(session, kind, session.namespace, { labelSelector: memberSelector }, (raw) => {
    const { namespace, name, labels } = object(raw['metadata']);
    const containers = objects(specOf(raw)['containers']);
    const image = (container: string): string =>
      text(containers.find((one) => one['name'] === container)?.['image']) ?? '';
    return {
      // The cluster as `namespace/name`.
      cluster: `${text(namespace)}/${text(object(labels)[clusterNameLabel])}`,
      clusterName: text(object(labels)[clusterNameLabel]) ?? '',
      namespace: text(namespace) ?? '',
      name: text(name) ?? '',
      mysqld: image(mysqldContainer),
      agent: image(agentContainer),
    };
  });
}
