import { X509Certificate } from 'node:crypto';
import { rolloutKind } from '../../api/rollout.ts';
import { type Json, object, objects, text } from '../../base/json.ts';
import { isAdopted } from '../../core/adoption.ts';
import { ApiError, isConflict, isForbidden, isNotFound } from '../../kube/api-error.ts';
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  statefulSets,
} from '../../kube/resource.ts';
import { newPodsLabel, ownWebhook, ownWebhookSuffix, strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import { projectStatefulSet } from '../../moco/projections.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { admissionNotInForce, proveRevisionsKept } from '../../objects/strategy.ts';
import { keyIn, listAll, listOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';

// Checks that a policy or a webhook keeps StatefulSets at the update strategy OnDelete.

const policyName = 'moco-rollout-statefulset';
const longestWarningDays = 7;
const millisecondsPerDay = 86_400_000;

export async function admission(session: Session): Promise<Found> {
  const keeper = await keeperOf(session);
  const remedy = 'install config/admission-policy or config/webhook';
  if (keeper === null) return failed(`nothing keeps StatefulSets at OnDelete: ${remedy}`);
  const rollouts = await listOrNothing(session, rolloutKind, session.namespace);
  const without = rollouts.filter(({ status }) => object(object(status)['hold'])['rule'] === 'AdmissionNotInForce');
  if (without.length === 0) return newPods(session, keeper);
  const names = without.map(keyIn).join(', ');
  return failed(`${keeper} is installed, but has no effect on ${names}: read the message of the hold`);
}

/**
 * Whether admission also keeps StatefulSets at RollingUpdate with partition = replicas. Under that strategy, missing
 * members come back at their previous revision. A dry run on one StatefulSet shows it. Older admission policies do not
 * know the label that requests this strategy.
 */
async function newPods(session: Session, keeper: string): Promise<Found> {
  const atOnDelete = `${keeper} keeps StatefulSets at OnDelete`;
  try {
    const statefulSet = await adoptedOne(session);
    if (statefulSet === null) return ok(atOnDelete);
    await proveRevisionsKept(statefulSet, session.api);
    return ok(`${atOnDelete}, and at partition = replicas with the label ${newPodsLabel}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isForbidden(error))
      return ok(`${atOnDelete}; you lack the right to try whether it keeps the label ${newPodsLabel}`);
    // The StatefulSet was changed or deleted in the meantime.
    if (isConflict(error) || isNotFound(error)) return ok(atOnDelete);
    if (error.reason !== admissionNotInForce) throw error;
    const without = `${atOnDelete}, but not the label ${newPodsLabel}`;
    return failed(`${without}: ${error.message}; install the admission of this version`);
  }
}

/** A StatefulSet that the controller has adopted; `null` if there is none. */
async function adoptedOne(session: Session): Promise<StatefulSetRecord | null> {
  const labelSelector = `${strategyLabel}=${strategyOnDelete}`;
  const found = (await listAll(session, statefulSets, session.namespace, { labelSelector })).map(projectStatefulSet);
  const isQuiet = (one: StatefulSetRecord): boolean => isAdopted(one) && !one.forcedRollingUpdate && !one.deleting;
  return found.find((one) => one !== null && isQuiet(one)) ?? null;
}

/** The policy or webhook that keeps StatefulSets at OnDelete; `null` if there is none. */
async function keeperOf(session: Session): Promise<string | null> {
  const policies = await listOrNothing(session, mutatingAdmissionPolicies, null);
  if (policies.some(({ metadata }) => object(metadata)['name'] === policyName)) {
    const bindings = await listOrNothing(session, mutatingAdmissionPolicyBindings, null);
    if (bindings.some(({ spec }) => object(spec)['policyName'] === policyName)) return 'the MutatingAdmissionPolicy';
  }
  const webhooks = await ownWebhooks(session);
  return webhooks.some(({ name }) => name === ownWebhook) ? 'the webhook' : null;
}

export async function certificates(session: Session): Promise<Found> {
  const webhooks = await ownWebhooks(session);
  if (webhooks.length === 0) return ok('none is needed: there is no webhook');
  const problems = webhooks.flatMap((webhook) => certificateProblem(webhook, session.world.wall()) ?? []);
  if (problems.length > 0) return failed(problems.join('; '));
  return ok(`the CA of ${webhooks.map(({ name }) => text(name)).join(', ')} is valid`);
}

async function ownWebhooks(session: Session): Promise<readonly Json[]> {
  const configurations = await listOrNothing(session, mutatingWebhookConfigurations, null);
  return configurations
    .flatMap(({ webhooks }) => objects(webhooks))
    .filter(({ name }) => text(name)?.endsWith(ownWebhookSuffix) === true);
}

function certificateProblem({ name, clientConfig }: Json, now: number): string | null {
  const bundle = text(object(clientConfig)['caBundle']) ?? '';
  if (bundle === '') return `${text(name)} has no caBundle: cert-manager has not issued its certificate`;
  try {
    const { validTo, validToDate } = new X509Certificate(Buffer.from(bundle, 'base64').toString());
    const days = (validToDate.getTime() - now) / millisecondsPerDay;
    if (days < 0) return `the CA of ${text(name)} expired at ${validTo}`;
    return days < longestWarningDays ? `the CA of ${text(name)} expires in ${Math.floor(days)} days` : null;
  } catch {
    return `${text(name)} has a caBundle that is not a PEM certificate`;
  }
}
