/** Every piece that arrives is kept in an object of its own, however short it is. */
const pieceOverheadBytes = 256;

/** The part of the budget that one request has taken. */
export interface Share {
  /** Another piece of so many bytes has arrived. `refused` is called when the request is one to give up for it. */
  take(bytes: number): void;
  /** Returns all of it. */
  end(): void;
}

interface Taken {
  bytes: number;
  readonly refused: () => void;
}

/**
 * How many bytes of bodies all requests together may keep. Where they want more, the largest body is given up: a real
 * AdmissionReview is small, so that neither a crowd of large ones nor a slow one keeps it from being read.
 */
export class BodyBudget {
  readonly #limitBytes: number;
  readonly #taken = new Set<Taken>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For a body that begins. */
  begin(refused: () => void): Share {
    const taken: Taken = { bytes: 0, refused };
    this.#taken.add(taken);
    return {
      take: (bytes) => {
        if (!this.#taken.has(taken)) return;
        taken.bytes += bytes + pieceOverheadBytes;
        this.#bytes += bytes + pieceOverheadBytes;
        while (this.#bytes > this.#limitBytes) this.#refuseLargest();
      },
      end: () => this.#end(taken),
    };
  }

  #refuseLargest(): void {
    const largest = [...this.#taken].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    this.#end(largest);
    largest.refused();
  }

  #end(taken: Taken): void {
    if (this.#taken.delete(taken)) this.#bytes -= taken.bytes;
  }
}
