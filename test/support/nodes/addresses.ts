const perThirdByte = 254;
const most = perThirdByte * perThirdByte;

/** Loopback addresses for pods: connections to them reach only this machine. */
export class Addresses {
  readonly #byUid = new Map<string, string>();
  /** The number of pods with it: of an address from another program there may be two for a moment. */
  readonly #uses = new Map<string, number>();
  /** Where the last search ended, so that one among thousands needn't begin at the front. */
  #last = most - 1;
  readonly #network: number;

  /** @param network the second byte: where programs listen at these addresses, others on this machine have another one */
  constructor(network = 0) {
    this.#network = network;
  }

  /** The one of this uid, from 127.0.1.1 up. Throws when all 64,516 are taken. */
  of(uid: string): string {
    const known = this.#byUid.get(uid);
    if (known !== undefined) {
      return known;
    }
    for (let tried = 0; tried < most; tried++) {
      this.#last = (this.#last + 1) % most;
      const address = `127.${this.#network}.${Math.floor(this.#last / perThirdByte) + 1}.${(this.#last % perThirdByte) + 1}`;
      if (!this.#uses.has(address)) {
        this.keep(uid, address);
        return address;
      }
    }
    throw new Error(`Expected fewer than ${most} pods, got more`);
  }

  /** A pod that another program had given its address. */
  keep(uid: string, address: string): void {
    if (this.#byUid.get(uid) === address) {
      return;
    }
    this.release(uid);
    this.#byUid.set(uid, address);
    this.#uses.set(address, (this.#uses.get(address) ?? 0) + 1);
  }

  release(uid: string): void {
    const address = this.#byUid.get(uid);
    if (address === undefined) {
      return;
    }
    this.#byUid.delete(uid);
    const uses = (this.#uses.get(address) ?? 1) - 1;
    if (uses === 0) {
      this.#uses.delete(address);
    } else {
      this.#uses.set(address, uses);
    }
  }
}
