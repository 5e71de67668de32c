/** The file of a story's recording. */
export function fileOf(story: string): string {
  return `${story.replaceAll(/\W+/g, '-')}.json`;
}
