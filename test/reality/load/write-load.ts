import { setTimeout as delay } from 'node:timers/promises';
import { type Row, Rows } from './rows.ts';
import { codeOf, type Passwords, Session } from './session.ts';
import { insertRow, makeTable } from './table.ts';
import { type WriteGap, WriteGaps } from './write-gaps.ts';

export interface WriteLoadOptions {
  /** The address of the primary's Service. */
  readonly service: string;
  readonly passwords: Passwords;
  /** How many connections write at a time; 0: nothing is written but one row at the start. */
  readonly writers: number;
  /** How many of them connect anew for each row, as programs without a pool do. */
  readonly freshWriters: number;
}

/** Who keeps a connection until it breaks, and who connects anew for every row. */
export type WriterKind = 'kept' | 'fresh';

/** Between two writes of a writer. */
const paceMilliseconds = 30;
const retryMilliseconds = 20;

/** The monotonic clock, as milliseconds since 1970. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Writers that insert one row after the other through the primary's Service of a cluster that nobody has written to. Some
 * keep their connection until it breaks, as an application's pool does. Every acknowledged row is remembered.
 */
export class WriteLoad {
  readonly #options: WriteLoadOptions;
  readonly #acknowledged = new Rows();
  readonly #errors = new Map<string, number>();
  #gaps = gapsFrom(now());
  #isStopping = false;
  #ended: number | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  /** Writers wait for it before each row. */
  #gate: PromiseWithResolvers<void> | null = null;
  readonly #inserts = new Set<Promise<void>>();

  private constructor(options: WriteLoadOptions) {
    this.#options = options;
  }

  /** Resolves once the first row is acknowledged. */
  static async start(options: WriteLoadOptions): Promise<WriteLoad> {
    const load = new WriteLoad(options);
    await load.#prepare();
    load.#gaps = gapsFrom(now());
    const { writers, freshWriters } = options;
    load.#writing = Promise.all(
      Array.from({ length: writers }, (_, index) => load.#write(index + 1, index < freshWriters ? 'fresh' : 'kept')),
    );
    return load;
  }

  /** Every row that the server has acknowledged. */
  get acknowledged(): Rows {
    return this.#acknowledged;
  }

  /** How often writers met which error. */
  get errors(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#errors);
  }

  /** From the start to the stop, of all writers of a kind together; none where there is no such writer. */
  gaps(kind: WriterKind): readonly WriteGap[] {
    const { writers, freshWriters } = this.#options;
    const count = kind === 'fresh' ? freshWriters : writers - freshWriters;
    return count === 0 ? [] : this.#gaps[kind].until(this.#ended ?? now());
  }

  /** Resolves once no statement is on its way; the next one comes after {@link resume}. */
  async pause(): Promise<void> {
    this.#gate ??= Promise.withResolvers();
    await Promise.allSettled(this.#inserts);
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = null;
  }

  /** Resolves once no statement is on its way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.resume();
    this.#ended ??= now();
    await this.#writing;
  }

  async #prepare(): Promise<void> {
    let number = 0;
    await this.#persist(async (session) => {
      await makeTable(session);
      number += 1;
      await this.#insert(session, [0, number]);
    });
  }

  async #write(writer: number, kind: WriterKind): Promise<void> {
    // One whose outcome is unknown is not used again.
    let number = 0;
    while (!this.#isStopping) {
      await this.#persist(async (session) => {
        do {
          await this.#gate?.promise;
          number += 1;
          await this.#insert(session, [writer, number]);
          this.#gaps[kind].acknowledged(now());
          await delay(paceMilliseconds);
          if (kind === 'fresh') return;
        } while (!this.#isStopping);
      });
    }
  }

  /** Does it on one connection after the other until it has succeeded or the load stops. */
  async #persist(work: (session: Session) => Promise<void>): Promise<void> {
    for (let isDone = false; !isDone && !this.#isStopping; ) {
      let session: Session | null = null;
      try {
        session = await Session.open(this.#options.service, 'moco-writable', this.#options.passwords);
        await work(session);
        isDone = true;
      } catch (error) {
        const code = codeOf(error);
        this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
        await delay(retryMilliseconds);
      } finally {
        session?.close();
      }
    }
  }

  async #insert(session: Session, row: Row): Promise<void> {
    const insert = insertRow(session, row);
    this.#inserts.add(insert);
    await insert.finally(() => this.#inserts.delete(insert));
    this.#acknowledged.add(row);
  }
}

function gapsFrom(began: number): Readonly<Record<WriterKind, WriteGaps>> {
  return { kept: new WriteGaps(began), fresh: new WriteGaps(began) };
}
