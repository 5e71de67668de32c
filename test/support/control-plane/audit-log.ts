import { open } from 'node:fs/promises';

/** One line of the API server's own record, as audit.k8s.io/v1 has it; what is not read here passes through. */
export interface AuditEvent {
  readonly auditID: string;
  /** `ResponseComplete`; watches also have `ResponseStarted`; `Panic` after a panic of a handler. */
  readonly stage: string;
  readonly level: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  readonly requestURI: string;
  readonly user: {
    readonly username: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource: string;
    /** `eviction`, `status`, `binding`, … */
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly resourceVersion?: string;
  };
  readonly responseStatus?: {
    readonly code?: number;
    readonly status?: string;
    readonly reason?: string;
    readonly message?: string;
  };
  /** The body that was sent, at level Request and above. Of a delete: its DeleteOptions. */
  readonly requestObject?: unknown;
  /** RFC 3339 with microseconds, the API server's clock. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Reads a growing file of JSON lines; every call parses only the lines since the last call. */
export class AuditLog {
  readonly #path: string;
  readonly #events: AuditEvent[] = [];
  #offset = 0;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Every event so far, in the order in which the API server finished the requests. */
  read(): Promise<readonly AuditEvent[]> {
    const next = this.#reading.then(() => this.#readOn());
    this.#reading = next.catch(() => undefined);
    return next;
  }

  async #readOn(): Promise<readonly AuditEvent[]> {
    const file = await open(this.#path, 'r');
    try {
      const { size } = await file.stat();
      const fresh = Buffer.alloc(size - this.#offset);
      await file.read(fresh, 0, fresh.length, this.#offset);
      const complete = fresh.subarray(0, fresh.lastIndexOf(0x0a) + 1);
      this.#offset += complete.length;
      for (const line of complete.toString('utf8').split('\n')) {
        if (line !== '') {
          this.#events.push(JSON.parse(line) as AuditEvent);
        }
      }
    } finally {
      await file.close();
    }
    return [...this.#events];
  }
}
