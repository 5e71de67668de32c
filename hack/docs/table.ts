/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/**
 * A list in Markdown with a definition for each term. Lines are wrapped, so that a diff shows only the lines that
 * changed. @param indent the number of spaces before each item, for a nested list
 */
export function definitionList(entries: readonly (readonly [term: string, text: string])[], indent = 0): string {
  return entries.map(([term, text]) => wrap(`- ${term}: ${text}`, ' '.repeat(indent))).join('\n');
}

const columns = 120;

/** The item of a list, wrapped at 120 columns. */
function wrap(item: string, indent: string): string {
  const [first = '', ...words] = item.split(' ');
  const lines = [`${indent}${first}`];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}  ${word}`);
  }
  return lines.join('\n');
}
