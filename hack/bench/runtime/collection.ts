import type { ServerResponse } from 'node:http';

/** An object of the server's, as JSON has it. */
export interface ServedObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

interface PastEvent {
  readonly version: number;
  readonly line: string;
}

/** For a watch that begins a little after its list; no client lags more. */
const mostPastEvents = 5_000;

const keyOf = ({ metadata }: Pick<ServedObject, 'metadata'>): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** The objects of one kind, and their watchers. */
export class Collection {
  readonly kind: string;
  readonly apiVersion: string;
  readonly #objects = new Map<string, ServedObject>();
  readonly #watchers = new Set<ServerResponse>();
  readonly #past: PastEvent[] = [];

  constructor(kind: string, apiVersion: string) {
    this.kind = kind;
    this.apiVersion = apiVersion;
  }

  get values(): readonly ServedObject[] {
    return [...this.#objects.values()];
  }

  get(namespace: string, name: string): ServedObject | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  /** Notifies watchers. */
  put(object: ServedObject): ServedObject {
    const known = this.#objects.has(keyOf(object));
    const whole = { apiVersion: this.apiVersion, kind: this.kind, ...object };
    this.#objects.set(keyOf(object), whole);
    const line = `{"type":"${known ? 'MODIFIED' : 'ADDED'}","object":${JSON.stringify(whole)}}\n`;
    this.#past.push({ version: Number(object.metadata.resourceVersion), line });
    if (this.#past.length > 2 * mostPastEvents) this.#past.splice(0, mostPastEvents);
    for (const watcher of this.#watchers) watcher.write(line);
    return whole;
  }

  watch(watcher: ServerResponse, sinceVersion: number): void {
    for (const { version, line } of this.#past) if (version > sinceVersion) watcher.write(line);
    this.#watchers.add(watcher);
    watcher.once('close', () => this.#watchers.delete(watcher));
  }

  bookmark(version: number): void {
    const object = { kind: this.kind, apiVersion: this.apiVersion, metadata: { resourceVersion: String(version) } };
    for (const watcher of this.#watchers) watcher.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }
}
