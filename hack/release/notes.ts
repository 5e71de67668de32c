import { readFile } from 'node:fs/promises';

// The notes of a release: the section of its version in CHANGELOG.md.

const usage = 'usage: hack/release/notes.ts VERSION';

/** The text below `## VERSION`, or a sentence that says what is wrong with it. */
export function notesOf(version: string, changelog: string): { readonly text: string } | { readonly wrong: string } {
  const sections = changelog.split(/^(?=## )/m).filter((section) => section.startsWith('## '));
  const titles = sections.map((section) => section.slice(3, section.indexOf('\n')));
  const index = titles.findIndex((title) => title.split(' ')[0] === version);
  if (index === -1) return { wrong: `expected CHANGELOG.md to contain a section ${version}, got ${titles.join(', ')}` };
  if (titles[index] !== version) {
    return { wrong: `expected CHANGELOG.md to contain a section "${version}", got "${titles[index]}"` };
  }
  const text = (sections[index] ?? '').split('\n').slice(1).join('\n').trim();
  return text === ''
    ? { wrong: `expected the section ${version} of CHANGELOG.md to contain text, got none` }
    : { text };
}

if (import.meta.main) {
  const [version] = process.argv.slice(2);
  if (version === undefined || version === '--help') {
    console.error(usage);
    process.exitCode = version === undefined ? 2 : 0;
  } else {
    const notes = notesOf(version, await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8'));
    if ('text' in notes) {
      console.log(notes.text);
    } else {
      console.error(notes.wrong);
      process.exitCode = 1;
    }
  }
}
