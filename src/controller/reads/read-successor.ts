import {
  ApiError,
  isAlreadyExists,
  isBadRequest,
  isForbidden,
  isInternalError,
  isInvalid,
} from '../../kube/api-error.ts';
import { pods } from '../../kube/resource.ts';
import type { Json } from '../../moco/json.ts';
import type { PodRecord } from '../../moco/records.ts';
import { fitsWithout, successorOf } from '../../moco/successor.ts';
import type { ClusterReader } from './cluster-reader.ts';

export interface SuccessorContext {
  readonly api: ClusterReader;
  /** Whoever asks may lack the right to create pods. */
  readonly mayLackCreate?: boolean;
}

/**
 * Why the API server would not admit the next pod of a member, from a dry run; `null` if it would. Its name exists, and
 * that is found out last (Kubernetes 1.36; test/cluster/pod-dry-run.test.ts), so `AlreadyExists` is the answer to a pod
 * that is admitted. Rejects with `ApiError` if the API server does not say.
 */
export async function readRefusal(
  pod: PodRecord,
  statefulSet: Json,
  updateRevision: string,
  { api, mayLackCreate = false }: SuccessorContext,
): Promise<string | null> {
  const { namespace } = pod;
  try {
    await api.tryToCreatePod(successorOf(statefulSet, updateRevision, pod.ordinal, pod.name), namespace);
    return null;
  } catch (error) {
    if (isAlreadyExists(error)) return null;
    if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
    if (lacksRight(error)) {
      if (mayLackCreate) return null;
      throw error;
    }
    const { message } = error;
    if (!message.includes('exceeded quota: ')) return message;
    const existing = await api.read(pods, { namespace, name: pod.name });
    return existing !== null && fitsWithout(message, existing) ? null : message;
  }
}

/** A webhook that can't be reached keeps the StatefulSet controller from creating the pod as well. */
const isRefusal = (error: ApiError): boolean =>
  isForbidden(error) || isInvalid(error) || isBadRequest(error) || isInternalError(error);

/** It is we who may not create pods. */
const lacksRight = ({ message }: ApiError): boolean => message.includes('cannot create resource "pods"');
