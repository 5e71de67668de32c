import { roleLabel, rolePrimary } from '../../../src/moco/names.ts';

/** What of a pod decides whether its Service sends connections to it. */
export interface Endpoint {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * The address that a new connection to MOCO's Service of the primary gets, as the endpoint controller and kube-proxy
 * choose: ready and not terminating, or else ready and terminating (KEP-1669). `null` if the Service has no endpoint.
 * EndpointSlices refuse loopback addresses, so the pods are read instead.
 */
export function primaryAddress(pods: readonly Endpoint[]): string | null {
  const ready = pods.filter(
    ({ metadata, status }) =>
      metadata.labels?.[roleLabel] === rolePrimary &&
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  );
  const chosen = ready.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? ready[0];
  return chosen?.status?.podIP ?? null;
}
