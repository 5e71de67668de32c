import { refusal } from '../../support/api-server/api-answer.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { textOf } from '../../support/api-server/exchange.ts';
import { matcher } from '../../support/api-server/lists.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import type { ResourcePath } from '../../support/api-server/resource-path.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';
import { ByteStream } from './byte-stream.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';

const bookmarkMilliseconds = 60_000;
const encoder = new TextEncoder();

export interface WatchOptions {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly target: ResourcePath;
  readonly query: URLSearchParams;
  /** How late the next line is, in milliseconds; lines stay in order. */
  readonly lag: () => number;
  /** Runs what reaches the client, when the client runs. */
  readonly deliver: (callback: () => void) => void;
  /** A version that the client has received. */
  readonly onReported: (object: StoredObject, type: StoreChange['type']) => void;
  /** Of which it has been told of everything up to here: what is older than this is answered with 410. */
  readonly oldestRevision: number;
}

/** One watch as the client sees it: lines of JSON, in the order of the store, that come late and may break off. */
export class WatchStream {
  readonly body: ByteStream;
  readonly target: ResourcePath;
  readonly #options: WatchOptions;
  readonly #recent: string[] = [];
  readonly #cancels: (() => void)[] = [];
  readonly #onTheWay: { readonly atMilliseconds: number; readonly arrive: () => void }[] = [];
  #lastAt = 0;
  #stalledUntil = 0;
  #revision: number;

  constructor(options: WatchOptions) {
    const { clock, server, target, query } = options;
    this.#options = options;
    this.target = target;
    this.#revision = Number(query.get('resourceVersion') ?? server.store.revision);
    this.body = new ByteStream(() => {
      for (const cancel of this.#cancels) cancel();
    });
    const matches = matcher(target, query);
    if (query.has('sendInitialEvents')) this.#list(matches);
    else if (this.#revision < options.oldestRevision) {
      this.expire();
      return;
    }
    for (const change of server.store.changesAfter(target.kind, this.#revision)) this.#send(change, matches);
    this.#cancels.push(
      server.store.subscribe((change) => {
        if (change.kind === target.kind) this.#send(change, matches);
      }),
      clock.after(Number(query.get('timeoutSeconds') ?? 300) * 1000, () => this.#deliver(() => this.body.close())),
    );
    this.#bookmark();
  }

  /** No event is sent for so long. */
  stall(milliseconds: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, this.#options.clock.nowMilliseconds + milliseconds);
  }

  /** The connection breaks, in the middle of whatever is on its way. */
  break(): void {
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    this.#deliver(() => this.body.close(error));
  }

  /** The server has forgotten the revision that this watch is at. */
  expire(): void {
    const { body } = refusal(410, 'Expired', 'too old resource version');
    this.#line(`{"type":"ERROR","object":${JSON.stringify(body)}}\n`, () => {});
    this.#later(() => this.body.close());
  }

  /** Says nothing for so long, and then that the server has forgotten where it was: what was to be told never is. */
  forget(milliseconds: number, forgotten: (lines: number) => void): void {
    const { clock } = this.#options;
    this.stall(milliseconds);
    clock.after(milliseconds, () => {
      forgotten(this.#onTheWay.length);
      this.#onTheWay.length = 0;
      this.expire();
    });
  }

  /** The last lines are repeated, as from a server that lags. */
  repeat(lines: number): boolean {
    const recent = this.#recent.slice(-lines);
    for (const line of recent) this.#line(line, () => {});
    return recent.length > 0;
  }

  #send({ type, object, before, revision }: StoreChange, matches: (object: StoredObject) => boolean): void {
    const is = type !== 'DELETED' && matches(object);
    const was = before !== null && matches(before);
    this.#revision = revision;
    if (!is && !was) return;
    const reported = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
    const line = `{"type":"${reported}","object":${textOf(object)}}\n`;
    this.#line(line, () => this.#options.onReported(object, reported));
  }

  /** All that exists, and then a bookmark that says so. */
  #list(matches: (object: StoredObject) => boolean): void {
    const { server, target } = this.#options;
    for (const object of server.store.all(target.kind).filter(matches)) {
      this.#line(`{"type":"ADDED","object":${textOf(object)}}\n`, () => this.#options.onReported(object, 'ADDED'));
    }
    this.#sendBookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  #sendBookmark(annotations?: Readonly<Record<string, string>>): void {
    const metadata = { resourceVersion: String(this.#revision), annotations };
    const object = { kind: this.#options.target.kind.kind, metadata };
    this.#line(`{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`, () => {});
  }

  #bookmark(): void {
    const cancel = this.#options.clock.after(bookmarkMilliseconds, () => {
      this.#sendBookmark();
      this.#bookmark();
    });
    this.#cancels.push(cancel);
  }

  #line(line: string, reported: () => void): void {
    this.#recent.push(line);
    if (this.#recent.length > 10) this.#recent.shift();
    this.#later(() => {
      reported();
      const bytes = encoder.encode(line);
      const { chance } = this.#options;
      // Where the network cuts is no business of the lines.
      const cut = chance.happens(0.1) ? chance.whole(1, bytes.length - 1) : bytes.length;
      this.body.push(bytes.subarray(0, cut));
      if (cut < bytes.length) this.body.push(bytes.subarray(cut));
    });
  }

  /** After everything that is on its way already. */
  #later(arrive: () => void): void {
    const { clock, lag } = this.#options;
    this.#lastAt = Math.max(this.#lastAt, clock.nowMilliseconds + lag());
    this.#onTheWay.push({ atMilliseconds: this.#lastAt, arrive });
    if (this.#onTheWay.length === 1) this.#await();
  }

  #await(): void {
    const { clock } = this.#options;
    const [first] = this.#onTheWay;
    if (first === undefined) return;
    const wait = Math.max(first.atMilliseconds, this.#stalledUntil) - clock.nowMilliseconds;
    clock.after(wait, () => {
      if (first !== this.#onTheWay[0]) return;
      if (this.#stalledUntil <= clock.nowMilliseconds) {
        this.#onTheWay.shift();
        this.#deliver(first.arrive);
      }
      this.#await();
    });
  }

  #deliver(callback: () => void): void {
    this.#options.deliver(callback);
  }
}
