import type { Call } from '../../../../src/kube/api-client.ts';
import { ClusterApi as Right } from '../../../../src/objects/cluster-client.ts';
import type { ObjectClient } from '../../../support/object-client.ts';

/** Deletes and evicts whichever pod has the name. */
export class ClusterApi extends Right {
  constructor(client: ObjectClient, signal: AbortSignal, isStillWanted?: () => boolean) {
    const call = <T>(one: Call): Promise<T> => client.call<T>({ ...one, body: withoutPreconditions(one) });
    const reserve: ObjectClient['reserve'] = (...asked) => client.reserve(...asked);
    super({ call, reserve } as unknown as ObjectClient, signal, isStillWanted);
  }
}

function withoutPreconditions({ body }: Call): unknown {
  if (Array.isArray(body)) return body;
  const { preconditions: _, deleteOptions: __, ...rest } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return body === undefined ? undefined : rest;
}
