/** A word as the value of a label: in PascalCase, as the reasons of conditions are. */
export function labelValue(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
