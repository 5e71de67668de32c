import { expect } from 'chai';
import { verdictOf } from '../../../hack/npm-audit/verdict.ts';

describe('what is made of the answer of `npm audit`', () => {
  it('is clean only where somebody has said so', () => {
    expect(verdictOf(JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} })).kind).to.equal('clean');
  });

  it('names each package with what is known of it', () => {
    const via = [{ title: 'Reads what it should not', url: 'somewhere' }, 'another'];
    const vulnerabilities = { undici: { severity: 'high', range: '<8.1.0', via } };
    expect(verdictOf(JSON.stringify({ vulnerabilities }))).to.deep.equal({
      kind: 'advised',
      lines: ['undici <8.1.0: high: Reads what it should not, somewhere; another'],
    });
  });

  const silences = {
    'a registry that does not take the question': JSON.stringify({
      message: '405 Method Not Allowed',
      statusCode: 405,
    }),
    'an npm that does not start': '',
    'what is no JSON': '<html>',
  };
  for (const [what, text] of Object.entries(silences)) {
    it(`says that nothing is known after ${what}`, () => {
      const { kind, lines } = verdictOf(text);
      expect(kind).to.equal('unknown');
      expect(lines.join('\n')).to.contain('Nothing is known of the packages now');
    });
  }
});
