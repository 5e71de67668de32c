// Recorded objects as the API server sends them.

export type Json = { readonly [field: string]: unknown };

export const identity = { uid: 'a-uid', resourceVersion: '42' };

/** An object as the API server sends it: the recording leaves uid and resourceVersion out. */
export function sent(raw: object, change: { metadata?: Json; spec?: Json; status?: Json } = {}): Json {
  const whole = raw as { metadata?: Json; spec?: Json; status?: Json };
  return {
    ...raw,
    metadata: { ...whole.metadata, ...identity, ...change.metadata },
    spec: { ...whole.spec, ...change.spec },
    status: { ...whole.status, ...change.status },
  };
}

export function projected<R>(record: R | null): R {
  if (record === null) throw new Error('expected a record, got null');
  return record;
}
