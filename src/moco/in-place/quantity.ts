const units: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
/** These are divisors, because a thousandth cannot be represented exactly. */
const fractions: Readonly<Record<string, number>> = { m: 1e3, u: 1e6, n: 1e9 };

/** The number that a Kubernetes quantity represents, or `null` if it is invalid. */
export function numberOf(quantity: string): number | null {
  const [, digits, unit = ''] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]i?|Ki)?$/.exec(quantity) ?? [];
  if (digits === undefined) return null;
  const fraction = fractions[unit];
  if (fraction !== undefined) return Number(digits) / fraction;
  const factor = units[unit];
  return factor === undefined ? null : Number(digits) * factor;
}

/**
 * Whether two quantities are equal, such as `1Gi` and `1024Mi`. Kubernetes and kubelets write the same quantity in
 * several ways.
 */
export function isSameQuantity(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  const number = numberOf(one);
  return number !== null && number === numberOf(other);
}
