import * as z from 'zod';
import type { Reviewer } from './reviewers.ts';
import { statefulSetShape } from './stateful-set.ts';

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response */
export interface AdmissionReviewResponse {
  readonly apiVersion: 'admission.k8s.io/v1';
  readonly kind: 'AdmissionReview';
  readonly response: {
    readonly uid: string;
    readonly allowed: true;
    /** Base64 of a JSON patch. */
    readonly patch?: string;
    readonly patchType?: 'JSONPatch';
    /** Shown to whoever sent the request; kubectl prints them. */
    readonly warnings?: readonly string[];
    readonly auditAnnotations?: Readonly<Record<string, string>>;
  };
}

export type ReviewAnswer =
  | { readonly kind: 'answered'; readonly review: AdmissionReviewResponse }
  | { readonly kind: 'malformed'; readonly message: string };

const requestShape = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1),
    kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
    operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    subResource: z.string().optional(),
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
  }),
});

type AdmissionRequest = z.infer<typeof requestShape>['request'];

/**
 * Answers one AdmissionReview of version v1. It never denies: whatever isn't a request for a StatefulSet of the kind
 * that the reviewer is there for stays as it is, and a warning says why.
 */
export function answerReview(body: unknown, reviewer: Reviewer): ReviewAnswer {
  const parsed = requestShape.safeParse(body);
  if (!parsed.success) {
    return {
      kind: 'malformed',
      message: `Expected an AdmissionReview of admission.k8s.io/v1, got one where ${firstProblem(parsed.error)}.`,
    };
  }
  const { request } = parsed.data;
  const misplaced = whyNotOurs(request, reviewer);
  if (misplaced !== null) return allow(request, { warnings: [`moco-rollout changed nothing: ${misplaced}`] });
  const object = statefulSetShape.safeParse(request.object);
  if (!object.success) {
    return allow(request, { warnings: [`moco-rollout changed nothing: in the object, ${firstProblem(object.error)}`] });
  }
  const before = statefulSetShape.safeParse(request.oldObject);
  const { because, patch, warning } = reviewer.review({
    statefulSet: object.data,
    before: before.success ? before.data : null,
  });
  return allow(request, {
    ...(patch.length === 0 ? {} : { patch: base64(patch), patchType: 'JSONPatch' }),
    ...(warning === undefined ? {} : { warnings: [warning] }),
    auditAnnotations: { [reviewer.auditKey]: because },
  });
}

function base64(patch: object): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}

/** `null` for what the reviewer is for; else, in words, what a webhook configuration sent here by mistake. */
function whyNotOurs(
  { kind, operation, subResource, object }: AdmissionRequest,
  { operations }: Reviewer,
): string | null {
  if (kind.group !== 'apps' || kind.version !== 'v1' || kind.kind !== 'StatefulSet') {
    return `expected a StatefulSet of apps/v1, got ${kind.kind} of ${kind.group === '' ? '' : `${kind.group}/`}${kind.version}`;
  }
  if (!operations.some((expected) => expected === operation)) {
    return `expected ${operations.join(' or ')}, got ${operation}`;
  }
  if (subResource !== undefined && subResource !== '') return `expected the StatefulSet itself, got its ${subResource}`;
  return object === undefined || object === null ? 'expected the object in the request, got none' : null;
}

type Outcome = Omit<AdmissionReviewResponse['response'], 'uid' | 'allowed'>;

function allow({ uid }: AdmissionRequest, outcome: Outcome): ReviewAnswer {
  const response = { uid, allowed: true, ...outcome } as const;
  return { kind: 'answered', review: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } };
}

function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'something is wrong';
  const where = issue.path.length === 0 ? 'the whole' : issue.path.join('.');
  return `${where} is not right (${issue.message})`;
}
