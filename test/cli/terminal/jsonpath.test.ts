import { expect } from 'chai';
import { filled, parseTemplate } from '../../../src/cli/terminal/jsonpath.ts';

const list = {
  items: [
    { metadata: { name: 'a', annotations: { 'example.com/note': 'x' } }, status: { phase: 'UpToDate', replicas: 3 } },
    { metadata: { name: 'b' }, status: { phase: 'Progressing', replicas: 5, hold: { rule: 'Paused' } } },
  ],
};

/** As `kubectl get -o jsonpath=…` of kubectl 1.35 answers. */
const answers: Readonly<Record<string, string>> = {
  '{.items[0].metadata.name}': 'a',
  '{$.items[0].metadata.name}': 'a',
  '{.items[*].metadata.name}': 'a b',
  '{.items[-1].metadata.name}': 'b',
  '{.items[-2].metadata.name}': 'a',
  '{..name}': 'a b',
  '{.items[*].status.replicas}': '3 5',
  '{.items[0].status}': '{"phase":"UpToDate","replicas":3}',
  '{.items[1].status.hold.rule}{.items[0].status.hold.rule}': 'Paused',
  '{.items[?(@.status.phase=="UpToDate")].metadata.name}': 'a',
  '{.items[?(@.status.hold.rule=="Paused")].metadata.name}': 'b',
  [String.raw`{.items[0].metadata.annotations.example\.com/note}`]: 'x',
  [String.raw`{range .items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}`]: 'a\tUpToDate\nb\tProgressing\n',
  'phase: {.items[0].status.phase}.': 'phase: UpToDate.',
};

describe('a jsonpath template', () => {
  for (const [template, answer] of Object.entries(answers)) {
    it(`answers ${template} as kubectl does`, () => {
      expect(filled(parseTemplate(template), list)).to.equal(answer);
    });
  }

  it('is one path without braces', () => {
    expect(filled(parseTemplate('.items[0].metadata.name'), list)).to.equal('a');
  });

  it('is never run as JavaScript', () => {
    const template = '{.items[?(@.constructor.constructor("process.exitCode = 99")())].metadata.name}';
    expect(filled(parseTemplate(template), list)).to.equal('');
    expect(process.exitCode).not.to.equal(99);
  });

  for (const template of ['{.a', '{range .items[*]}{.a}', '{.a}{end}', '.a}']) {
    it(`is refused as ${template}`, () => {
      expect(() => parseTemplate(template)).to.throw(/jsonpath|JSONPath/);
    });
  }
});
