import { expect } from 'chai';

/** Forms, each followed by the sentence that people read of it. */
export type Forms<Form extends object> = readonly (Form | string)[];

/** Each sentence is the one given, and fit for a status: no gap, no full stop, not a word about how long it has lasted. */
export function expectSentences<Form extends object>(forms: Forms<Form>, explain: (form: Form) => string): void {
  for (const [index, form] of forms.entries()) {
    if (typeof form === 'string') continue;
    const sentence = explain(form);
    expect(sentence).to.equal(forms[index + 1]);
    expect(sentence).to.match(/^[A-Za-z0-9]/);
    expect(sentence).not.to.match(/undefined|null|NaN|\[object|\.$|\bago\b|\bsince \d|\bfor the last\b/);
  }
}
