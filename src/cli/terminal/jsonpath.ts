import { JSONPath } from 'jsonpath-plus';
import { UsageError } from '../../failure.ts';

/**
 * A JSONPath template in kubectl's syntax: `{range .items[*]}{.metadata.name}{"
 * "}{end}`.
 */
export type Template = readonly Part[];

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'range'; readonly path: string; readonly parts: Template };

/**
 * Parses a template. Text outside of braces is literal; without any brace the whole text is one path. Throws
 * `UsageError`.
 */
export function parseTemplate(text: string): Template {
  const tokens = /[{}]/.test(text) ? [...text.matchAll(/\{((?:"[^"]*"|'[^']*'|[^{}"'])*)\}|([^{}]+)|[{}]/g)] : [];
  if (text !== '' && tokens.length === 0) return [{ kind: 'path', path: jsonPathOf(text) }];
  const open: { readonly path: string; readonly parts: Part[] }[] = [{ path: '', parts: [] }];
  for (const [, expression, literal] of tokens) {
    const parts = open.at(-1)?.parts ?? [];
    if (literal !== undefined) parts.push({ kind: 'text', text: literal });
    else if (expression === undefined) throw new UsageError(`expected braces to be closed in jsonpath \`${text}\``);
    else if (/^range\s/.test(expression)) open.push({ path: jsonPathOf(expression.slice('range'.length)), parts: [] });
    else if (expression.trim() === 'end') {
      const { path, parts: inner } = open.pop() ?? { path: '', parts: [] };
      const outer = open.at(-1);
      if (outer === undefined) throw new UsageError(`expected a {range} before each {end} in jsonpath \`${text}\``);
      outer.parts.push({ kind: 'range', path, parts: inner });
    } else
      parts.push(/^["']/.test(expression) ? literalOf(expression) : { kind: 'path', path: jsonPathOf(expression) });
  }
  const [all, ...unclosed] = open;
  if (unclosed.length > 0) throw new UsageError(`expected an {end} for each {range} in jsonpath \`${text}\``);
  return all?.parts ?? [];
}

/**
 * Formats strings as they are and other values as JSON. Several values are separated by a space; a missing field is
 * empty.
 */
export function filled(template: Template, data: unknown): string {
  return template
    .map((part) => {
      switch (part.kind) {
        case 'text':
          return part.text;
        case 'path':
          return found(part.path, data)
            .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
            .join(' ');
        case 'range':
          return found(part.path, data)
            .map((value) => filled(part.parts, value))
            .join('');
      }
    })
    .join('');
}

function literalOf(expression: string): Part {
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
  const text = expression.slice(1, -1).replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
  return { kind: 'text', text };
}

/** Converts kubectl's syntax to that of the library: the leading dot, escaped dots in names, and negative indexes. */
function jsonPathOf(expression: string): string {
  const path = expression
    .trim()
    .replace(/^[$@]?/, '$')
    .replace(/^\$(?=[^.[$])/, '$.')
    .replaceAll(/\.([^.[\]\\]*(?:\\\.[^.[\]\\]*)+)/g, (_, name: string) => `['${name.replaceAll('\\.', '.')}']`)
    .replaceAll(/\[-(\d+)\]/g, (_, count: string) => (count === '1' ? '[-1:]' : `[-${count}:-${Number(count) - 1}]`));
  try {
    found(path, {});
    return path;
  } catch {
    throw new UsageError(`expected a JSONPath such as .status.phase, got \`${expression.trim()}\``);
  }
}

/** The library evaluates filters, never as JavaScript. An item without the field of a filter does not match. */
function found(path: string, data: unknown): readonly unknown[] {
  const values: unknown = JSONPath({
    path,
    json: data as object,
    eval: 'safe',
    ignoreEvalErrors: true,
    wrap: true,
  });
  return Array.isArray(values) ? values : [];
}
