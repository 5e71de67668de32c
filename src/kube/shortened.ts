/** Truncates a text to a number of characters and splits none of them. An ellipsis marks the truncation. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}
