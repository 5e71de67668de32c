const lastByteLimit = 254;
const thirdByteLimit = 254;

/** Loopback addresses for pods: whoever dials one reaches this machine and nothing else. */
export class Addresses {
  readonly #taken = new Map<string, string>();

  /** The one of this uid, from 127.0.1.1 up. Throws when all 64,516 are taken. */
  of(uid: string): string {
    const known = this.#taken.get(uid);
    if (known !== undefined) {
      return known;
    }
    const taken = new Set(this.#taken.values());
    for (let third = 1; third <= thirdByteLimit; third++) {
      for (let last = 1; last <= lastByteLimit; last++) {
        const address = `127.0.${third}.${last}`;
        if (!taken.has(address)) {
          this.#taken.set(uid, address);
          return address;
        }
      }
    }
    throw new Error(`Expected fewer than ${lastByteLimit * thirdByteLimit} pods, got more`);
  }

  /** A pod that another program had given its address. */
  keep(uid: string, address: string): void {
    this.#taken.set(uid, address);
  }

  release(uid: string): void {
    this.#taken.delete(uid);
  }
}
