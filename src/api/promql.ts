// A small PromQL parser, which only finds the selectors of a query.

interface Token {
  readonly kind: 'word' | 'braces' | 'open' | 'close' | 'other';
  readonly text: string;
}

/**
 * Braces may contain strings in each of the three kinds of quotes, and strings in backticks have no escapes. `other`
 * matches comments, strings, ranges, and numbers with their units, which have no meaning here. It also matches any
 * other single character.
 */
const tokens =
  /(?<word>[A-Za-z_:][\w:]*)|(?<braces>\{(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|`[^`]*`|[^}"'`])*\})|(?<open>\()|(?<close>\))|(?<other>#[^\n]*|"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|`[^`]*`|\[[^\]]*\]|\d[\w.]*|[^])/y;

/** A list of labels in parentheses follows these words. */
const labelLists: ReadonlySet<string> = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const grouping: ReadonlySet<string> = new Set(['by', 'without']);
const keywords: ReadonlySet<string> = new Set([
  ...labelLists,
  'and',
  'or',
  'unless',
  'atan2',
  'bool',
  'offset',
  'inf',
  'nan',
]);

/**
 * The selectors of instant vectors in a PromQL query, such as `up{job="x"}`. They have no ranges and no offsets, and
 * each is contained once. If Prometheus cannot parse the query, the result is arbitrary.
 */
export function selectorsOf(query: string): readonly string[] {
  const all = tokensOf(query);
  const found = new Set<string>();
  for (let at = 0; at < all.length; at += 1) {
    const [one, next] = [all[at], all[at + 1]];
    if (one === undefined) continue;
    if (one.kind === 'braces') found.add(one.text);
    if (one.kind !== 'word') continue;
    const word = one.text.toLowerCase();
    if (labelLists.has(word) && next?.kind === 'open') {
      while (at < all.length && all[at]?.kind !== 'close') at += 1;
    } else if (next?.kind === 'braces') {
      found.add(one.text + next.text);
      at += 1;
    } else if (!keywords.has(word) && next?.kind !== 'open' && !isGrouping(next)) found.add(one.text);
  }
  return [...found];
}

/** In `sum by (pod) (x)`, the word before the parenthesis is an aggregation and not a series. */
const isGrouping = (next: Token | undefined): boolean => next?.kind === 'word' && grouping.has(next.text.toLowerCase());

function tokensOf(query: string): readonly Token[] {
  const all: Token[] = [];
  tokens.lastIndex = 0;
  for (let match = tokens.exec(query); match !== null && match[0] !== ''; match = tokens.exec(query)) {
    const [kind, text] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [];
    if (kind === undefined || text === undefined) break;
    // Spaces and comments separate tokens and have no other meaning.
    if (kind !== 'other' || !/^(?:\s|#)/.test(text)) all.push({ kind: kind as Token['kind'], text });
  }
  return all;
}
