import { V1MicroTime } from '@kubernetes/client-node';
import { metadataOf } from './raw-object.ts';

/** The fields of a coordination.k8s.io/v1 Lease that leader election uses. All other fields are preserved. */
export interface Lease {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

/** The holder of the lease; empty if the lease has no holder. */
export function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? '';
}

/** The lease to write when this holder acquires or renews it. */
export function heldBy(
  identity: string,
  before: Lease,
  leaseDurationMilliseconds: number,
  wallMilliseconds: number,
  annotations: Readonly<Record<string, string>> | null = null,
): Lease {
  const now = new V1MicroTime(wallMilliseconds).toISOString();
  const mine = holderOf(before) === identity;
  const transitions = before.spec?.leaseTransitions ?? 0;
  return {
    ...before,
    ...(annotations && {
      metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, ...annotations } },
    }),
    spec: {
      ...before.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMilliseconds / 1000),
      acquireTime: mine ? (before.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: mine || before.spec === undefined ? transitions : transitions + 1,
    },
  };
}

/** The lease without a holder. Another candidate may acquire it at once. */
export function heldByNobody(before: Lease, wallMilliseconds: number): Lease {
  return {
    ...before,
    spec: {
      ...before.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: new V1MicroTime(wallMilliseconds).toISOString(),
    },
  };
}

/** Throws `TypeError` if the response is not a Lease. */
export function parseLease(answer: unknown): Lease {
  if (metadataOf(answer) === null) throw new TypeError(`expected a Lease, got ${JSON.stringify(answer)}`);
  return answer as Lease;
}
