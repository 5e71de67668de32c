const factors: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** The bytes of a Kubernetes quantity of storage, such as `1Gi`. Throws for anything else. */
export function bytes(quantity: string): number {
  const [, digits = '', suffix = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = factors[suffix];
  if (digits === '' || factor === undefined) {
    throw new Error(`expected a quantity of storage such as 1Gi, got ${JSON.stringify(quantity)}`);
  }
  return Number(digits) * factor;
}
