const [quote, backslash, colon, object, objectEnd, list, listEnd] = ['"', '\\', ':', '{', '}', '[', ']'].map(
  (character) => character.charCodeAt(0),
);

/**
 * Finds the string fields of one object in a JSON text, without parsing the rest. This reveals the name of an object
 * that has too many values to be parsed. `path` lists the fields that lead to the object. The function reads each
 * character once and builds no other values. The result is empty for a text that is not JSON.
 */
export function textsAt(json: string, path: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  /** The names of the fields that lead to the current position; `null` in a list. */
  const names: (string | null)[] = [];
  const depth = path.length + 1;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === object) names.push('');
    else if (character === list) names.push(null);
    else if (character === objectEnd || character === listEnd) names.pop();
    else if (character === quote) {
      const end = endOfText(json, at);
      const name = names.at(-1) ?? null;
      const isOfObject = name !== null && names.length === depth && path.every((one, index) => names[index] === one);
      if (isName(json, end)) {
        if (names.length > 0 && names.length <= depth) names[names.length - 1] = json.slice(at + 1, end);
      } else if (isOfObject) found[name] = readText(json.slice(at, end + 1));
      at = end;
    }
  }
  return found;
}

/** The position at which the string that begins at `start` ends. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - backslashes - 1) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/**
 * Whether a string is the name of a field, that is, whether a colon follows it. Go writes no space before the colon.
 */
const isName = (json: string, end: number): boolean => json.charCodeAt(end + 1) === colon;

function readText(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return '';
  }
}
