import type { ObjectClient } from '../../../support/object-client.ts';

/** An API server with Kubernetes' own controllers behind it, real or simulated, and one namespace of it. */
export interface Ground {
  readonly client: ObjectClient;
  readonly namespace: string;
  /** Every version of every pod so far, in order; `null` is the end of one. */
  readonly pods: () => readonly PodVersion[];
  /** Gives the controllers their time: until this is what `look` sees, where it is known already, else until all is quiet. */
  readonly settle: (look: () => Promise<string>, expected: string | null) => Promise<string>;
}

export interface PodVersion {
  readonly name: string;
  readonly uid: string;
  readonly pod: SeenPod | null;
}

export interface SeenPod {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly ownerReferences?: readonly unknown[];
  };
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
