import { apiVersion } from '../../../src/kube/resource.ts';
import { type ApiAnswer, answer, refusal } from './api-answer.ts';
import type { ObjectStore } from './object-store.ts';
import type { ResourcePath } from './resource-path.ts';
import type { StoredObject } from './stored-object.ts';

interface Continued {
  readonly items: readonly StoredObject[];
  readonly revision: number;
}

/** Whether an object is of a list or of a watch. Selectors have the one form that is used: `name=value,…`. */
export function matcher({ namespace }: ResourcePath, query: URLSearchParams): (object: StoredObject) => boolean {
  const terms = (query.get('labelSelector') ?? '').split(',').filter((term) => term !== '');
  const wanted = terms.map((term) => term.split('='));
  return ({ metadata }) =>
    (namespace === '' || metadata.namespace === namespace) &&
    wanted.every(([name = '', value]) => metadata.labels?.[name] === value);
}

/** Lists, in pages if requested; all pages of a list have one revision. */
export class Lists {
  /** No page is longer, whatever was asked for; an API server may do so. */
  longestPage = Number.POSITIVE_INFINITY;
  /** Whether a watch may begin with a list (feature gate `WatchList`). */
  areStreamed = true;
  readonly #store: ObjectStore;
  readonly #continued = new Map<string, Continued>();
  #tokens = 0;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Every token given so far is answered with 410 from now on. */
  expire(): void {
    this.#continued.clear();
  }

  answer(target: ResourcePath, query: URLSearchParams): ApiAnswer {
    const token = query.get('continue');
    const rest = token === null ? this.#fresh(target, query) : this.#continued.get(token);
    if (rest === undefined) {
      return refusal(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.');
    }
    const limit = query.has('limit') ? Math.min(Number(query.get('limit')), this.longestPage) : rest.items.length;
    const more = rest.items.slice(limit);
    const metadata = {
      resourceVersion: String(rest.revision),
      ...(more.length > 0 && { continue: this.#tokenFor({ items: more, revision: rest.revision }) }),
    };
    const { kind } = target;
    const items = rest.items.slice(0, limit);
    return answer(200, { kind: `${kind.kind}List`, apiVersion: apiVersion(kind), metadata, items });
  }

  #fresh(target: ResourcePath, query: URLSearchParams): Continued {
    return { items: this.#store.all(target.kind).filter(matcher(target, query)), revision: this.#store.revision };
  }

  #tokenFor(rest: Continued): string {
    this.#tokens += 1;
    const token = `page-${this.#tokens}`;
    this.#continued.set(token, rest);
    return token;
  }
}
