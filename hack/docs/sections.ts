/** The text of each section, by the section's name. */
export type Sections = Readonly<Record<string, string>>;

/** The document with the given sections inserted. Throws if it has no place for one of them. */
export function withSections(document: string, sections: Sections): string {
  return Object.entries(sections).reduce((before, [name, text]) => {
    const begin = `<!-- ${name}: written by \`make docs\` -->`;
    const end = `<!-- end of ${name} -->`;
    const [start, stop] = [before.indexOf(begin), before.indexOf(end)];
    if (start === -1 || stop < start) throw new Error(`Expected the document to contain "${begin}" and then "${end}".`);
    return `${before.slice(0, start)}${begin}\n${text}\n${before.slice(stop)}`;
  }, document);
}
