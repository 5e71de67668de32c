import * as z from 'zod';
import { isObject } from '../moco/json.ts';
import {
  annotationOn,
  clusterKind,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  strategyLabel,
  strategyOnDelete,
} from '../moco/names.ts';

const texts = z.record(z.string(), z.string());
const owner = z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/**
 * A StatefulSet of apps/v1 as it stands in an AdmissionReview: what is read of it has the shape that it should, and
 * everything else is kept as it came.
 */
export const statefulSetShape = z.object({
  metadata: z.looseObject({
    labels: texts.nullish(),
    annotations: texts.nullish(),
    ownerReferences: z.array(owner).nullish(),
    finalizers: z.array(z.string()).nullish(),
  }),
  spec: z.looseObject({ replicas: z.unknown().optional(), updateStrategy: z.unknown().optional() }),
});

export type AdmittedStatefulSet = z.infer<typeof statefulSetShape>;

/** One operation of RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** What becomes of a StatefulSet that is written. */
export interface Mutation<Finding extends string> {
  /** What was found. The word goes into the API server's audit log. */
  readonly because: Finding;
  /** Empty where everything is as it should be. */
  readonly patch: readonly PatchOperation[];
}

/**
 * The name of the MySQLCluster that alone owns a StatefulSet; `null` where there is none, or another owner beside it.
 */
export function owningCluster({ metadata }: AdmittedStatefulSet): string | null {
  const [only, ...others] = metadata.ownerReferences ?? [];
  if (only === undefined || others.length > 0) return null;
  const [group] = only.apiVersion.split('/');
  return only.kind === clusterKind.kind && group === clusterKind.group ? only.name : null;
}

type Labelled = Pick<AdmittedStatefulSet['metadata'], 'labels' | 'annotations'>;

/** The program decides when its pods are replaced. */
export const isLabelled = ({ labels }: Labelled): boolean => labels?.[strategyLabel] === strategyOnDelete;

/** Pods that are created now are to come up at the current revision. */
export const keepsRevisions = (metadata: Labelled): boolean =>
  isLabelled(metadata) && metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision;

/** MOCO's native rolling update: nobody holds it back. */
export const isForced = ({ annotations }: Labelled): boolean =>
  annotations?.[forceRollingUpdateAnnotation] === annotationOn;

/** What the API server makes of a StatefulSet that doesn't say. */
const defaultReplicas = 1;

/** `null` where it is no number of replicas; the API server refuses such an object after its webhooks. */
export function replicasOf({ replicas = null }: { readonly replicas?: unknown }): number | null {
  if (replicas === null) return defaultReplicas;
  return typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 ? replicas : null;
}

/** A JSON object; anything else counts as absent. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return isObject(value) ? value : null;
}
