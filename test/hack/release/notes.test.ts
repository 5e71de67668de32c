import { expect } from 'chai';
import { notesOf } from '../../../hack/release/notes.ts';

const changelog =
  '# Changelog\n\nAbout it.\n\n## 0.2.0\n\n- New.\n\n## 0.1.0\n\n- Old.\n\n### More\n\n- Older.\n\n## 0.0.1\n\n';

describe('the notes of a release', () => {
  it('are the section of its version alone', () => {
    expect(notesOf('0.2.0', changelog)).to.deep.equal({ text: '- New.' });
    expect(notesOf('0.1.0', changelog)).to.deep.equal({ text: '- Old.\n\n### More\n\n- Older.' });
  });

  it('are missing without a section, with one that is not released, and with an empty one', () => {
    const wrong: Readonly<Record<string, RegExp>> = {
      '0.3.0': /to contain a section 0\.3\.0, got 0\.2\.0, 0\.1\.0/,
      '0.1': /to contain a section 0\.1, got/,
      '0.0.1': /to contain text/,
    };
    for (const [version, sentence] of Object.entries(wrong)) {
      const notes = notesOf(version, changelog);
      expect('wrong' in notes && notes.wrong, version).to.match(sentence);
    }
    const unreleased = notesOf('0.2.0', changelog.replace('## 0.2.0', '## 0.2.0 (not released)'));
    expect('wrong' in unreleased && unreleased.wrong).to.contain('got "0.2.0 (not released)"');
  });
});
